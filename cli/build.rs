//! Passes the compiler and the target to `dropforge --version -v`.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    println!("cargo::rustc-env=DROPFORGE_RUSTC={}", String::from_utf8_lossy(&version).trim());
    println!("cargo::rustc-env=DROPFORGE_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
