//! Deployment objects: submitted as YAML, or rendered from a template; their provenance, and previews of other versions.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use super::templates::parse_owner;
use crate::server::extract::{Caller, Json, Path, Query, RequestBody};
use crate::server::list::{PageQuery, Paging, list};
use crate::server::response::{ApiError, ApiResponse, Preconditions, Result};
use crate::{
    Catalog, CatalogError, Changes, DeploymentObject, FailureOrder, Instantiation, Provenance, TemplateSelector,
    Verification,
};
use dropforge::bulk::why::{Answer, LinePlace};

/// Content types of YAML. The first one is sent in responses.
const YAML: [&str; 4] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list_deployment_objects, create_deployment_object))
        .routes(routes!(instantiate_template))
        .routes(routes!(get_deployment_object))
        .routes(routes!(get_provenance))
        .routes(routes!(verify_deployment_object))
        .routes(routes!(explain_deployment_object))
        .routes(routes!(list_template_changes))
}

/// A request to create an object from YAML.
#[derive(Debug, Deserialize, ToSchema)]
struct CreateDeploymentObjectRequest {
    /// YAML text.
    yaml_content: String,
    /// `true` if earlier objects of the stack must be removed.
    #[serde(default)]
    is_deletion_marker: bool,
}

/// Query parameters of a YAML submission.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SubmitQuery {
    /// `true` if earlier objects of the stack must be removed. Applies to YAML bodies only.
    deletion_marker: Option<bool>,
}

/// A request to render a template: by its ID, or the newest version of a name.
#[derive(Debug, Deserialize, ToSchema)]
struct TemplateInstantiationRequest {
    /// ID of the version.
    #[serde(default)]
    template_id: Option<Uuid>,
    /// The template's name. Used if no ID is given.
    #[serde(default)]
    template_name: Option<String>,
    /// Owner of the name: `system`, the ID of a generator, or `nearest` (the default).
    #[serde(default)]
    template_owner: Option<String>,
    /// Parameters.
    #[schema(value_type = serde_json::Value)]
    parameters: Box<RawValue>,
}

/// Query parameters of a render.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct RenderQuery {
    /// `true` to fill in missing parameters with schema defaults.
    #[serde(default)]
    defaults: bool,
    /// Order of several failures: `wire` (matching, parameters, rendering) or `seed` (parameters, matching, rendering).
    #[param(inline)]
    order: Option<FailureOrder>,
}

/// What is shown of the secrets that an object was rendered from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Secrets {
    /// `***` in their places.
    #[default]
    Hidden,
    /// The text as it is.
    Shown,
}

/// Query parameters of objects.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SecretsQuery {
    /// `shown` for the text with the values of parameters that the schema marks secret. Default: `hidden`, with `***` in
    /// their places.
    #[serde(default)]
    #[param(inline)]
    secrets: Secrets,
}

/// Lists the objects of a stack, newest first.
///
/// Without `secrets=shown`, `yaml_content` has `***` in place of parameters that the schema marks secret. `yaml_checksum` is
/// that of the whole text.
#[utoipa::path(get, path = "/stacks/{id}/deployment-objects", tag = "stacks",
    params(("id" = Uuid, Path), PageQuery, SecretsQuery),
    responses(
        (status = 200, body = [DeploymentObject], description = "The objects."),
        (status = 403, body = CatalogError, description = "`stack_not_owned`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`"),
    ))]
async fn list_deployment_objects(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(SecretsQuery { secrets }): Query<SecretsQuery>,
    paging: Paging,
) -> Result<ApiResponse> {
    let read = move |catalog: Catalog, page| async move {
        let objects = catalog.objects(caller.actor, id, &page).await?;
        if secrets == Secrets::Shown { Ok(objects) } else { catalog.without_secrets(objects).await }
    };
    list(&service, paging, read, |row| row.id).await
}

/// Creates an object from a JSON or YAML body.
#[utoipa::path(post, path = "/stacks/{id}/deployment-objects", tag = "stacks",
    params(("id" = Uuid, Path), SubmitQuery),
    request_body(content((CreateDeploymentObjectRequest = "application/json"), (String = "application/yaml"))),
    responses(
        (status = 201, body = DeploymentObject, description = "The object."),
        (status = 400, body = CatalogError, description = "`invalid_deployment_object`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`stack_not_owned`, `quota_exceeded`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`"),
        (status = 422, body = CatalogError, description = "`idempotency_key_reused`, `invalid_body`"),
    ))]
async fn create_deployment_object(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(SubmitQuery { deletion_marker }): Query<SubmitQuery>,
    body: RequestBody,
) -> Result<ApiResponse> {
    // The memory counts until the request is answered.
    let Json { value, token, held: _held } = parse_submission(&service, body, deletion_marker).await?;
    let (yaml, marker, token) = (value.yaml_content, value.is_deletion_marker, token.as_ref());
    let (object, replayed) = service.catalog.create_object(caller.actor, id, yaml, marker, token).await?;
    Ok(ApiResponse::created(&object)?.with_etag(&tag(&object)).with_replayed(replayed))
}

async fn parse_submission(
    service: &Shared,
    body: RequestBody,
    marker: Option<bool>,
) -> Result<Json<CreateDeploymentObjectRequest>> {
    if !YAML.contains(&body.content_type.as_str()) {
        return body.json(service).await;
    }
    let RequestBody { bytes, token, held, .. } = body;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| ApiError::invalid("invalid_deployment_object", "invalid YAML: not UTF-8"))?;
    let value = CreateDeploymentObjectRequest { yaml_content: text, is_deletion_marker: marker.unwrap_or_default() };
    Ok(Json { value, token, held })
}

