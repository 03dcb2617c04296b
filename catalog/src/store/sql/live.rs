//! Checks that a row exists and is not deleted.

use uuid::Uuid;

use super::super::dialect::{Connection, LIVE_GENERATOR};
use super::rows::statement;
use crate::store::{StoreError, StoreResult};

/// Requires a live generator and locks it until the end of the transaction. `constraint` names the violated foreign key.
pub async fn require_generator(c: &mut Connection, id: Uuid, constraint: &'static str) -> StoreResult<()> {
    let found = statement(LIVE_GENERATOR).bind(id).fetch_optional(c).await?;
    found.map(drop).ok_or(StoreError::ForeignKeyViolation(constraint))
}

/// Requires a live template version.
pub async fn require_version(c: &mut Connection, id: Uuid) -> StoreResult<()> {
    require(c, "SELECT id FROM stack_templates WHERE id = $1 AND deleted_at IS NULL", id).await
}

/// Requires a live stack.
pub async fn require_stack(c: &mut Connection, id: Uuid) -> StoreResult<()> {
    require(c, "SELECT id FROM stacks WHERE id = $1 AND deleted_at IS NULL", id).await
}

async fn require(c: &mut Connection, select: &'static str, id: Uuid) -> StoreResult<()> {
    statement(select).bind(id).fetch_one(c).await?;
    Ok(())
}
