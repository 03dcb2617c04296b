//! Who a key is.

use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Shared;
use crate::server::answer::Answer;
use crate::server::caller::Caller;
use crate::server::failure::Result;
use crate::{Actor, Role};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(verify_pak))
}

/// What a key lets its holder be.
#[derive(Debug, Serialize, ToSchema)]
struct AuthResponse {
    /// Whether it may do everything.
    admin: bool,
    /// The agent it is, if it is one.
    agent: Option<String>,
    /// The generator it is, if it is one.
    generator: Option<String>,
    /// Whether it may only look.
    readonly: bool,
}

/// Tells who a key is.
#[utoipa::path(post, path = "/auth/pak", tag = "auth", responses((status = 200, body = AuthResponse, description = "Who the key is.")))]
async fn verify_pak(caller: Caller) -> Result<Answer> {
    let actor = caller.actor;
    Answer::ok(&AuthResponse {
        admin: actor == Actor::Admin,
        // Agents are known by their role only: the catalog keeps no agents.
        agent: (actor.role() == Role::Agent).then(|| caller.key.clone()),
        generator: actor.generator().map(|id| id.to_string()),
        readonly: actor == Actor::Readonly,
    })
}
