//! Stacks.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::extract::{Json, Path, Query};
use crate::server::list::{PageQuery, Paging, list};
use crate::server::preconditions::{self, Preconditions};
use crate::server::response::{ApiResponse, Result};
use crate::{Catalog, CatalogError, Stack, StackInput};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(list_stacks, create_stack)).routes(routes!(
        get_stack,
        update_stack,
        delete_stack
    ))
}

/// Query parameters of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct StacksQuery {
    /// Only the stacks of this generator. For administrators and read-only keys.
    pak_id: Option<Uuid>,
}

/// Lists all stacks that the caller can read.
#[utoipa::path(get, path = "/stacks", tag = "stacks", params(StacksQuery, PageQuery), responses(
    (status = 200, body = [Stack], description = "The stacks."),
    (status = 403, body = CatalogError, description = "`stacks_list_denied`"),
))]
async fn list_stacks(
    State(service): State<Shared>,
    caller: Caller,
    Query(StacksQuery { pak_id }): Query<StacksQuery>,
    paging: Paging,
) -> Result<ApiResponse> {
    let read = move |catalog: Catalog, page| async move { catalog.stacks(caller.actor, pak_id, &page).await };
    list(&service, paging, read, |row| row.id).await
}

/// Creates a stack.
#[utoipa::path(post, path = "/stacks", tag = "stacks", request_body = StackInput,
    responses(
        (status = 201, body = Stack, description = "The stack."),
        (status = 403, body = CatalogError, description = "`stack_create_denied`, `stack_generator_mismatch`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
        (status = 422, body = CatalogError, description = "`foreign_key_violation`, `invalid_body`, `idempotency_key_reused`"),
    ))]
async fn create_stack(
    State(service): State<Shared>,
    caller: Caller,
    Json { value, token, .. }: Json<StackInput>,
) -> Result<ApiResponse> {
    let (stack, replayed) = service.catalog.create_stack(caller.actor, &value, token.as_ref()).await?;
    Ok(ApiResponse::created(&stack)?.with_etag(&preconditions::change_etag(&stack.updated_at)).with_replayed(replayed))
}

/// Returns a stack.
#[utoipa::path(get, path = "/stacks/{id}", tag = "stacks", params(("id" = Uuid, Path)), responses(
    (status = 200, body = Stack, description = "The stack."),
    (status = 304, description = "The client has the current state."),
    (status = 403, body = CatalogError, description = "`stack_not_owned`"),
    (status = 404, body = CatalogError, description = "`stack_not_found`"),
))]
async fn get_stack(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let stack = service.catalog.stack(caller.actor, id).await?;
    Ok(ApiResponse::ok(&stack)?.or_not_modified(&preconditions::change_etag(&stack.updated_at), &preconditions))
}

/// Changes a stack.
#[utoipa::path(put, path = "/stacks/{id}", tag = "stacks",
    params(("id" = Uuid, Path)),
    request_body = Stack, responses(
        (status = 200, body = Stack, description = "The changed stack."),
        (status = 400, body = CatalogError, description = "`stack_id_mismatch`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`stack_not_owned`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
        (status = 412, body = CatalogError, description = "`precondition_failed`"),
        (status = 422, body = CatalogError, description = "`foreign_key_violation`, `invalid_body`"),
    ))]
async fn update_stack(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
    Json { value, .. }: Json<Stack>,
) -> Result<ApiResponse> {
    let present = async { Ok(service.catalog.stack(caller.actor, id).await?.updated_at) };
    let expected = preconditions.expected(present, preconditions::change_etag).await?;
    let stack = service.catalog.update_stack(caller.actor, id, &value, expected).await?;
    Ok(ApiResponse::ok(&stack)?.with_etag(&preconditions::change_etag(&stack.updated_at)))
}

/// Deletes a stack and its objects.
#[utoipa::path(delete, path = "/stacks/{id}", tag = "stacks", params(("id" = Uuid, Path)), responses(
    (status = 204, description = "Deleted."),
    (status = 403, body = CatalogError, description = "`stack_not_owned`"),
    (status = 404, body = CatalogError, description = "`stack_not_found`"),
))]
async fn delete_stack(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let present = async { Ok(service.catalog.stack(caller.actor, id).await?.updated_at) };
    let expected = preconditions.expected(present, preconditions::change_etag).await?;
    service.catalog.delete_stack(caller.actor, id, expected).await?;
    Ok(ApiResponse::no_content())
}
