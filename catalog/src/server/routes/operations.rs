//! Routes for operators: liveness, readiness and the OpenAPI description, which need no key; metrics, for administrators
//! and read-only keys, and without a key on the probe listener; the audit trail and the purge.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use chrono::TimeDelta;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::extract::{Caller, Json, Query, has_known_key};
use crate::server::list::{PageQuery, Paging, list};
use crate::server::response::{ApiError, ApiResponse, Result};
use crate::store::{Purged, StoreError};
use crate::{AuditEntry, Catalog, CatalogError};

/// The audit trail and the purge.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(list_audit)).routes(routes!(purge))
}

/// The routes that need no key.
pub(super) fn open_routes() -> OpenApiRouter<Shared> {
    health().routes(routes!(description))
}

/// The routes of liveness and readiness.
fn health() -> OpenApiRouter<Shared> {
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

/// The route of the metrics, which needs a key.
pub(super) fn metrics_routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(metrics))
}

/// The routes of the probe listener, which need no key.
pub(in crate::server) fn probe_router(service: &Shared) -> Router {
    Router::from(health()).route("/metrics", get(probe_metrics)).with_state(service.clone())
}

/// Returns metrics in the text format of Prometheus. The numbers of rows are counted every 15 seconds.
#[utoipa::path(get, path = "/metrics", tag = "health", responses(
    (status = 200, body = String, description = "The metrics."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
))]
async fn metrics(State(service): State<Shared>, caller: Caller) -> Result<ApiResponse> {
    caller.actor.require_read_all()?;
    metrics_text(&service)
}

async fn probe_metrics(State(service): State<Shared>) -> Result<ApiResponse> {
    metrics_text(&service)
}

fn metrics_text(service: &Shared) -> Result<ApiResponse> {
    service.metrics.measure(&service.catalog);
    let text = service.metrics.text().map_err(|_| ApiError::internal("cannot write the metrics"))?;
    Ok(ApiResponse::text("text/plain; version=0.0.4; charset=utf-8", text))
}

/// Query parameters of the audit trail.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    /// ID of an object, to list only its changes.
    object: Option<Uuid>,
}

/// Lists who changed what, newest first. Entries hold no parameters and no secrets.
///
/// Without a limit, a page has at most 1000 entries.
#[utoipa::path(get, path = "/audit", tag = "audit", params(AuditQuery, PageQuery), responses(
    (status = 200, body = [AuditEntry], description = "The recorded changes."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
))]
async fn list_audit(
    State(service): State<Shared>,
    caller: Caller,
    Query(query): Query<AuditQuery>,
    paging: Paging,
) -> Result<ApiResponse> {
    let read = move |catalog: Catalog, page| async move { catalog.audit(caller.actor, query.object, &page).await };
    list(&service, paging.or_longest(), read, |row| row.id).await
}

/// A request to remove deleted rows.
#[derive(Debug, Deserialize, ToSchema)]
struct PurgeRequest {
    /// Age of the deletion in seconds.
    older_than_seconds: u32,
    /// Age of the entries of the audit trail to remove, in seconds. Default: none are removed.
    #[serde(default)]
    audit_older_than_seconds: Option<u32>,
}

/// Removes what was deleted some time ago: stacks with their objects, and template versions. With
/// `audit_older_than_seconds` also removes old entries of the audit trail; the entry of this request stays.
///
/// A version that was deleted stays while the provenance of an object names it, so that the object can be verified. Send
/// the request again while `more` is set.
#[utoipa::path(post, path = "/purge", tag = "purge", request_body = PurgeRequest, responses(
    (status = 200, body = Purged, description = "The numbers of removed rows."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
))]
async fn purge(
    State(service): State<Shared>,
    caller: Caller,
    Json { value, .. }: Json<PurgeRequest>,
) -> Result<ApiResponse> {
    let age = |seconds: u32| TimeDelta::seconds(i64::from(seconds));
    let (older_than, audit_older_than) = (age(value.older_than_seconds), value.audit_older_than_seconds.map(age));
    ApiResponse::ok(&service.catalog.purge(caller.actor, older_than, audit_older_than).await?)
}
