//! `dropforge --version -v`: the version, the features of the build, and the versions of languages and artifacts.

use std::ffi::OsString;

use dropforge::bytecode::{ARTIFACT_FORMAT, fingerprint};
use dropforge::dialect::helm::chart::Capabilities;
use dropforge::engine::Dialect;
use dropforge::stdlib::data_versions;

/// Returns `true` if arguments ask for the version with its details.
pub(crate) fn is_asked(args: &[OsString]) -> bool {
    let has = |names: &[&str]| args.iter().any(|arg| names.iter().any(|name| arg == name));
    has(&["-vV", "-Vv"]) || has(&["-V", "--version"]) && has(&["-v", "--verbose"])
}

/// Returns the version with its details.
pub(crate) fn details() -> String {
    let languages: Vec<_> = Dialect::ALL.iter().map(|lang| language(*lang)).collect();
    format!(
        "dropforge {}\nfeatures: {}\nlanguages: {}\ndata: {}\n\
         artifacts: format {ARTIFACT_FORMAT}, instructions {:016x}\nbuilt by: {} for {}\n",
        env!("CARGO_PKG_VERSION"),
        env!("DROPFORGE_FEATURES"),
        languages.join(", "),
        data(),
        fingerprint(),
        env!("DROPFORGE_RUSTC"),
        env!("DROPFORGE_TARGET"),
    )
}

/// Returns the versions of tables in this build, and of the cluster that charts see.
fn data() -> String {
    let mut versions: Vec<_> = data_versions().iter().map(|(name, version)| format!("{name} {version}")).collect();
    versions.push(format!("Kubernetes {} (as charts see it)", Capabilities::default().kube_version.version));
    versions.join(", ")
}

/// Returns the name of a language with the version that it follows.
fn language(lang: Dialect) -> String {
    let follows = match lang {
        Dialect::Tera => " (Tera 1.20)",
        Dialect::Helm => " (Helm 4.2)",
        Dialect::Hcl => " (HCL 2, functions of OpenTofu)",
        Dialect::Cel => " (CEL with the libraries of cel-go and Kubernetes)",
        _ => "",
    };
    format!("{}{follows}", lang.id())
}
