//! A template rendered for many sets of parameters in one request. Each result is a line of JSON, sent as soon as it is
//! ready.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::caller::Caller;
use crate::server::extract::{At, Whole};
use crate::server::failure::{Failure, Result};
use crate::server::lines::{Gone, Writer, lines};
use crate::{Class, ParameterSet, Refusal, Stamped, Stamping};

/// Number of sets rendered at a time, and of lines waiting to be sent.
const AHEAD: usize = 16;

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
}

/// Renders a template for many sets of parameters without storing anything. The response has a line for each set, in
/// order, each with a status of its own. A response without a proper HTTP end is incomplete.
#[utoipa::path(post, path = "/templates/{id}/stamp", tag = "templates", params(("id" = Uuid, Path)),
    request_body = StampRequest, responses(
        (status = 200, body = Stamped, content_type = "application/x-ndjson", description = "A line for each set."),
        (status = 403, body = Refusal, description = "`template_not_accessible`"),
        (status = 404, body = Refusal, description = "`template_not_found`"),
    ))]
async fn stamp_template(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    request: Request,
) -> Result<Response> {
    // The permit is taken before the body is read, so that waiting bodies cannot fill the memory.
    let place = service.stamps.clone().try_acquire_owned().map_err(|_| busy())?;
    let whole = Whole::read(request, service.settings.stamp_bytes, service.settings.body_timeout).await?;
    let StampRequest { sets, defaults } = whole.json()?;
    drop(whole);
    let stamping = service.catalog.stamping(caller.actor, id, defaults).await?;
    let (writer, body) = lines(AHEAD);
    tokio::spawn(write(service, Arc::new(stamping), sets, writer, place));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::new(body)).into_response())
}

fn busy() -> Failure {
    Refusal::new(Class::Busy, "busy", "too many stamp requests are running: retry later").into()
}

/// Renders the sets and writes their lines until all are written or the client disconnects.
async fn write(
    service: Shared,
    stamping: Arc<Stamping>,
    sets: Vec<ParameterSet>,
    writer: Writer,
    place: OwnedSemaphorePermit,
) {
    let written = tokio::select! {
        biased;
        () = writer.gone() => Err(Gone),
        written = in_order(&service, &stamping, sets, &writer) => written,
    };
    drop(place);
    if written.is_ok() {
        writer.end().await;
    }
}

async fn in_order(
    service: &Shared,
    stamping: &Arc<Stamping>,
    sets: Vec<ParameterSet>,
    writer: &Writer,
) -> Result<(), Gone> {
    let mut sets = sets.into_iter().enumerate();
    let mut under_way = UnderWay::default();
    loop {
        while under_way.0.len() < AHEAD
            && let Some((index, set)) = sets.next()
        {
            let stamping = stamping.clone();
            under_way.0.push_back(tokio::spawn(async move { stamping.stamp(index, set).await }));
        }
        let Some(first) = under_way.0.front_mut() else { return Ok(()) };
        // If a render panicked, the body ends early with an error.
        let stamped = first.await.map_err(|_| Gone)?;
        under_way.0.pop_front();
        service.metrics.stamped.inc();
        writer.line(serde_json::to_vec(&stamped).map_err(|_| Gone)?).await?;
    }
}

/// Sets being rendered. Dropping it aborts them.
#[derive(Default)]
struct UnderWay(VecDeque<JoinHandle<Stamped>>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
