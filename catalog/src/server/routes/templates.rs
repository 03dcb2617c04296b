//! Template versions: each is a resource of its own, the newest is found by its name. Stacks.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::review::Review;
use crate::server::extract::{Caller, Json, MayBePacked, Path, Query, TemplateBody};
use crate::server::list::{PageQuery, Paging, list};
use crate::server::response;
use crate::server::response::{ApiError, ApiResponse, Preconditions, Result};
use crate::store::TemplateSearch;
use crate::{
    Catalog, CatalogError, Content, Created, Encoding, Language, Owner, Stack, StackInput, TemplateChange,
    TemplateInput, TemplateVersion,
};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list_templates, create_template))
        .routes(routes!(check_template))
        .routes(routes!(get_template, update_template, delete_template))
        .routes(routes!(get_newest_template))
        .routes(routes!(list_template_versions))
}

/// Query parameters of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct TemplatesQuery {
    /// Only templates with this name.
    name: Option<String>,
    /// Only templates whose name contains this text, without regard to the case of ASCII letters.
    search: Option<String>,
    /// `true` to list only the newest version of each template.
    latest: Option<bool>,
}

impl TemplatesQuery {
    /// The search, if the request is one.
    fn search(&self) -> Result<Option<TemplateSearch>> {
        if self.search.is_none() && self.latest.is_none() {
            return Ok(None);
        }
        if self.name.is_some() {
            let message = "use either `name`, or `search` and `latest`";
            return Err(ApiError::invalid("invalid_query", message));
        }
        let text = self.search.clone().unwrap_or_default();
        Ok(Some(TemplateSearch { text, newest: self.latest.unwrap_or_default() }))
    }
}

/// Query parameters of a review.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct ReviewQuery {
    /// `true` to reject a template that disagrees with its schema.
    #[serde(default)]
    strict: bool,
}

/// A request to check a template against its schema.
#[derive(Debug, Deserialize, ToSchema)]
struct CheckRequest {
    /// Template text, in Tera; or a packed Helm chart, in base64.
    template_content: String,
    /// JSON Schema of the parameters, as text. A Helm chart without one has its own.
    #[serde(default)]
    parameters_schema: Option<String>,
    /// `helm` for a Helm chart.
    #[serde(default)]
    language: Language,
    /// `base64` for a Helm chart.
    #[serde(default)]
    encoding: Option<Encoding>,
}

impl MayBePacked for CheckRequest {
    fn is_packed(&self) -> bool {
        self.encoding.is_some()
    }
}

/// Lists templates, with an entry for each live version that the caller can read.
///
/// The entries are in the order of their creation. With `search` or `latest` they are in the order of their names,
/// without regard to the case of ASCII letters.
#[utoipa::path(get, path = "/templates", tag = "templates", params(TemplatesQuery, PageQuery), responses(
    (status = 200, body = [TemplateVersion], description = "The versions."),
    (status = 403, body = CatalogError, description = "`templates_not_accessible`"),
))]
async fn list_templates(
    State(service): State<Shared>,
    caller: Caller,
    Query(query): Query<TemplatesQuery>,
    paging: Paging,
) -> Result<ApiResponse> {
    let search = query.search()?;
    let asked = Arc::new((search, query.name));
    let read = move |catalog: Catalog, page| {
        let asked = asked.clone();
        async move {
            match &*asked {
                (Some(search), _) => catalog.search_templates(caller.actor, search, &page).await,
                (None, name) => catalog.templates(caller.actor, name.as_deref(), &page).await,
            }
        }
    };
    list(&service, paging, read, |row| row.id).await
}

