//! Provenance of deployment objects, and previews of other versions.

use axum::extract::State;
use dropforge::bulk::why::{Answer, LinePlace};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::extract::{Path, Query};
use crate::server::paging::{PageQuery, Paging};
use crate::server::response::ApiResponse;
use crate::{CatalogError, Changes, Provenance, Verification};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(get_provenance))
        .routes(routes!(verify_deployment_object))
        .routes(routes!(explain_deployment_object))
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

/// A place in the text of an object.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct PlaceQuery {
    /// Number of the line, from 1.
    #[param(minimum = 1)]
    line: usize,
    /// Number of the column in characters, from 1. Default: the last value of the line, and in it the first part that is not
    /// text of the template.
    #[param(minimum = 1)]
    column: Option<usize>,
}

/// Tells what wrote a line of an object, and where its values come from. Secret parameters are not shown.
///
/// The object is rendered again from its record. `file` of the answer is the ID of the object.
#[utoipa::path(get, path = "/deployment-objects/{id}/why", tag = "deployment-objects",
    params(("id" = Uuid, Path), PlaceQuery), responses(
        (status = 200, body = Answer, description = "The answer."),
        (status = 403, body = CatalogError, description = "`agent_not_associated`, `generator_not_associated`, \
            `template_not_accessible`"),
        (status = 404, body = CatalogError, description = "`deployment_object_not_found`, `provenance_not_found`"),
        (status = 400, body = CatalogError, description = "`line_not_found`, `line_not_rendered`, `render_too_long`, \
            `template_render_failed`"),
    ))]
async fn explain_deployment_object(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(PlaceQuery { line, column }): Query<PlaceQuery>,
) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.why(caller.actor, id, LinePlace { line, column }).await?)
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
