//! Identification of keys.

use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::server::authentication::Caller;
use crate::server::error::Result;
use crate::server::response::ApiResponse;
use crate::{Actor, Role};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(verify_pak))
}

/// The holder of a key.
#[derive(Debug, Serialize, ToSchema)]
struct AuthResponse {
    /// `true` for an administrator.
    admin: bool,
    /// ID of the agent.
    agent: Option<String>,
    /// ID of the generator.
    generator: Option<String>,
    /// `true` for a read-only key.
    readonly: bool,
}

/// Identifies the caller's key.
#[utoipa::path(post, path = "/auth/pak", tag = "auth", responses((status = 200, body = AuthResponse, description = "The holder of the key.")))]
async fn verify_pak(caller: Caller) -> Result<ApiResponse> {
    let actor = caller.actor;
    ApiResponse::ok(&AuthResponse {
        admin: actor == Actor::Admin,
        // Agents have no IDs of their own: the catalog does not store agents.
        agent: (actor.role() == Role::Agent).then(|| caller.key.clone()),
        generator: actor.generator().map(|id| id.to_string()),
        readonly: actor == Actor::Readonly,
    })
}