/// Creates a template, or the next version if the caller already has one with this name.
///
/// A packed Helm chart (`"language": "helm"`, `"encoding": "base64"`) has at most 4 MiB, and 5,000 files, 32 MiB, 5 MiB in one
/// file and 4 MiB in values, metadata and schemas unpacked; more is `invalid_template_content`. It renders to the text of
/// `helm template`. The name of the release is that of the template, or of the set of parameters, and the namespace
/// `default`.
#[utoipa::path(post, path = "/templates", tag = "templates", request_body = TemplateInput,
    params(ReviewQuery),
    responses(
        (status = 201, body = TemplateVersion, description = "The version, with findings in `X-Dropforge-Warnings`."),
        (status = 400, body = CatalogError, description = "`invalid_template_syntax`, `invalid_parameters_schema`, \
            `invalid_name`, `invalid_description`, `invalid_template_content`, `invalid_label`, `invalid_annotation`, \
            `template_review_failed`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`template_create_denied`, `quota_exceeded`"),
        (status = 409, body = CatalogError, description = "`unique_violation`"),
        (status = 422, body = CatalogError, description = "`idempotency_key_reused`, `invalid_body`"),
    ))]
async fn create_template(
    State(service): State<Shared>,
    caller: Caller,
    Query(ReviewQuery { strict }): Query<ReviewQuery>,
    TemplateBody(Json { value, token, .. }): TemplateBody<TemplateInput>,
) -> Result<ApiResponse> {
    let created = service.catalog.create_template(caller.actor, &value, strict, token.as_ref()).await?;
    with_headers(ApiResponse::created(&created.row)?, &created)
}

/// Adds the headers of a created version.
fn with_headers(response: ApiResponse, created: &Created<TemplateVersion>) -> Result<ApiResponse> {
    let tag = response::row_etag(created.row.id);
    Ok(response.with_etag(&tag).with_warnings(&created.warnings).with_replayed(created.replayed))
}

/// Checks a template against its schema without storing anything.
#[utoipa::path(post, path = "/templates/check", tag = "templates", request_body = CheckRequest, params(ReviewQuery),
    responses(
        (status = 200, body = Review, description = "The inputs of the template and the findings."),
        (status = 400, body = CatalogError, description = "`invalid_template_syntax`, `invalid_parameters_schema`, \
            `invalid_template_content`, `template_review_failed`, `invalid_json`"),
    ))]
async fn check_template(
    State(service): State<Shared>,
    Query(ReviewQuery { strict }): Query<ReviewQuery>,
    TemplateBody(Json { value, .. }): TemplateBody<CheckRequest>,
) -> Result<ApiResponse> {
    let CheckRequest { template_content, parameters_schema, language, encoding } = value;
    let content = Content::new(language, encoding, template_content, parameters_schema)?;
    let (prepared, _) = service.catalog.review(content, strict).await?;
    ApiResponse::ok(&prepared.review)
}

/// Returns one version.
#[utoipa::path(get, path = "/templates/{id}", tag = "templates", params(("id" = Uuid, Path)), responses(
    (status = 200, body = TemplateVersion, description = "The version."),
    (status = 304, description = "The client has the current state."),
    (status = 403, body = CatalogError, description = "`template_not_accessible`"),
    (status = 404, body = CatalogError, description = "`template_not_found`"),
))]
async fn get_template(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let template = service.catalog.template(caller.actor, id).await?;
    Ok(ApiResponse::ok(&template)?.or_not_modified(&response::row_etag(template.id), &preconditions))
}

/// Creates the next version of a template, with the labels and annotations of the given version.
///
/// With `If-Match` it fails unless the newest version has that `ETag`.
#[utoipa::path(put, path = "/templates/{id}", tag = "templates", request_body = TemplateChange,
    params(("id" = Uuid, Path), ReviewQuery),
    responses(
        (status = 200, body = TemplateVersion, description = "The new version."),
        (status = 400, body = CatalogError, description = "`invalid_template_syntax`, `invalid_parameters_schema`, \
            `invalid_name` (of a Helm chart), `invalid_description`, `invalid_template_content`, \
            `template_review_failed`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`template_not_owned`, `quota_exceeded`"),
        (status = 404, body = CatalogError, description = "`template_not_found`"),
        (status = 412, body = CatalogError, description = "`precondition_failed`"),
        (status = 422, body = CatalogError, description = "`idempotency_key_reused`, `invalid_body`"),
    ))]
