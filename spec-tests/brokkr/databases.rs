//! Databases for tests: an SQLite file, a database in memory, a PostgreSQL database. Each test has its own.
//!
//! `DROPFORGE_TEST_POSTGRES` is the URL of a PostgreSQL server whose user may create databases. Without it a server is
//! started if PostgreSQL is installed. Otherwise these tests are skipped, or fail if `CI` is set.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use dropforge_catalog::store::{self, Store};
use sqlx::Connection;
use sqlx::postgres::PgConnection;

/// The database of a test.
pub struct Database {
    /// The value of `--db`.
    pub url: String,
    memory: Option<Arc<dyn Store>>,
    // Deleted with the database.
    _folder: Option<tempfile::TempDir>,
}

impl Database {
    /// Opens a store in this database.
    pub async fn open(&self) -> Arc<dyn Store> {
        match &self.memory {
            Some(store) => store.clone(),
            None => store::open(&self.url).await.expect("a store"),
        }
    }

    /// Returns `true` if the data outlives the store.
    pub fn lasts(&self) -> bool {
        self.memory.is_none()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Runs a test on an SQLite file.
pub fn on_sqlite<F: Future<Output = ()>>(test: impl FnOnce(Arc<Database>) -> F) {
    let folder = tempfile::tempdir().expect("a folder");
    let url = folder.path().join("catalog.db").display().to_string();
    runtime().block_on(test(Arc::new(Database { url, memory: None, _folder: Some(folder) })));
}

/// Runs a test on a database in memory.
pub fn on_memory<F: Future<Output = ()>>(test: impl FnOnce(Arc<Database>) -> F) {
    runtime().block_on(async {
        let url = ":memory:".to_owned();
        let memory = Some(store::open(&url).await.expect("a store"));
        test(Arc::new(Database { url, memory, _folder: None })).await;
    });
}

/// Runs a test on a PostgreSQL database.
pub fn on_postgres<F: Future<Output = ()>>(test: impl FnOnce(Arc<Database>) -> F) {
    let Some(server) = postgres() else { return };
    runtime().block_on(async {
        let name = format!("df_{}", store::new_id().simple());
        command(server, format!("CREATE DATABASE {name}")).await;
        let (base, _) = server.rsplit_once('/').expect("a URL with a database");
        test(Arc::new(Database { url: format!("{base}/{name}"), memory: None, _folder: None })).await;
        command(server, format!("DROP DATABASE {name} WITH (FORCE)")).await;
    });
}

/// Executes a statement on a separate connection.
pub async fn command(server: &str, sql: String) {
    let mut connection = PgConnection::connect(server).await.expect("PostgreSQL");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.expect("a statement");
    connection.close().await.expect("the end");
}

/// Returns the URL of a PostgreSQL server, if there is one.
pub fn postgres() -> Option<&'static str> {
    static SERVER: OnceLock<Option<String>> = OnceLock::new();
    SERVER.get_or_init(given_or_started).as_deref()
}

fn given_or_started() -> Option<String> {
    if let Ok(url) = std::env::var("DROPFORGE_TEST_POSTGRES") {
        return Some(url);
    }
    started(&std::env::temp_dir().join(format!("dropforge-pg-{}", std::process::id())))
}

/// A PostgreSQL server of one test, which stops it.
pub struct OwnServer {
    pub url: String,
    folder: PathBuf,
}

impl OwnServer {
    /// Starts a server if PostgreSQL is installed.
    pub fn start() -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("dropforge-pg-{}", store::new_id().simple()));
        started(&folder).map(|url| Self { url, folder })
    }

    /// Runs `stop`, `start`, `freeze` or `thaw`.
    pub fn control(&self, what: &str) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-tests/brokkr/postgres/control");
        let status = Command::new(script).arg(&self.folder).arg(what).status().expect("bash");
        assert!(status.success(), "{what}: {status}");
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        self.control("thaw");
        self.control("stop");
    }
}

/// Starts a server that lives as long as this process.
fn started(folder: &Path) -> Option<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-tests/brokkr/postgres/start");
    let started = Command::new(script)
        .arg(folder)
        .arg(std::process::id().to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("bash");
    // The script exits with 3 if PostgreSQL is not installed.
    if started.status.code() == Some(3) && std::env::var_os("CI").is_none() {
        eprintln!("skipped: there is no PostgreSQL here, and DROPFORGE_TEST_POSTGRES is not set");
        return None;
    }
    assert!(started.status.success(), "PostgreSQL did not start: {:?}", started.status);
    Some(String::from_utf8(started.stdout).expect("a URL").trim().to_owned())
}
