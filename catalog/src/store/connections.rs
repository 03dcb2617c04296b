//! What both databases share: connections that callers use in turns, work on them, migrations of the schema.

use std::pin::Pin;

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::error::StoreError;
use crate::fair::{Gate, Identity, Load, Pass};

/// Connections of a pool. Callers get them in turns, and none gets all of them. Work of the service itself, such as
/// looking up keys, does not queue: the pool has some more connections for it.
#[derive(Debug)]
pub(super) struct Connections(Gate);

impl Connections {
    /// Shares connections for writing, which mostly wait for the disk: a caller gets at most two thirds.
    pub(super) fn for_writing(count: usize) -> Self {
        Self(Gate::new(count, (count * 2 / 3).max(1)))
    }

    /// Shares connections for reading, which keep a core busy with rows: a caller gets at most two thirds, and leaves a
    /// core to others.
    pub(super) fn for_reading(count: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self(Gate::new(count, (count * 2 / 3).clamp(1, cores - 1)))
    }

    /// Waits for the caller's turn. The connection may be used while the result lives.
    pub(super) async fn turn(&self) -> Option<Pass> {
        if Identity::current() == Identity::Service { None } else { self.0.pass().await }
    }

    /// The current use.
    pub(super) fn load(&self) -> Load {
        self.0.load()
    }
}

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

/// The future of work on a connection.
pub(super) type WorkFuture<'c, T> = Pin<Box<dyn Future<Output = T> + Send + 'c>>;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Actor;

    #[tokio::test]
    async fn connections_are_left_for_others_and_for_the_service() {
        let connections = Connections::for_writing(3);
        let greedy = Identity::Caller(Actor::Readonly);
        let turn = || async { tokio::time::timeout(Duration::from_millis(1), connections.turn()).await.ok() };
        let held = [greedy.scope(turn()).await.flatten(), greedy.scope(turn()).await.flatten()];
        assert!(held.iter().all(Option::is_some) && greedy.scope(turn()).await.is_none());
        let other = Identity::Caller(Actor::Admin).scope(turn()).await.flatten();
        assert_eq!((other.is_some(), connections.load().running), (true, 3));
        assert!(Identity::Caller(Actor::Agent).scope(turn()).await.is_none(), "the last is the service's");
        assert!(turn().await.is_some_and(|pass| pass.is_none()));
    }
}
