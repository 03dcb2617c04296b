//! A store in one SQLite file.
//!
//! All changes go through one connection ([`writer`]). Reads use other connections, which see the last committed state
//! and never wait. The file is in WAL mode, and every commit is synced.

mod file;
mod writer;

// The statements are written once and compiled for the types of each database.
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

/// There is only one writer, so rows need no locks.
const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL";
const HELD_GENERATOR: &str = LIVE_GENERATOR;
const LIVE_STACK: &str = "SELECT id FROM stacks WHERE id = $1 AND deleted_at IS NULL";
/// Deletes some expired tokens.
const SWEEP: &str = "DELETE FROM requests WHERE key IN
    (SELECT key FROM requests WHERE created_at <= $1 ORDER BY created_at LIMIT 100)";

async fn lock(_: &mut Connection, _: &str) -> Stored<()> {
    Ok(())
}

const READERS: u32 = 4;
/// Maximum time that a request waits for a connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// An SQLite store.
#[derive(Debug)]
pub(super) struct SqliteStore {
    writer: Writer,
    /// Connections for reading. A database in memory has only its writer.
    readers: Option<SqlitePool>,
}

impl SqliteStore {
    /// Opens or creates the file at `path`.
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
