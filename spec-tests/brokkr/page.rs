//! Tests of the page in headless Chromium, driven by `page/drive.cjs`.
//!
//! `spec-tests/brokkr/page/install` installs the driver. The browser is the system's. If either is missing, the test is
//! skipped with a message, or fails in CI.

use std::path::PathBuf;
use std::process::Command;

use crate::clients::{drive, installed, skipped, source};
use crate::databases::on_sqlite;

/// The path of the system's Chromium.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.exists())
}

#[test]
fn a_browser_clicks_through_the_page() {
    let driver = installed("brokkr-page");
    if !driver.join("installed").exists() {
        return skipped("what drives the browser is missing: run `spec-tests/brokkr/page/install`");
    }
    let Some(chromium) = chromium() else {
        return skipped("there is no Chromium here");
    };
    on_sqlite(async move |database| {
        drive(&database, move |base, key| {
            let mut command = Command::new("node");
            command.env("NODE_PATH", driver.join("node_modules"));
            command.arg(source("page/drive.cjs")).args([base, key]).arg(chromium);
            command
        })
        .await;
    });
}
