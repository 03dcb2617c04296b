//! The connection pool and its transactions.

use std::str::FromStr;
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection as _, Executor as _, PgPool};

use super::dialect::Connection;
use super::sql::guard::guarded;
use super::watch::Watch;
use crate::fair::Load;
use crate::store::migrations::{Migrations, describe, migrator};
use crate::store::sharing::Connections;
use crate::store::work::WorkFuture;
use crate::store::{StoreError, StoreResult};

const MIGRATIONS: &Migrations = &[
    (1, include_str!("../../../migrations/postgres/0001_catalog.sql")),
    (2, include_str!("../../../migrations/postgres/0002_size.sql")),
    (3, include_str!("../../../migrations/postgres/0003_operations.sql")),
    (4, include_str!("../../../migrations/postgres/0004_repeats.sql")),
    (5, include_str!("../../../migrations/postgres/0005_search.sql")),
];

/// PostgreSQL allows 100 for all clients by default.
const CONNECTIONS: u32 = 20;
/// The connections that callers share. The others are for the service itself.
const READING: usize = 6;
const WRITING: usize = 12;
/// Maximum time that a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);
/// Idle time after which a connection is pinged before use.
const IDLE: Duration = Duration::from_secs(5);
/// Settings of each connection: the maximum time that a statement waits for a lock, and plans that read indexes in their
/// order, which takes time in proportion to the rows of a page. The planner takes other plans to be cheaper where it
/// cannot know how many rows there are. Statements that sort all the same seem dear, and would be compiled each time.
const SETTINGS: &str = "SET lock_timeout = '2s'; SET enable_sort = off; SET enable_hashagg = off;
    SET enable_bitmapscan = off; SET jit = off";
/// The oldest supported server version, the first with `NULLS NOT DISTINCT`.
const OLDEST: i32 = 150_000;

/// A PostgreSQL store.
#[derive(Debug)]
pub struct PostgresStore {
    pool: PgPool,
    watch: Watch,
    reading: Connections,
    writing: Connections,
}

fn failed(error: sqlx::Error) -> StoreError {
    StoreError::Failed(format!("cannot use the database: {error}"))
}

impl PostgresStore {
    /// Connects to the database and creates missing tables.
    pub async fn open(url: &str) -> StoreResult<Self> {
        let options = PgConnectOptions::from_str(url).map_err(failed)?;
        upgrade(options.connect().await.map_err(failed)?).await?;
        let pool = PoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(ACQUIRE_TIMEOUT);
        let watch = Watch::start(options.clone());
        let watched = watch.clone();
        // Connections from before an outage are probably broken.
        let pool = pool.test_before_acquire(false).before_acquire(move |connection: &mut PgConnection, meta| {
            let sound = meta.idle_for < IDLE && !watched.failed_within(meta.age);
            Box::pin(async move { Ok(sound || connection.ping().await.is_ok()) })
        });
        let pool = pool.after_connect(|connection: &mut PgConnection, _| {
            Box::pin(async move { connection.execute(SETTINGS).await.map(drop) })
        });
        let (reading, writing) = (Connections::for_reading(READING), Connections::for_writing(WRITING));
        Ok(Self { pool: pool.connect_lazy_with(options), watch, reading, writing })
    }

    /// Runs work in a transaction.
    pub(super) async fn write<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        let work = guarded(work);
        let transaction = async {
            let _turn = self.writing.turn().await;
            let mut transaction = self.pool.begin().await?;
            let done = work(&mut transaction).await?;
            transaction.commit().await?;
            Ok(done)
        };
        self.watch.run(transaction).await
    }

    /// Runs a statement that is a transaction of its own. The flag of the work is always `true`.
    pub(super) async fn write_whole<T, F>(&self, work: F) -> StoreResult<T>
    where
        F: for<'c> FnOnce(&'c mut Connection, bool) -> WorkFuture<'c, StoreResult<T>>,
    {
        let write = async {
            let _turn = self.writing.turn().await;
            work(&mut *self.pool.acquire().await?, true).await
        };
        self.watch.run(write).await
    }

    /// Runs work that only reads.
    pub(super) async fn read<T, F>(&self, work: F) -> StoreResult<T>
    where
        F: for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>>,
    {
        let read = async {
            let _turn = self.reading.turn().await;
            work(&mut *self.pool.acquire().await?).await
        };
        self.watch.run(read).await
    }

    /// The use of the connections.
    pub(super) fn connection_load(&self) -> Load {
        self.reading.load() + self.writing.load()
    }

    /// Closes the pool.
    pub(super) async fn close_pool(&self) {
        self.pool.close().await;
    }
}

/// Applies missing migrations under a database lock. The lock ends with the connection, which is used for nothing else.
async fn upgrade(mut connection: PgConnection) -> StoreResult<()> {
    let version = sqlx::query_scalar("SELECT current_setting('server_version_num')::int");
    let version: i32 = version.fetch_one(&mut connection).await.map_err(failed)?;
    if version < OLDEST {
        return Err(StoreError::Failed(format!("PostgreSQL {} is not supported: use 15 or newer", version / 10_000)));
    }
    let done = migrator(MIGRATIONS).run_direct(None, &mut connection, false).await;
    done.map_err(|error| describe("the database", error))?;
    connection.close().await.map_err(failed)
}
