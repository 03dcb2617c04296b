//! A store in a PostgreSQL database, which several servers can share.

// The statements are written once and compiled for the types of each database.
#[allow(clippy::duplicate_mod)]
#[path = "../sql/mod.rs"]
mod sql;

use std::str::FromStr;
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection as _, PgPool};

use super::schema::{Migrations, migrator, refused};
use super::{Doing, StoreError, Stored};

type Db = sqlx::Postgres;
type Row = sqlx::postgres::PgRow;
type Connection = PgConnection;
type Here = PostgresStore;

const MIGRATIONS: &Migrations = &[(1, include_str!("../../../migrations/postgres/0001_catalog.sql"))];

/// Adding to a generator or stack locks its row, so that it is not deleted meanwhile. The lock order prevents
/// deadlocks: tokens, generators, versions of a name, stacks, objects.
const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR SHARE";
const HELD_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE";
const LIVE_STACK: &str = "SELECT id FROM stacks WHERE id = $1 AND deleted_at IS NULL FOR SHARE";
/// Deletes some expired tokens, without waiting for other connections that do the same.
const SWEEP: &str = "DELETE FROM requests WHERE key IN (SELECT key FROM requests WHERE created_at <= $1
    ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED)";

/// Holds an advisory lock until the end of the transaction.
async fn lock(c: &mut Connection, what: &str) -> Stored<()> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))").bind(what.to_owned()).execute(c).await?;
    Ok(())
}

/// PostgreSQL allows 100 for all clients by default.
const CONNECTIONS: u32 = 20;
/// Maximum time that a request waits for a connection.
const PATIENCE: Duration = Duration::from_secs(30);
/// Idle time after which a connection is pinged before use.
const IDLE: Duration = Duration::from_secs(5);
/// The oldest supported server version, the first with `NULLS NOT DISTINCT`.
const OLDEST: i32 = 150_000;

/// A PostgreSQL store.
#[derive(Debug)]
pub(super) struct PostgresStore {
    pool: PgPool,
}

fn failed(error: sqlx::Error) -> StoreError {
    StoreError::Failed(format!("cannot use the database: {error}"))
}

impl PostgresStore {
    /// Connects to the database and creates missing tables.
    pub(super) async fn open(url: &str) -> Stored<Self> {
        let options = PgConnectOptions::from_str(url).map_err(failed)?;
        upgrade(options.connect().await.map_err(failed)?).await?;
        let pool = PoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(PATIENCE);
        let pool = pool.test_before_acquire(false).before_acquire(|connection: &mut PgConnection, meta| {
            Box::pin(async move { Ok(meta.idle_for < IDLE || connection.ping().await.is_ok()) })
        });
        Ok(Self { pool: pool.connect_lazy_with(options) })
    }

    async fn write<T, F>(&self, work: F) -> Stored<T>
    where
        F: for<'c> FnOnce(&'c mut Connection) -> Doing<'c, Stored<T>>,
    {
        let mut transaction = self.pool.begin().await?;
        let done = work(&mut transaction).await?;
        transaction.commit().await?;
        Ok(done)
    }

    async fn read<T, F>(&self, work: F) -> Stored<T>
    where
        F: for<'c> FnOnce(&'c mut Connection) -> Doing<'c, Stored<T>>,
    {
        work(&mut *self.pool.acquire().await?).await
    }

    async fn end(&self) {
        self.pool.close().await;
    }
}

/// Applies missing migrations under a database lock. The lock ends with the connection, which is used for nothing else.
async fn upgrade(mut connection: PgConnection) -> Stored<()> {
    let version = sqlx::query_scalar("SELECT current_setting('server_version_num')::int");
    let version: i32 = version.fetch_one(&mut connection).await.map_err(failed)?;
    if version < OLDEST {
        return Err(StoreError::Failed(format!("PostgreSQL {} is not supported: use 15 or newer", version / 10_000)));
    }
    let done = migrator(MIGRATIONS).run_direct(None, &mut connection, false).await;
    done.map_err(|error| refused("the database", error))?;
    connection.close().await.map_err(failed)
}
