//! The connections: one for writing, some for reading.

use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::pool::PoolOptions;

use super::dialect::Connection;
use super::file;
use super::sql::guard::guarded;
use super::writer::Writer;
use crate::fair::Load;
use crate::store::StoreResult;
use crate::store::sharing::Connections;
use crate::store::work::WorkFuture;

/// Maximum number of connections for reading. Callers share all but one.
const READERS: u32 = 4;
/// Maximum time that a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

/// An SQLite store.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Writer,
    /// Connections for reading. A database in memory has only its writer.
    readers: Option<SqlitePool>,
    connections: Connections,
}

impl SqliteStore {
    /// Opens or creates the file at `path`.
    pub async fn open(path: &str) -> StoreResult<Self> {
        let writer = Writer::new(file::open_writer(path).await?);
        let connections = Connections::for_reading(READERS as usize - 1);
        if path == file::IN_MEMORY {
            return Ok(Self { writer, readers: None, connections });
        }
        let readers =
            PoolOptions::new().max_connections(READERS).acquire_timeout(ACQUIRE_TIMEOUT).test_before_acquire(false);
        let readers = readers.connect_lazy_with(file::options(path).pragma("query_only", "on"));
        Ok(Self { writer, readers: Some(readers), connections })
    }

    /// Runs work in a transaction.
    pub(super) async fn write<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        self.writer.run(guarded(work)).await
    }

    /// Runs a statement that can be a transaction of its own, or part of one. The flag of the work is `true` if it is
    /// alone. In a transaction it has a savepoint `object`, which is open after an error.
    pub(super) async fn write_whole<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection, bool) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        self.writer.run_whole(work).await
    }

    /// Runs work that only reads.
    pub(super) async fn read<T, F>(&self, work: F) -> StoreResult<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Connection) -> WorkFuture<'c, StoreResult<T>> + Send + 'static,
    {
        match &self.readers {
            None => self.writer.run(work).await,
            Some(readers) => {
                let _turn = self.connections.turn().await;
                work(&mut *readers.acquire().await?).await
            }
        }
    }

    /// The use of the connections, and of the writer.
    pub(super) fn connection_load(&self) -> Load {
        self.connections.load() + self.writer.load()
    }

    /// Closes all connections.
    pub(super) async fn close_pool(&self) {
        if let Some(readers) = &self.readers {
            readers.close().await;
        }
        self.writer.close().await;
    }
}
