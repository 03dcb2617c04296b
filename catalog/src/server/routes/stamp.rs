//! A template rendered for many sets of parameters in one request. Each result is a line of JSON, sent as soon as it is
//! ready.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::task::JoinHandle;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::fair::{Held, Identity};
use crate::render::ParameterLayers;
use crate::server::extract::{Caller, Json, Path, RequestBody};
use crate::server::response::{ApiError, CutOff, LineWriter, Result, line_body};
use crate::{CatalogError, ErrorKind, ParameterSet, Stamped, Stamper};
use dropforge::bulk::Merge;
use dropforge::value::{Data, DataMap};

/// Number of sets that are rendered, or whose lines wait for those before them.
const AHEAD: usize = 4;

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(stamp_template))
}

/// A request to stamp a template.
#[derive(Debug, Deserialize, ToSchema)]
struct StampRequest {
    /// Sets of parameters.
    sets: Vec<ParameterSet>,
    /// `true` to fill in missing parameters with schema defaults.
    #[serde(default)]
    defaults: bool,
    /// Parameters that all sets share.
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Value>)]
    shared: Option<DataMap>,
    /// Paths of files to merge over the shared parameters, low to high, as in a project: `env/{env}.yaml` for the `env` of
    /// each set. With `?` at the end, a file may be missing. `{cluster}` is the name of the set.
    #[serde(default)]
    layers: Vec<String>,
    /// The files of layers by their paths: maps of parameters, or texts.
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Value>)]
    files: BTreeMap<String, Data>,
    /// The effect of a set on the shared parameters and layers.
    #[serde(default)]
    merge: MergeBy,
}

/// The effect of a set of parameters on shared ones.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum MergeBy {
    /// Maps are merged by key, a null removes a shared value, and any other value replaces it.
    #[default]
    Deep,
    /// Each top-level key replaces the whole shared value.
    Replace,
}

/// Renders a template for many sets of parameters without storing anything. The response has a line for each set, in
/// order, each with a status of its own. A response without a proper HTTP end is incomplete.
#[utoipa::path(post, path = "/templates/{id}/stamp", tag = "templates", params(("id" = Uuid, Path)),
    request_body = StampRequest, responses(
        (status = 200, body = Stamped, content_type = "application/x-ndjson", description = "A line for each set."),
        (status = 403, body = CatalogError, description = "`template_not_accessible`"),
        (status = 404, body = CatalogError, description = "`template_not_found`"),
        (status = 422, body = CatalogError, description = "`invalid_layers`"),
    ))]
async fn stamp_template(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    request: Request,
) -> Result<Response> {
    // A caller that may not read the template, or that sends slowly, takes no place.
    let stamper = service.catalog.stamper(caller.actor, id).await?;
    let body = RequestBody::read(request, &service, service.settings.stamp_bytes).await?;
    let mut place = service.stamps.begin();
    if !place.grow(1) {
        return Err(busy());
    }
    let Json { value, mut held, .. } = body.json(&service).await?;
    let StampRequest { sets, defaults, shared, layers, files, merge } = value;
    let mut stamper = stamper.with_defaults(defaults);
    let merge = match merge {
        MergeBy::Deep => Merge::Deep,
        MergeBy::Replace => Merge::Replace,
    };
    if !layers.is_empty() {
        let layers = ParameterLayers::new(shared.unwrap_or_default(), &layers, files, merge)?;
        stamper = stamper.layered(layers);
    } else if let Some(shared) = shared {
        stamper = stamper.over(shared, merge);
    }
    let sets: Arc<[ParameterSet]> = sets.into();
    let stamper = stamper.specialised(&sets, |bytes| held.grow(bytes)).await;
    let (writer, body) = line_body(1);
    let written = write(service, Arc::new(stamper), sets, writer, [place, held]);
    tokio::spawn(Identity::current().scope(written));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::new(body)).into_response())
}

fn busy() -> ApiError {
    CatalogError::new(ErrorKind::Busy, "busy", "too many stamp requests are running: retry later").into()
}

/// Renders the sets and writes their lines until all are written or the client disconnects.
async fn write(service: Shared, stamper: Arc<Stamper>, sets: Arc<[ParameterSet]>, writer: LineWriter, held: [Held; 2]) {
    let written = tokio::select! {
        biased;
        () = writer.disconnected() => Err(CutOff::Disconnected),
        written = in_order(&service, &stamper, sets, &writer) => written,
    };
    drop(held);
    writer.end(written).await;
}

async fn in_order(
    service: &Shared,
    stamper: &Arc<Stamper>,
    sets: Arc<[ParameterSet]>,
    writer: &LineWriter,
) -> Result<(), CutOff> {
    let mut sets = sets.iter().cloned().enumerate();
    let mut in_progress = InProgress::default();
    loop {
        while in_progress.0.len() < AHEAD
            && let Some((index, set)) = sets.next()
        {
            let stamper = stamper.clone();
            let line = async move { stamper.stamp(index, set, serde_json::to_vec).await };
            in_progress.0.push_back(tokio::spawn(Identity::current().scope(line)));
        }
        let Some(first) = in_progress.0.front_mut() else { return Ok(()) };
        // A render may panic.
        let line = first.await.map_err(failed)?.map_err(failed)?;
        in_progress.0.pop_front();
        service.metrics.stamped.inc();
        writer.line(line).await?;
    }
}

fn failed(cause: impl Display) -> CutOff {
    CutOff::Failed(cause.to_string().into())
}

/// Sets being rendered. Dropping it aborts them.
#[derive(Default)]
struct InProgress(VecDeque<JoinHandle<serde_json::Result<Vec<u8>>>>);

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
