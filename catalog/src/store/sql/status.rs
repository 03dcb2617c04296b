//! Statements on the whole store.

use super::super::dialect::Connection;
use super::rows::{rows, statement};
use crate::store::{Counts, StoreResult};

pub async fn counts(c: &mut Connection) -> StoreResult<Counts> {
    let select = rows(
        "SELECT (SELECT COUNT(*) FROM generators WHERE deleted_at IS NULL) AS generators,
        (SELECT COUNT(*) FROM stack_templates WHERE deleted_at IS NULL) AS templates,
        (SELECT COUNT(*) FROM stacks WHERE deleted_at IS NULL) AS stacks,
        (SELECT COUNT(*) FROM deployment_objects WHERE deleted_at IS NULL) AS objects",
    );
    Ok(select.fetch_one(c).await?)
}

pub async fn ready(c: &mut Connection) -> StoreResult<()> {
    statement("SELECT 1").fetch_one(c).await?;
    Ok(())
}
