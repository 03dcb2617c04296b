//! Whether the service lives, whether it is ready, what it counts, and what it can do. No key is wanted.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::Refusal;
use crate::server::answer::Answer;
use crate::server::failure::{Failure, Result};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(healthz))
        .routes(routes!(readyz))
        .routes(routes!(metrics))
        .routes(routes!(description))
}

/// Whether the service lives.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = String, description = "It does.")))]
async fn healthz() -> &'static str {
    "OK"
}

/// Whether the service can do its work: whether the store answers.
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, body = String, description = "It can."),
    (status = 503, body = Refusal, description = "The store does not answer: `not_ready`."),
))]
async fn readyz(State(service): State<Shared>) -> Response {
    match service.catalog.store().ready().await {
        Ok(()) => "Ready".into_response(),
        Err(_) => {
            let message = "the store does not answer";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", message).after(1).into_response()
        }
    }
}

/// What the service counts, in the text format of Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "health", responses(
    (status = 200, body = String, description = "The counters."),
    (status = 500, body = Refusal, description = "`internal_error`"),
))]
async fn metrics(State(service): State<Shared>) -> Result<Answer> {
    // When the store does not answer the other counters are wanted all the more.
    if let Ok(counts) = service.catalog.store().counts().await {
        service.metrics.holds(&counts);
    }
    service.metrics.renders(&service.catalog.renderer().figures());
    let text = service.metrics.text().map_err(|_| Failure::internal("the counters cannot be written"))?;
    Ok(Answer::text("text/plain; version=0.0.4; charset=utf-8", text))
}

/// This description.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "health", responses(
    (status = 200, body = Object, content_type = "application/json", description = "OpenAPI."),
))]
async fn description(State(service): State<Shared>) -> Answer {
    Answer::text("application/json", service.openapi.clone())
}
