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
use crate::server::extract::{Json, Path};
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
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes it safe to repeat the request.")),
    responses(
        (status = 201, body = CreateGeneratorResponse, description = "The generator and its key."),
        (status = 403, body = CatalogError, description = "`admin_required`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
    ))]
async fn create_generator(
    State(service): State<Shared>,
    caller: Caller,
    Json { value, token, .. }: Json<GeneratorInput>,
) -> Result<ApiResponse> {
    let (generator, pak) = service.catalog.create_generator(caller.actor, &value, token.as_ref()).await?;
    ApiResponse::created(&CreateGeneratorResponse { generator, pak })
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
    Json { value, .. }: Json<GeneratorChange>,
) -> Result<ApiResponse> {
    let generator = service.catalog.update_generator(caller.actor, id, &value).await?;
    Ok(ApiResponse::ok(&generator)?.with_etag(&preconditions::generator_etag(&generator)))
}

/// Deletes a generator with its templates and stacks, and revokes its keys.
#[utoipa::path(delete, path = "/generators/{id}", tag = "generators", params(("id" = Uuid, Path)), responses(
    (status = 204, description = "Deleted."),
    (status = 403, body = CatalogError, description = "`generator_not_owned`, `cannot_delete_system_generator`"),
    (status = 404, body = CatalogError, description = "`generator_not_found`"),
))]
async fn delete_generator(State(service): State<Shared>, caller: Caller, Path(id): Path<Uuid>) -> Result<ApiResponse> {
    service.catalog.delete_generator(caller.actor, id).await?;
    Ok(ApiResponse::no_content())
}

/// Replaces the key of a generator and revokes the old one.
#[utoipa::path(post, path = "/generators/{id}/rotate-pak", tag = "generators", params(("id" = Uuid, Path)), responses(
    (status = 201, body = CreateGeneratorResponse, description = "The generator and its new key."),
    (status = 403, body = CatalogError, description = "`generator_not_owned`"),
    (status = 404, body = CatalogError, description = "`generator_not_found`"),
))]
async fn rotate_generator_pak(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<ApiResponse> {
    let (generator, pak) = service.catalog.rotate(caller.actor, id).await?;
    ApiResponse::created(&CreateGeneratorResponse { generator, pak })
}
