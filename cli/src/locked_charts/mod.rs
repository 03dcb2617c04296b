//! Charts of releases that are in repositories and registries. Renders read them from the lock and the cache, and use no
//! network: `dropforge deps` writes both.

mod cache;
mod lock;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::files;
use dropforge::text::{Source, Span};

pub(crate) use cache::ChartCache;
#[cfg(feature = "remote")]
pub(crate) use lock::LockedSchema;
pub(crate) use lock::{LockedChart, ProjectLock};

use crate::input::InputFiles;

/// Maximum length of a schema.
pub(crate) const MAX_SCHEMA: u64 = 4 << 20;

/// A chart that a release names by its place in a repository or registry.
#[derive(Debug, Clone)]
pub(crate) struct RemoteChart {
    /// The text of the project: `oci://…`, `https://…` or `REPOSITORY/NAME`.
    pub(crate) chart: String,
    /// The version or the range of versions; may be empty.
    pub(crate) range: String,
    /// The file of the release, and the place of the chart in it.
    pub(crate) source: Arc<Source>,
    /// The place of the chart.
    pub(crate) span: Span,
    /// The URL of the repository in the project, for `REPOSITORY/NAME`.
    pub(crate) repository: Option<String>,
}

impl RemoteChart {
    /// Returns `true` for the text of a chart that is not on this machine. One with a version is in a repository.
    pub(crate) fn is_one(chart: &str, has_version: bool) -> bool {
        has_version || ["oci://", "https://", "http://"].iter().any(|scheme| chart.starts_with(scheme))
    }

    /// Returns the name of the chart in its repository. `None` for the address of a packed chart.
    pub(crate) fn name(&self) -> Option<&str> {
        let text = match self.chart.strip_prefix("oci://") {
            Some(text) => text.split(['@', '#']).next().unwrap_or(text),
            None if self.chart.contains("://") => return None,
            None => &self.chart,
        };
        let last = text.rsplit('/').next().unwrap_or(text);
        Some(last.split(':').next().unwrap_or(last))
    }

    /// Returns an error at the chart in the project file.
    pub(crate) fn error(&self, code: Code, message: String) -> Box<Diagnostic> {
        Diagnostic::new(code, message).at(&self.source, self.span, "")
    }

    /// Returns the chart in the cache, of the version in the lock.
    ///
    /// # Errors
    /// `charts.stale_lock` without such a version in the lock; `charts.missing` without it in the cache; `store.wrong_digest`.
    pub(crate) fn find(&self, lock: &ProjectLock, cache: &ChartCache) -> Result<(PathBuf, LockedChart)> {
        let Some(locked) = lock.find(self) else { return Err(self.not_locked(lock)) };
        let found = cache.find(&locked.digest).map_err(|error| error.at(&self.source, self.span, ""))?;
        match found {
            Some(path) => Ok((path, locked.clone())),
            None => {
                let message = format!("the chart `{}` {} is not on this machine", locked.name, locked.version);
                let error = self.error(Code::MissingChart, message).with_help("fetch it: `dropforge deps build`");
                Err(error.with_note(format!("it was looked up in `{}`", cache.path(&locked.digest).display())))
            }
        }
    }

    /// Returns the error of a chart that is not in the lock.
    pub(crate) fn not_locked(&self, lock: &ProjectLock) -> Box<Diagnostic> {
        let wanted = if self.range.is_empty() { String::new() } else { format!(" `{}`", self.range) };
        let message = format!("the chart `{}`{wanted} is not in the lock `{}`", self.chart, lock.shown());
        let error = self.error(Code::StaleLock, message).with_help("write the lock: `dropforge deps update`");
        let others = lock.charts.iter().filter(|one| one.chart == self.chart);
        match others.map(|one| format!("`{}`", one.range)).collect::<Vec<_>>() {
            others if others.is_empty() => error,
            others => error.with_available(others),
        }
    }
}

