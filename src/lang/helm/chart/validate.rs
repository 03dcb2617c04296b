//! Checks of a chart's metadata.

use std::collections::HashSet;

use super::metadata::{Dependency, Metadata};
use dropforge_base::stdlib::semver::LenientVersion;

/// Returns the messages about everything that is wrong with the metadata.
pub(super) fn problems(metadata: &Metadata) -> Vec<String> {
    let mut found = Vec::new();
    let mut wrong = |message: &str| found.push(format!("validation: {message}"));
    if metadata.name.is_empty() {
        wrong("chart.metadata.name is required");
    } else if metadata.name.contains(['/', '\\']) || matches!(metadata.name.as_str(), "." | "..") {
        wrong(&format!("chart.metadata.name {:?} is invalid", metadata.name));
    }
    if metadata.version.is_empty() {
        wrong("chart.metadata.version is required");
    } else if LenientVersion::parse(&metadata.version).is_err() {
        wrong(&format!("chart.metadata.version {:?} is invalid", metadata.version));
    }
    if !matches!(metadata.kind.as_str(), "" | "application" | "library") {
        wrong("chart.metadata.type must be application or library");
    }
    for problem in of_dependencies(&metadata.dependencies) {
        wrong(&problem);
    }
    found
}

fn of_dependencies(dependencies: &[Dependency]) -> Vec<String> {
    let (mut names, mut found) = (HashSet::new(), Vec::new());
    for dependency in dependencies {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !dependency.alias.chars().all(is_plain) {
            found.push(format!("dependency {:?} has disallowed characters in the alias", dependency.name));
        }
        let key = if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias };
        if !names.insert(key) {
            found.push(format!("more than one dependency with name or alias {key:?}"));
        }
    }
    found
}
