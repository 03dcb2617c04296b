//! Requests that may be sent twice.

use chrono::{TimeDelta, Utc};
use uuid::Uuid;

use super::super::{Connection, SWEEP};
use super::rows::{rows, run};
use crate::model::Moment;
use crate::store::{StoreError, Stored, Token};

/// How long a token is remembered.
const REMEMBERED: TimeDelta = TimeDelta::hours(24);

/// Notes that the request with this token makes `made`, in the transaction that makes it. Nothing may be locked before:
/// whoever comes second with a token waits here for the first.
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

/// What the request with this token made.
pub async fn made(c: &mut Connection, token: Token) -> Stored<Uuid> {
    let row = rows::<(String, Uuid)>("SELECT request, made FROM requests WHERE key = $1 AND created_at > $2");
    let (request, made) = row.bind(token.key).bind(Utc::now() - REMEMBERED).fetch_one(c).await?;
    if request == token.request { Ok(made) } else { Err(StoreError::TokenReused) }
}
