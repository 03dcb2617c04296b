//! Stacks.

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
use crate::server::extract::{Asked, At, Json};
use crate::server::failure::Result;
use crate::server::paging::{PageQuery, Paging};
use crate::{Refusal, Stack, StackInput};

/// The routes.
pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(list_stacks, create_stack)).routes(routes!(
        get_stack,
        update_stack,
        delete_stack
    ))
}

/// Query parameters of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Whose {
    /// Only the stacks of this generator. For administrators and read-only keys.
    pak_id: Option<Uuid>,
}

/// Lists all stacks that the caller can read.
#[utoipa::path(get, path = "/stacks", tag = "stacks", params(Whose, PageQuery), responses(
    (status = 200, body = [Stack], description = "The stacks."),
    (status = 403, body = Refusal, description = "`stacks_list_denied`"),
))]
async fn list_stacks(
    State(service): State<Shared>,
    caller: Caller,
    Asked(Whose { pak_id }): Asked<Whose>,
    paging: Paging,
) -> Result<Answer> {
    let rows = service.catalog.stacks(caller.actor, pak_id, &paging.page()).await?;
    paging.answer(rows, |row| row.id)
}

/// Creates a stack.
#[utoipa::path(post, path = "/stacks", tag = "stacks", request_body = StackInput,
    params(("Idempotency-Key" = Option<String>, Header, description = "Makes it safe to repeat the request.")),
    responses(
        (status = 201, body = Stack, description = "The stack."),
        (status = 403, body = Refusal, description = "`stack_create_denied`, `stack_generator_mismatch`"),
        (status = 409, body = Refusal, description = "`unique_violation`"),
        (status = 422, body = Refusal, description = "`foreign_key_violation`, `invalid_body`, `idempotency_key_reused`"),
    ))]
async fn create_stack(
    State(service): State<Shared>,
    caller: Caller,
    Json { value, token }: Json<StackInput>,
) -> Result<Answer> {
    let (stack, repeated) = service.catalog.create_stack(caller.actor, &value, token.as_ref()).await?;
    Ok(Answer::created(&stack)?.tagged(&conditions::tag_of_stack(&stack)).replayed(repeated))
}

/// Returns a stack.
#[utoipa::path(get, path = "/stacks/{id}", tag = "stacks", params(("id" = Uuid, Path)), responses(
    (status = 200, body = Stack, description = "The stack."),
    (status = 304, description = "The client has the current state."),
    (status = 403, body = Refusal, description = "`stack_not_owned`"),
    (status = 404, body = Refusal, description = "`stack_not_found`"),
))]
async fn get_stack(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    conditions: Conditions,
) -> Result<Answer> {
    let stack = service.catalog.stack(caller.actor, id).await?;
    Ok(Answer::ok(&stack)?.unless_known(&conditions::tag_of_stack(&stack), &conditions))
}

/// Changes a stack.
#[utoipa::path(put, path = "/stacks/{id}", tag = "stacks",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header, description = "Requires this `ETag`.")),
    request_body = Stack, responses(
        (status = 200, body = Stack, description = "The changed stack."),
        (status = 400, body = Refusal, description = "`stack_id_mismatch`, `invalid_path`, `invalid_json`"),
        (status = 403, body = Refusal, description = "`stack_not_owned`"),
        (status = 404, body = Refusal, description = "`stack_not_found`"),
        (status = 409, body = Refusal, description = "`unique_violation`"),
        (status = 412, body = Refusal, description = "`precondition_failed`"),
        (status = 422, body = Refusal, description = "`foreign_key_violation`, `invalid_body`"),
    ))]
async fn update_stack(
    State(service): State<Shared>,
    caller: Caller,
    At(id): At<Uuid>,
    conditions: Conditions,
    Json { value, .. }: Json<Stack>,
) -> Result<Answer> {
    let mut expected = None;
    if conditions.depends() {
        let present = service.catalog.stack(caller.actor, id).await?;
        conditions.expected(&conditions::tag_of_stack(&present))?;
        expected = Some(present.updated_at);
    }
    let stack = service.catalog.update_stack(caller.actor, id, &value, expected).await?;
    Ok(Answer::ok(&stack)?.tagged(&conditions::tag_of_stack(&stack)))
}

/// Deletes a stack and its objects.
#[utoipa::path(delete, path = "/stacks/{id}", tag = "stacks", params(("id" = Uuid, Path)), responses(
    (status = 204, description = "Deleted."),
    (status = 403, body = Refusal, description = "`stack_not_owned`"),
    (status = 404, body = Refusal, description = "`stack_not_found`"),
))]
async fn delete_stack(State(service): State<Shared>, caller: Caller, At(id): At<Uuid>) -> Result<Answer> {
    service.catalog.delete_stack(caller.actor, id).await?;
    Ok(Answer::gone())
}
