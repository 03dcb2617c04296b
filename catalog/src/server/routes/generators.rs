//! Generators and keys, and the identification of a key.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::extract::{Caller, Json, Path, Query, RequestBody};
use crate::server::list::{PageQuery, Paging, list};
use crate::server::response;
use crate::server::response::{ApiResponse, Preconditions, Result};
use crate::{Actor, Catalog, CatalogError, Generator, GeneratorChange, GeneratorInput, KeyInput, KeyRow, Role};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list_generators, create_generator))
        .routes(routes!(get_generator, update_generator, delete_generator))
        .routes(routes!(rotate_generator_pak))
        .routes(routes!(list_keys, create_key))
        .routes(routes!(revoke_key))
        .routes(routes!(verify_pak))
}

/// A generator and its key. The key is shown only once.
#[derive(Debug, Serialize, ToSchema)]
struct CreateGeneratorResponse {
    /// The generator.
    generator: Generator,
    /// The key.
    pak: String,
}

/// Lists generators.
#[utoipa::path(get, path = "/generators", tag = "generators", params(PageQuery), responses(
    (status = 200, body = [Generator], description = "The generators."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
))]
async fn list_generators(State(service): State<Shared>, caller: Caller, paging: Paging) -> Result<ApiResponse> {
    let read = move |catalog: Catalog, page| async move { catalog.generators(caller.actor, &page).await };
    list(&service, paging, read, |row| row.id).await
}

/// Creates a generator and its key.
#[utoipa::path(post, path = "/generators", tag = "generators", request_body = GeneratorInput,
    responses(
        (status = 201, body = CreateGeneratorResponse, description = "The generator and its key."),
        (status = 403, body = CatalogError, description = "`admin_required`"),
        (status = 409, body = CatalogError, description = "`unique_violation`, `key_not_repeatable`"),
    ))]
async fn create_generator(
    State(service): State<Shared>,
    caller: Caller,
    Json { value, token, .. }: Json<GeneratorInput>,
) -> Result<ApiResponse> {
    with_key(service.catalog.create_generator(caller.actor, &value, token.as_ref()).await?)
}

/// A response with a generator and its key.
fn with_key((generator, pak, replayed): (Generator, String, bool)) -> Result<ApiResponse> {
    let tag = response::generator_etag(&generator);
    Ok(ApiResponse::created(&CreateGeneratorResponse { generator, pak })?.with_key_etag(&tag).with_replayed(replayed))
}

/// Returns a generator.
#[utoipa::path(get, path = "/generators/{id}", tag = "generators", params(("id" = Uuid, Path)), responses(
    (status = 200, body = Generator, description = "The generator."),
    (status = 304, description = "The client has the current state."),
    (status = 403, body = CatalogError, description = "`generator_not_owned`"),
    (status = 404, body = CatalogError, description = "`generator_not_found`"),
))]
async fn get_generator(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let generator = service.catalog.generator(caller.actor, id).await?;
    Ok(ApiResponse::ok(&generator)?.or_not_modified(&response::generator_etag(&generator), &preconditions))
}

/// Changes a generator. Absent fields keep their values.
#[utoipa::path(put, path = "/generators/{id}", tag = "generators", params(("id" = Uuid, Path)),
    request_body = GeneratorChange, responses(
        (status = 200, body = Generator, description = "The changed generator."),
        (status = 403, body = CatalogError, description = "`generator_not_owned`"),
        (status = 404, body = CatalogError, description = "`generator_not_found`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
    ))]
async fn update_generator(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
    Json { value, .. }: Json<GeneratorChange>,
) -> Result<ApiResponse> {
    let present = async { Ok(service.catalog.generator(caller.actor, id).await?.updated_at) };
    let expected = preconditions.expected(present, response::change_etag).await?;
    let generator = service.catalog.update_generator(caller.actor, id, &value, expected).await?;
    Ok(ApiResponse::ok(&generator)?.with_etag(&response::generator_etag(&generator)))
}

/// Deletes a generator with its templates and stacks, and revokes its keys.
#[utoipa::path(delete, path = "/generators/{id}", tag = "generators", params(("id" = Uuid, Path)), responses(
    (status = 204, description = "Deleted."),
    (status = 403, body = CatalogError, description = "`generator_not_owned`, `cannot_delete_system_generator`"),
    (status = 404, body = CatalogError, description = "`generator_not_found`"),
))]
async fn delete_generator(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let present = async { Ok(service.catalog.generator(caller.actor, id).await?.updated_at) };
    let expected = preconditions.expected(present, response::change_etag).await?;
    service.catalog.delete_generator(caller.actor, id, expected).await?;
    Ok(ApiResponse::no_content())
}

/// Replaces the key of a generator and revokes the old one.
#[utoipa::path(post, path = "/generators/{id}/rotate-pak", tag = "generators", params(("id" = Uuid, Path)), responses(
    (status = 201, body = CreateGeneratorResponse, description = "The generator and its new key."),
    (status = 403, body = CatalogError, description = "`generator_not_owned`"),
    (status = 404, body = CatalogError, description = "`generator_not_found`"),
    (status = 408, body = CatalogError, description = "`request_timeout`"),
    (status = 409, body = CatalogError, description = "`key_not_repeatable`"),
    (status = 413, body = CatalogError, description = "`payload_too_large`"),
    (status = 422, body = CatalogError, description = "`idempotency_key_reused`"),
))]
async fn rotate_generator_pak(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    body: RequestBody,
) -> Result<ApiResponse> {
    with_key(service.catalog.rotate(caller.actor, id, body.token.as_ref()).await?)
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
    let tag = response::row_etag(key.id);
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
    preconditions.check_if_match(&response::row_etag(id))?;
    service.catalog.revoke_key(caller.actor, id, force).await?;
    Ok(ApiResponse::no_content())
}

/// The holder of a key.
#[derive(Debug, Serialize, ToSchema)]
struct AuthResponse {
    /// `true` for an administrator.
    admin: bool,
    /// ID of the agent.
    agent: Option<String>,
    /// ID of the generator.
    generator: Option<String>,
    /// `true` for a read-only key.
    readonly: bool,
}

/// Identifies the caller's key.
#[utoipa::path(post, path = "/auth/pak", tag = "auth", responses((status = 200, body = AuthResponse, description = "The holder of the key.")))]
async fn verify_pak(caller: Caller) -> Result<ApiResponse> {
    let actor = caller.actor;
    ApiResponse::ok(&AuthResponse {
        admin: actor == Actor::Admin,
        // Agents have no IDs of their own: the catalog does not store agents.
        agent: (actor.role() == Role::Agent).then(|| caller.key.clone()),
        generator: actor.generator().map(|id| id.to_string()),
        readonly: actor == Actor::Readonly,
    })
}
