//! Acknowledged writes exist exactly once, even if the writer was killed.
//!
//! A child process (this test binary with `DROPFORGE_WRITE_TO` set) writes from eight tasks. It prints each write when
//! it starts (`try 7`) and when it is acknowledged (`ack 7`), and is killed at a random time. Its successor repeats
//! unacknowledged writes with the same tokens. `DROPFORGE_KILLS` is the number of kills: 10 by default, 100 in the long
//! run with some 10,000 acknowledged writes.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dropforge_catalog::store::{self, Page, Store, StoreError};
use uuid::Uuid;

use super::fixtures::{a_token, a_version, an_object, generator_in, object_once, stack_in, version_once};
use crate::databases::{Database, on_postgres, on_sqlite};

const WRITE_TO: &str = "DROPFORGE_WRITE_TO";
const STACK: &str = "DROPFORGE_WRITE_STACK";
const FROM: &str = "DROPFORGE_WRITE_FROM";
const AGAIN: &str = "DROPFORGE_WRITE_AGAIN";

/// One write: even numbers create an object, odd ones a template version. A slow disk may keep the server from answering in
/// time, so an outage is no answer, and the write is tried again with its token.
async fn write(store: &dyn Store, stack: Uuid, number: usize) {
    let token = a_token(&format!("write {number}"), "the same");
    loop {
        let done = if number.is_multiple_of(2) {
            object_once(store, &an_object(stack, &format!("n: {number}")), &token).await.map(drop)
        } else {
            let description = Some(format!("{number}"));
            let new = store::NewVersion { description, ..a_version(None, "t") };
            version_once(store, &new, &token).await.map(drop)
        };
        match done {
            Ok(()) | Err(StoreError::Replayed(_)) => return,
            // A server without room for more connections gets none without end.
            Err(StoreError::Unavailable(..)) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(error) => panic!("write {number}: {error}"),
        }
    }
}

/// The child process. Does nothing in an ordinary run.
#[test]
fn writer() {
    let Ok(url) = std::env::var(WRITE_TO) else { return };
    let variable = |name| std::env::var(name).expect("set by the parent");
    let (stack, from): (Uuid, usize) = (variable(STACK).parse().unwrap(), variable(FROM).parse().unwrap());
    let again: Vec<usize> = variable(AGAIN).split_whitespace().map(|number| number.parse().unwrap()).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = store::open(&url).await.unwrap();
        let (next, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(again));
        let task = |_| {
            let (store, next, again) = (store.clone(), next.clone(), again.clone());
            tokio::spawn(async move {
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    let number = again.get(turn).copied().unwrap_or(from + turn.saturating_sub(again.len()));
                    if !say("try", number) {
                        break;
                    }
                    write(&*store, stack, number).await;
                    say("ack", number);
                }
            })
        };
        for task in (0..8).map(task).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
}

/// Returns `false` if the parent is gone.
fn say(what: &str, number: usize) -> bool {
    let mut out = std::io::stdout().lock();
    // A single write, so that a line is either complete or absent.
    out.write_all(format!("\n{what} {number}\n").as_bytes()).and_then(|()| out.flush()).is_ok()
}

/// The output of the children.
#[derive(Default)]
struct Said {
    tried: BTreeSet<usize>,
    acknowledged: BTreeSet<usize>,
}

impl Said {
    /// Returns `true` for an acknowledgement.
    fn hear(&mut self, line: &str) -> bool {
        let (what, number) = line.split_once(' ').unwrap_or_default();
        match (what, number.parse()) {
            ("try", Ok(number)) => {
                self.tried.insert(number);
                false
            }
            ("ack", Ok(number)) => self.acknowledged.insert(number),
            _ => false,
        }
    }

    fn unanswered(&self) -> Vec<usize> {
        self.tried.difference(&self.acknowledged).copied().collect()
    }
}

fn child(url: &str, stack: Uuid, said: &Said) -> Child {
    let again: Vec<_> = said.unanswered().iter().map(usize::to_string).collect();
    let from = said.tried.last().map_or(0, |last| last + 1);
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::durability::writer", "--nocapture", "--test-threads=1"])
        .env(WRITE_TO, url)
        .env(STACK, stack.to_string())
        .env(FROM, from.to_string())
        .env(AGAIN, again.join(" "))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs a child and kills it after some hundred acknowledged writes, during the next one.
fn one_life(url: &str, stack: Uuid, said: &mut Said) {
    let mut child = child(url, stack, said);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let enough = fastrand::usize(60..140);
    let mut heard = 0;
    while heard < enough {
        let line = lines.next().expect("a child that lives").unwrap();
        heard += usize::from(said.hear(&line));
    }
    // A random delay.
    std::thread::sleep(Duration::from_micros(fastrand::u64(0..3000)));
    child.kill().unwrap();
    // Output before the kill still counts.
    for line in lines.map_while(Result::ok) {
        said.hear(&line);
    }
    child.wait().unwrap();
}

async fn nothing_is_lost_and_nothing_doubled(db: Arc<Database>) {
    let store = db.open().await;
    let stack = stack_in(&*store, "s", generator_in(&*store, "g").await.id).await.id;
    store.close().await;
    let kills: usize = std::env::var("DROPFORGE_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let mut said = Said::default();
    for _ in 0..kills {
        one_life(&db.url, stack, &mut said);
    }
    let store = db.open().await;
    let unanswered = said.unanswered();
    let acknowledged = said.acknowledged.len();
    assert!(acknowledged >= 60 * kills);
    there_once(&*store, stack, &said.acknowledged, &said.tried).await;
    for number in unanswered {
        write(&*store, stack, number).await;
    }
    let again: BTreeSet<usize> = (0..said.tried.len()).collect();
    assert_eq!(said.tried, again);
    there_once(&*store, stack, &again, &again).await;
    store.close().await;
    println!("{acknowledged} writes acknowledged, {kills} kills: none lost, none doubled");
}

/// Checks that each of `all` exists once and that nothing else exists.
async fn there_once(store: &dyn Store, stack: Uuid, all: &BTreeSet<usize>, tried: &BTreeSet<usize>) {
    let objects = store.objects(stack, &Page::default()).await.unwrap();
    let versions = store.versions(None, "t", &Page::default()).await.unwrap();
    let of_objects = objects.iter().map(|object| object.yaml_content.trim_start_matches("n: ").parse().unwrap());
    let of_versions = versions.iter().map(|version| version.description.as_deref().unwrap().parse().unwrap());
    let found: Vec<usize> = of_objects.chain(of_versions).collect();
    let once: BTreeSet<usize> = found.iter().copied().collect();
    assert_eq!(once.len(), found.len(), "something was written twice");
    assert_eq!(all.difference(&once).collect::<Vec<_>>(), Vec::<&usize>::new(), "something was lost");
    assert_eq!(once.difference(tried).collect::<Vec<_>>(), Vec::<&usize>::new(), "something came from nowhere");
    let numbers: Vec<i32> = versions.iter().rev().map(|version| version.version).collect();
    assert_eq!(numbers, (1..).take(versions.len()).collect::<Vec<i32>>());
}

#[test]
fn an_sqlite_file_survives_kills() {
    on_sqlite(nothing_is_lost_and_nothing_doubled);
}

#[test]
fn a_postgres_database_survives_kills() {
    on_postgres(nothing_is_lost_and_nothing_doubled);
}
