//! The database file: created if it is missing, checked before anything in it changes, and migrated to the newest
//! schema. Copies of it are complete, checked, and put in place in one step.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};

use crate::store::connections::{Migrations, describe, migrator};
use crate::store::{StoreError, StoreResult};

const MIGRATIONS: &Migrations = &[
    (1, include_str!("../../../migrations/sqlite/0001_catalog.sql")),
    (2, include_str!("../../../migrations/sqlite/0002_size.sql")),
    (3, include_str!("../../../migrations/sqlite/0003_operations.sql")),
    (4, include_str!("../../../migrations/sqlite/0004_repeats.sql")),
];

/// The application ID in the header of a catalog file: "dfcg".
const APPLICATION: i32 = 0x6466_6367;

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

/// Time to wait for the locks of other processes.
const PATIENCE: Duration = Duration::from_secs(2);

fn failed(what: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(what.to_string())
}

/// Copies the catalog at `from` to `to`. Other processes may use the catalog meanwhile: the copy is one moment of it.
/// An existing file is replaced only with `force`. Returns the size of the copy in bytes.
///
/// # Errors
/// [`StoreError::Failed`]: `from` is not a catalog or is damaged, `to` exists, or a file cannot be written. Then `to` is
/// unchanged.
pub async fn back_up(from: &str, to: &Path, force: bool) -> StoreResult<u64> {
    reject_existing(to, force)?;
    let copy = copy(from, to).await?;
    let bytes = fs::metadata(&copy.0).map_err(failed)?.len();
    copy.replace(to, force)?;
    Ok(bytes)
}

/// Replaces the catalog at `to` by the backup at `from`. An existing file is replaced only with `force`, and never while
/// another process uses it. Returns the size in bytes.
///
/// # Errors
/// [`StoreError::Failed`]: as for [`back_up`]; `to` is in use, or `from` was written by a newer version of dropforge.
pub async fn restore(from: &str, to: &str, force: bool) -> StoreResult<u64> {
    let target = Path::new(to);
    reject_existing(target, force)?;
    let copy = copy(from, target).await?;
    let bytes = fs::metadata(&copy.0).map_err(failed)?.len();
    if target.exists() {
        settle(to).await?;
        // Left by a process that was killed. They belong to the file that goes.
        for suffix in ["-wal", "-shm", "-journal"] {
            drop(fs::remove_file(format!("{to}{suffix}")));
        }
    }
    copy.replace(target, force)?;
    Ok(bytes)
}

fn reject_existing(path: &Path, force: bool) -> StoreResult<()> {
    let exists = || failed(format!("`{}` exists: it is replaced only with `--force`", path.display()));
    if force || !path.exists() { Ok(()) } else { Err(exists()) }
}

/// A copy beside the file that it will become. It is removed unless it replaces that file.
struct FileCopy(PathBuf);

impl Drop for FileCopy {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

impl FileCopy {
    /// Creates an empty file that only its owner can read.
    fn create(beside: &Path) -> io::Result<Self> {
        let name = beside.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
        let path = beside.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self(path))
    }

    /// Puts the copy in the place of `path`, on disk.
    fn replace(self, path: &Path, force: bool) -> StoreResult<()> {
        let put = || -> io::Result<()> {
            File::open(&self.0)?.sync_all()?;
            // A link never replaces a file, not even one that was created a moment ago.
            if force {
                fs::rename(&self.0, path)?
            } else {
                fs::hard_link(&self.0, path)?
            }
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
        };
        put().map_err(|error| failed(format!("cannot write `{}`: {error}", path.display())))
    }
}

/// Copies a catalog to a new file beside `beside`, and checks the copy.
async fn copy(from: &str, beside: &Path) -> StoreResult<FileCopy> {
    let cannot = |error: sqlx::Error| failed(format!("cannot read `{from}` as a catalog: {error}"));
    if !Path::new(from).is_file() {
        return Err(failed(format!("cannot read `{from}` as a catalog: there is no such file")));
    }
    let mut source = copy_options(from).connect().await.map_err(cannot)?;
    check_is_catalog(&mut source, from).await?;
    let unwritable = |error: io::Error| failed(format!("cannot write beside `{}`: {error}", beside.display()));
    let copy = FileCopy::create(beside).map_err(unwritable)?;
    let path = copy.0.display().to_string();
    sqlx::query("VACUUM INTO $1").bind(path.clone()).execute(&mut source).await.map_err(cannot)?;
    source.close().await.map_err(cannot)?;
    let mut made = copy_options(&path).connect().await.map_err(cannot)?;
    check_integrity(&mut made, from).await?;
    made.close().await.map_err(cannot)?;
    Ok(copy)
}

fn copy_options(path: &str) -> SqliteConnectOptions {
    // A relative name such as `file:x` would be read as a URI.
    let path = if path.starts_with('/') { path.to_owned() } else { format!("./{path}") };
    SqliteConnectOptions::new().filename(path).create_if_missing(false).busy_timeout(PATIENCE)
}

async fn check_is_catalog(connection: &mut SqliteConnection, path: &str) -> StoreResult<()> {
    let not = |error: sqlx::Error| failed(format!("`{path}` is not a catalog: {error}"));
    let id: i32 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await.map_err(not)?;
    if id != APPLICATION {
        return Err(failed(format!("`{path}` is not a catalog")));
    }
    let newest = sqlx::query_scalar("SELECT MAX(version) FROM _sqlx_migrations");
    let newest: Option<i64> = newest.fetch_one(connection).await.map_err(not)?;
    match newest.filter(|newest| MIGRATIONS.iter().all(|(version, _)| version < newest)) {
        Some(newest) => Err(failed(format!("`{path}` has schema {newest}, written by a newer version of dropforge"))),
        None => Ok(()),
    }
}

async fn check_integrity(connection: &mut SqliteConnection, path: &str) -> StoreResult<()> {
    let damaged = |what: &dyn std::fmt::Display| failed(format!("`{path}` is damaged: {what}"));
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(&mut *connection)
        .await
        .map_err(|error| damaged(&error))?;
    let orphan = sqlx::query("PRAGMA foreign_key_check").fetch_optional(connection).await;
    match orphan.map_err(|error| damaged(&error))? {
        _ if found != "ok" => Err(damaged(&found)),
        Some(_) => Err(damaged(&"a row refers to a row that is not there")),
        None => Ok(()),
    }
}

/// Requires that no other process uses a catalog, and moves its log into the file. A file that SQLite cannot read is in
/// use by nobody.
async fn settle(path: &str) -> StoreResult<()> {
    // Leaving WAL mode needs the file alone.
    let opened = copy_options(path).journal_mode(SqliteJournalMode::Delete).connect().await;
    match opened {
        Ok(connection) => connection.close().await.map_err(failed),
        Err(sqlx::Error::Database(error)) if error.message().contains("locked") => {
            Err(failed(format!("`{path}` is in use: stop the service that uses it, then restore")))
        }
        Err(_) => Ok(()),
    }
}
