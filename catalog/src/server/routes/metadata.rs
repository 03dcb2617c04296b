//! Labels and annotations of templates and stacks. The body of a label is a JSON string.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::{ApiError, Result};
use crate::server::extract::{Json, Path};
use crate::server::preconditions::{self, Preconditions};
use crate::server::response::ApiResponse;
use crate::{CatalogError, StackAnnotation, StackLabel, TemplateAnnotation, TemplateLabel};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(templates_list_labels, templates_add_label))
        .routes(routes!(templates_remove_label))
        .routes(routes!(templates_list_annotations, templates_add_annotation))
        .routes(routes!(templates_remove_annotation))
        .routes(routes!(stacks_list_labels, stacks_add_label))
        .routes(routes!(stacks_remove_label))
        .routes(routes!(stacks_list_annotations, stacks_add_annotation))
        .routes(routes!(stacks_remove_annotation))
}

/// A request to add an annotation to a template.
#[derive(Debug, Deserialize, ToSchema)]
struct AddAnnotationRequest {
    /// Key.
    key: String,
    /// Value.
    value: String,
}

/// A request to add an annotation to a stack.
#[derive(Debug, Deserialize, ToSchema)]
struct NewStackAnnotation {
    /// ID of the stack, as in the path.
    stack_id: Uuid,
    /// Key.
    key: String,
    /// Value.
    value: String,
}

/// A response with a row that was added, now or by an earlier request.
fn respond<T: Serialize>((row, replayed): (T, bool), id: impl Fn(&T) -> Uuid) -> Result<ApiResponse> {
    let tag = preconditions::row_etag(id(&row));
    Ok(ApiResponse::created(&row)?.with_etag(&tag).with_replayed(replayed))
}

/// The ID of the row that `If-Match` requires. A row that is absent is not found later.
async fn expected<T>(
    preconditions: &Preconditions,
    rows: impl Future<Output = crate::Result<Vec<T>>>,
    id: impl Fn(&T) -> Option<Uuid>,
) -> Result<Option<Uuid>> {
    if !preconditions.has_if_match() {
        return Ok(None);
    }
    let present = rows.await?.iter().find_map(id);
    present.map_or(Ok(()), |id| preconditions.check_if_match(&preconditions::row_etag(id)))?;
    Ok(present)
}

/// Lists the labels that a template requires of stacks.
#[utoipa::path(get, path = "/templates/{id}/labels", tag = "templates", params(("id" = Uuid, Path)), responses(
    (status = 200, body = [TemplateLabel], description = "The labels."),
    (status = 403, body = CatalogError, description = "`template_not_accessible`"),
    (status = 404, body = CatalogError, description = "`template_not_found`"),
))]
async fn templates_list_labels(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.template_labels(caller.actor, id).await?)
}

/// Adds a label to a template.
#[utoipa::path(post, path = "/templates/{id}/labels", tag = "templates", params(("id" = Uuid, Path)),
    request_body(content = String, content_type = "application/json"), responses(
        (status = 201, body = TemplateLabel, description = "The label."),
        (status = 400, body = CatalogError, description = "`invalid_label`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`template_not_owned`"),
        (status = 404, body = CatalogError, description = "`template_not_found`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
    ))]
async fn templates_add_label(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Json { value, token, .. }: Json<String>,
) -> Result<ApiResponse> {
    let added = service.catalog.add_template_label(caller.actor, id, &value, token.as_ref());
    respond(added.await?, |row| row.id)
}

/// Removes a label from a template.
#[utoipa::path(delete, path = "/templates/{id}/labels/{label}", tag = "templates",
    params(("id" = Uuid, Path), ("label" = String, Path)), responses(
        (status = 204, description = "Removed."),
        (status = 403, body = CatalogError, description = "`template_not_owned`"),
        (status = 404, body = CatalogError, description = "`template_not_found`, `template_label_not_found`"),
    ))]
async fn templates_remove_label(
    State(service): State<Shared>,
    caller: Caller,
    Path((id, label)): Path<(Uuid, String)>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let rows = service.catalog.template_labels(caller.actor, id);
    let expected = expected(&preconditions, rows, |row| (row.label == label).then_some(row.id)).await?;
    service.catalog.remove_template_label(caller.actor, id, &label, expected).await?;
    Ok(ApiResponse::no_content())
}

/// Lists the annotations that a template requires of stacks.
#[utoipa::path(get, path = "/templates/{id}/annotations", tag = "templates", params(("id" = Uuid, Path)), responses(
    (status = 200, body = [TemplateAnnotation], description = "The annotations."),
    (status = 403, body = CatalogError, description = "`template_not_accessible`"),
    (status = 404, body = CatalogError, description = "`template_not_found`"),
))]
async fn templates_list_annotations(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.template_annotations(caller.actor, id).await?)
}

/// Adds an annotation to a template.
#[utoipa::path(post, path = "/templates/{id}/annotations", tag = "templates", params(("id" = Uuid, Path)),
    request_body = AddAnnotationRequest, responses(
        (status = 201, body = TemplateAnnotation, description = "The annotation."),
        (status = 400, body = CatalogError, description = "`invalid_annotation`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`template_not_owned`"),
        (status = 404, body = CatalogError, description = "`template_not_found`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
    ))]
