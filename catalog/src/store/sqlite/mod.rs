//! A catalog in one SQLite file.
//!
//! What changes goes through one connection ([`writer`]); what only reads goes through others, which see the last state
//! that was committed and wait for nobody. The file is in WAL mode and every commit is synced.

mod file;
mod writer;

// The statements are written once and compiled for each database's types.
#[allow(clippy::duplicate_mod)]
#[path = "../sql/mod.rs"]
mod sql;

use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::pool::PoolOptions;

use self::writer::Writer;
use super::{Doing, Stored};

type Db = sqlx::Sqlite;
type Row = sqlx::sqlite::SqliteRow;
type Connection = sqlx::SqliteConnection;
type Here = SqliteStore;

/// The writer is alone: rows need not be locked.
const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL";
const HELD_GENERATOR: &str = LIVE_GENERATOR;
const LIVE_STACK: &str = "SELECT id FROM stacks WHERE id = $1 AND deleted_at IS NULL";
/// Forgets tokens that are too old, some at a time.
const SWEEP: &str = "DELETE FROM requests WHERE key IN
    (SELECT key FROM requests WHERE created_at <= $1 ORDER BY created_at LIMIT 100)";

async fn lock(_: &mut Connection, _: &str) -> Stored<()> {
    Ok(())
}

const READERS: u32 = 4;
/// How long a request waits for a connection before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// The store.
#[derive(Debug)]
pub(super) struct SqliteStore {
    writer: Writer,
    /// A database in memory has none: it is its one connection.
    readers: Option<SqlitePool>,
}

impl SqliteStore {
    /// Opens the file at `path`, or makes it.
    pub(super) async fn open(path: &str) -> Stored<Self> {
        let writer = Writer::over(file::prepared(path).await?);
        if path == file::IN_MEMORY {
            return Ok(Self { writer, readers: None });
        }
        let readers = PoolOptions::new().max_connections(READERS).acquire_timeout(PATIENCE).test_before_acquire(false);
        Ok(Self { writer, readers: Some(readers.connect_lazy_with(file::options(path).pragma("query_only", "on"))) })
    }

    async fn write<T, F>(&self, work: F) -> Stored<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Doing<'c, Stored<T>> + Send + 'static,
    {
        self.writer.write(work).await
    }

    async fn read<T, F>(&self, work: F) -> Stored<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> Doing<'c, Stored<T>> + Send + 'static,
    {
        match &self.readers {
            None => self.writer.read(work).await,
            Some(readers) => work(&mut *readers.acquire().await?).await,
        }
    }

    async fn end(&self) {
        if let Some(readers) = &self.readers {
            readers.close().await;
        }
        self.writer.close().await;
    }
}