/// Returns the documents that a lock has for schemas of charts, by their URLs. Those that are not on this machine are left out.
///
/// # Errors
/// `store.wrong_digest` if one was changed; `file.read_failed`.
pub(crate) fn schemas(lock: &ProjectLock) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    if lock.schemas.is_empty() {
        return Ok(found);
    }
    let cache = ChartCache::of_schemas()?;
    for schema in &lock.schemas {
        if let Some(path) = cache.find(&schema.digest)? {
            let text = files::read_text(&path, MAX_SCHEMA).map_err(|error| files::unreadable(&path, error))?;
            found.insert(schema.url.clone(), text);
        }
    }
    Ok(found)
}

/// Finds the charts of releases in the lock beside the project file and in the cache. `with` has other versions of some.
///
/// # Errors
/// All errors of [`RemoteChart::find`]; errors of reading the lock and of fetching other versions.
pub(crate) fn find<'d>(
    charts: impl Iterator<Item = (&'d RemoteChart, &'d mut Option<PathBuf>)>,
    (project, with): (&Path, &[String]),
    files: &mut InputFiles,
) -> std::result::Result<(), Vec<Box<Diagnostic>>> {
    let with = with.iter().map(|text| Other::parse(text)).collect::<Result<Vec<_>>>().map_err(|error| vec![error])?;
    let mut charts = charts.peekable();
    let lock = ProjectLock::read(project).map_err(|error| vec![error])?;
    if !lock.schemas.is_empty() {
        // The run depends on it.
        files.read(lock.path(), "-").map_err(|error| vec![error])?;
        files.add_schemas(schemas(&lock).map_err(|error| vec![error])?);
    }
    if charts.peek().is_none() && with.is_empty() {
        return Ok(());
    }
    let cache = ChartCache::of_user().map_err(|error| vec![error])?;
    let (mut errors, mut used) = (Vec::new(), vec![false; with.len()]);
    for (chart, path) in charts {
        let other = with.iter().position(|other| chart.name() == Some(&*other.name) || chart.chart == other.name);
        let found = match other.and_then(|at| with.get(at)) {
            Some(other) => fetch(&RemoteChart { range: other.version.clone(), ..chart.clone() }, &cache),
            None => chart.find(&lock, &cache),
        };
        other.and_then(|at| used.get_mut(at)).into_iter().for_each(|used| *used = true);
        match found {
            Ok((place, locked)) => {
                files.name_copy(&place, &locked.source);
                *path = Some(place);
            }
            Err(error) => errors.push(error),
        }
    }
    let unused = with.iter().zip(used).filter(|(_, used)| !used);
    errors.extend(unused.map(|(other, _)| {
        let message = format!("`--with {}={}`: no release has this chart", other.name, other.version);
        let names: Vec<String> = lock.charts.iter().map(|one| one.name.clone()).collect();
        Diagnostic::new(Code::Usage, message)
            .with_suggestion(&other.name, names.iter().map(String::as_str))
            .with_available(names)
    }));
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Another version of a chart for one run.
struct Other {
    name: String,
    version: String,
}

impl Other {
    fn parse(text: &str) -> Result<Self> {
        match text.split_once('=') {
            Some((name, version)) if !name.is_empty() && !version.is_empty() => {
                Ok(Self { name: name.to_owned(), version: version.to_owned() })
            }
            _ => Err(Diagnostic::new(Code::Usage, format!("`--with {text}` has no version"))
                .with_help("write `--with CHART=VERSION`")),
        }
    }
}

#[cfg(feature = "remote")]
fn fetch(chart: &RemoteChart, cache: &ChartCache) -> Result<(PathBuf, LockedChart)> {
    crate::deps::fetch(chart, cache)
}

#[cfg(not(feature = "remote"))]
fn fetch(chart: &RemoteChart, _: &ChartCache) -> Result<(PathBuf, LockedChart)> {
    let message = format!("cannot fetch `{}` {}: this build has no repositories of charts", chart.chart, chart.range);
    Err(Diagnostic::new(Code::Usage, message)
        .with_help("install a build with it: `cargo install --locked --path cli --profile dist --features remote`"))
}