/// Renders a template into a stack.
///
/// All checks run even if one fails. The response contains the first failure, with the others in `details.also`.
#[utoipa::path(post, path = "/stacks/{id}/deployment-objects/from-template", tag = "stacks",
    params(("id" = Uuid, Path), RenderQuery),
    request_body = TemplateInstantiationRequest, responses(
        (status = 201, body = DeploymentObject, description = "The object, with warnings in `X-Dropforge-Warnings`."),
        (status = 400, body = CatalogError, description = "`invalid_parameters`, `template_render_failed`, \
            `invalid_deployment_object`, `invalid_owner`, `invalid_path`, `invalid_json`"),
        (status = 403, body = CatalogError, description = "`stack_not_owned`, `template_not_accessible`, `quota_exceeded`"),
        (status = 404, body = CatalogError, description = "`stack_not_found`, `template_not_found`"),
        (status = 422, body = CatalogError, description = "`template_stack_mismatch`, `idempotency_key_reused`, `invalid_body`"),
    ))]
async fn instantiate_template(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(RenderQuery { defaults, order }): Query<RenderQuery>,
    Json { value, token, .. }: Json<TemplateInstantiationRequest>,
) -> Result<ApiResponse> {
    let request = Instantiation { template: template_selector(&value)?, parameters: value.parameters, defaults };
    let created =
        service.catalog.instantiate(caller.actor, id, &request, order.unwrap_or_default(), token.as_ref()).await?;
    let response = ApiResponse::created(&created.row)?.with_etag(&tag(&created.row));
    Ok(response.with_warnings(&created.warnings).with_replayed(created.replayed))
}

/// The template of a request.
fn template_selector(request: &TemplateInstantiationRequest) -> Result<TemplateSelector> {
    match (request.template_id, &request.template_name) {
        (Some(id), None) => Ok(TemplateSelector::Id(id)),
        (None, Some(name)) => {
            Ok(TemplateSelector::Newest(parse_owner(request.template_owner.as_deref())?, name.clone()))
        }
        (None, None) => Err(ambiguous("missing field `template_id`")),
        (Some(_), Some(_)) => Err(ambiguous("use either `template_id` or `template_name`, not both")),
    }
}

fn ambiguous(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", message)
}

/// Returns an object as JSON, or its text with `Accept: application/yaml`.
///
/// Without `secrets=shown`, `yaml_content` has `***` in place of parameters that the schema marks secret. The text that is
/// asked for as YAML is whole.
#[utoipa::path(get, path = "/deployment-objects/{id}", tag = "deployment-objects",
    params(("id" = Uuid, Path), SecretsQuery),
    responses(
        (status = 200, description = "The object.",
            content((DeploymentObject = "application/json"), (String = "application/yaml"))),
        (status = 304, description = "The client has the current state."),
        (status = 403, body = CatalogError, description = "`agent_not_associated`, `generator_not_associated`"),
        (status = 404, body = CatalogError, description = "`deployment_object_not_found`"),
    ))]
async fn get_deployment_object(
    State(service): State<Shared>,
    caller: Caller,
    Path(id): Path<Uuid>,
    Query(SecretsQuery { secrets }): Query<SecretsQuery>,
    headers: HeaderMap,
    preconditions: Preconditions,
) -> Result<ApiResponse> {
    let object = service.catalog.object(caller.actor, id).await?;
    let (response, tag) = if prefers_yaml(&headers) {
        let tag = format!("{}-yaml", object.id);
        (ApiResponse::text(YAML[0], object.yaml_content), tag)
    } else if secrets == Secrets::Shown {
        (ApiResponse::ok(&object)?, tag(&object))
    } else {
        let shown = service.catalog.without_secrets(vec![object.clone()]).await?;
        let shown = shown.into_iter().next().unwrap_or_else(|| object.clone());
        let tag = if shown == object { tag(&object) } else { format!("{}-hidden", object.id) };
        (ApiResponse::ok(&shown)?, tag)
    };
    Ok(response.or_not_modified(&tag, &preconditions).with(header::VARY, "accept"))
}

/// The tag of an object's JSON, which never changes.
fn tag(object: &DeploymentObject) -> String {
    object.id.to_string()
}

/// Returns `true` if the client prefers YAML. Wildcards (`*/*`) stand for JSON, the default.
fn prefers_yaml(headers: &HeaderMap) -> bool {
    let (mut yaml, mut json) = (0.0_f32, 0.0_f32);
    for value in headers.get_all(header::ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default().to_ascii_lowercase();
            let quality = parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0_f32, |q| q.parse().unwrap_or(0.0));
            match media.as_str() {
                "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => yaml = quality.max(yaml),
                "application/json" => json = quality.max(json),
                _ => {}
            }
        }
    }
    yaml > json
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

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn yaml_is_preferred_where_it_is_named() {
        for (accept, expected) in [
            ("application/yaml", true),
            ("application/yaml, */*", true),
            ("Application/YAML; q=0.5", true),
            ("application/json, application/yaml", false),
            ("application/json;q=0.5, application/yaml;q=0.6", true),
            ("application/yaml;q=0", false),
            ("application/yaml;q=x", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(prefers_yaml(&headers), expected, "{accept}");
        }
    }
}
