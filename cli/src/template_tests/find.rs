//! Finds test files.

use std::path::{Path, PathBuf};

use dropforge::bulk::{Entry, discover_with};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::engine::{dialect_of, path_from_here};

use super::snapshot::FOLDER;
use super::target::{ENDINGS, chart_around};
use crate::console::Console;

/// Returns the test files that `paths` name, or that lie below folders among them, sorted.
///
/// # Errors
/// `file.read_failed` for a path that cannot be read; `usage` if there is no test file.
pub(super) fn files(paths: &[PathBuf], console: &Console) -> Result<Vec<PathBuf>> {
    let is_wanted = |entry: Entry<'_>| match entry.is_dir {
        true => !entry.name.starts_with('.') && entry.name != FOLDER,
        false => is_test(entry.path, entry.name, console),
    };
    if let Some(path) = paths.iter().find(|path| path.is_file() && is_template(path)) {
        let message = format!("`{}` is a template, not a test file", path.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help(NAMES));
    }
    match discover_with(paths, None, &is_wanted) {
        Ok(set) => {
            set.skipped.warnings().for_each(|warning| console.diagnostic(&warning));
            Ok(set.files.iter().map(|file| set.root.join(&file.name)).collect())
        }
        Err(error) if error.code == Code::NoTemplates => Err(none(paths)),
        Err(error) => Err(error),
    }
}

/// Returns `true` for a test file. Those of helm-unittest lie in the folder `tests` of a chart.
fn is_test(path: &Path, name: &str, console: &Console) -> bool {
    let [ours, theirs] = ENDINGS.map(|ending| name.ends_with(ending));
    if !ours && !theirs {
        return false;
    }
    let place = chart_around(path).and_then(|chart| path.strip_prefix(chart).ok());
    let is_in = |folder: &str| place.is_some_and(|place| place.starts_with(folder));
    if ours && is_in("templates") {
        console.warning(&format!(
            "`{}` is a template for Helm, as all of `templates/`: move the test to the chart's folder `tests`",
            path_from_here(path)
        ));
        return false;
    }
    ours || is_in("tests")
}

fn none(paths: &[PathBuf]) -> Box<Diagnostic> {
    let paths: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    let error = Diagnostic::new(Code::Usage, format!("there is no test file in {}", paths.join(", ")));
    error.with_help(NAMES)
}

const NAMES: &str =
    "the name of a test file ends in `.test.yaml`; in the folder `tests` of a chart also in `_test.yaml`";

/// Returns `true` for a file whose name ends in a language, and not as that of a test file.
fn is_template(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    dialect_of(&name).is_some() && !ENDINGS.iter().any(|ending| name.ends_with(ending))
}
