//! Statements on generators, and on keys, which are rows of two tables: the details came with a later schema.

use chrono::TimeDelta;
use uuid::Uuid;

use super::super::{Connection, HELD_GENERATOR, lock};
use super::rows::{after, execute_one, limit, require_generator, rows, statement};
use crate::model::{Generator, KeyRow, Role, Timestamp};
use crate::store::{Page, StoreResult};

pub async fn create(c: &mut Connection, new: Generator, key: KeyRow) -> StoreResult<Generator> {
    let insert = rows(
        "INSERT INTO generators
        (id, created_at, updated_at, deleted_at, name, description, last_active_at, is_active, is_system)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING *",
    );
    let insert = insert.bind(new.id).bind(new.created_at).bind(new.updated_at).bind(new.deleted_at).bind(new.name);
    let insert = insert.bind(new.description).bind(new.last_active_at).bind(new.is_active).bind(new.is_system);
    let row = insert.fetch_one(&mut *c).await?;
    insert_key(c, key).await?;
    Ok(row)
}

pub async fn one(c: &mut Connection, id: Uuid) -> StoreResult<Generator> {
    Ok(rows("SELECT * FROM generators WHERE id = $1 AND deleted_at IS NULL").bind(id).fetch_one(c).await?)
}

pub const ALL: &str = "SELECT * FROM generators WHERE deleted_at IS NULL AND id > $1 ORDER BY id LIMIT $2";

pub async fn all(c: &mut Connection, page: Page) -> StoreResult<Vec<Generator>> {
    Ok(rows(ALL).bind(after(&page)).bind(limit(&page)).fetch_all(c).await?)
}

pub async fn update(c: &mut Connection, to: Generator) -> StoreResult<Generator> {
    let update = rows(
        "UPDATE generators SET name = $2, description = $3, is_active = $4, updated_at = $5
        WHERE id = $1 AND deleted_at IS NULL RETURNING *",
    );
    let update = update.bind(to.id).bind(to.name).bind(to.description).bind(to.is_active).bind(to.updated_at);
    Ok(update.fetch_one(c).await?)
}

/// The generator comes first, so that nothing can be added to it afterwards.
const DELETE: [&str; 5] = [
    "UPDATE generators SET deleted_at = $2, updated_at = $2 WHERE id = $1",
    "UPDATE stacks SET deleted_at = $2, updated_at = $2 WHERE generator_id = $1 AND deleted_at IS NULL",
    "UPDATE deployment_objects SET deleted_at = $2, updated_at = $2 WHERE deleted_at IS NULL
        AND stack_id IN (SELECT id FROM stacks WHERE generator_id = $1 AND deleted_at = $2)",
    "UPDATE stack_templates SET deleted_at = $2, updated_at = $2 WHERE generator_id = $1 AND deleted_at IS NULL",
    REVOKE_ALL,
];

const REVOKE_ALL: &str = "UPDATE api_keys SET revoked_at = $2 WHERE generator_id = $1 AND revoked_at IS NULL";

pub async fn delete(c: &mut Connection, id: Uuid, at: Timestamp) -> StoreResult<()> {
    statement(HELD_GENERATOR).bind(id).fetch_one(&mut *c).await?;
    for sql in DELETE {
        statement(sql).bind(id).bind(at).execute(&mut *c).await?;
    }
    Ok(())
}

pub async fn touch(c: &mut Connection, id: Uuid, at: Timestamp) -> StoreResult<()> {
    let update = statement("UPDATE generators SET last_active_at = $2 WHERE id = $1 AND deleted_at IS NULL");
    execute_one(update.bind(id).bind(at), c).await
}

pub async fn add_key(c: &mut Connection, key: KeyRow) -> StoreResult<()> {
    if let Some(generator) = key.generator_id {
        require_generator(c, generator, "api_keys_generator_id_fkey").await?;
    }
    insert_key(c, key).await
}

pub async fn add_first_key(c: &mut Connection, key: KeyRow) -> StoreResult<bool> {
    lock(c, key.role.name()).await?;
    let first = !key_exists(c, key.role, key.created_at).await?;
    if first {
        insert_key(c, key).await?;
    }
    Ok(first)
}

async fn insert_key(c: &mut Connection, key: KeyRow) -> StoreResult<()> {
    let insert = statement(
        "INSERT INTO api_keys (id, short_token, hash, role, generator_id, created_at, revoked_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)",
    );
    let insert = insert.bind(key.id).bind(key.short_token.clone()).bind(key.hash.clone()).bind(key.role.name());
    insert.bind(key.generator_id).bind(key.created_at).bind(key.revoked_at).execute(&mut *c).await?;
    insert_key_details(c, key).await
}

pub async fn rotate(c: &mut Connection, id: Uuid, key: KeyRow, at: Timestamp) -> StoreResult<()> {
    // Concurrent rotations run one after the other and leave one key.
    statement(HELD_GENERATOR).bind(id).fetch_one(&mut *c).await?;
    statement(REVOKE_ALL).bind(id).bind(at).execute(&mut *c).await?;
    insert_key(c, key).await
}

pub async fn revoke(c: &mut Connection, id: Uuid, at: Timestamp) -> StoreResult<()> {
    let update = statement("UPDATE api_keys SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL");
    execute_one(update.bind(id).bind(at), c).await
}

/// Minimum interval between recorded uses of a key, by all servers of the store.
const USE_INTERVAL: TimeDelta = TimeDelta::minutes(1);

pub async fn key(c: &mut Connection, short_token: String) -> StoreResult<KeyRow> {
    let select = rows(
        "SELECT api_keys.*, name, expires_at, last_used_at FROM api_keys LEFT JOIN key_details ON key_id = id
        WHERE short_token = $1 AND revoked_at IS NULL AND (generator_id IS NULL
        OR EXISTS (SELECT 1 FROM generators WHERE id = generator_id AND is_active AND deleted_at IS NULL))",
    );
    Ok(select.bind(short_token).fetch_one(c).await?)
}

pub async fn all_keys(c: &mut Connection) -> StoreResult<Vec<KeyRow>> {
    let select = rows(
        "SELECT api_keys.*, name, expires_at, last_used_at FROM api_keys LEFT JOIN key_details ON key_id = id
        ORDER BY id",
    );
    Ok(select.fetch_all(c).await?)
}

/// Returns `true` if a key of this role is live at `at`.
pub async fn key_exists(c: &mut Connection, role: Role, at: Timestamp) -> StoreResult<bool> {
    let select = statement(
        "SELECT id FROM api_keys LEFT JOIN key_details ON key_id = id
        WHERE role = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2) LIMIT 1",
    );
    Ok(select.bind(role.name()).bind(at).fetch_optional(c).await?.is_some())
}

/// Adds the name and expiry of a key.
pub async fn insert_key_details(c: &mut Connection, key: KeyRow) -> StoreResult<()> {
    if key.name.is_none() && key.expires_at.is_none() {
        return Ok(());
    }
    let insert = statement("INSERT INTO key_details (key_id, name, expires_at) VALUES ($1, $2, $3)");
    insert.bind(key.id).bind(key.name).bind(key.expires_at).execute(c).await?;
    Ok(())
}

/// Records a use.
pub async fn touch_key(c: &mut Connection, id: Uuid, at: Timestamp) -> StoreResult<()> {
    let upsert = statement(
        "INSERT INTO key_details (key_id, last_used_at) VALUES ($1, $2)
        ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
        WHERE key_details.last_used_at IS NULL OR key_details.last_used_at <= $3",
    );
    upsert.bind(id).bind(at).bind(at - USE_INTERVAL).execute(c).await?;
    Ok(())
}
