//! Tests of the page in headless Chromium, driven by `page/drive.cjs` and `page/screens.cjs`.
//!
//! `spec-tests/brokkr/page/install` installs the driver. The browser is the system's. If either is missing, the tests are
//! skipped with a message, or fail in CI. The screenshots are in `target/brokkr-page/screens`: each state wide and light, and
//! narrow and dark, or with `DROPFORGE_PAGE=all` each at both widths in both schemes.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use crate::clients::{drive, installed, skipped, source};
use crate::databases::{Database, on_postgres, on_sqlite};

/// The path of the system's Chromium.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.exists())
}

/// Runs a script with the address of the service, a key, the browser, and a folder for screenshots.
async fn run(database: Arc<Database>, script: &'static str) {
    let driver = installed("brokkr-page");
    if !driver.join("installed").exists() {
        return skipped("what drives the browser is missing: run `spec-tests/brokkr/page/install`");
    }
    let Some(chromium) = chromium() else {
        return skipped("there is no Chromium here");
    };
    drive(&database, move |base, key| {
        let mut command = Command::new("node");
        command.env("NODE_PATH", driver.join("node_modules"));
        command.arg(source(script)).args([base, key]).args([chromium, driver.join("screens")]);
        command
    })
    .await;
}

#[test]
fn a_browser_clicks_through_the_page_over_sqlite() {
    on_sqlite(|database| run(database, "page/drive.cjs"));
}

#[test]
#[ignore = "takes a minute, as over SQLite: .ci/run-all runs it"]
fn a_browser_clicks_through_the_page_over_postgres() {
    on_postgres(|database| run(database, "page/drive.cjs"));
}

#[test]
fn every_state_is_accessible_at_two_widths_in_light_and_dark() {
    on_sqlite(|database| run(database, "page/screens.cjs"));
}
