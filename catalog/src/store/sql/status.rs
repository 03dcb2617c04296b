//! Statements on the whole store.

use super::super::dialect::Connection;
use super::rows::{rows, statement};
use crate::store::{Counts, StoreResult};

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

pub async fn ready(c: &mut Connection) -> StoreResult<()> {
    statement("SELECT 1").fetch_one(c).await?;
    Ok(())
}
