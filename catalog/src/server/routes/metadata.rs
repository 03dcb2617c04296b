//! Labels and annotations of templates and stacks. The body of a label is a JSON string.

use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::extract::{Caller, Json, Path};
use crate::server::response;
use crate::server::response::{ApiError, ApiResponse, Preconditions, Result};
use crate::store::IdempotencyToken;
use crate::{CatalogError, MetadataKind, MetadataOwner, MetadataRow};

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

/// A label that a stack must have.
#[derive(Debug, Serialize, ToSchema)]
struct TemplateLabel {
    /// ID of the row.
    id: Uuid,
    /// ID of the template version.
    template_id: Uuid,
    /// The label.
    label: String,
    /// Creation time.
    created_at: DateTime<Utc>,
}

/// An annotation that a stack must have, with the same value.
#[derive(Debug, Serialize, ToSchema)]
struct TemplateAnnotation {
    /// ID of the row.
    id: Uuid,
    /// ID of the template version.
    template_id: Uuid,
    /// Key.
    key: String,
    /// Value.
    value: String,
    /// Creation time.
    created_at: DateTime<Utc>,
}

/// A label of a stack.
#[derive(Debug, Serialize, ToSchema)]
struct StackLabel {
    /// ID of the row.
    id: Uuid,
    /// ID of the stack.
    stack_id: Uuid,
    /// The label.
    label: String,
}

/// An annotation of a stack.
#[derive(Debug, Serialize, ToSchema)]
struct StackAnnotation {
    /// ID of the row.
    id: Uuid,
    /// ID of the stack.
    stack_id: Uuid,
    /// Key.
    key: String,
    /// Value.
    value: String,
}

impl From<MetadataRow> for TemplateLabel {
    fn from(row: MetadataRow) -> Self {
        let (template_id, created_at) = (row.owner.id(), row.created_at.unwrap_or_default());
        Self { id: row.id, template_id, label: row.key, created_at }
    }
}

impl From<MetadataRow> for TemplateAnnotation {
    fn from(row: MetadataRow) -> Self {
        let (template_id, created_at) = (row.owner.id(), row.created_at.unwrap_or_default());
        Self { id: row.id, template_id, key: row.key, value: row.value.unwrap_or_default(), created_at }
    }
}

impl From<MetadataRow> for StackLabel {
    fn from(row: MetadataRow) -> Self {
        Self { id: row.id, stack_id: row.owner.id(), label: row.key }
    }
}

impl From<MetadataRow> for StackAnnotation {
    fn from(row: MetadataRow) -> Self {
        Self { id: row.id, stack_id: row.owner.id(), key: row.key, value: row.value.unwrap_or_default() }
    }
}

async fn list<T: From<MetadataRow> + Serialize>(
    service: &Shared,
    caller: &Caller,
    owner: MetadataOwner,
    kind: MetadataKind,
) -> Result<ApiResponse> {
    let rows = service.catalog.metadata(caller.actor, owner, kind).await?;
    ApiResponse::ok(&rows.into_iter().map(T::from).collect::<Vec<_>>())
}

async fn add<T: From<MetadataRow> + Serialize>(
    service: &Shared,
    caller: &Caller,
    owner: MetadataOwner,
    new: (&str, Option<&str>),
    token: Option<&IdempotencyToken>,
) -> Result<ApiResponse> {
    let (row, replayed) = service.catalog.add_metadata(caller.actor, owner, new, token).await?;
    let tag = response::row_etag(row.id);
    Ok(ApiResponse::created(&T::from(row))?.with_etag(&tag).with_replayed(replayed))
}

async fn remove(
    service: &Shared,
    caller: &Caller,
    owner: MetadataOwner,
    (kind, key): (MetadataKind, &str),
    preconditions: &Preconditions,
) -> Result<ApiResponse> {
    let expected = if preconditions.has_if_match() {
        let rows = service.catalog.metadata(caller.actor, owner, kind).await?;
        // A row that is absent is not found later.
        let present = rows.into_iter().find(|row| row.key == key).map(|row| row.id);
        present.map_or(Ok(()), |id| preconditions.check_if_match(&response::row_etag(id)))?;
        present
    } else {
        None
    };
    service.catalog.remove_metadata(caller.actor, owner, (kind, key), expected).await?;
    Ok(ApiResponse::no_content())
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
    list::<TemplateLabel>(&service, &caller, MetadataOwner::Template(id), MetadataKind::Label).await
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
    add::<TemplateLabel>(&service, &caller, MetadataOwner::Template(id), (value.as_str(), None), token.as_ref()).await
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
    let metadata = (MetadataKind::Label, &*label);
    remove(&service, &caller, MetadataOwner::Template(id), metadata, &preconditions).await
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
    list::<TemplateAnnotation>(&service, &caller, MetadataOwner::Template(id), MetadataKind::Annotation).await
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
    let owner = MetadataOwner::Template(id);
    add::<TemplateAnnotation>(&service, &caller, owner, (new.key.as_str(), Some(new.value.as_str())), token.as_ref())
        .await
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
    let metadata = (MetadataKind::Annotation, &*key);
    remove(&service, &caller, MetadataOwner::Template(id), metadata, &preconditions).await
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
    list::<StackLabel>(&service, &caller, MetadataOwner::Stack(id), MetadataKind::Label).await
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
    add::<StackLabel>(&service, &caller, MetadataOwner::Stack(id), (value.as_str(), None), token.as_ref()).await
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
    let metadata = (MetadataKind::Label, &*label);
    remove(&service, &caller, MetadataOwner::Stack(id), metadata, &preconditions).await
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
    list::<StackAnnotation>(&service, &caller, MetadataOwner::Stack(id), MetadataKind::Annotation).await
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
    let owner = MetadataOwner::Stack(id);
    add::<StackAnnotation>(&service, &caller, owner, (new.key.as_str(), Some(new.value.as_str())), token.as_ref()).await
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
    let metadata = (MetadataKind::Annotation, &*key);
    remove(&service, &caller, MetadataOwner::Stack(id), metadata, &preconditions).await
}
