//! The file: made if it is not there, looked at before anything in it is changed, and brought to the newest schema.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

use super::super::schema::{Migrations, migrator, refused};
use super::super::{StoreError, Stored};

const MIGRATIONS: &Migrations = &[(1, include_str!("../../../migrations/sqlite/0001_catalog.sql"))];

/// What stands in the header of a catalog's file, by which it is known from other SQLite files: "dfcg".
const APPLICATION: i32 = 0x6466_6367;

/// The path of a database in memory.
pub const IN_MEMORY: &str = ":memory:";

/// How long a writer waits while another process writes.
const BUSY: Duration = Duration::from_secs(10);

/// How a connection to the file is opened once it is known to be a catalog.
pub fn options(path: &str) -> SqliteConnectOptions {
    bare(path).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full)
}

fn bare(path: &str) -> SqliteConnectOptions {
    // As a path of its own a name like `file:x` is no address.
    let path = if path == IN_MEMORY || path.starts_with('/') { path.to_owned() } else { format!("./{path}") };
    SqliteConnectOptions::new().filename(path).foreign_keys(true).busy_timeout(BUSY)
}

/// The connection that writes, to a file with all tables.
pub async fn prepared(path: &str) -> Stored<SqliteConnection> {
    let cannot = |error: sqlx::Error| StoreError::Failed(format!("`{path}` cannot be opened as a catalog: {error}"));
    if path == IN_MEMORY {
        let mut alone = bare(path).connect().await.map_err(cannot)?;
        upgrade(&mut alone, path).await?;
        return Ok(alone);
    }
    create(path)?;
    // Nothing is asked of this connection that would change a file which is not ours.
    let mut first = bare(path).connect().await.map_err(cannot)?;
    upgrade(&mut first, path).await?;
    first.close().await.map_err(cannot)?;
    options(path).connect().await.map_err(cannot)
}

/// Makes an empty file that only its owner can read; SQLite gives the files beside it the same rights.
fn create(path: &str) -> Stored<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(Path::new(path));
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(StoreError::Failed(format!("`{path}` cannot be made: {error}")))
        }
        _ => Ok(()),
    }
}

/// Applies the migrations that are missing. Whoever opens the same file at the same time waits, and finds them applied.
async fn upgrade(connection: &mut SqliteConnection, path: &str) -> Stored<()> {
    let failed = |error: sqlx::Error| StoreError::Failed(format!("`{path}` is no catalog: {error}"));
    let mut alone = connection.begin_with("BEGIN EXCLUSIVE").await.map_err(failed)?;
    let known: i32 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *alone).await.map_err(failed)?;
    let tables = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_schema");
    let tables: i64 = tables.fetch_one(&mut *alone).await.map_err(failed)?;
    if known != APPLICATION && tables > 0 {
        return Err(StoreError::Failed(format!("`{path}` is no catalog: it is an SQLite file of something else")));
    }
    sqlx::query("PRAGMA application_id = 1684431719").execute(&mut *alone).await.map_err(failed)?;
    let migrator: Migrator = migrator(MIGRATIONS);
    migrator.run_direct(None, &mut *alone, false).await.map_err(|error| refused(&format!("`{path}`"), error))?;
    alone.commit().await.map_err(failed)
}
