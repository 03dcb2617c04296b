//! Charts of Helm: directories with a `Chart.yaml`, and packed ones.

mod args;
mod check;
mod print;
mod render;
mod stamp;
mod values;

use std::path::{Path, PathBuf};

pub(crate) use args::{ChartArgs, FleetChartArgs};
pub(crate) use check::check;
pub(crate) use render::run;
pub(crate) use stamp::{digest, load, only_chart, paths};

use dropforge::diagnostics::{Code, Diagnostic, Result};

/// Returns `true` for a directory with a `Chart.yaml`, and for a file named `*.tgz`.
pub(crate) fn is_chart(path: &Path) -> bool {
    let packed = path.extension().is_some_and(|extension| extension == "tgz");
    path.join("Chart.yaml").is_file() || packed && path.is_file()
}

/// Splits paths into charts and others.
pub(crate) fn split(paths: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    paths.into_iter().partition(|path| is_chart(path))
}

/// Checks that no path is a chart, for commands that take none.
///
/// # Errors
/// `usage` for a packed chart, and for a chart with templates.
pub(crate) fn refuse(paths: &[PathBuf]) -> Result<()> {
    let has_templates = |path: &Path| path.is_file() || path.join("templates").is_dir();
    let Some(path) = paths.iter().find(|path| is_chart(path) && has_templates(path)) else { return Ok(()) };
    let path = path.display();
    Err(Diagnostic::new(Code::Usage, format!("`{path}` is a Helm chart, which this command does not take yet"))
        .with_help(format!("use `dropforge render {path}` or `dropforge check {path}`")))
}

/// Returns the error of an option that does not apply to a chart.
pub(crate) fn unused(option: &str, chart: &Path) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, format!("`{option}` does not apply to `{}`: it is a Helm chart", chart.display()))
}
