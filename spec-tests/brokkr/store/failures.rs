//! Full disks and broken connections.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::sync::Arc;

use dropforge_catalog::store::{self, Page, StoreError};
use uuid::Uuid;

use super::fixtures::{an_object, generator_in, stack_in, version_in};
use crate::databases::{Database, command, on_postgres, on_sqlite};

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
                    match store.create_object(&new, None).await {
                        Ok(made) => println!("\nmade {}", made.id),
                        Err(StoreError::Failed(_)) => {
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
        assert!(store.create_object(&an_object(stack, "there is room again"), None).await.is_ok());
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
                match store.create_version(&super::fixtures::a_version(None, "t"), None).await {
                    Ok(version) => break version,
                    Err(error) => assert!(tries <= 20, "{error}"),
                }
            };
        }
        assert_eq!(made.version, 4);
    });
}
