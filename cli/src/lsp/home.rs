//! The project that a file belongs to, how it is checked, and the settings of the client.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::content::canonical;
use crate::check::CheckArgs;
use crate::command::check_args;
use crate::hcl::is_configuration;
use crate::project::FILE;
use crate::stderr::Stderr;
use dropforge::diagnostics::Diagnostic;
use dropforge::engine::{Dialect, dialect_of};

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

/// The homes of files.
#[derive(Debug, Default)]
pub(super) struct Homes {
    known: HashMap<PathBuf, Home>,
    /// The templates of each project file.
    templates: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Homes {
    /// Forgets all homes, as files have changed.
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.templates.clear();
    }

    /// Returns the home of a file that was looked for before.
    pub(super) fn known(&self, path: &Path) -> Option<&Home> {
        self.known.get(path)
    }

    /// Returns the home of a file. `root` is the folder of the workspace.
    pub(super) fn of(&mut self, path: &Path, root: &Path, settings: &Settings) -> Home {
        if let Some(home) = self.known.get(path) {
            return home.clone();
        }
        let home = self.find(path, root, settings);
        self.known.insert(path.to_owned(), home.clone());
        home
    }

    fn find(&mut self, path: &Path, root: &Path, settings: &Settings) -> Home {
        let within = path.starts_with(root);
        let folders = path.ancestors().skip(1).take_while(|folder| !within || folder.starts_with(root));
        let folders: Vec<&Path> = folders.collect();
        let project = folders.iter().map(|folder| folder.join(FILE)).find(|file| file.is_file());
        let chart = folders.iter().rfind(|folder| folder.join("Chart.yaml").is_file());
        match (project, chart) {
            (None, None) => Home::Alone(path.to_owned(), None),
            (None, Some(chart)) => Home::Chart((*chart).to_owned()),
            (Some(file), Some(chart)) if !self.covers(&file, chart, settings) => Home::Chart((*chart).to_owned()),
            (Some(file), None) if language(path) != Language::Other && !self.covers(&file, path, settings) => {
                Home::Alone(path.to_owned(), Some(file))
            }
            (Some(file), _) => Home::Project(file),
        }
    }

    /// Returns `true` if a path is among the templates of a project.
    fn covers(&mut self, project: &Path, path: &Path, settings: &Settings) -> bool {
        let read = || {
            let arguments = Home::Project(project.to_owned()).arguments(settings);
            let templates = arguments.map(|(args, _)| args.templates).unwrap_or_default();
            templates.iter().map(|path| canonical(path)).collect()
        };
        let templates = self.templates.entry(project.to_owned()).or_insert_with(read);
        templates.iter().any(|template| path.starts_with(template))
    }
}

impl Home {
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
    pub(super) fn arguments(&self, settings: &Settings) -> Result<(CheckArgs, Stderr), Vec<Box<Diagnostic>>> {
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
pub(super) fn from_here(path: &Path) -> PathBuf {
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

/// The settings, from `initializationOptions` and `workspace/didChangeConfiguration`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Settings {
    /// Files of values, above those of the project.
    pub(super) values: Vec<String>,
    /// Fleets, in place of those of the project.
    pub(super) fleet: Vec<String>,
    /// The cluster whose values are shown. Without it, the first one is.
    pub(super) cluster: Option<String>,
}

impl Settings {
    /// Reads settings, which may be below the key `dropforge`.
    ///
    /// # Errors
    /// The reason if they are not of this form.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let own = value.get("dropforge").unwrap_or(value);
        if own.is_null() {
            return Ok(Self::default());
        }
        Self::deserialize(own).map_err(|error| format!("invalid settings of dropforge: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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

    #[test]
    fn settings_may_be_below_a_key() {
        let read = |value| Settings::read(&value);
        let own = read(json!({"values": ["v.yaml"], "cluster": "eu"})).unwrap();
        assert_eq!((own.values.as_slice(), own.cluster.as_deref()), (&["v.yaml".to_owned()][..], Some("eu")));
        assert_eq!(read(json!({"dropforge": {"cluster": "eu"}})).unwrap().cluster.as_deref(), Some("eu"));
        assert_eq!(read(json!(null)), Ok(Settings::default()));
        assert!(read(json!({"values": 5})).is_err());
    }
}
