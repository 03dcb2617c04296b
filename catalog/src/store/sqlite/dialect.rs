//! Types, locks and statements that differ from PostgreSQL.

use crate::store::StoreResult;

pub type Db = sqlx::Sqlite;
pub type Row = sqlx::sqlite::SqliteRow;
pub type Connection = sqlx::SqliteConnection;

/// There is only one writer, so rows need no locks.
pub const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL";
pub const HELD_GENERATOR: &str = LIVE_GENERATOR;
/// Deletes some expired tokens.
pub const SWEEP: &str = "DELETE FROM requests WHERE key IN
    (SELECT key FROM requests WHERE created_at <= $1 ORDER BY created_at LIMIT 100)";

/// Adds an object to a live stack, with its record and an entry of the audit trail. The parameters are those of
/// `objects::bound`. On an error the savepoint is still open.
macro_rules! create_object {
    ($begin:literal, $end:literal) => {
        concat!(
            $begin,
            "; INSERT INTO deployment_objects (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum, submitted_at, is_deletion_marker)
        SELECT $1, $2, $2, id, $4, $5, $2, $6 FROM stacks WHERE id = $3 AND deleted_at IS NULL;
    INSERT INTO rendered_deployment_objects (record_id, deployment_object_id, template_id, template_version,
        template_parameters, defaults, template_checksum, schema_checksum, parameters_checksum, output_checksum, engine,
        rendered_at)
        SELECT $7, $1, $8, $9, $10, $11, $12, $13, $14, $15, $16, $2 FROM deployment_objects
        WHERE id = $1 AND $7 IS NOT NULL;
    INSERT INTO audit_log (id, at, action, object_kind, object_id, object_name, role, key_id, key_name,
        generator_id, address, request_id) SELECT $17, $2, 'object.create', 'object', $1, s.name, $18, $19,
        COALESCE($20, (SELECT name FROM generators WHERE id = $21)), $21, $22, $23
        FROM deployment_objects o JOIN stacks s ON s.id = o.stack_id WHERE o.id = $1; ",
            $end,
            "; SELECT sequence_id FROM deployment_objects WHERE id = $1"
        )
    };
}

/// The statement within a transaction, and as a transaction of its own.
pub const CREATE_OBJECT: &str = create_object!("SAVEPOINT object", "RELEASE object");
pub const CREATE_OBJECT_ALONE: &str = create_object!("BEGIN IMMEDIATE", "COMMIT");

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

/// Whether the name of a template contains a text in lower case.
macro_rules! contains {
    ($table:literal, $text:literal) => {
        concat!("instr(", folded!($table), ", ", $text, ") > 0")
    };
}

pub(super) use {contains, folded, owner};
