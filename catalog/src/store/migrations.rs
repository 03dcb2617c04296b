//! Migrations of the database schema.

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::error::StoreError;

/// Migrations: number and statements. Released migrations never change.
pub(super) type Migrations = [(i64, &'static str)];

/// Creates the migrator.
pub(super) fn migrator(migrations: &Migrations) -> Migrator {
    let migration = |(version, sql): &(i64, &'static str)| {
        Migration::new(*version, "catalog".into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(migrations.iter().map(migration).collect())
}

/// Describes why migrations could not be applied to `what`.
pub(super) fn describe(what: &str, error: MigrateError) -> StoreError {
    StoreError::Failed(match error {
        MigrateError::VersionMissing(version) => {
            format!("{what} has schema {version}, written by a newer version of dropforge")
        }
        MigrateError::VersionMismatch(version) => {
            format!("{what} is not a catalog of this version of dropforge: its schema {version} differs")
        }
        error => format!("cannot create the tables of {what}: {error}"),
    })
}
