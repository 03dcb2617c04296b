//! Passes the compiler, the target and the features to `dropforge --version -v`.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    println!("cargo::rustc-env=DROPFORGE_RUSTC={}", String::from_utf8_lossy(&version).trim());
    println!("cargo::rustc-env=DROPFORGE_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    let is_on = |name: &&str| std::env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
    let features: Vec<_> = ["catalog", "remote", "arrow", "lsp", "console"].into_iter().filter(is_on).collect();
    println!(
        "cargo::rustc-env=DROPFORGE_FEATURES={}",
        if features.is_empty() { "none".into() } else { features.join(", ") }
    );
    println!("cargo::rerun-if-changed=build.rs");
}
