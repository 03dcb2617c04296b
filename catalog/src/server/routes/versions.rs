//! Versions of a template: the newest by name, and all of them.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::answer::Answer;
use crate::server::caller::Caller;
use crate::server::conditions::{self, Conditions};
use crate::server::extract::{Asked, At};
use crate::server::failure::{Failure, Result};
use crate::server::paging::{PageQuery, Paging};
use crate::{Owner, Refusal, TemplateVersion};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(get_newest_template)).routes(routes!(list_template_versions))
}

/// Query parameters of the newest version.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Meant {
    /// Name.
    name: String,
    /// Owner: `system`, the ID of a generator, or `nearest` (the default): the caller, or the system if the caller has
    /// no template of that name.
    owner: Option<String>,
}

/// Returns the newest version of a name.
#[utoipa::path(get, path = "/templates/newest", tag = "templates", params(Meant), responses(
    (status = 200, body = TemplateVersion, description = "The version."),
    (status = 304, description = "The client has the current state."),
    (status = 404, body = Refusal, description = "`template_not_found`"),
))]
async fn get_newest_template(
    State(service): State<Shared>,
    caller: Caller,
    Asked(Meant { name, owner }): Asked<Meant>,
    conditions: Conditions,
) -> Result<Answer> {
    let template = service.catalog.newest(caller.actor, owner_of(owner.as_deref())?, &name).await?;
    Ok(Answer::ok(&template)?.unless_known(&conditions::tag_of_template(&template), &conditions))
}

/// Parses the owner of a request.
pub(super) fn owner_of(text: Option<&str>) -> Result<Owner> {
    match text {
        None | Some("nearest") => Ok(Owner::Nearest),
        Some("system") => Ok(Owner::System),
        Some(id) => id.parse().map(Owner::Generator).map_err(|_| {
            Failure::invalid("invalid_owner", "`owner` must be `nearest`, `system` or the ID of a generator")
        }),
    }
}

/// Lists the live versions of a template, newest first.
#[utoipa::path(get, path = "/templates/{id}/versions", tag = "templates", params(("id" = Uuid, Path), PageQuery),
    responses(
        (status = 200, body = [TemplateVersion], description = "The versions."),
        (status = 403, body = Refusal, description = "`template_not_accessible`"),
        (status = 404, body = Refusal, description = "`template_not_found`"),
    ))]
async fn list_template_versions(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    paging: Paging,
) -> Result<Answer> {
    let rows = service.catalog.history(caller.actor, id, &paging.page()).await?;
    paging.answer(rows, |row| row.id)
}
