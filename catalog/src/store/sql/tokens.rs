//! Idempotency tokens.

use chrono::{TimeDelta, Utc};
use uuid::Uuid;

use super::super::{Connection, SWEEP};
use super::rows::{rows, run};
use crate::model::Moment;
use crate::store::{StoreError, Stored, Token};

/// Lifetime of a token.
const REMEMBERED: TimeDelta = TimeDelta::hours(24);

/// Records that the request with this token creates `made`, in the same transaction. No locks may be taken before it:
/// concurrent requests with the same token wait here.
///
/// # Errors
/// `Repeated`, `TokenReused`.
pub async fn claim(c: &mut Connection, token: Option<Token>, made: Uuid, at: Moment) -> Stored<()> {
    let Some(token) = token else { return Ok(()) };
    let expired = at - REMEMBERED;
    let claim = run("INSERT INTO requests (key, request, made, created_at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (key) DO UPDATE SET request = excluded.request, made = excluded.made, created_at = excluded.created_at
        WHERE requests.created_at <= $5");
    let claim = claim.bind(token.key.clone()).bind(token.request.clone()).bind(made).bind(at).bind(expired);
    if claim.execute(&mut *c).await?.rows_affected() == 0 {
        return Err(used(c, token).await?);
    }
    run(SWEEP).bind(expired).execute(c).await?;
    Ok(())
}

async fn used(c: &mut Connection, token: Token) -> Stored<StoreError> {
    let row = rows::<(String, Uuid)>("SELECT request, made FROM requests WHERE key = $1").bind(token.key);
    let (request, made) = row.fetch_one(c).await?;
    Ok(if request == token.request { StoreError::Repeated(made) } else { StoreError::TokenReused })
}

/// Returns the ID that the request with this token created.
pub async fn made(c: &mut Connection, token: Token) -> Stored<Uuid> {
    let row = rows::<(String, Uuid)>("SELECT request, made FROM requests WHERE key = $1 AND created_at > $2");
    let (request, made) = row.bind(token.key).bind(Utc::now() - REMEMBERED).fetch_one(c).await?;
    if request == token.request { Ok(made) } else { Err(StoreError::TokenReused) }
}
