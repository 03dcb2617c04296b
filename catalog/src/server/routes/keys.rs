//! Keys without a generator.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::extract::{Json, Path};
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
))]
async fn create_key(
    State(service): State<Shared>,
    caller: Caller,
    Json { value, .. }: Json<KeyInput>,
) -> Result<ApiResponse> {
    let (key, pak) = service.catalog.create_key(caller.actor, &value).await?;
    ApiResponse::created(&CreateKeyResponse { key, pak })
}

/// Revokes a key immediately.
#[utoipa::path(delete, path = "/keys/{id}", tag = "keys", params(("id" = Uuid, Path)), responses(
    (status = 204, description = "Revoked."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
    (status = 404, body = CatalogError, description = "`key_not_found`"),
))]
async fn revoke_key(State(service): State<Shared>, caller: Caller, Path(id): Path<Uuid>) -> Result<ApiResponse> {
    service.catalog.revoke_key(caller.actor, id).await?;
    Ok(ApiResponse::no_content())
}
