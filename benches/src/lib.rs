//! Workloads shared by the benches.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The five templates of W1 that are outputs.
pub const OUTPUTS: [&str; 5] = ["app.tera", "rbac.tera", "cron.tera", "monitor.tera", "conf.tera"];

/// The folder of the workloads.
pub fn workloads() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads")
}

/// A file of the workloads.
pub fn workload(name: &str) -> String {
    std::fs::read_to_string(workloads().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All templates of W1, by name.
pub fn w1_templates() -> Vec<(String, String)> {
    let mut templates: Vec<_> = std::fs::read_dir(workloads().join("w1/tera1"))
        .expect("the templates of W1")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .map(|name| (name.clone(), workload(&format!("w1/tera1/{name}"))))
        .collect();
    templates.sort();
    templates
}

/// The fleet of W7: what all clusters share, and each cluster's own keys.
pub struct Fleet {
    /// The shared layer.
    pub shared: Value,
    /// A map of top-level keys for each cluster.
    pub clusters: Vec<Value>,
}

/// Generates W7 with `clusters` clusters and reads it.
pub fn w7(clusters: usize) -> Fleet {
    let out = std::env::temp_dir().join(format!("dropforge-w7-{}-{clusters}", std::process::id()));
    let made = Command::new("python3")
        .arg(workloads().join("gen_fleet.py"))
        .args([clusters.to_string().as_str(), "42"])
        .arg(&out)
        .status();
    assert!(made.is_ok_and(|status| status.success()), "python3 generates the fleet");
    let read = |name: &str| std::fs::read_to_string(out.join(name)).expect("a generated file");
    let parse = |text: &str| serde_json::from_str(text).expect("generated JSON");
    let fleet =
        Fleet { shared: parse(&read("shared.json")), clusters: read("clusters.ndjson").lines().map(parse).collect() };
    let _ = std::fs::remove_dir_all(&out);
    fleet
}
