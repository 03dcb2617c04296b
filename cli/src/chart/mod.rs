//! Charts of Helm: directories with a `Chart.yaml`, packed ones, and artifacts of charts.

pub(crate) mod args;
mod check;
mod render;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) use args::{ChartArgs, FleetChartArgs, ReleasesArgs, assign, refuse_others, user_values_of};
pub(crate) use check::{Checked, With, check};
pub(crate) use render::{refuse_options, run};

use dropforge::bulk::{Output, TemplatePaths};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge::dialect::helm::chart::ChartSource;
use dropforge::engine::EngineBuilder;
use dropforge::engine::chart::ChartTemplate;

use crate::artifacts;
pub(crate) use crate::compile::compile;
use crate::input::InputFiles;
use crate::locked_charts::{self, ProjectLock};

/// Returns `true` for a directory with a `Chart.yaml`, for a file named `*.tgz`, and for an artifact of a chart.
pub(crate) fn is_chart(path: &Path) -> bool {
    is_source(path) || artifacts::is_chart_file(path)
}

/// Returns `true` for a chart that is no artifact.
pub(crate) fn is_source(path: &Path) -> bool {
    let packed = path.extension().is_some_and(|extension| extension == "tgz");
    path.join("Chart.yaml").is_file() || packed && path.is_file()
}

/// Reads the files of a chart: of a directory or a packed one.
///
/// # Errors
/// Errors of reading them.
pub(crate) fn source(path: &Path, files: &InputFiles) -> Result<ChartSource> {
    let source = ChartSource::open_following(path, files.followed())?;
    let source = if path.is_dir() { source.in_folder(&files.path_from_here(path)) } else { source };
    with_documents(source, path, files.schemas())
}

/// Gives the chart at `path` the documents that its schemas refer to: those of the lock in its folder, below `others`.
///
/// # Errors
/// Errors of reading them.
pub(crate) fn with_documents(
    source: ChartSource,
    path: &Path,
    others: &BTreeMap<String, String>,
) -> Result<ChartSource> {
    if !path.is_dir() {
        return source.with_schemas(others);
    }
    let mut schemas = locked_charts::schemas(&ProjectLock::read(&path.join("Chart.yaml"))?)?;
    schemas.extend(others.clone());
    source.with_schemas(&schemas)
}

/// Opens a chart: a directory, a packed one, or an artifact. A directory or archive whose files are as before is not parsed
/// again.
///
/// # Errors
/// Errors of reading and parsing its files.
pub(crate) fn open(
    path: &Path,
    engine: EngineBuilder,
    files: &mut InputFiles,
) -> std::result::Result<ChartTemplate, Diagnostics> {
    let engine = engine.build();
    if is_source(path) {
        let source = source(path, files)?;
        files.note_chart(path, &source);
        let open = files.open_files().below(path);
        let source = open.iter().fold(source, |source, (name, text)| source.with_content(name, text));
        return files.parsed_chart(path, source, |source| engine.chart(source));
    }
    let artifact = engine.open(files.bytes(path, "-")?);
    artifact.map_err(|error| artifacts::with_path(error, path))?.chart()
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
    Err(Diagnostic::new(Code::Usage, format!("`{path}` is a Helm chart, which this command does not take"))
        .with_help(format!("use `dropforge render {path}` or `dropforge check {path}`")))
}

/// Checks that a path is no chart, for commands that take artifacts only.
///
/// # Errors
/// `usage` for a directory or packed chart.
pub(crate) fn refuse_source(path: &Path) -> Result<()> {
    if !is_source(path) {
        return Ok(());
    }
    let path = path.display();
    Err(Diagnostic::new(Code::Usage, format!("`{path}` is a Helm chart, not an artifact"))
        .with_help(format!("compile it: `dropforge compile {path} -o chart.mpk`")))
}

/// Returns the chart to stamp, if the templates are one.
///
/// # Errors
/// `usage` for a chart beside other templates.
pub(crate) fn only_chart(templates: &[PathBuf]) -> Result<Option<&Path>> {
    match (templates, templates.iter().find(|path| is_chart(path))) {
        ([path], Some(_)) => Ok(Some(path)),
        (_, None) => Ok(None),
        (_, Some(chart)) => {
            let message =
                format!("`{}` is a Helm chart, which cannot be combined with other templates", chart.display());
            Err(Diagnostic::new(Code::Usage, message).with_help("stamp it to a directory of its own"))
        }
    }
}

/// Returns the paths of templates, by the names of outputs. A packed chart is like a directory.
pub(crate) fn paths(path: &Path, outputs: &[Output], files: &InputFiles) -> TemplatePaths {
    let (mut paths, here) = (TemplatePaths::default(), files.path_from_here(path));
    for output in outputs {
        // The first part of the name is that of the chart.
        let below = output.template.split_once('/').map_or("", |(_, below)| below);
        paths.add(&output.template, format!("{here}/{below}"));
    }
    paths.give(here);
    paths
}