async fn update_template(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(ReviewQuery { strict }): Query<ReviewQuery>,
    preconditions: Preconditions,
    TemplateBody(Json { value, token, .. }): TemplateBody<TemplateChange>,
) -> Result<ApiResponse> {
    // Its name must still have the same newest version when the next one is created.
    let newest = async {
        let template = service.catalog.template(caller.actor, id).await?;
        let owner = template.generator_id.map_or(Owner::System, Owner::Generator);
        Ok(service.catalog.newest(caller.actor, owner, &template.name).await?.id)
    };
    let (actor, token) = (caller.actor, token.as_ref());
    let expected = match preconditions.expected(newest, |id| response::row_etag(*id)).await {
        // The newest version may be the one that this request created before.
        Err(error) if service.catalog.replayed(token).await?.is_none() => return Err(error.into()),
        expected => expected.unwrap_or_default(),
    };
    let created = service.catalog.update_template(actor, id, &value, strict, expected, token).await?;
    with_headers(ApiResponse::ok(&created.row)?, &created)
}

/// Deletes one version.
#[utoipa::path(delete, path = "/templates/{id}", tag = "templates", params(("id" = Uuid, Path)), responses(
    (status = 204, description = "Deleted."),
    (status = 403, body = CatalogError, description = "`template_not_owned`"),
    (status = 404, body = CatalogError, description = "`template_not_found`"),
))]
async fn delete_template(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    preconditions.check_if_match(&response::row_etag(id))?;
    service.catalog.delete_template(caller.actor, id).await?;
    Ok(ApiResponse::no_content())
}

/// Query parameters of the newest version.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct NewestQuery {
    /// Name.
    name: String,
    /// Owner: `system`, the ID of a generator, or `nearest` (the default): the caller, or the system if the caller has
    /// no template of that name.
    owner: Option<String>,
}

/// Returns the newest version of a name.
#[utoipa::path(get, path = "/templates/newest", tag = "templates", params(NewestQuery), responses(
    (status = 200, body = TemplateVersion, description = "The version."),
    (status = 304, description = "The client has the current state."),
    (status = 404, body = CatalogError, description = "`template_not_found`"),
))]
async fn get_newest_template(
    State(service): State<Shared>,
    caller: Caller,
    Query(NewestQuery { name, owner }): Query<NewestQuery>,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let template = service.catalog.newest(caller.actor, parse_owner(owner.as_deref())?, &name).await?;
    Ok(ApiResponse::ok(&template)?.or_not_modified(&response::row_etag(template.id), &preconditions))
}

/// Parses the owner of a request.
pub(super) fn parse_owner(text: Option<&str>) -> Result<Owner> {
    match text {
        None | Some("nearest") => Ok(Owner::Nearest),
        Some("system") => Ok(Owner::System),
        Some(id) => id.parse().map(Owner::Generator).map_err(|_| {
            ApiError::invalid("invalid_owner", "`owner` must be `nearest`, `system` or the ID of a generator")
        }),
    }
}

/// Lists the live versions of a template, newest first.
#[utoipa::path(get, path = "/templates/{id}/versions", tag = "templates", params(("id" = Uuid, Path), PageQuery),
    responses(
        (status = 200, body = [TemplateVersion], description = "The versions."),
        (status = 403, body = CatalogError, description = "`template_not_accessible`"),
        (status = 404, body = CatalogError, description = "`template_not_found`"),
    ))]
async fn list_template_versions(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    paging: Paging,
) -> Result<ApiResponse> {
    let read = move |catalog: Catalog, page| async move { catalog.history(caller.actor, id, &page).await };
    list(&service, paging, read, |row| row.id).await
}

/// The routes of stacks.
pub(super) fn stack_routes() -> OpenApiRouter<Shared> {
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
    Ok(ApiResponse::created(&stack)?.with_etag(&response::change_etag(&stack.updated_at)).with_replayed(replayed))
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
    Ok(ApiResponse::ok(&stack)?.or_not_modified(&response::change_etag(&stack.updated_at), &preconditions))
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
    let expected = preconditions.expected(present, response::change_etag).await?;
    let stack = service.catalog.update_stack(caller.actor, id, &value, expected).await?;
    Ok(ApiResponse::ok(&stack)?.with_etag(&response::change_etag(&stack.updated_at)))
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
    let expected = preconditions.expected(present, response::change_etag).await?;
    service.catalog.delete_stack(caller.actor, id, expected).await?;
    Ok(ApiResponse::no_content())
}
