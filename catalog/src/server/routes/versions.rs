//! Versions of a template: the newest by name, and all of them.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::{ApiError, Result};
use crate::server::extract::{Path, Query};
use crate::server::list::list;
use crate::server::paging::{PageQuery, Paging};
use crate::server::preconditions::{self, Preconditions};
use crate::server::response::ApiResponse;
use crate::{CatalogError, Owner, TemplateVersion};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(get_newest_template)).routes(routes!(list_template_versions))
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
    Ok(ApiResponse::ok(&template)?.or_not_modified(&preconditions::row_etag(template.id), &preconditions))
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
    let catalog = service.catalog.clone();
    let read = move |page| {
        let catalog = catalog.clone();
        async move { catalog.history(caller.actor, id, &page).await }
    };
    list(&service, paging, read, |row| row.id).await
}
