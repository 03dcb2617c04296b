//! Types, locks and statements that differ from SQLite.

use crate::store::StoreResult;

pub type Db = sqlx::Postgres;
pub type Row = sqlx::postgres::PgRow;
pub type Connection = sqlx::PgConnection;

/// Adding to a generator or stack locks its row, so that it is not deleted meanwhile. The lock order prevents
/// deadlocks: tokens, generators, versions of a name, stacks, objects.
pub const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR SHARE";
pub const HELD_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE";
/// Deletes some expired tokens, without waiting for other connections that do the same.
pub const SWEEP: &str = "DELETE FROM requests WHERE key IN (SELECT key FROM requests WHERE created_at <= $1
    ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED)";

/// Adds an object to a live stack, with its record and an entry of the audit trail, in one round trip. The parameters are
/// those of `objects::bound`.
pub const CREATE_OBJECT: &str = "WITH live AS (SELECT id, name FROM stacks WHERE id = $3 AND deleted_at IS NULL FOR SHARE),
    made AS (INSERT INTO deployment_objects (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum, submitted_at, is_deletion_marker)
        SELECT $1, $2, $2, id, $4, $5, $2, $6 FROM live RETURNING sequence_id),
    recorded AS (INSERT INTO rendered_deployment_objects (record_id, deployment_object_id, template_id, template_version,
        template_parameters, defaults, template_checksum, schema_checksum, parameters_checksum, output_checksum, engine,
        rendered_at)
        SELECT $7, $1, $8, $9, $10, $11, $12, $13, $14, $15, $16, $2 FROM made WHERE $7 IS NOT NULL),
    logged AS (INSERT INTO audit_log (id, at, action, object_kind, object_id, object_name, role, key_id, key_name,
        generator_id, address, request_id) SELECT $17, $2, 'object.create', 'object', $1, live.name, $18, $19,
        COALESCE($20, (SELECT name FROM generators WHERE id = $21)), $21, $22, $23 FROM live, made)
    SELECT sequence_id FROM made";
pub const CREATE_OBJECT_ALONE: &str = CREATE_OBJECT;

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

/// Whether the name of a template contains a text in lower case.
macro_rules! contains {
    ($table:literal, $text:literal) => {
        concat!("strpos(", folded!($table), ", ", $text, ") > 0")
    };
}

pub(super) use {contains, folded, owner};
