//! A store in one SQLite file.
//!
//! All changes go through one connection ([`writer`]). Reads use other connections, which see the last committed state
//! and never wait. The file is in WAL mode, and every commit is synced.

mod backup;
mod file;
// The statements are written once and compiled for the types of each database.
#[allow(clippy::duplicate_mod)]
#[path = "../sql/mod.rs"]
mod sql;
mod temporary;
mod writer;

use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::pool::PoolOptions;

use crate::fair::Load;
use crate::store::StoreResult;
use crate::store::{Connections, WorkFuture};
use sql::guard::guarded;
use writer::Writer;

pub use backup::{Restored, back_up, restore};
pub(super) use sql::STATEMENTS;

/// Maximum number of connections for reading. Callers share all but one.
const READERS: u32 = 4;
/// Maximum time that a request waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

type Backend = SqliteStore;

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

// Types, locks and statements that differ from PostgreSQL.

type Db = sqlx::Sqlite;
type Row = sqlx::sqlite::SqliteRow;
type Connection = sqlx::SqliteConnection;

/// There is only one writer, so rows need no locks.
const LIVE_GENERATOR: &str = "SELECT id FROM generators WHERE id = $1 AND deleted_at IS NULL";
const HELD_GENERATOR: &str = LIVE_GENERATOR;
/// Deletes some expired tokens.
const SWEEP: &str = "DELETE FROM requests WHERE key IN
    (SELECT key FROM requests WHERE created_at <= $1 ORDER BY created_at LIMIT 100)";

/// Adds an object to a live stack, with its record and an entry of the audit trail. The parameters are those of
/// `objects::bound`. On an error the savepoint is still open.
macro_rules! create_object {
    ($begin:literal, $end:literal) => {
        concat!(
            $begin,
            "; INSERT INTO deployment_objects (id, created_at, updated_at, stack_id, yaml_content, yaml_checksum, submitted_at, is_deletion_marker)
        SELECT $1, $2, $2, id, $4, $5, $2, $6 FROM stacks WHERE id = $3 AND deleted_at IS NULL;
    INSERT INTO rendered_deployment_objects (record_id, deployment_object_id, template_id, template_version,
        template_parameters, defaults, template_checksum, schema_checksum, parameters_checksum, output_checksum, engine,
        rendered_at)
        SELECT $7, $1, $8, $9, $10, $11, $12, $13, $14, $15, $16, $2 FROM deployment_objects
        WHERE id = $1 AND $7 IS NOT NULL;
    INSERT INTO audit_log (id, at, action, object_kind, object_id, object_name, role, key_id, key_name,
        generator_id, address, request_id) SELECT $17, $2, 'object.create', 'object', $1, s.name, $18, $19,
        COALESCE($20, (SELECT name FROM generators WHERE id = $21)), $21, $22, $23
        FROM deployment_objects o JOIN stacks s ON s.id = o.stack_id WHERE o.id = $1; ",
            $end,
            "; SELECT sequence_id FROM deployment_objects WHERE id = $1"
        )
    };
}

/// The statement within a transaction, and as a transaction of its own.
const CREATE_OBJECT: &str = create_object!("SAVEPOINT object", "RELEASE object");
const CREATE_OBJECT_ALONE: &str = create_object!("BEGIN IMMEDIATE", "COMMIT");

/// Does nothing: the writer is alone.
async fn lock(_: &mut Connection, _: &str) -> StoreResult<()> {
    Ok(())
}

/// The owner of a template, as in the indexes: the nil ID for the system.
macro_rules! owner {
    ($table:literal) => {
        concat!("COALESCE(", $table, "generator_id, x'00000000000000000000000000000000')")
    };
}

/// The name of a template in lower case (ASCII), as in the indexes.
macro_rules! folded {
    ($table:literal) => {
        concat!("lower(", $table, "name)")
    };
}

/// Whether the name of a template contains a text in lower case.
macro_rules! contains {
    ($table:literal, $text:literal) => {
        concat!("instr(", folded!($table), ", ", $text, ") > 0")
    };
}

use {contains, folded, owner};
