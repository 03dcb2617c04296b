//! Routes without a key: liveness, readiness and the OpenAPI description.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::CatalogError;
use crate::server::authentication::has_known_key;
use crate::server::error::ApiError;
use crate::server::response::ApiResponse;
use crate::store::StoreError;

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

/// Reports if the service is ready, which it is if its store can be written and it is not shutting down.
///
/// With a key, the message tells why the service is not ready.
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, body = String, description = "The service is ready."),
    (status = 503, body = CatalogError, description = "The store cannot be used, or the service is shutting down: \
        `not_ready`."),
))]
async fn readyz(State(service): State<Shared>, headers: HeaderMap) -> Response {
    let why = if service.is_leaving() {
        "it is shutting down".to_owned()
    } else {
        match service.readiness.check(service.catalog.store()).await {
            Ok(()) => return "Ready".into_response(),
            Err(StoreError::Unavailable(outage, _)) => format!("the store {}", outage.phrase()),
            Err(_) => "the store failed".to_owned(),
        }
    };
    let mut message = "the service is not ready".to_owned();
    if has_known_key(&service, &headers).await {
        message.push_str(&format!(": {why}"));
    }
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", message).retry_after(1).into_response()
}

/// Returns this description.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "health", responses(
    (status = 200, body = Object, content_type = "application/json", description = "OpenAPI."),
))]
async fn description(State(service): State<Shared>) -> ApiResponse {
    ApiResponse::text("application/json", service.openapi.clone())
}
