//! Types, locks and statements that differ from PostgreSQL.

use crate::store::StoreResult;

pub type Db = sqlx::Sqlite;
pub type Row = sqlx::sqlite::SqliteRow;
pub type Connection = sqlx::SqliteConnection;

/// There is only one writer, so rows need no locks.
pub const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL";
pub const HELD_GENERATOR: &str = LIVE_GENERATOR;
pub const LIVE_STACK: &str = "SELECT id FROM stacks WHERE id = $1 AND deleted_at IS NULL";
/// Deletes some expired tokens.
pub const SWEEP: &str = "DELETE FROM requests WHERE key IN
    (SELECT key FROM requests WHERE created_at <= $1 ORDER BY created_at LIMIT 100)";

/// Does nothing: the writer is alone.
pub async fn lock(_: &mut Connection, _: &str) -> StoreResult<()> {
    Ok(())
}

/// The owner of a template, as in the indexes: the nil ID for the system.
macro_rules! owner {
    ($table:literal) => {
        concat!("COALESCE(", $table, "generator_id, x'00000000000000000000000000000000')")
    };
}

/// The name of a template in lower case (ASCII), as in the indexes.
macro_rules! folded {
    ($table:literal) => {
        concat!("lower(", $table, "name)")
    };
}

pub(super) use {folded, owner};
