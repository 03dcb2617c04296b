//! Statements on keys, which are rows of two tables: the details came with a later schema.

use chrono::TimeDelta;
use uuid::Uuid;

use super::super::dialect::Connection;
use super::rows::{rows, statement};
use crate::model::{KeyRow, Role, Timestamp};
use crate::store::StoreResult;

/// Minimum interval between recorded uses of a key, by all servers of the store.
const USE_INTERVAL: TimeDelta = TimeDelta::minutes(1);

pub async fn one(c: &mut Connection, short_token: String) -> StoreResult<KeyRow> {
    let select = rows(
        "SELECT api_keys.*, name, expires_at, last_used_at FROM api_keys LEFT JOIN key_details ON key_id = id
        WHERE short_token = $1 AND revoked_at IS NULL AND (generator_id IS NULL
        OR EXISTS (SELECT 1 FROM generators WHERE id = generator_id AND is_active AND deleted_at IS NULL))",
    );
    Ok(select.bind(short_token).fetch_one(c).await?)
}

pub async fn all(c: &mut Connection) -> StoreResult<Vec<KeyRow>> {
    let select = rows(
        "SELECT api_keys.*, name, expires_at, last_used_at FROM api_keys LEFT JOIN key_details ON key_id = id
        ORDER BY id",
    );
    Ok(select.fetch_all(c).await?)
}

/// Returns `true` if a key of this role is live at `at`.
pub async fn exists(c: &mut Connection, role: Role, at: Timestamp) -> StoreResult<bool> {
    let select = statement(
        "SELECT id FROM api_keys LEFT JOIN key_details ON key_id = id
        WHERE role = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) LIMIT 1",
    );
    Ok(select.bind(role.name()).bind(at).fetch_optional(c).await?.is_some())
}

/// Adds the name and expiry of a key.
pub async fn insert_details(c: &mut Connection, key: KeyRow) -> StoreResult<()> {
    if key.name.is_none() && key.expires_at.is_none() {
        return Ok(());
    }
    let insert = statement("INSERT INTO key_details (key_id, name, expires_at) VALUES ($1, $2, $3)");
    insert.bind(key.id).bind(key.name).bind(key.expires_at).execute(c).await?;
    Ok(())
}

/// Records a use.
pub async fn touch(c: &mut Connection, id: Uuid, at: Timestamp) -> StoreResult<()> {
    let upsert = statement(
        "INSERT INTO key_details (key_id, last_used_at) VALUES ($1, $2)
        ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
        WHERE key_details.last_used_at IS NULL OR key_details.last_used_at <= $3",
    );
    upsert.bind(id).bind(at).bind(at - USE_INTERVAL).execute(c).await?;
    Ok(())
}
