//! Routes without a key: liveness, readiness, metrics and the OpenAPI description.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::CatalogError;
use crate::server::error::{ApiError, Result};
use crate::server::response::ApiResponse;

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(metrics))
        .routes(routes!(description))
}

/// Reports that the service is alive.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = String, description = "The service is alive.")))]
async fn healthz() -> &'static str {
    "OK"
}

/// Reports if the service is ready, which it is if its store responds.
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, body = String, description = "The service is ready."),
    (status = 503, body = CatalogError, description = "The store does not respond: `not_ready`."),
))]
async fn readyz(State(service): State<Shared>) -> Response {
    if service.is_leaving() {
        let message = "the service is shutting down";
        return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", message).retry_after(1).into_response();
    }
    match service.catalog.store().ready().await {
        Ok(()) => "Ready".into_response(),
        Err(_) => {
            let message = "the store does not respond";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", message).retry_after(1).into_response()
        }
    }
}

/// Returns metrics in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health", responses(
    (status = 200, body = String, description = "The metrics."),
    (status = 500, body = CatalogError, description = "`internal_error`"),
))]
async fn metrics(State(service): State<Shared>) -> Result<ApiResponse> {
    // Without a store the other metrics matter even more.
    if let Ok(counts) = service.catalog.store().counts().await {
        service.metrics.set_rows(&counts);
    }
    service.metrics.loads.measure(&service.catalog);
    service.metrics.set_renders(&service.catalog.renderer().stats());
    let text = service.metrics.text().map_err(|_| ApiError::internal("cannot write the metrics"))?;
    Ok(ApiResponse::text("text/plain; version=0.0.4; charset=utf-8", text))
}

/// Returns this description.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "health", responses(
    (status = 200, body = Object, content_type = "application/json", description = "OpenAPI."),
))]
async fn description(State(service): State<Shared>) -> ApiResponse {
    ApiResponse::text("application/json", service.openapi.clone())
}
