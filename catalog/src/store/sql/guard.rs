//! Checks of the conditions of a change.

use uuid::Uuid;

use super::super::dialect::{Connection, lock};
use super::rows::{execute_one, rows, statement};
use super::{idempotency, live, metadata, stacks, templates};
use crate::model::{Role, now};
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
        Requirement::Newest(id) => templates::hold_newest(c, id).await.map_err(stale),
        Requirement::Stack(id, at) => {
            let stack = stacks::one(c, id).await?;
            live::require_generator(c, stack.generator_id, stacks::OWNER).await?;
            let update = statement("UPDATE stacks SET name = name WHERE id = $1 AND updated_at = $2");
            execute_one(update.bind(id).bind(at), c).await.map_err(stale)
        }
        Requirement::Generator(id, at) => {
            let update = statement("UPDATE generators SET name = name WHERE id = $1 AND updated_at = $2");
            execute_one(update.bind(id).bind(at), c).await.map_err(stale)
        }
        Requirement::Metadata(owner, kind, row) => metadata::hold(c, owner, kind, row).await.map_err(stale),
        Requirement::OtherAdminKey(id) if last_live_admin_key(c, id).await? => Err(StoreError::LastAdminKey),
        Requirement::OtherAdminKey(_) => Ok(()),
    }
}

/// The error of a state that is not there.
fn stale(error: StoreError) -> StoreError {
    match error {
        StoreError::NotFound => StoreError::Stale,
        error => error,
    }
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
