//! Routes without a key: liveness, readiness and the OpenAPI description.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::CatalogError;
use crate::server::error::ApiError;
use crate::server::response::ApiResponse;

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    health().routes(routes!(description))
}

/// The routes of liveness and readiness.
pub(super) fn health() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(healthz)).routes(routes!(readyz))
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
    match service.catalog.store().ready().await {
        Ok(()) => "Ready".into_response(),
        Err(_) => {
            let message = "the store does not respond";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", message).retry_after(1).into_response()
        }
    }
}

/// Returns this description.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "health", responses(
    (status = 200, body = Object, content_type = "application/json", description = "OpenAPI."),
))]
async fn description(State(service): State<Shared>) -> ApiResponse {
    ApiResponse::text("application/json", service.openapi.clone())
}
