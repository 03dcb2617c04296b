//! Statements on the whole store.

use sqlx::Row as _;
use uuid::Uuid;

use super::super::dialect::{Connection, owner};
use super::rows::{rows, statement};
use crate::model::now;
use crate::store::{Counts, StoreResult, Usage, new_id};

/// Counts all rows of a table and subtracts the deleted ones, because both have an index.
macro_rules! live {
    ($table:literal) => {
        concat!(
            "(SELECT COUNT(*) FROM ",
            $table,
            ") - (SELECT COUNT(*) FROM ",
            $table,
            " WHERE deleted_at IS NOT NULL)"
        )
    };
}

pub const COUNTS: &str = concat!(
    "SELECT ",
    live!("generators"),
    " AS generators, ",
    live!("stack_templates"),
    " AS templates, ",
    live!("stacks"),
    " AS stacks, ",
    live!("deployment_objects"),
    " AS objects"
);

pub async fn counts(c: &mut Connection) -> StoreResult<Counts> {
    Ok(rows(COUNTS).fetch_one(c).await?)
}

/// A generator's objects are live if their stack is.
pub const USAGE: &str = concat!(
    "WITH own AS (SELECT template_content, parameters_schema FROM stack_templates WHERE ",
    owner!(""),
    " = $1 AND deleted_at IS NULL)
    SELECT (SELECT COUNT(*) FROM own) AS templates,
    (SELECT CAST(COALESCE(SUM(octet_length(template_content) + octet_length(parameters_schema)), 0) AS bigint) FROM own)
        AS template_bytes,
    COUNT(o.sequence_id) AS objects, CAST(COALESCE(SUM(octet_length(o.yaml_content)), 0) AS bigint) AS object_bytes
    FROM stacks s JOIN deployment_objects o ON o.stack_id = s.id WHERE s.generator_id = $1 AND s.deleted_at IS NULL"
);

pub async fn usage(c: &mut Connection, generator: Uuid) -> StoreResult<Usage> {
    let row = statement(USAGE).bind(generator).fetch_one(c).await?;
    let number = |column: &str| row.try_get::<i64, _>(column).map(|number| u64::try_from(number).unwrap_or_default());
    Ok(Usage {
        templates: number("templates")?,
        objects: number("objects")?,
        bytes: number("template_bytes")? + number("object_bytes")?,
    })
}

/// Bytes that are written to see if there is room.
const ROOM: usize = 32 << 10;

/// Writes a row and removes it, which fails if other writes would.
pub async fn ready(c: &mut Connection) -> StoreResult<()> {
    let (id, at) = (new_id(), now());
    let insert = statement("INSERT INTO requests (key, request, made, created_at) VALUES ($1, $2, $3, $4)");
    insert.bind(id.to_string()).bind("0".repeat(ROOM)).bind(id).bind(at).execute(&mut *c).await?;
    statement("DELETE FROM requests WHERE key = $1").bind(id.to_string()).execute(c).await?;
    Ok(())
}
