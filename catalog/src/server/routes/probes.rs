//! Routes without a key: liveness, readiness, metrics and the OpenAPI description.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::CatalogError;
use crate::server::authentication::has_known_key;
use crate::server::error::{ApiError, Result};
use crate::server::response::ApiResponse;
use crate::store::StoreError;

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
