//! The database file: created if it is missing, checked before anything in it changes, and migrated to the newest
//! schema.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::store::{Migrations, describe, migrator};
use crate::store::{StoreError, StoreResult};

pub(super) const MIGRATIONS: &Migrations = &[
    (1, include_str!("../../../migrations/sqlite/0001_catalog.sql")),
    (2, include_str!("../../../migrations/sqlite/0002_size.sql")),
    (3, include_str!("../../../migrations/sqlite/0003_operations.sql")),
    (4, include_str!("../../../migrations/sqlite/0004_repeats.sql")),
];

/// The application ID in the header of a catalog file: "dfcg".
pub(super) const APPLICATION: i32 = 0x6466_6367;

/// The path of a database in memory.
pub const IN_MEMORY: &str = ":memory:";

/// Maximum time that a request waits for another process.
const BUSY_TIMEOUT: Duration = Duration::from_millis(1500);
/// Maximum time that opening a file waits for another process, which may be migrating it.
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Options of connections to a file that is known to be a catalog.
pub fn options(path: &str) -> SqliteConnectOptions {
    base_options(path)
        .busy_timeout(BUSY_TIMEOUT)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
}

fn base_options(path: &str) -> SqliteConnectOptions {
    // A relative name such as `file:x` would be read as a URI.
    let path = if path == IN_MEMORY || path.starts_with('/') { path.to_owned() } else { format!("./{path}") };
    SqliteConnectOptions::new().filename(path).foreign_keys(true).busy_timeout(OPEN_TIMEOUT)
}

/// Creates missing tables and opens the connection for writing.
pub async fn open_writer(path: &str) -> StoreResult<SqliteConnection> {
    let cannot = |error: sqlx::Error| StoreError::Failed(format!("cannot open `{path}` as a catalog: {error}"));
    if path == IN_MEMORY {
        let mut alone = base_options(path).connect().await.map_err(cannot)?;
        upgrade(&mut alone, path).await?;
        return Ok(alone);
    }
    create(path)?;
    // This connection must not change a file that is not a catalog.
    let mut first = base_options(path).connect().await.map_err(cannot)?;
    upgrade(&mut first, path).await?;
    first.close().await.map_err(cannot)?;
    // Others may still be migrating the file.
    let mut writer = options(path).busy_timeout(OPEN_TIMEOUT).connect().await.map_err(cannot)?;
    let timeout = format!("PRAGMA busy_timeout = {}", BUSY_TIMEOUT.as_millis());
    sqlx::query(AssertSqlSafe(timeout)).execute(&mut writer).await.map_err(cannot)?;
    Ok(writer)
}

/// Creates an empty file that only its owner can read. SQLite gives its auxiliary files the same permissions.
fn create(path: &str) -> StoreResult<()> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(Path::new(path));
    match created {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(StoreError::Failed(format!("cannot create `{path}`: {error}")))
        }
        _ => Ok(()),
    }
}

/// Applies missing migrations. Other processes that open the file wait and then find them applied.
async fn upgrade(connection: &mut SqliteConnection, path: &str) -> StoreResult<()> {
    let failed = |error: sqlx::Error| StoreError::Failed(format!("`{path}` is not a catalog: {error}"));
    let mut alone = connection.begin_with("BEGIN EXCLUSIVE").await.map_err(failed)?;
    let known: i32 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *alone).await.map_err(failed)?;
    let tables = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_schema");
    let tables: i64 = tables.fetch_one(&mut *alone).await.map_err(failed)?;
    if known != APPLICATION && tables > 0 {
        return Err(StoreError::Failed(format!("`{path}` is not a catalog: it is another application's SQLite file")));
    }
    sqlx::query("PRAGMA application_id = 1684431719").execute(&mut *alone).await.map_err(failed)?;
    let migrator: Migrator = migrator(MIGRATIONS);
    migrator.run_direct(None, &mut *alone, false).await.map_err(|error| describe(&format!("`{path}`"), error))?;
    alone.commit().await.map_err(failed)
}
