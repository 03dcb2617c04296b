//! Charts of releases that are in repositories and registries. Renders read them from the lock and the cache, and use no
//! network: `dropforge deps` writes both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::bulk::{Format, input};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::engine::path_from_here;
use dropforge::files;
use dropforge::stdlib::hashes::sha256;
use dropforge::stdlib::strings::hex;
use dropforge::text::{Source, Span};
use dropforge::value::Data;

use crate::compile::user_dir;
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

/// Maximum length of a packed chart.
const MAX: u64 = 64 << 20;

/// A folder of packed charts or schemas.
#[derive(Debug)]
pub(crate) struct ChartCache {
    pub(crate) dir: PathBuf,
    pub(crate) ending: &'static str,
}

impl ChartCache {
    /// Returns the cache of packed charts of this user: below `$DROPFORGE_CACHE`, or the user's cache directory.
    ///
    /// # Errors
    /// `usage` if there is no such directory.
    pub(crate) fn of_user() -> Result<Self> {
        Self::named("charts", "tgz")
    }

    /// Returns the cache of schemas of this user.
    ///
    /// # Errors
    /// Same as [`ChartCache::of_user`].
    pub(crate) fn of_schemas() -> Result<Self> {
        Self::named("schemas", "json")
    }

    fn named(name: &str, ending: &'static str) -> Result<Self> {
        let set = std::env::var_os("DROPFORGE_CACHE").filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let dir = set.or_else(|| Some(user_dir()?.join("dropforge")));
        let dir = dir.ok_or_else(|| {
            Diagnostic::new(Code::Usage, "there is no directory for fetched charts").with_help("set `DROPFORGE_CACHE`")
        })?;
        Ok(Self { dir: dir.join(name), ending })
    }

    /// Returns the path of a chart.
    pub(crate) fn path(&self, digest: &str) -> PathBuf {
        let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
        self.dir.join(hex.get(..2).unwrap_or(hex)).join(format!("{hex}.{}", self.ending))
    }

    /// Returns the path of a chart if it is there.
    ///
    /// # Errors
    /// `store.wrong_digest` if it was changed; `file.read_failed`.
    pub(crate) fn find(&self, digest: &str) -> Result<Option<PathBuf>> {
        let path = self.path(digest);
        if !path.is_file() {
            return Ok(None);
        }
        let bytes = files::read(&path, MAX).map_err(|error| files::unreadable(&path, error))?;
        let found = hex(&sha256(&bytes));
        if Some(found.as_str()) == digest.strip_prefix("sha256:") {
            return Ok(Some(path));
        }
        let message = format!("the fetched file `{}` was changed", path.display());
        Err(Diagnostic::new(Code::WrongDigest, message).with_help("delete it, then run `dropforge deps build`"))
    }
}

/// The name of the file, beside the project file.
const FILE: &str = "dropforge.lock";
/// Maximum length of the file.
const MAX_LOCK: u64 = 16 << 20;

/// The lock of a project.
#[derive(Debug)]
pub(crate) struct ProjectLock {
    path: PathBuf,
    /// The charts, sorted by what the project says.
    pub(crate) charts: Vec<LockedChart>,
    /// The schemas, sorted by their URLs.
    pub(crate) schemas: Vec<LockedSchema>,
}

/// A schema of a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedSchema {
    /// The URL.
    pub(crate) url: String,
    /// The digest of the document: `sha256:…`.
    pub(crate) digest: String,
}

/// A chart of a lock.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LockedChart {
    /// The text of the project.
    pub(crate) chart: String,
    /// The version or the range of the project; may be empty.
    pub(crate) range: String,
    /// The name of the chart.
    pub(crate) name: String,
    /// The version of the chart.
    pub(crate) version: String,
    /// The digest of the packed chart: `sha256:…`.
    pub(crate) digest: String,
    /// The URL that the chart was fetched from.
    pub(crate) source: String,
}

impl ProjectLock {
    /// Reads the lock beside a project file. Without one, it is empty.
    ///
    /// # Errors
    /// `file.read_failed`, `input.syntax`, `input.structure`.
    pub(crate) fn read(project: &Path) -> Result<Self> {
        let path = project.parent().unwrap_or(Path::new("")).join(FILE);
        if !path.exists() {
            return Ok(Self { path, charts: Vec::new(), schemas: Vec::new() });
        }
        let text = files::read_text(&path, MAX_LOCK).map_err(|error| files::unreadable(&path, error))?;
        let source = Source::new(path_from_here(&path), text);
        let map = input::map(&source, Format::Toml)?;
        let wrong = || {
            Diagnostic::new(Code::InputStructure, format!("`{}` is not a lock of charts", path_from_here(&path)))
                .at(&source, Span::default(), "")
                .with_help("write it again: `dropforge deps update`")
        };
        let items = |key| match map.get(key) {
            None => Ok(&[][..]),
            Some(items) => items.as_list().ok_or_else(wrong),
        };
        let charts: Option<Vec<LockedChart>> = items("chart")?.iter().map(LockedChart::read).collect();
        let schemas: Option<Vec<LockedSchema>> = items("schema")?.iter().map(LockedSchema::read).collect();
        Ok(Self { charts: charts.ok_or_else(wrong)?, schemas: schemas.ok_or_else(wrong)?, path })
    }

    /// Returns the path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path for messages.
    pub(crate) fn shown(&self) -> String {
        path_from_here(&self.path)
    }

    /// Returns the entry of a chart.
    pub(crate) fn find(&self, chart: &RemoteChart) -> Option<&LockedChart> {
        self.charts.iter().find(|one| one.chart == chart.chart && one.range == chart.range)
    }
}

impl LockedChart {
    fn read(item: &Data) -> Option<Self> {
        let text = |key| item.get(key)?.as_str().map(str::to_owned);
        let digest = text("digest").filter(|text| is_digest(text))?;
        let range = text("range").unwrap_or_default();
        Some(Self {
            chart: text("chart")?,
            range,
            name: text("name")?,
            version: text("version")?,
            digest,
            source: text("source")?,
        })
    }
}

impl LockedSchema {
    fn read(item: &Data) -> Option<Self> {
        let text = |key| item.get(key)?.as_str().map(str::to_owned);
        Some(Self { url: text("url")?, digest: text("digest").filter(|text| is_digest(text))? })
    }
}

fn is_digest(text: &str) -> bool {
    let is_hex = |text: &str| text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    text.strip_prefix("sha256:").is_some_and(is_hex)
}
