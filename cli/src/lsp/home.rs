//! The project that a file belongs to, and how it is checked.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::Diagnostic;
use dropforge::engine::{Dialect, dialect_of};

use super::content::canonical;
use super::settings::Settings;
use crate::check::CheckArgs;
use crate::command::check_args;
use crate::console::Console;
use crate::hcl::is_configuration;
use crate::project::FILE;

/// The place of files that are checked together.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Home {
    /// The templates of a project file.
    Project(PathBuf),
    /// A chart.
    Chart(PathBuf),
    /// A file alone, with the values of a project file if there is one.
    Alone(PathBuf, Option<PathBuf>),
}

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// A template.
    Template(Dialect),
    /// A configuration in HCL.
    Configuration,
    /// Values, schemas and anything else.
    Other,
}

impl Home {
    /// Finds the home of a file. `root` is the folder of the workspace.
    pub(super) fn of(path: &Path, root: &Path, settings: &Settings) -> Self {
        let within = path.starts_with(root);
        let folders = path.ancestors().skip(1).take_while(|folder| !within || folder.starts_with(root));
        let folders: Vec<&Path> = folders.collect();
        let project = folders.iter().map(|folder| folder.join(FILE)).find(|file| file.is_file());
        let chart = folders.iter().rfind(|folder| folder.join("Chart.yaml").is_file());
        let covers = |templates: &[PathBuf], path: &Path| templates.iter().any(|one| path.starts_with(canonical(one)));
        match (project, chart) {
            (None, None) => Self::Alone(path.to_owned(), None),
            (None, Some(chart)) => Self::Chart((*chart).to_owned()),
            (Some(file), chart) => {
                let home = Self::Project(file.clone());
                let templates = home.arguments(settings).map(|(args, _)| args.templates).unwrap_or_default();
                match chart {
                    Some(chart) if !covers(&templates, chart) => Self::Chart((*chart).to_owned()),
                    None if !covers(&templates, path) && language(path) != Language::Other => {
                        Self::Alone(path.to_owned(), Some(file))
                    }
                    _ => home,
                }
            }
        }
    }

    /// Returns the chart.
    pub(super) fn chart(&self) -> Option<&Path> {
        if let Self::Chart(path) = self { Some(path) } else { None }
    }

    /// Returns the language of one of its files.
    pub(super) fn language(&self, path: &Path) -> Language {
        let in_chart = chart_of(path).is_some_and(|(_, name)| is_chart_template(&name));
        if in_chart { Language::Template(Dialect::Helm) } else { language(path) }
    }

    /// Returns the arguments of `dropforge check`.
    ///
    /// # Errors
    /// Errors of the project file and of settings.
    pub(super) fn arguments(&self, settings: &Settings) -> Result<(CheckArgs, Console), Vec<Box<Diagnostic>>> {
        let mut args: Vec<OsString> = vec!["dropforge".into(), "check".into()];
        let (project, file) = match self {
            Self::Project(project) => (Some(project), None),
            Self::Chart(chart) => (None, Some(chart)),
            Self::Alone(file, project) => (project.as_ref(), Some(file)),
        };
        match project {
            Some(project) => args.extend(["--project".into(), from_here(project).into()]),
            None => args.push("--no-project".into()),
        }
        for (option, values) in [("--values=", &settings.values), ("--fleet=", &settings.fleet)] {
            args.extend(values.iter().map(|value| OsString::from(format!("{option}{value}"))));
        }
        args.extend(file.map(|file| from_here(file).into()));
        check_args(args).map_err(|failed| failed.diagnostics)
    }
}

/// Returns the path from the current directory, which messages then have.
fn from_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    short.filter(|path| path.components().next().is_some()).unwrap_or_else(|| path.to_owned())
}

/// Returns the outermost chart that a file is in, and its path from there.
pub(super) fn chart_of(path: &Path) -> Option<(PathBuf, String)> {
    let chart = path.ancestors().skip(1).filter(|folder| folder.join("Chart.yaml").is_file()).last()?;
    let name = path.strip_prefix(chart).ok()?.to_str()?.to_owned();
    Some((chart.to_owned(), name))
}

/// Returns `true` for the path in a chart of a template of it, or of a chart in it.
fn is_chart_template(name: &str) -> bool {
    let mut rest = name;
    while let Some((_, inner)) = rest.strip_prefix("charts/").and_then(|rest| rest.split_once('/')) {
        rest = inner;
    }
    rest.starts_with("templates/")
}

/// Returns the language of a file outside charts.
fn language(path: &Path) -> Language {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
    if is_configuration(name) {
        return Language::Configuration;
    }
    dialect_of(name).map_or(Language::Other, Language::Template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_of_charts_in_charts() {
        for name in ["templates/a.yaml", "templates/d/_h.tpl", "charts/sub/templates/a.yaml"] {
            assert!(is_chart_template(name), "{name}");
        }
        for name in ["values.yaml", "charts/templates/a", "crds/a.yaml", "charts/sub/values.yaml"] {
            assert!(!is_chart_template(name), "{name}");
        }
    }
}
