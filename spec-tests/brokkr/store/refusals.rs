//! Files that are not catalogs are neither opened nor changed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use dropforge_catalog::store::{self, StoreError};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Executor};

use super::fixtures::version_in;
use crate::databases::{Database, command, on_postgres, on_sqlite};

async fn why(url: &str) -> String {
    match store::open(url).await {
        Err(StoreError::Failed(why)) => why,
        other => panic!("{url}: {other:?}"),
    }
}

/// Prepares the path of an SQLite file with `before`, opens it, and returns the error.
fn refusal(before: impl AsyncFnOnce(&str)) -> String {
    let (tell, told) = std::sync::mpsc::channel();
    on_sqlite(async |db| {
        before(&db.url).await;
        let bytes = fs::read(&db.url).ok();
        tell.send(why(&db.url).await).unwrap();
        assert_eq!(fs::read(&db.url).ok(), bytes, "the file was changed");
    });
    told.recv().unwrap()
}

async fn sqlite(path: &str, sql: &'static str) {
    let mut connection = SqliteConnection::connect(&format!("sqlite://{path}?mode=rwc")).await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let why = refusal(async |path| fs::write(path, "a: 1\n".repeat(4000)).unwrap());
    assert!(why.contains("catalog.db` is not a catalog: ") && why.contains("not a database"), "{why}");
}

#[test]
fn a_database_of_something_else_is_refused() {
    let why = refusal(async |path| sqlite(path, "CREATE TABLE generators (id TEXT)").await);
    assert!(why.ends_with("catalog.db` is not a catalog: it is another application's SQLite file"), "{why}");
}

#[test]
fn a_damaged_file_is_refused() {
    let why = refusal(async |path| {
        store::open(path).await.unwrap().close().await;
        let mut bytes = fs::read(path).unwrap();
        bytes[100..4096].fill(0xff);
        fs::write(path, bytes).unwrap();
    });
    assert!(why.contains("is not a catalog: ") && why.contains("malformed"), "{why}");
}

#[test]
fn a_folder_is_refused() {
    let why = refusal(async |path| fs::create_dir(path).unwrap());
    assert!(why.contains("cannot open `") && why.contains("catalog.db` as a catalog: "), "{why}");
}

#[test]
fn a_newer_schema_is_refused_in_sqlite() {
    let why = refusal(async |path| {
        store::open(path).await.unwrap().close().await;
        sqlite(
            path,
            "INSERT INTO _sqlx_migrations SELECT 9999, description, installed_on, success, checksum,
            execution_time FROM _sqlx_migrations WHERE version = 1",
        )
        .await;
    });
    assert!(why.contains("has schema 9999, written by a newer version of dropforge"), "{why}");
}

#[test]
fn a_newer_schema_is_refused_in_postgres() {
    on_postgres(async |db: Arc<Database>| {
        db.open().await.close().await;
        let newer = "INSERT INTO _sqlx_migrations SELECT 9999, description, installed_on, success, checksum,
            execution_time FROM _sqlx_migrations WHERE version = 1";
        command(&db.url, newer.to_owned()).await;
        let why = why(&db.url).await;
        assert!(why.starts_with("the database has schema 9999, written by a newer version"), "{why}");
    });
}

#[test]
fn a_database_with_tables_of_something_else_is_refused() {
    on_postgres(async |db: Arc<Database>| {
        command(&db.url, "CREATE TABLE requests (id int)".to_owned()).await;
        let why_not = why(&db.url).await;
        assert!(why_not.starts_with("cannot create the tables of the database: "), "{why_not}");
        // The failed migration left nothing behind.
        command(&db.url, "DROP TABLE requests".to_owned()).await;
        assert_eq!(version_in(&*db.open().await, None, "t").await.version, 1);
    });
}

#[test]
fn a_place_where_nothing_can_be_written_is_refused() {
    on_sqlite(async |db| {
        let folder = Path::new(&db.url).with_file_name("nowhere");
        let why_not = why(folder.join("catalog.db").to_str().unwrap()).await;
        assert!(why_not.contains("cannot create `") && why_not.contains("nowhere/catalog.db`: "), "{why_not}");
        // Permissions do not bind root, but nobody can create files in /proc.
        let root = fs::metadata("/proc/self").map(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
        let closed = if root { "/proc/self/catalog.db" } else { folder.to_str().unwrap() };
        let why_not = why(&format!("{closed}/catalog.db")).await;
        assert!(why_not.contains("cannot create `"), "{why_not}");
    });
}

#[test]
fn only_the_owner_may_read_the_file() {
    on_sqlite(async |db| {
        let store = db.open().await;
        version_in(&*store, None, "t").await;
        for end in ["", "-wal", "-shm"] {
            let mode = fs::metadata(format!("{}{end}", db.url)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{end}");
        }
        store.close().await;
    });
}

#[test]
fn paths_and_addresses_of_files() {
    on_sqlite(async |db| {
        let store = db.open().await;
        let made = version_in(&*store, None, "t").await;
        for url in [format!("sqlite:{}", db.url), format!("sqlite://{}", db.url)] {
            assert_eq!(store::open(&url).await.unwrap().newest(None, "t").await.unwrap(), made);
        }
        let odd = format!("{}?mode=ro#%20 ü", db.url);
        assert_eq!(store::open(&odd).await.unwrap().counts().await.unwrap().templates, 0);
        assert!(Path::new(&odd).is_file());
        assert!(why("mysql://localhost/catalog").await.contains("unknown kind of database `mysql://`"));
    });
}

#[test]
fn a_password_is_not_told() {
    on_sqlite(async |_| {
        for url in ["postgres://me:s3cret@127.0.0.1:1/x", "postgresql://me:s3cret@127.0.0.1:port/x"] {
            let why = why(url).await;
            assert!(why.starts_with("cannot use the database: ") && !why.contains("s3cret"), "{why}");
        }
    });
}

async fn opened_by_many(db: Arc<Database>) {
    let open = |_| {
        let db = db.clone();
        tokio::spawn(async move { version_in(&*db.open().await, None, "t").await.version })
    };
    let mut versions = Vec::new();
    for opened in (0..8).map(open).collect::<Vec<_>>() {
        versions.push(opened.await.unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn a_new_file_is_opened_by_many_at_once() {
    on_sqlite(opened_by_many);
}

#[test]
fn a_new_database_is_opened_by_many_at_once() {
    on_postgres(opened_by_many);
}
