//! Statements on the whole store: counts, readiness, and the removal of deleted rows and of old entries of the audit
//! trail.

use sqlx::Row as _;
use uuid::Uuid;

use super::super::{Connection, owner};
use super::rows::{rows, statement};
use crate::model::{Timestamp, now};
use crate::store::types::first_id;
use crate::store::{Counts, Purged, StoreResult, Usage, new_id};

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

const DELETED_STACK: &str = "SELECT id FROM stacks WHERE deleted_at < $1 ORDER BY deleted_at LIMIT 1";

/// The oldest objects of a stack with their records. A deleted stack gets no new ones.
const OBJECTS_OF_STACK: [&str; 2] = [
    "DELETE FROM rendered_deployment_objects WHERE deployment_object_id IN
        (SELECT id FROM deployment_objects WHERE stack_id = $1 ORDER BY sequence_id LIMIT $2)",
    "DELETE FROM deployment_objects WHERE sequence_id IN
        (SELECT sequence_id FROM deployment_objects WHERE stack_id = $1 ORDER BY sequence_id LIMIT $2)",
];

const STACK: [&str; 3] = [
    "DELETE FROM stack_labels WHERE stack_id = $1",
    "DELETE FROM stack_annotations WHERE stack_id = $1",
    "DELETE FROM stacks WHERE id = $1",
];

/// Deleted versions that no record names. Records are of live objects, or of objects that are not old enough.
macro_rules! unused_templates {
    () => {
        "(SELECT t.id FROM stack_templates t WHERE t.deleted_at < $1 AND NOT EXISTS
            (SELECT 1 FROM rendered_deployment_objects r WHERE r.template_id = t.id)
            ORDER BY t.deleted_at, t.id LIMIT $2)"
    };
}

const TEMPLATES: [&str; 3] = [
    concat!("DELETE FROM template_labels WHERE template_id IN ", unused_templates!()),
    concat!("DELETE FROM template_annotations WHERE template_id IN ", unused_templates!()),
    concat!("DELETE FROM stack_templates WHERE id IN ", unused_templates!()),
];

/// The oldest entries. IDs are in the order of time.
const AUDIT: &str = "DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE id < $1 ORDER BY id LIMIT $2)";

/// Removes rows that were deleted before a time, about `most` of them, and entries from before another time.
pub async fn purge(
    c: &mut Connection,
    before: Timestamp,
    audit_before: Option<Timestamp>,
    most: u32,
) -> StoreResult<Purged> {
    let (mut purged, most) = (Purged::default(), i64::from(most));
    while purged.objects + purged.stacks < most {
        let stack = rows::<(Uuid,)>(DELETED_STACK).bind(before).fetch_optional(&mut *c).await?;
        let Some((stack,)) = stack else { break };
        purge_stack(c, stack, most, &mut purged).await?;
    }
    for sql in TEMPLATES {
        purged.templates = changed(statement(sql).bind(before).bind(most).execute(&mut *c).await?.rows_affected());
    }
    let done = purged.objects + purged.stacks < most && purged.templates < most;
    if let Some(before) = audit_before {
        let delete = statement(AUDIT).bind(first_id(before)).bind(most);
        purged.audit_entries = changed(delete.execute(&mut *c).await?.rows_affected());
    }
    purged.more = !done || purged.audit_entries >= most;
    if done {
        let kept = rows::<(i64,)>("SELECT COUNT(*) FROM stack_templates WHERE deleted_at < $1");
        (purged.kept_templates,) = kept.bind(before).fetch_one(c).await?;
    }
    Ok(purged)
}

async fn purge_stack(c: &mut Connection, stack: Uuid, most: i64, purged: &mut Purged) -> StoreResult<()> {
    let (left, mut objects) = (most - purged.objects - purged.stacks, 0);
    for sql in OBJECTS_OF_STACK {
        objects = changed(statement(sql).bind(stack).bind(left).execute(&mut *c).await?.rows_affected());
    }
    purged.objects += objects;
    if objects < left {
        for sql in STACK {
            statement(sql).bind(stack).execute(&mut *c).await?;
        }
        purged.stacks += 1;
    }
    Ok(())
}

fn changed(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
