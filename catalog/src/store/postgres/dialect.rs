//! Types, locks and statements that differ from SQLite.

use crate::store::StoreResult;

pub type Db = sqlx::Postgres;
pub type Row = sqlx::postgres::PgRow;
pub type Connection = sqlx::PgConnection;

/// Adding to a generator or stack locks its row, so that it is not deleted meanwhile. The lock order prevents
/// deadlocks: tokens, generators, versions of a name, stacks, objects.
pub const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR SHARE";
pub const HELD_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE";
pub const LIVE_STACK: &str = "SELECT id FROM stacks WHERE id = $1 AND deleted_at IS NULL FOR SHARE";
/// Deletes some expired tokens, without waiting for other connections that do the same.
pub const SWEEP: &str = "DELETE FROM requests WHERE key IN (SELECT key FROM requests WHERE created_at <= $1
    ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED)";

/// Holds an advisory lock until the end of the transaction.
pub async fn lock(c: &mut Connection, what: &str) -> StoreResult<()> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))").bind(what.to_owned()).execute(c).await?;
    Ok(())
}

/// The owner of a template, as in the indexes: the nil ID for the system.
macro_rules! owner {
    ($table:literal) => {
        concat!("COALESCE(", $table, "generator_id, '00000000-0000-0000-0000-000000000000')")
    };
}

/// The name of a template in lower case (ASCII), as in the indexes.
macro_rules! folded {
    ($table:literal) => {
        concat!("lower(", $table, "name COLLATE \"C\")")
    };
}

pub(super) use {folded, owner};
