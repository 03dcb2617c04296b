//! `dropforge stamp CHART`: a release for each cluster of a fleet.

use std::path::{Path, PathBuf};

use dropforge::bulk::{Output, PlanDigest, TemplatePaths};
use dropforge::diagnostics::{Code, Diagnostic, Result as Checked};
use dropforge::dialect::helm::chart::ChartSource;

use super::{is_chart, is_source};
use crate::input::InputFiles;

/// Returns the chart to stamp, if the templates are one.
///
/// # Errors
/// `usage` for a chart beside other templates.
pub(crate) fn only_chart(templates: &[PathBuf]) -> Checked<Option<&Path>> {
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

/// Adds the files of a chart, or its artifact, to the digest of a plan.
///
/// # Errors
/// Errors of reading them.
pub(crate) fn add_to_digest(path: &Path, digest: &mut PlanDigest, files: &mut InputFiles) -> Checked<()> {
    if !is_source(path) {
        digest.bytes(&files.bytes(path, "-")?);
        return Ok(());
    }
    for file in ChartSource::open(path)?.files() {
        digest.text(file.path());
        digest.bytes(file.bytes());
    }
    Ok(())
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
