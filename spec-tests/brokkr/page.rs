//! Headless Chromium clicks through the page: `page/drive.cjs`.
//!
//! `spec-tests/brokkr/page/install` installs the driver; the browser is the system's. If either is missing, the test
//! prints a message and is skipped; in CI it fails.

use std::path::PathBuf;
use std::process::Command;

use crate::clients::{drive, installed, skipped, source};
use crate::databases::on_sqlite;

/// Finds the system's Chromium under one of its names.
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
