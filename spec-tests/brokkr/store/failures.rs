//! Full disks and broken connections.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Arc;

use dropforge_catalog::store::{self, Outage, Page, StoreError};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection, Executor};
use uuid::Uuid;

use super::fixtures::{an_object, generator_in, stack_in, version_in};
use crate::databases::{Database, command, on_postgres, on_sqlite, postgres};

const FILL: &str = "DROPFORGE_FILL";
const STACK: &str = "DROPFORGE_FILL_STACK";

/// The child process: eight tasks write until a while after the disk is full and print the results. Does nothing in an
/// ordinary run.
#[test]
fn filler() {
    let Ok(url) = std::env::var(FILL) else { return };
    let stack: Uuid = std::env::var(STACK).unwrap().parse().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = store::open(&url).await.unwrap();
        let task = |_| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut failures = 0;
                while failures < 20 {
                    let new = an_object(stack, &"x".repeat(20_000));
                    match store.create_object(&new).await {
                        Ok(made) => println!("\nmade {}", made.id),
                        Err(StoreError::Unavailable(Outage::Full | Outage::Disk, _)) => {
                            failures += 1;
                            println!("\nfailed {}", new.id);
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        };
        for task in (0..8).map(task).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

#[test]
fn writes_to_a_full_disk_are_reported_correctly() {
    on_sqlite(async |db: Arc<Database>| {
        let store = db.open().await;
        let stack = stack_in(&*store, "s", generator_in(&*store, "g").await.id).await.id;
        store.close().await;
        // Files cannot grow beyond 3 MiB. Writing more is an error, not a signal.
        let said = Command::new("bash")
            .args(["-c", "trap '' XFSZ; ulimit -f 3072; exec \"$0\" \"$@\""])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "store::failures::filler", "--nocapture", "--test-threads=1"])
            .env(FILL, &db.url)
            .env(STACK, stack.to_string())
            .stderr(Stdio::inherit())
            .output()
            .unwrap();
        assert!(said.status.success());
        let said = String::from_utf8(said.stdout).unwrap();
        let ids = |what: &str| -> BTreeSet<Uuid> {
            said.lines().filter_map(|line| line.strip_prefix(what)).map(|id| id.parse().unwrap()).collect()
        };
        let (made, failed) = (ids("made "), ids("failed "));
        assert!(made.len() > 20 && failed.len() == 160, "{} made, {} failed", made.len(), failed.len());

        let store = db.open().await;
        let found = store.objects(stack, &Page::default()).await.unwrap();
        assert_eq!(found.iter().map(|object| object.id).collect::<BTreeSet<_>>(), made);
        assert!(store.create_object(&an_object(stack, "there is room again")).await.is_ok());
    });
}

#[test]
fn a_store_outlives_its_connections() {
    on_postgres(async |db: Arc<Database>| {
        let store = db.open().await;
        let mut made = version_in(&*store, None, "t").await;
        for _ in 0..3 {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()";
            command(&db.url, end.to_owned()).await;
            // Each broken connection may fail once. There are at most 20.
            let mut tries = 0;
            made = loop {
                tries += 1;
                match store.create_version(&super::fixtures::a_version(None, "t")).await {
                    Ok(version) => break version,
                    Err(error) => assert!(tries <= 20, "{error}"),
                }
            };
        }
        assert_eq!(made.version, 4);
    });
}

/// Checks that a change fails as during an outage.
#[track_caller]
fn is_out<T: std::fmt::Debug>(result: Result<T, StoreError>, expected: Outage) {
    assert!(matches!(&result, Err(StoreError::Unavailable(outage, _)) if *outage == expected), "{result:?}");
}

#[test]
fn a_locked_file_is_told_and_can_be_read() {
    on_sqlite(async |db: Arc<Database>| {
        let store = db.open().await;
        let stack = stack_in(&*store, "s", generator_in(&*store, "g").await.id).await.id;
        let mut other = SqliteConnection::connect(&format!("sqlite://{}", db.url)).await.unwrap();
        other.execute("BEGIN IMMEDIATE").await.unwrap();
        // More than one transaction carries out.
        let write = |_| {
            let store = store.clone();
            tokio::spawn(async move { store.create_object(&an_object(stack, "a: 1")).await })
        };
        for written in (0..300).map(write).collect::<Vec<_>>() {
            is_out(written.await.unwrap(), Outage::Locked);
        }
        is_out(store.ready().await, Outage::Locked);
        assert_eq!(store.objects(stack, &Page::default()).await.unwrap(), []);
        other.execute("ROLLBACK").await.unwrap();
        store.ready().await.unwrap();
        for written in (0..3).map(write).collect::<Vec<_>>() {
            written.await.unwrap().unwrap();
        }
        // A check of the store leaves nothing.
        let requests: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM requests").fetch_one(&mut other).await.unwrap();
        assert_eq!((requests, store.objects(stack, &Page::default()).await.unwrap().len()), (0, 3));
    });
}

#[test]
fn a_locked_table_is_told_and_the_others_can_be_used() {
    on_postgres(async |db: Arc<Database>| {
        let store = db.open().await;
        let generator = generator_in(&*store, "g").await.id;
        let stack = stack_in(&*store, "s", generator).await.id;
        let mut other = PgConnection::connect(&db.url).await.unwrap();
        other.execute("BEGIN").await.unwrap();
        other.execute("LOCK TABLE deployment_objects IN ACCESS EXCLUSIVE MODE").await.unwrap();
        is_out(store.create_object(&an_object(stack, "a: 1")).await, Outage::Locked);
        is_out(store.objects(stack, &Page::default()).await, Outage::Locked);
        stack_in(&*store, "t", generator).await;
        store.ready().await.unwrap();
        other.execute("LOCK TABLE requests IN ACCESS EXCLUSIVE MODE").await.unwrap();
        is_out(store.ready().await, Outage::Locked);
        other.execute("ROLLBACK").await.unwrap();
        store.ready().await.unwrap();
        store.create_object(&an_object(stack, "a: 1")).await.unwrap();
    });
}

#[test]
fn a_database_that_is_full_or_read_only_is_told() {
    on_postgres(async |db: Arc<Database>| {
        let store = db.open().await;
        let stack = stack_in(&*store, "s", generator_in(&*store, "g").await.id).await.id;
        let write = || async { store.create_object(&an_object(stack, "a: 1")).await };
        let full = "CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER no_room BEFORE INSERT ON deployment_objects EXECUTE FUNCTION no_room();";
        command(&db.url, full.to_owned()).await;
        is_out(write().await, Outage::Full);
        command(&db.url, "DROP TRIGGER no_room ON deployment_objects".to_owned()).await;
        write().await.unwrap();

        let (name, server) = (db.url.rsplit_once('/').unwrap().1, postgres().unwrap());
        let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
        let read_only = format!("ALTER DATABASE {name} SET default_transaction_read_only = on; {end}");
        command(server, read_only).await;
        let mut told = write().await;
        // Each broken connection may fail once.
        for _ in 0..20 {
            if matches!(told, Err(StoreError::Unavailable(Outage::ReadOnly, _))) {
                break;
            }
            told = write().await;
        }
        is_out(told, Outage::ReadOnly);
        is_out(store.ready().await, Outage::ReadOnly);
        store.objects(stack, &Page::default()).await.unwrap();
        command(server, format!("ALTER DATABASE {name} RESET default_transaction_read_only; {end}")).await;
        while let Err(error) = store.ready().await {
            assert!(matches!(error, StoreError::Unavailable(..)), "{error}");
        }
        write().await.unwrap();
    });
}
