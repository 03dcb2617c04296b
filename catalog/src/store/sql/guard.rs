//! Checks of the conditions of a change, and idempotency tokens.

use chrono::{TimeDelta, Utc};
use uuid::Uuid;

use super::super::{Connection, SWEEP, lock};
use super::rows::{execute_one, require_generator, rows, statement};
use super::{stacks, templates};
use crate::model::{Role, Timestamp, now};
use crate::store::types::{Guard, Requirement};
use crate::store::{IdempotencyToken, StoreError, StoreResult, WorkFuture};

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
                claim(c, token, created, at).await?;
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
            require_generator(c, stack.generator_id, stacks::OWNER).await?;
            let update = statement("UPDATE stacks SET name = name WHERE id = $1 AND updated_at = $2");
            execute_one(update.bind(id).bind(at), c).await.map_err(stale)
        }
        Requirement::Generator(id, at) => {
            let update = statement("UPDATE generators SET name = name WHERE id = $1 AND updated_at = $2");
            execute_one(update.bind(id).bind(at), c).await.map_err(stale)
        }
        Requirement::Metadata(owner, kind, row) => stacks::hold_metadata(c, owner, kind, row).await.map_err(stale),
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

/// Lifetime of a token.
const LIFETIME: TimeDelta = TimeDelta::hours(24);

/// Records that the request with this token creates `created`, in the same transaction. No locks may be taken before it:
/// concurrent requests with the same token wait here.
///
/// # Errors
/// `Replayed`, `TokenReused`.
pub async fn claim(c: &mut Connection, token: IdempotencyToken, created: Uuid, at: Timestamp) -> StoreResult<()> {
    let expired = at - LIFETIME;
    let claim = statement(
        "INSERT INTO requests (key, request, made, created_at, salt) VALUES ($1, $2, $3, $4, $6)
        ON CONFLICT (key) DO UPDATE SET request = excluded.request, made = excluded.made,
        created_at = excluded.created_at, salt = excluded.salt
        WHERE requests.created_at <= $5",
    );
    let claim = claim.bind(token.key.clone()).bind(token.request.clone()).bind(created).bind(at).bind(expired);
    let claim = claim.bind(token.salt.clone());
    if claim.execute(&mut *c).await?.rows_affected() == 0 {
        return Err(replay_error(c, token).await?);
    }
    statement(SWEEP).bind(expired).execute(c).await?;
    Ok(())
}

async fn replay_error(c: &mut Connection, token: IdempotencyToken) -> StoreResult<StoreError> {
    let row = rows::<(String, Uuid)>("SELECT request, made FROM requests WHERE key = $1").bind(token.key);
    let (request, created) = row.fetch_one(c).await?;
    Ok(if request == token.request { StoreError::Replayed(created) } else { StoreError::TokenReused })
}

/// Returns the salt of the key that the request with this token created.
pub async fn salt(c: &mut Connection, token: IdempotencyToken) -> StoreResult<Option<String>> {
    let row = rows::<(String, Option<String>)>("SELECT request, salt FROM requests WHERE key = $1 AND created_at > $2");
    let (request, salt) = row.bind(token.key).bind(Utc::now() - LIFETIME).fetch_one(c).await?;
    if request == token.request { Ok(salt) } else { Err(StoreError::TokenReused) }
}

/// Returns the ID that the request with this token created.
pub async fn replayed(c: &mut Connection, token: IdempotencyToken) -> StoreResult<Uuid> {
    let row = rows::<(String, Uuid)>("SELECT request, made FROM requests WHERE key = $1 AND created_at > $2");
    let (request, created) = row.bind(token.key).bind(Utc::now() - LIFETIME).fetch_one(c).await?;
    if request == token.request { Ok(created) } else { Err(StoreError::TokenReused) }
}
