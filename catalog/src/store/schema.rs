//! The tables, and how they come into a database: migrations that are applied one after the other, each once.

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::StoreError;

/// Migrations: number and statements. A migration that was released is never changed.
pub(super) type Migrations = [(i64, &'static str)];

/// What applies them.
pub(super) fn migrator(migrations: &Migrations) -> Migrator {
    let migration = |(version, sql): &(i64, &'static str)| {
        Migration::new(*version, "catalog".into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(migrations.iter().map(migration).collect())
}

/// Why they could not be applied to `what`.
pub(super) fn refused(what: &str, error: MigrateError) -> StoreError {
    StoreError::Failed(match error {
        MigrateError::VersionMissing(version) => {
            format!("{what} has schema {version}, which this version of dropforge does not know: a newer one wrote it")
        }
        MigrateError::VersionMismatch(version) => {
            format!("{what} is no catalog of this dropforge: its schema {version} is another one")
        }
        error => format!("the tables of {what} could not be made: {error}"),
    })
}
