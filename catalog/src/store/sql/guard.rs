//! Checks of the conditions of a change.

use uuid::Uuid;

use super::super::dialect::{Connection, lock};
use super::rows::{rows, statement};
use super::{idempotency, live, stacks, templates};
use crate::model::{Role, Timestamp, now};
use crate::store::guard::{Guard, Requirement};
use crate::store::work::WorkFuture;
use crate::store::{StoreError, StoreResult};

/// Work that is carried out if the conditions of the current task hold. Call it in the task of the request.
pub fn guarded<T, F>(
    work: F,
) -> impl for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
{
    let guard = Guard::current();
    move |c: &mut Connection| {
        Box::pin(async move {
            if let Some((token, created, at)) = guard.once {
                idempotency::claim(c, token, created, at).await?;
            }
            if let Some(requirement) = guard.requires {
                require(c, requirement).await?;
            }
            work(c).await
        })
    }
}

/// Requires a state until the end of the transaction: updates lock the rows that they leave as they are. Locks are taken
/// in the order of `LIVE_GENERATOR`.
async fn require(c: &mut Connection, requirement: Requirement) -> StoreResult<()> {
    match requirement {
        Requirement::Newest(id) => stale_unless(templates::held_newest(c, id).await?),
        Requirement::Stack(id, at) => {
            let stack = stacks::one(c, id).await?;
            live::require_generator(c, stack.generator_id, stacks::OWNER).await?;
            unchanged(c, "UPDATE stacks SET name = name WHERE id = $1 AND updated_at = $2", id, at).await
        }
        Requirement::Generator(id, at) => {
            unchanged(c, "UPDATE generators SET name = name WHERE id = $1 AND updated_at = $2", id, at).await
        }
        Requirement::TemplateLabel(id) => {
            present(c, "UPDATE template_labels SET label = label WHERE id = $1", id).await
        }
        Requirement::TemplateAnnotation(id) => {
            present(c, "UPDATE template_annotations SET key = key WHERE id = $1", id).await
        }
        Requirement::StackLabel(id) => present(c, "UPDATE stack_labels SET label = label WHERE id = $1", id).await,
        Requirement::StackAnnotation(id) => {
            present(c, "UPDATE stack_annotations SET key = key WHERE id = $1", id).await
        }
        Requirement::OtherAdminKey(id) if last_live_admin_key(c, id).await? => Err(StoreError::LastAdminKey),
        Requirement::OtherAdminKey(_) => Ok(()),
    }
}

async fn unchanged(c: &mut Connection, update: &'static str, id: Uuid, at: Timestamp) -> StoreResult<()> {
    stale_unless(statement(update).bind(id).bind(at).execute(c).await?.rows_affected() > 0)
}

async fn present(c: &mut Connection, update: &'static str, id: Uuid) -> StoreResult<()> {
    stale_unless(statement(update).bind(id).execute(c).await?.rows_affected() > 0)
}

fn stale_unless(holds: bool) -> StoreResult<()> {
    if holds { Ok(()) } else { Err(StoreError::Stale) }
}

/// Returns `true` if this is a live administrator key and there is no other. Holds until the end of the transaction.
pub async fn last_live_admin_key(c: &mut Connection, id: Uuid) -> StoreResult<bool> {
    lock(c, Role::Admin.name()).await?;
    let live = rows::<(Uuid,)>(
        "SELECT id FROM api_keys LEFT JOIN key_details ON key_id = id
        WHERE role = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) LIMIT 2",
    );
    let live = live.bind(Role::Admin.name()).bind(now()).fetch_all(c).await?;
    Ok(live == [(id,)])
}
