//! Checks of the content of `Chart.yaml`: what is wrong, where, and the fix.

use std::collections::HashSet;
use std::sync::Arc;

use super::Stage;
use super::metadata::{Dependency, Metadata};
use dropforge_base::diagnostics::{Code, Diagnostic, nearest};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::semver::LenientVersion;
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::{self, Node};

/// Something that is wrong with the metadata of a chart.
pub(super) struct Problem {
    /// Helm's message.
    message: String,
    /// The key that is wrong or missing.
    key: &'static str,
    help: String,
}

impl Problem {
    fn new(key: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), key, help: help.into() }
    }

    /// Returns the error, at the value in the file, or at a key that is likely a misspelling of the missing one.
    pub(super) fn error(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let error = Stage::Load.error(Code::InputStructure, self.message);
        let Some(document) = document(source) else {
            return error.at(source, Span::default(), "").with_help(self.help);
        };
        if let Some(entry) = document.entry(self.key) {
            let span = if entry.value.span.start < entry.value.span.end { entry.value.span } else { entry.key.span };
            return error.at(source, span, "").with_help(self.help);
        }
        let keys = || document.as_map().unwrap_or(&[]).iter().map(|entry| &entry.key);
        let near = keys().find(|key| nearest(&key.text, [self.key]).is_some() && !KEYS.contains(&&*key.text));
        match near {
            Some(key) => error.at(source, key.span, "").with_suggestion(&key.text, [self.key]),
            None => error.at(source, Span::default(), "").with_help(self.help),
        }
    }
}

/// The keys that charts must have, or that decide how they are read.
const KEYS: [&str; 5] = ["apiVersion", "name", "version", "type", "dependencies"];

/// Returns everything that is wrong with the metadata.
pub(super) fn problems(metadata: &Metadata) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut wrong = |key, message: &str, help: &str| {
        found.push(Problem::new(key, format!("validation: {message}"), help));
    };
    let name = metadata.name.as_str();
    if name.is_empty() {
        wrong("name", "chart.metadata.name is required", "add a line such as `name: web`");
    } else if name.contains(['/', '\\']) || matches!(name, "." | "..") {
        let last = name.rsplit(['/', '\\']).next().filter(|last| !matches!(*last, "" | "." | ".."));
        let help = format!("write a name without a path: `name: {}`", last.unwrap_or("web"));
        wrong("name", &format!("chart.metadata.name {name:?} is invalid"), &help);
    }
    let help = "versions have three numbers: `version: 1.0.0`";
    if metadata.version.is_empty() {
        wrong("version", "chart.metadata.version is required", "add a line such as `version: 1.0.0`");
    } else if LenientVersion::parse(&metadata.version).is_err() {
        wrong("version", &format!("chart.metadata.version {:?} is invalid", metadata.version), help);
    }
    if !matches!(metadata.kind.as_str(), "" | "application" | "library") {
        let message = "chart.metadata.type must be application or library";
        wrong("type", message, "write `type: application`, or `type: library` for a chart of named templates only");
    }
    for (problem, help) in of_dependencies(&metadata.dependencies) {
        wrong("dependencies", &problem, help);
    }
    found
}

/// Returns the error of a version of the format that Helm does not have.
pub(super) fn unsupported(metadata: &Metadata) -> Option<Problem> {
    let message = match metadata.api_version.as_str() {
        "v1" | "v2" => return None,
        "v3" => "invalid chart apiVersion",
        _ => "unsupported chart version",
    };
    Some(Problem::new("apiVersion", message, "write `apiVersion: v2`"))
}

fn of_dependencies(dependencies: &[Dependency]) -> Vec<(String, &'static str)> {
    let (mut names, mut found) = (HashSet::new(), Vec::new());
    for dependency in dependencies {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if !dependency.alias.chars().all(is_plain) {
            let message = format!("dependency {:?} has disallowed characters in the alias", dependency.name);
            found.push((message, "write the alias with letters, digits, `_` and `-`"));
        }
        let key = if dependency.alias.is_empty() { &dependency.name } else { &dependency.alias };
        if !names.insert(key) {
            let message = format!("more than one dependency with name or alias {key:?}");
            found.push((message, "remove one of them, or give it an `alias`"));
        }
    }
    found
}

/// Returns the place of the value of `key`.
pub(super) fn place_of(source: &Arc<Source>, key: &str) -> Option<Span> {
    document(source)?.get(key).map(|value| value.span)
}

/// Returns the place of the name of a dependency.
pub(super) fn place_of_dependency(source: &Arc<Source>, name: &str) -> Option<Span> {
    let document = document(source)?;
    let mut names = document.get("dependencies")?.as_list()?.iter().filter_map(|item| item.get("name"));
    names.find(|one| *one.text == *name).map(|one| one.span)
}

fn document(source: &Arc<Source>) -> Option<Node> {
    yaml::read(source, &Limits::default()).ok()?.into_iter().next()
}
