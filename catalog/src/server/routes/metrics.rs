//! Metrics: for administrators and read-only keys, and without a key on the probe listener.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Shared, probes};
use crate::CatalogError;
use crate::server::authentication::Caller;
use crate::server::error::{ApiError, Result};
use crate::server::response::ApiResponse;

/// The route that needs a key.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(metrics))
}

/// The routes of the probe listener, which need no key.
pub(in crate::server) fn probe_router(service: &Shared) -> Router {
    Router::from(probes::health()).route("/metrics", get(probe_metrics)).with_state(service.clone())
}

/// Returns metrics in the text format of Prometheus. The numbers of rows are counted every 15 seconds.
#[utoipa::path(get, path = "/metrics", tag = "health", responses(
    (status = 200, body = String, description = "The metrics."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
))]
async fn metrics(State(service): State<Shared>, caller: Caller) -> Result<ApiResponse> {
    caller.actor.require_read_all()?;
    text(&service)
}

async fn probe_metrics(State(service): State<Shared>) -> Result<ApiResponse> {
    text(&service)
}

fn text(service: &Shared) -> Result<ApiResponse> {
    service.metrics.loads.measure(&service.catalog);
    service.metrics.set_renders(&service.catalog.renderer().stats());
    let text = service.metrics.text().map_err(|_| ApiError::internal("cannot write the metrics"))?;
    Ok(ApiResponse::text("text/plain; version=0.0.4; charset=utf-8", text))
}
