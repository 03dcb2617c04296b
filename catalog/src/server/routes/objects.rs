//! Deployment objects: submitted as YAML, or rendered from a template.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use super::versions::owner_of;
use crate::server::answer::Answer;
use crate::server::caller::Caller;
use crate::server::conditions::Conditions;
use crate::server::extract::{Asked, At, Json, Whole};
use crate::server::failure::{Failure, Result};
use crate::server::media::prefers_yaml;
use crate::server::paging::{PageQuery, Paging};
use crate::{DeploymentObject, Instantiation, Order, Refusal, Which};

/// Content types of YAML. The first one is sent in responses.
const YAML: [&str; 4] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list_deployment_objects, create_deployment_object))
        .routes(routes!(instantiate_template))
        .routes(routes!(get_deployment_object))
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
struct Marker {
    /// `true` if earlier objects of the stack must be removed. Applies to YAML bodies only.
    deletion_marker: Option<bool>,
}

/// A request to render a template: by its ID, or the newest version of a name.
#[derive(Debug, Deserialize, ToSchema)]
struct TemplateInstantiationRequest {
    /// ID of the version.
    #[serde(default)]
    template_id: Option<Uuid>,
    /// Name of the template, if there is no ID.
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
struct How {
    /// `true` to fill in missing parameters with schema defaults.
    #[serde(default)]
    defaults: bool,
    /// Order of several failures: `wire` (matching, parameters, rendering) or `seed` (parameters, matching, rendering).
    #[param(inline)]
    #[param(inline)]
    order: Option<Failures>,
}

/// Order of several failures.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Failures {
    Wire,
    Seed,
}

/// Lists the objects of a stack, newest first.
#[utoipa::path(get, path = "/stacks/{id}/deployment-objects", tag = "stacks", params(("id" = Uuid, Path), PageQuery),
    responses(
        (status = 200, body = [DeploymentObject], description = "The objects."),
        (status = 403, body = Refusal, description = "`stack_not_owned`"),
        (status = 404, body = Refusal, description = "`stack_not_found`"),
    ))]
async fn list_deployment_objects(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    paging: Paging,
) -> Result<Answer> {
    let rows = service.catalog.objects(caller.actor, id, &paging.page()).await?;
    paging.answer(rows, |row| row.id)
}

/// Creates an object from a JSON or YAML body.
#[utoipa::path(post, path = "/stacks/{id}/deployment-objects", tag = "stacks",
    params(("id" = Uuid, Path), Marker,
        ("Idempotency-Key" = Option<String>, Header, description = "Makes it safe to repeat the request.")),
    request_body(content((CreateDeploymentObjectRequest = "application/json"), (String = "application/yaml"))),
    responses(
        (status = 201, body = DeploymentObject, description = "The object."),
        (status = 400, body = Refusal, description = "`invalid_deployment_object`, `invalid_path`, `invalid_json`"),
        (status = 403, body = Refusal, description = "`stack_not_owned`"),
        (status = 404, body = Refusal, description = "`stack_not_found`"),
        (status = 422, body = Refusal, description = "`idempotency_key_reused`, `invalid_body`"),
    ))]
async fn create_deployment_object(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    Asked(Marker { deletion_marker }): Asked<Marker>,
    whole: Whole,
) -> Result<Answer> {
    let given = given(&whole, deletion_marker)?;
    let (yaml, marker, token) = (&given.yaml_content, given.is_deletion_marker, whole.token.as_ref());
    let (object, repeated) = service.catalog.create_object(caller.actor, id, yaml, marker, token).await?;
    Ok(Answer::created(&object)?.tagged(&tag(&object)).replayed(repeated))
}

fn given(whole: &Whole, marker: Option<bool>) -> Result<CreateDeploymentObjectRequest> {
    if !YAML.contains(&whole.content_type.as_str()) {
        return whole.json();
    }
    let text = std::str::from_utf8(&whole.bytes);
    let text = text.map_err(|_| Failure::invalid("invalid_deployment_object", "invalid YAML: not UTF-8"))?;
    Ok(CreateDeploymentObjectRequest { yaml_content: text.to_owned(), is_deletion_marker: marker.unwrap_or_default() })
}

/// Renders a template into a stack.
///
/// All checks run even if one fails. The response contains the first failure, with the others in `details.also`.
#[utoipa::path(post, path = "/stacks/{id}/deployment-objects/from-template", tag = "stacks",
    params(("id" = Uuid, Path), How,
        ("Idempotency-Key" = Option<String>, Header, description = "Makes it safe to repeat the request.")),
    request_body = TemplateInstantiationRequest, responses(
        (status = 201, body = DeploymentObject, description = "The object, with warnings in `X-Dropforge-Warnings`."),
        (status = 400, body = Refusal, description = "`invalid_parameters`, `template_render_failed`, \
            `invalid_deployment_object`, `invalid_owner`, `invalid_path`, `invalid_json`"),
        (status = 403, body = Refusal, description = "`stack_not_owned`, `template_not_accessible`"),
        (status = 404, body = Refusal, description = "`stack_not_found`, `template_not_found`"),
        (status = 422, body = Refusal, description = "`template_stack_mismatch`, `idempotency_key_reused`, `invalid_body`"),
    ))]
async fn instantiate_template(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    Asked(How { defaults, order }): Asked<How>,
    Json { value, token }: Json<TemplateInstantiationRequest>,
) -> Result<Answer> {
    let order = match order {
        None | Some(Failures::Wire) => Order::Wire,
        Some(Failures::Seed) => Order::Seed,
    };
    let what = Instantiation { template: which(&value)?, parameters: value.parameters, defaults };
    let made = service.catalog.instantiate(caller.actor, id, &what, order, token.as_ref()).await?;
    let answer = Answer::created(&made.object)?.tagged(&tag(&made.object));
    Ok(answer.warned(&made.warnings).replayed(made.repeated))
}

/// The template of a request.
fn which(request: &TemplateInstantiationRequest) -> Result<Which> {
    match (request.template_id, &request.template_name) {
        (Some(id), None) => Ok(Which::Id(id)),
        (None, Some(name)) => Ok(Which::Newest(owner_of(request.template_owner.as_deref())?, name.clone())),
        (None, None) => Err(unclear("missing field `template_id`")),
        (Some(_), Some(_)) => Err(unclear("use either `template_id` or `template_name`, not both")),
    }
}

fn unclear(message: &str) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", message)
}

/// Returns an object as JSON, or its text with `Accept: application/yaml`.
#[utoipa::path(get, path = "/deployment-objects/{id}", tag = "deployment-objects", params(("id" = Uuid, Path)),
    responses(
        (status = 200, description = "The object.",
            content((DeploymentObject = "application/json"), (String = "application/yaml"))),
        (status = 304, description = "The client has the current state."),
        (status = 403, body = Refusal, description = "`agent_not_associated`, `generator_not_associated`"),
        (status = 404, body = Refusal, description = "`deployment_object_not_found`"),
    ))]
async fn get_deployment_object(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    headers: HeaderMap,
    conditions: Conditions,
) -> Result<Answer> {
    let object = service.catalog.object(caller.actor, id).await?;
    let (answer, tag) = if prefers_yaml(&headers) {
        let tag = format!("{}-yaml", object.id);
        (Answer::text(YAML[0], object.yaml_content), tag)
    } else {
        (Answer::ok(&object)?, tag(&object))
    };
    Ok(answer.unless_known(&tag, &conditions).with(header::VARY, "accept"))
}

/// The tag of an object's JSON, which never changes.
fn tag(object: &DeploymentObject) -> String {
    object.id.to_string()
}
