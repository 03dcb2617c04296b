//! A store in a PostgreSQL database, which several servers can share.

// The statements are written once and compiled for the types of each database.
#[allow(clippy::duplicate_mod)]
#[path = "../sql/mod.rs"]
mod sql;
mod watch;

use std::str::FromStr;
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection as _, Executor as _, PgPool};

use super::{Connections, Migrations, WorkFuture, describe, migrator};
use crate::fair::Load;
use crate::store::{StoreError, StoreResult};
use sql::guard::guarded;
use watch::Watch;

pub(super) use sql::STATEMENTS;

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

type Backend = PostgresStore;

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

// Types, locks and statements that differ from SQLite.

type Db = sqlx::Postgres;
type Row = sqlx::postgres::PgRow;
type Connection = sqlx::PgConnection;

/// Adding to a generator or stack locks its row, so that it is not deleted meanwhile. The lock order prevents
/// deadlocks: tokens, generators, versions of a name, stacks, objects.
const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR SHARE";
const HELD_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE";
/// Deletes some expired tokens, without waiting for other connections that do the same.
const SWEEP: &str = "DELETE FROM requests WHERE key IN (SELECT key FROM requests WHERE created_at <= $1
    ORDER BY created_at LIMIT 100 FOR UPDATE SKIP LOCKED)";

/// Adds an object to a live stack, with its record and an entry of the audit trail, in one round trip. The parameters are
/// those of `objects::bound`.
const CREATE_OBJECT: &str = "WITH live AS (SELECT id, name FROM stacks WHERE id = $3 AND deleted_at IS NULL FOR SHARE),
    made AS (INSERT INTO deployment_objects (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum, submitted_at, is_deletion_marker)
        SELECT $1, $2, $2, id, $4, $5, $2, $6 FROM live RETURNING sequence_id),
    recorded AS (INSERT INTO rendered_deployment_objects (record_id, deployment_object_id, template_id, template_version,
        template_parameters, defaults, template_checksum, schema_checksum, parameters_checksum, output_checksum, engine,
        rendered_at)
        SELECT $7, $1, $8, $9, $10, $11, $12, $13, $14, $15, $16, $2 FROM made WHERE $7 IS NOT NULL),
    logged AS (INSERT INTO audit_log (id, at, action, object_kind, object_id, object_name, role, key_id, key_name,
        generator_id, address, request_id) SELECT $17, $2, 'object.create', 'object', $1, live.name, $18, $19,
        COALESCE($20, (SELECT name FROM generators WHERE id = $21)), $21, $22, $23 FROM live, made)
    SELECT sequence_id FROM made";
const CREATE_OBJECT_ALONE: &str = CREATE_OBJECT;

/// Holds an advisory lock until the end of the transaction.
async fn lock(c: &mut Connection, what: &str) -> StoreResult<()> {
    sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))").bind(what.to_owned()).execute(c).await?;
    Ok(())
}

/// The owner of a template, as in the indexes: the nil ID for the system.
macro_rules! owner {
    ($table:literal) => {
        concat!("COALESCE(", $table, "generator_id, '00000000-0000-0000-0000-000000000000')")
    };
}

/// The name of a template in lower case (ASCII), as in the indexes.
macro_rules! folded {
    ($table:literal) => {
        concat!("lower(", $table, "name COLLATE \"C\")")
    };
}

/// Whether the name of a template contains a text in lower case.
macro_rules! contains {
    ($table:literal, $text:literal) => {
        concat!("strpos(", folded!($table), ", ", $text, ") > 0")
    };
}

use {contains, folded, owner};
