//! Statements on the whole store.

use super::super::dialect::Connection;
use super::rows::{rows, statement};
use crate::model::now;
use crate::store::{Counts, StoreResult, new_id};

pub async fn counts(c: &mut Connection) -> StoreResult<Counts> {
    let select = rows(
        "SELECT (SELECT COUNT(*) FROM generators WHERE deleted_at IS NULL) AS generators,
        (SELECT COUNT(*) FROM stack_templates WHERE deleted_at IS NULL) AS templates,
        (SELECT COUNT(*) FROM stacks WHERE deleted_at IS NULL) AS stacks,
        (SELECT COUNT(*) FROM deployment_objects WHERE deleted_at IS NULL) AS objects",
    );
    Ok(select.fetch_one(c).await?)
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
