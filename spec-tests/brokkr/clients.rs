//! Tests that drive the service with Brokkr's own clients, in Python and in Rust, on SQLite and on PostgreSQL.
//!
//! `spec-tests/brokkr/clients/install` installs them. If they are missing, the tests are skipped with a message, or
//! fail in CI.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use dropforge_catalog::server::{Server, Settings};
use dropforge_catalog::{Catalog, render};

use crate::databases::{Database, on_postgres, on_sqlite};

/// A folder in the target folder.
pub fn installed(name: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(target).join(name)
}

/// Reports that a client is missing. Fails in CI.
pub fn skipped(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "{what}");
    eprintln!("skipped: {what}");
}

/// Returns the path of a file of these tests.
pub fn source(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("spec-tests/brokkr").join(name)
}

/// Serves a new catalog in a database while `command` runs. `command` is created from the service's address and an
/// administrator key. It must succeed and print that it passed.
pub async fn drive(database: &Database, command: impl FnOnce(&str, &str) -> Command + Send + 'static) {
    let catalog = Catalog::open(&database.url, &render::Options::default()).await.expect("a catalog");
    let key = catalog.initialise(None).await.expect("a store").expect("the first key");
    let server = Server::bind(Settings::default(), catalog).await.expect("an address");
    let base = format!("http://{}", server.address());
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve(async { drop(ended.await) }));
    let run = tokio::task::spawn_blocking(move || command(&base, &key).output().expect("a program that starts"));
    let output = run.await.expect("an end");
    end.send(()).expect("a server that still runs");
    serving.await.expect("a server that ends");
    let [told, wrong] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success() && told.starts_with("passed"), "{told}{wrong}");
}

async fn python(database: Arc<Database>) {
    let python = installed("brokkr-clients/python");
    if !python.join("installed").exists() {
        return skipped("Brokkr's Python client is missing: run `spec-tests/brokkr/clients/install`");
    }
    drive(&database, move |base, key| {
        let mut command = Command::new(python.join("bin/python"));
        command.arg("-B").arg(source("clients/python/drive.py")).args([base, key]);
        command
    })
    .await;
}

async fn rust(database: Arc<Database>) {
    let program = installed("brokkr-clients/rust/debug/brokkr-client-check");
    if !program.exists() {
        return skipped("Brokkr's Rust client is missing: run `spec-tests/brokkr/clients/install`");
    }
    drive(&database, move |base, key| {
        let mut command = Command::new(program);
        command.args([base, key]);
        command
    })
    .await;
}

#[test]
fn the_python_client_over_sqlite() {
    on_sqlite(python);
}

#[test]
fn the_python_client_over_postgres() {
    on_postgres(python);
}

#[test]
fn the_rust_client_over_sqlite() {
    on_sqlite(rust);
}

#[test]
fn the_rust_client_over_postgres() {
    on_postgres(rust);
}
