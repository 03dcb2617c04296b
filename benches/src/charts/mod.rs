//! Helm charts: their files, recorded times of Helm's engine, and fleets of releases.
//!
//! `helm/charts/*.jsonl.xz` below a folder of cases hold the charts and the digests of their outputs. The recorded times
//! are scaled by the time that minijinja takes for W1 in the same run.

pub mod cases;
pub mod fleet;
pub mod recorded;
pub mod scale;

#[path = "../../../spec-tests/conformance/helm_fixed.rs"]
pub mod fixed;

use std::path::PathBuf;

/// Returns the folder of the charts, which the environment names. Without it, prints a line that says so.
pub fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("CONFORMANCE_DIR").map(|folder| PathBuf::from(folder).join("helm/charts"));
    if folder.is_none() {
        println!("CONFORMANCE_DIR is not set: it names the folder that has `helm/charts`");
    }
    folder
}
