//! Keys without a generator.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::extract::{Json, Path, Query};
use crate::server::preconditions::{self, Preconditions};
use crate::server::response::ApiResponse;
use crate::{CatalogError, KeyInput, KeyRow};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(list_keys, create_key)).routes(routes!(revoke_key))
}

/// A key. It is shown only once.
#[derive(Debug, Serialize, ToSchema)]
struct CreateKeyResponse {
    /// The stored row.
    key: KeyRow,
    /// The key.
    pak: String,
}

/// Lists keys, without their secrets.
#[utoipa::path(get, path = "/keys", tag = "keys", responses(
    (status = 200, body = [KeyRow], description = "The keys, including revoked ones."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
))]
async fn list_keys(State(service): State<Shared>, caller: Caller) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.keys(caller.actor).await?)
}

/// Creates a key.
#[utoipa::path(post, path = "/keys", tag = "keys", request_body = KeyInput, responses(
    (status = 201, body = CreateKeyResponse, description = "The key."),
    (status = 400, body = CatalogError, description = "`invalid_role`, `invalid_name`, `invalid_expiry`, `invalid_json`"),
    (status = 403, body = CatalogError, description = "`admin_required`"),
    (status = 409, body = CatalogError, description = "`key_not_repeatable`"),
))]
async fn create_key(
    State(service): State<Shared>,
    caller: Caller,
    Json { value, token, .. }: Json<KeyInput>,
) -> Result<ApiResponse> {
    let (key, pak, replayed) = service.catalog.create_key(caller.actor, &value, token.as_ref()).await?;
    let tag = preconditions::row_etag(key.id);
    Ok(ApiResponse::created(&CreateKeyResponse { key, pak })?.with_key_etag(&tag).with_replayed(replayed))
}

/// Query parameters of a revocation.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RevokeQuery {
    /// `true` to revoke even the last live administrator key.
    #[serde(default)]
    force: bool,
}

/// Revokes a key immediately.
#[utoipa::path(delete, path = "/keys/{id}", tag = "keys", params(("id" = Uuid, Path), RevokeQuery), responses(
    (status = 204, description = "Revoked."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
    (status = 404, body = CatalogError, description = "`key_not_found`"),
    (status = 409, body = CatalogError, description = "`last_admin_key`"),
))]
async fn revoke_key(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(RevokeQuery { force }): Query<RevokeQuery>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    preconditions.check_if_match(&preconditions::row_etag(id))?;
    service.catalog.revoke_key(caller.actor, id, force).await?;
    Ok(ApiResponse::no_content())
}
