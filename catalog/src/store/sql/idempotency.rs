//! Idempotency tokens.

use chrono::{TimeDelta, Utc};
use uuid::Uuid;

use super::super::dialect::{Connection, SWEEP};
use super::rows::{rows, statement};
use crate::model::Timestamp;
use crate::store::{IdempotencyToken, StoreError, StoreResult};

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
