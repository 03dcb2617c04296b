//! Generators and their keys.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::extract::{Json, Path, RequestBody};
use crate::server::list::list;
use crate::server::paging::{PageQuery, Paging};
use crate::server::preconditions::{self, Preconditions};
use crate::server::response::ApiResponse;
use crate::{CatalogError, Generator, GeneratorChange, GeneratorInput};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list_generators, create_generator))
        .routes(routes!(get_generator, update_generator, delete_generator))
        .routes(routes!(rotate_generator_pak))
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
    let catalog = service.catalog.clone();
    let read = move |page| {
        let catalog = catalog.clone();
        async move { catalog.generators(caller.actor, &page).await }
    };
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
    let tag = preconditions::generator_etag(&generator);
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
    Ok(ApiResponse::ok(&generator)?.or_not_modified(&preconditions::generator_etag(&generator), &preconditions))
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
    let expected = preconditions.expected(present, preconditions::change_etag).await?;
    let generator = service.catalog.update_generator(caller.actor, id, &value, expected).await?;
    Ok(ApiResponse::ok(&generator)?.with_etag(&preconditions::generator_etag(&generator)))
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
    let expected = preconditions.expected(present, preconditions::change_etag).await?;
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