async fn templates_add_annotation(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Json { value: new, token, .. }: Json<AddAnnotationRequest>,
) -> Result<ApiResponse> {
    let added = service.catalog.add_template_annotation(caller.actor, id, &new.key, &new.value, token.as_ref());
    respond(added.await?, |row| row.id)
}

/// Removes an annotation from a template.
#[utoipa::path(delete, path = "/templates/{id}/annotations/{key}", tag = "templates",
    params(("id" = Uuid, Path), ("key" = String, Path)), responses(
        (status = 204, description = "Removed."),
        (status = 403, body = CatalogError, description = "`template_not_owned`"),
        (status = 404, body = CatalogError, description = "`template_not_found`, `template_annotation_not_found`"),
    ))]
async fn templates_remove_annotation(
    State(service): State<Shared>,
    caller: Caller,
    Path((id, key)): Path<(Uuid, String)>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let rows = service.catalog.template_annotations(caller.actor, id);
    let expected = expected(&preconditions, rows, |row| (row.key == key).then_some(row.id)).await?;
    service.catalog.remove_template_annotation(caller.actor, id, &key, expected).await?;
    Ok(ApiResponse::no_content())
}

/// Lists the labels of a stack.
#[utoipa::path(get, path = "/stacks/{id}/labels", tag = "stacks", params(("id" = Uuid, Path)), responses(
    (status = 200, body = [StackLabel], description = "The labels."),
    (status = 403, body = CatalogError, description = "`stack_not_accessible`"),
    (status = 404, body = CatalogError, description = "`stack_not_found`"),
))]
async fn stacks_list_labels(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.stack_labels(caller.actor, id).await?)
}

/// Adds a label to a stack.
#[utoipa::path(post, path = "/stacks/{id}/labels", tag = "stacks", params(("id" = Uuid, Path)),
    request_body(content = String, content_type = "application/json"), responses(
        (status = 201, body = StackLabel, description = "The label."),
        (status = 400, body = CatalogError, description = "`invalid_label`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`stack_not_owned`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
    ))]
async fn stacks_add_label(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Json { value, token, .. }: Json<String>,
) -> Result<ApiResponse> {
    let added = service.catalog.add_stack_label(caller.actor, id, &value, token.as_ref());
    respond(added.await?, |row| row.id)
}

/// Removes a label from a stack.
#[utoipa::path(delete, path = "/stacks/{id}/labels/{label}", tag = "stacks",
    params(("id" = Uuid, Path), ("label" = String, Path)), responses(
        (status = 204, description = "Removed."),
        (status = 403, body = CatalogError, description = "`stack_not_owned`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`, `stack_label_not_found`"),
    ))]
async fn stacks_remove_label(
    State(service): State<Shared>,
    caller: Caller,
    Path((id, label)): Path<(Uuid, String)>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let rows = service.catalog.stack_labels(caller.actor, id);
    let expected = expected(&preconditions, rows, |row| (row.label == label).then_some(row.id)).await?;
    service.catalog.remove_stack_label(caller.actor, id, &label, expected).await?;
    Ok(ApiResponse::no_content())
}

/// Lists the annotations of a stack.
#[utoipa::path(get, path = "/stacks/{id}/annotations", tag = "stacks", params(("id" = Uuid, Path)), responses(
    (status = 200, body = [StackAnnotation], description = "The annotations."),
    (status = 403, body = CatalogError, description = "`stack_not_accessible`"),
    (status = 404, body = CatalogError, description = "`stack_not_found`"),
))]
async fn stacks_list_annotations(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
) -> Result<ApiResponse> {
    ApiResponse::ok(&service.catalog.stack_annotations(caller.actor, id).await?)
}

/// Adds an annotation to a stack.
#[utoipa::path(post, path = "/stacks/{id}/annotations", tag = "stacks", params(("id" = Uuid, Path)),
    request_body = NewStackAnnotation, responses(
        (status = 201, body = StackAnnotation, description = "The annotation."),
        (status = 400, body = CatalogError, description = "`stack_id_mismatch`, `invalid_annotation`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`stack_not_owned`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
    ))]
async fn stacks_add_annotation(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Json { value: new, token, .. }: Json<NewStackAnnotation>,
) -> Result<ApiResponse> {
    if new.stack_id != id {
        return Err(ApiError::invalid("stack_id_mismatch", "stack ID mismatch"));
    }
    let added = service.catalog.add_stack_annotation(caller.actor, id, &new.key, &new.value, token.as_ref());
    respond(added.await?, |row| row.id)
}

/// Removes an annotation from a stack.
#[utoipa::path(delete, path = "/stacks/{id}/annotations/{key}", tag = "stacks",
    params(("id" = Uuid, Path), ("key" = String, Path)), responses(
        (status = 204, description = "Removed."),
        (status = 403, body = CatalogError, description = "`stack_not_owned`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`, `stack_annotation_not_found`"),
    ))]
async fn stacks_remove_annotation(
    State(service): State<Shared>,
    caller: Caller,
    Path((id, key)): Path<(Uuid, String)>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let rows = service.catalog.stack_annotations(caller.actor, id);
    let expected = expected(&preconditions, rows, |row| (row.key == key).then_some(row.id)).await?;
    service.catalog.remove_stack_annotation(caller.actor, id, &key, expected).await?;
    Ok(ApiResponse::no_content())
}
