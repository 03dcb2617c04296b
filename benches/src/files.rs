//! Workload files.

use std::path::{Path, PathBuf};

/// Returns the folder of the workloads.
pub fn workloads() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads")
}

/// Reads a file of the workloads.
///
/// # Panics
/// Panics if it cannot be read.
pub fn workload(name: &str) -> String {
    std::fs::read_to_string(workloads().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Reads the files of a workload folder, sorted by name.
///
/// # Panics
/// Panics if one cannot be read.
pub fn folder(name: &str) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(workloads().join(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|file| (file.clone(), workload(&format!("{name}/{file}"))))
        .collect();
    files.sort();
    files
}
