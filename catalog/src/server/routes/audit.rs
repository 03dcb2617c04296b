//! The audit trail.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use uuid::Uuid;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::extract::Query;
use crate::server::list::list;
use crate::server::paging::{PageQuery, Paging};
use crate::server::response::ApiResponse;
use crate::{AuditEntry, CatalogError};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(list_audit))
}

/// Query parameters of the audit trail.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AuditQuery {
    /// ID of an object, to list only its changes.
    object: Option<Uuid>,
}

/// Lists who changed what, newest first. Entries hold no parameters and no secrets.
///
/// Without a limit, a page has at most 1000 entries.
#[utoipa::path(get, path = "/audit", tag = "audit", params(AuditQuery, PageQuery), responses(
    (status = 200, body = [AuditEntry], description = "The recorded changes."),
    (status = 403, body = CatalogError, description = "`admin_required`"),
))]
async fn list_audit(
    State(service): State<Shared>,
    caller: Caller,
    Query(query): Query<AuditQuery>,
    paging: Paging,
) -> Result<ApiResponse> {
    let catalog = service.catalog.clone();
    let read = move |page| {
        let catalog = catalog.clone();
        async move { catalog.audit(caller.actor, query.object, &page).await }
    };
    list(&service, paging.or_longest(), read, |row| row.id).await
}
