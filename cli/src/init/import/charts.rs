//! Charts of repositories, which have to be fetched, and values that `--set` would give.

use std::collections::BTreeMap;
use std::path::Path;

use dropforge::bulk::values::{Gaps, SetKind, parse_set};
use dropforge::text::Source;
use dropforge::value::{DataMap, Step};

use super::notes::Place;
use super::project::{Project, file_name};
use super::sources::Sources;
use super::yaml::Yaml;

/// The places of charts that have to be fetched, by their names and versions.
pub(super) type Vendored = BTreeMap<(String, String), String>;

/// A chart of a repository.
#[derive(Debug)]
pub(super) struct Remote<'r> {
    /// The chart as the imported file names it.
    pub(super) shown: &'r str,
    pub(super) version: &'r str,
    /// The chart as `helm pull` names it.
    pub(super) source: &'r str,
    /// What else is needed, after the command.
    pub(super) needs: &'r str,
}

impl Remote<'_> {
    /// Returns the path where the project expects the chart, and notes the command that fetches it. A folder of the same
    /// version that is there already is taken.
    pub(super) fn path(
        &self,
        (release, place): (&str, Place),
        vendored: &mut Vendored,
        sources: &mut Sources,
        project: &mut Project,
    ) -> String {
        let name = file_name(self.shown.trim_end_matches('/').rsplit('/').next().unwrap_or(self.shown));
        let version = self.version.trim();
        let key = (self.shown.to_owned(), version.to_owned());
        if let Some(known) = vendored.get(&key) {
            return known.clone();
        }
        let plain = format!("charts/{name}");
        let existing = sources.base().join(&plain);
        if is_version(&existing, version)
            && let Ok(path) = project.copy_folder(sources, &existing)
        {
            vendored.insert(key, path.clone());
            return path;
        }
        let is_free = !vendored.values().any(|path| *path == plain) && !existing.exists();
        let into = if is_free { "charts".to_owned() } else { format!("charts/{name}-{}", file_name(version)) };
        let path = format!("{into}/{name}");
        let (space, option) = match version {
            "" => ("", String::new()),
            version => (" ", format!(" --version '{version}'")),
        };
        let command = format!("helm pull {}{option} --untar --untardir {into}", self.source);
        let message = format!("the chart `{}`{space}{version} is not in the repository", self.shown);
        let help = format!("fetch it to `{path}`: `{command}`{}", self.needs);
        project.notes.left_out_of(Some(release), Some(place), message, help);
        vendored.insert(key, path.clone());
        path
    }
}

/// Returns `true` for the folder of a chart of this version, or of any if none is wanted.
fn is_version(folder: &Path, version: &str) -> bool {
    let Ok(text) = dropforge::files::read_text(&folder.join("Chart.yaml"), 1 << 20) else { return false };
    let Ok(documents) = Yaml::documents(&Source::new("Chart.yaml", text), None) else { return false };
    let own = documents.first().and_then(|chart| chart.get("version"));
    version.is_empty() || own.is_some_and(|own| *own.node.text == *version)
}

/// Sets a value as `--set name=text` does. Returns `false` for a path into a list, which depends on the values below.
pub(super) fn assign(map: &mut DataMap, kind: SetKind, name: &str, text: &str) -> bool {
    let is_index = |step: &Step| matches!(step, Step::Index(_));
    match parse_set(kind, &format!("{name}={text}"), &mut |_| Ok(String::new())) {
        Ok(all) if all.iter().all(|one| !one.path.iter().any(is_index)) => {
            all.iter().all(|one| one.apply(map, &mut Gaps::default()).is_ok())
        }
        _ => false,
    }
}

/// Escapes a text for [`assign`].
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace(',', "\\,")
}
