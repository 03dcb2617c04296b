//! Removing deleted rows for good.

use axum::extract::State;
use chrono::TimeDelta;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::CatalogError;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::extract::Json;
use crate::server::response::ApiResponse;
use crate::store::Purged;

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(purge))
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
