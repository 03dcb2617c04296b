//! Deployment objects: handed in as text, or rendered from a template.

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

/// The type of YAML, and what else it is called.
const YAML: [&str; 4] = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"];

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default()
        .routes(routes!(list_deployment_objects, create_deployment_object))
        .routes(routes!(instantiate_template))
        .routes(routes!(get_deployment_object))
}

/// An object as text.
#[derive(Debug, Deserialize, ToSchema)]
struct CreateDeploymentObjectRequest {
    /// YAML.
    yaml_content: String,
    /// Whether it says that what was deployed before is to go.
    #[serde(default)]
    is_deletion_marker: bool,
}

/// How an object that is handed in as YAML is meant.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Marker {
    /// Whether it says that what was deployed before is to go; of raw YAML only.
    deletion_marker: Option<bool>,
}

/// What an object is rendered from: the template by its id, or the newest of its name.
#[derive(Debug, Deserialize, ToSchema)]
struct TemplateInstantiationRequest {
    /// This version.
    #[serde(default)]
    template_id: Option<Uuid>,
    /// The newest version of the template with this name, where there is no id.
    #[serde(default)]
    template_name: Option<String>,
    /// Whose the name is: `system`, the id of a generator, or `nearest` (as without it).
    #[serde(default)]
    template_owner: Option<String>,
    /// The parameters.
    #[schema(value_type = serde_json::Value)]
    parameters: Box<RawValue>,
}

/// How a template is rendered.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct How {
    /// Whether defaults of the schema fill in what the parameters leave out.
    #[serde(default)]
    defaults: bool,
    /// Which of several failures comes first: `wire` (match, parameters, render), or `seed` (parameters, match, render).
    #[param(inline)]
    #[param(inline)]
    order: Option<Failures>,
}

/// Which of several failures comes first.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Failures {
    Wire,
    Seed,
}

/// Lists the objects of a stack, the newest first.
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

/// Hands in an object: in JSON, or as raw YAML.
#[utoipa::path(post, path = "/stacks/{id}/deployment-objects", tag = "stacks",
    params(("id" = Uuid, Path), Marker,
        ("Idempotency-Key" = Option<String>, Header, description = "Names the request, so that it can be sent twice.")),
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
    let text = text.map_err(|_| Failure::invalid("invalid_deployment_object", "invalid YAML: it is no UTF-8"))?;
    Ok(CreateDeploymentObjectRequest { yaml_content: text.to_owned(), is_deletion_marker: marker.unwrap_or_default() })
}

/// Renders a template into a stack.
///
/// Everything that can be wrong is looked at, whatever else is wrong: the answer is the first failure, the others stand
/// in `details.also`.
#[utoipa::path(post, path = "/stacks/{id}/deployment-objects/from-template", tag = "stacks",
    params(("id" = Uuid, Path), How,
        ("Idempotency-Key" = Option<String>, Header, description = "Names the request, so that it can be sent twice.")),
    request_body = TemplateInstantiationRequest, responses(
        (status = 201, body = DeploymentObject, description = "The object. `X-Dropforge-Warnings` has what is odd about it."),
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

/// Which template a request means.
fn which(request: &TemplateInstantiationRequest) -> Result<Which> {
    match (request.template_id, &request.template_name) {
        (Some(id), None) => Ok(Which::Id(id)),
        (None, Some(name)) => Ok(Which::Newest(owner_of(request.template_owner.as_deref())?, name.clone())),
        (None, None) => Err(unclear("missing field `template_id`")),
        (Some(_), Some(_)) => Err(unclear("a template is meant by `template_id` or by `template_name`, not by both")),
    }
}

fn unclear(message: &str) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_body", message)
}

/// Reads an object: as JSON, or its text with `Accept: application/yaml`.
#[utoipa::path(get, path = "/deployment-objects/{id}", tag = "deployment-objects", params(("id" = Uuid, Path)),
    responses(
        (status = 200, description = "The object.",
            content((DeploymentObject = "application/json"), (String = "application/yaml"))),
        (status = 304, description = "The client has it."),
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

/// The name of an object's only state, as JSON.
fn tag(object: &DeploymentObject) -> String {
    object.id.to_string()
}
