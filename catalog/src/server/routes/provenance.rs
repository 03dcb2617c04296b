//! Provenance of deployment objects, and previews of other versions.

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::extract::Path;
use crate::server::paging::{PageQuery, Paging};
use crate::server::response::ApiResponse;
use crate::{CatalogError, Changes, Provenance, Verification};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(get_provenance))
        .routes(routes!(verify_deployment_object))
        .routes(routes!(list_template_changes))
}

/// Returns the provenance of an object. Secret parameters are redacted.
#[utoipa::path(get, path = "/deployment-objects/{id}/provenance", tag = "deployment-objects",
    params(("id" = Uuid, Path)), responses(
        (status = 200, body = Provenance, description = "The record."),
        (status = 403, body = CatalogError, description = "`agent_not_associated`, `generator_not_associated`"),
        (status = 404, body = CatalogError, description = "`deployment_object_not_found`, `provenance_not_found`"),
    ))]
async fn get_provenance(State(service): State<Shared>, caller: Caller, Path(id): Path<Uuid>) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.provenance(caller.actor, id).await?)
}

/// Renders an object again and compares the bytes.
#[utoipa::path(post, path = "/deployment-objects/{id}/verify", tag = "deployment-objects",
    params(("id" = Uuid, Path)), responses(
        (status = 200, body = Verification, description = "The result."),
        (status = 403, body = CatalogError, description = "`agent_not_associated`, `generator_not_associated`, \
            `template_not_accessible`"),
        (status = 404, body = CatalogError, description = "`deployment_object_not_found`, `provenance_not_found`"),
    ))]
async fn verify_deployment_object(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.verify(caller.actor, id).await?)
}

/// Previews the changes if all instances of a template were rendered with this version. Instances with the same changed
/// lines are grouped. Nothing is stored.
///
/// `next` is the cursor of the next page. A page covers at most 1000 instances, and ends early after 8 MiB of texts.
#[utoipa::path(post, path = "/templates/{id}/changes", tag = "templates", params(("id" = Uuid, Path), PageQuery),
    responses(
        (status = 200, body = Changes, description = "The changes."),
        (status = 403, body = CatalogError, description = "`template_not_accessible`"),
        (status = 404, body = CatalogError, description = "`template_not_found`"),
    ))]
async fn list_template_changes(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    paging: Paging,
) -> Result<ApiResponse> {
    let changes = service.catalog.preview_changes(caller.actor, id, &paging.bounded()).await?;
    let response = ApiResponse::ok(&changes)?;
    Ok(match changes.next {
        Some(next) => paging.with_next(response, next),
        None => response,
    })
}
