//! `dropforge.lock` of a project, its fetched charts, and the documents that their schemas refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use dropforge::bulk::write_file;
use dropforge::diagnostics::{Code, Diagnostic, Result, counted};
use dropforge::dialect::helm::chart::{Chart, ChartSource, Dependency};
use dropforge::remote::oci;

use super::list::table;
use super::sources::{Release, Sources, names, with_secrets, without_secrets};
use super::versions::{NEWER, Versions, exact_of_registry};
use crate::exit::Failed;
use crate::input::InputFiles;
use crate::locked_charts::{self, ChartCache, LockedChart, LockedSchema, ProjectLock, RemoteChart};
use crate::releases::{Definitions, ReleasesOption};
use crate::stderr::Stderr;

/// A project whose releases name charts of repositories and registries.
pub(super) struct Project {
    charts: Vec<RemoteChart>,
    /// The folders of other charts.
    folders: Vec<PathBuf>,
    lock: ProjectLock,
    cache: ChartCache,
}

impl Project {
    /// Reads the charts of a project file, and its lock.
    ///
    /// # Errors
    /// Errors of reading both.
    pub(super) fn read(path: &Path, files: &mut InputFiles) -> std::result::Result<Self, Failed> {
        let option = ReleasesOption { releases: Some(path.to_owned()), ..ReleasesOption::default() };
        let mut charts: Vec<RemoteChart> = Vec::new();
        let definitions = Definitions::read_all(&option, files)?;
        for one in definitions.remote() {
            if !charts.iter().any(|other| (&other.chart, &other.range) == (&one.chart, &one.range)) {
                charts.push(one.clone());
            }
        }
        let folders = definitions.charts().map(Path::to_owned).collect();
        Ok(Self { charts, folders, lock: ProjectLock::read(path)?, cache: ChartCache::of_user()? })
    }

    /// Fetches what the lock names and is not in the cache. Without a lock, chooses versions.
    ///
    /// # Errors
    /// `charts.stale_lock`; errors of the servers; `store.wrong_digest`.
    pub(super) fn build(&mut self, sources: &Sources, stderr: &Stderr) -> std::result::Result<(), Failed> {
        if self.lock.charts.is_empty() && !self.charts.is_empty() {
            return self.update(sources, stderr);
        }
        let locked = self.locked()?;
        let is_absent = |one: &LockedChart| !self.cache.find(&one.digest).is_ok_and(|found| found.is_some());
        let mut absent: Vec<(&RemoteChart, &LockedChart)> =
            self.charts.iter().zip(locked.iter().copied()).filter(|(_, one)| is_absent(one)).collect();
        absent.dedup_by_key(|(_, one)| &one.digest);
        let release = |(chart, one): &(&RemoteChart, &LockedChart)| {
            let url = match (chart.name(), &chart.repository) {
                (None, _) => chart.chart.clone(),
                (_, Some(repository)) => with_secrets(&one.source, repository),
                _ => one.source.clone(),
            };
            sources.locked(&one.name, (&one.version, &one.digest), &url)
        };
        let releases = absent.iter().map(release).collect::<Result<Vec<_>>>()?;
        for bytes in sources.fetch(&releases)? {
            self.cache.put(&bytes)?;
        }
        stderr.note(&format!("{} in the lock, {} fetched", counted(locked.len(), "chart"), releases.len()));
        Ok(())
    }

    /// Returns the entries of the lock for the charts of the project.
    fn locked(&self) -> std::result::Result<Vec<&LockedChart>, Failed> {
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        for chart in &self.charts {
            match self.lock.find(chart) {
                Some(locked) => found.push(locked),
                None => errors.push(chart.not_locked(&self.lock)),
            }
        }
        if errors.is_empty() { Ok(found) } else { Err(errors.into()) }
    }

    /// Chooses the newest versions, fetches them and writes the lock.
    ///
    /// # Errors
    /// Errors of the servers, and of writing.
    pub(super) fn update(&mut self, sources: &Sources, stderr: &Stderr) -> std::result::Result<(), Failed> {
        let releases = choose(&self.charts, sources)?;
        let bytes = sources.fetch(&releases)?;
        let mut locked = Vec::new();
        for ((chart, release), bytes) in self.charts.iter().zip(&releases).zip(bytes) {
            self.cache.put(&bytes)?;
            locked.push(entry(chart, release, &bytes)?);
        }
        for one in &locked {
            let old = self.lock.charts.iter().find(|old| (&old.chart, &old.range) == (&one.chart, &one.range));
            match old {
                Some(old) if old.version == one.version => {}
                Some(old) => stderr.note(&format!("{} {} → {}", one.name, old.version, one.version)),
                None => stderr.note(&format!("{} {}", one.name, one.version)),
            }
        }
        let count = counted(locked.len(), "chart");
        self.lock.charts = locked;
        self.lock.write()?;
        stderr.note(&format!("{count} in `{}`", self.lock.shown()));
        Ok(())
    }

    /// Checks that the lock has every chart, and the cache all that is in the lock.
    ///
    /// # Errors
    /// `charts.stale_lock`, `charts.missing`, `store.wrong_digest`.
    pub(super) fn verify(&self, stderr: &Stderr) -> std::result::Result<(), Failed> {
        let errors: Vec<Box<Diagnostic>> =
            self.charts.iter().filter_map(|chart| chart.find(&self.lock, &self.cache).err()).collect();
        if !errors.is_empty() {
            return Err(errors.into());
        }
        stderr.note(&format!("verified {}", counted(self.charts.len(), "chart")));
        Ok(())
    }

    /// Fetches what schemas of the charts refer to.
    ///
    /// # Errors
    /// Errors of [`fetch_schemas`], and of finding the charts.
    pub(super) fn schemas(
        &mut self,
        renews: bool,
        sources: &Sources,
        stderr: &Stderr,
    ) -> std::result::Result<(), Failed> {
        let mut charts = self.folders.clone();
        for chart in &self.charts {
            charts.push(chart.find(&self.lock, &self.cache)?.0);
        }
        fetch_schemas(&charts, (&mut self.lock, renews), sources, stderr)
    }

    /// Returns the charts of the project with their versions in the lock.
    pub(super) fn list(&self) -> String {
        let row = |chart: &RemoteChart| {
            let locked = self.lock.find(chart);
            let state = match locked.map(|one| self.cache.find(&one.digest)) {
                None => "not locked",
                Some(Ok(None)) => "missing",
                Some(Ok(Some(_))) => "ok",
                Some(Err(_)) => "changed",
            };
            let version = locked.map_or("", |one| &one.version);
            [chart.chart.clone(), chart.range.clone(), version.to_owned(), state.to_owned()]
        };
        table(&["CHART", "RANGE", "VERSION", "STATUS"], self.charts.iter().map(row))
    }

    /// Returns the charts of which there are newer versions.
    ///
    /// # Errors
    /// `charts.stale_lock`; errors of the servers.
    pub(super) fn outdated(&self, sources: &Sources) -> std::result::Result<String, Failed> {
        let named: Vec<&RemoteChart> = self.charts.iter().filter(|chart| chart.name().is_some()).collect();
        let wanted = named.iter().map(|chart| dependency(chart, sources)).collect::<Result<Vec<_>>>()?;
        // Any range but a version makes a registry list its tags.
        let any: Vec<Dependency> =
            wanted.iter().map(|one| Dependency { version: "*".to_owned(), ..one.clone() }).collect();
        let versions = sources.versions(&any)?;
        let mut rows = Vec::new();
        for (((chart, wanted), any), versions) in named.iter().zip(&wanted).zip(&any).zip(&versions) {
            let locked = self.lock.find(chart).ok_or_else(|| chart.not_locked(&self.lock))?;
            let Some(versions) = versions else { continue };
            rows.extend(versions.newer(&locked.version, (wanted, any)));
        }
        Ok(if rows.is_empty() { String::new() } else { table(&NEWER, rows.into_iter()) })
    }
}

/// Returns the dependency that a chart is, with the URL of its repository.
///
/// # Errors
/// `charts.unknown_repository`.
fn dependency(chart: &RemoteChart, sources: &Sources) -> Result<Dependency> {
    let (place, name) = match chart.chart.strip_prefix("oci://") {
        Some(text) => {
            let text = text.split('@').next().unwrap_or(text);
            let folder = text.rsplit_once('/').map_or(text, |(folder, _)| folder);
            (format!("oci://{folder}"), chart.name().unwrap_or_default())
        }
        None => {
            let (repository, name) = chart.chart.split_once('/').unwrap_or((&chart.chart, ""));
            let known = || {
                let found = sources.repository(&format!("@{repository}")).map(|found| found.url);
                let help = format!("write its URL in the project: `[repositories]`, `{repository} = \"https://…\"`");
                found.map_err(|error| error.with_help(help))
            };
            (chart.repository.clone().map_or_else(known, Ok)?, name)
        }
    };
    let tag = chart.chart.strip_prefix("oci://").and_then(|text| text.rsplit('/').next()?.split_once(':'));
    let version = match (chart.range.as_str(), tag) {
        ("", Some((_, tag))) => tag.to_owned(),
        ("", None) => "*".to_owned(),
        (range, _) => range.to_owned(),
    };
    Ok(Dependency { name: name.to_owned(), version, repository: place, ..Dependency::default() })
}

/// Chooses the newest version of each chart.
fn choose(charts: &[RemoteChart], sources: &Sources) -> Result<Vec<Release>> {
    let at = |chart: &RemoteChart, error: Box<Diagnostic>| error.at(&chart.source, chart.span, "");
    let of = |chart: &RemoteChart| match chart.name() {
        Some(_) => dependency(chart, sources).map_err(|error| at(chart, error)),
        None => Ok(Dependency::default()),
    };
    let wanted = charts.iter().map(of).collect::<Result<Vec<_>>>()?;
    let versions = sources.versions(&wanted)?;
    let release = |((chart, wanted), versions): ((&RemoteChart, &Dependency), &Option<Versions>)| {
        let found = match (chart.name(), versions) {
            (None, _) => sources.locked("", (&chart.range, ""), &chart.chart),
            (Some(_), Some(versions)) => versions.newest(wanted),
            (Some(_), None) => exact_of_registry(wanted),
        };
        found.map_err(|error| at(chart, error))
    };
    charts.iter().zip(&wanted).zip(&versions).map(release).collect()
}

/// Returns the entry of a lock for a chart that was fetched.
fn entry(chart: &RemoteChart, release: &Release, bytes: &[u8]) -> Result<LockedChart> {
    let (name, version) = names(bytes)?;
    Ok(LockedChart {
        chart: chart.chart.clone(),
        range: chart.range.clone(),
        name,
        version,
        digest: oci::digest(bytes),
        source: without_secrets(&release.to_string()),
    })
}

/// Fetches one chart into the cache.
///
/// # Errors
/// Errors of the servers.
pub(crate) fn fetch(chart: &RemoteChart, cache: &ChartCache) -> Result<(PathBuf, LockedChart)> {
    let sources = Sources::read()?;
    let releases = choose(std::slice::from_ref(chart), &sources)?;
    let (Some(release), Some(bytes)) = (releases.first(), sources.fetch(&releases)?.pop()) else {
        return Err(chart.error(Code::Internal, "no chart was fetched".to_owned()));
    };
    Ok((cache.put(&bytes)?, entry(chart, release, &bytes)?))
}

impl ChartCache {
    /// Keeps a chart. Returns its path.
    ///
    /// # Errors
    /// `file.write_failed`.
    fn put(&self, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.path(&oci::digest(bytes));
        let parent = path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(parent).map_err(|error| {
            let message = format!("cannot write to `{}`: {error}", parent.display());
            Diagnostic::new(Code::WriteFailed, message).caused_by(error)
        })?;
        write_file(&path, bytes, false)?;
        Ok(path)
    }
}

impl ProjectLock {
    /// Writes the lock.
    ///
    /// # Errors
    /// `file.write_failed`.
    fn write(&mut self) -> Result<()> {
        self.charts.sort();
        self.charts.dedup();
        self.schemas.sort();
        let charts = self.charts.iter().map(chart_table);
        let all: String = charts.chain(self.schemas.iter().map(schema_table)).collect();
        let text = format!("# Written by `dropforge deps update`. Do not edit.\n{all}");
        write_file(self.path(), text.as_bytes(), false).map(|_| ())
    }
}

/// Returns the table of a chart in a lock.
fn chart_table(one: &LockedChart) -> String {
    let fields = [
        ("chart", &one.chart),
        ("range", &one.range),
        ("name", &one.name),
        ("version", &one.version),
        ("digest", &one.digest),
        ("source", &one.source),
    ];
    table_of("chart", fields)
}

/// Returns the table of a schema in a lock.
fn schema_table(one: &LockedSchema) -> String {
    table_of("schema", [("url", &one.url), ("digest", &one.digest)])
}

/// Returns the table of an entry, with a key in each line.
fn table_of<const N: usize>(name: &str, fields: [(&str, &String); N]) -> String {
    let line = |(key, value): (&str, &String)| format!("{key} = {}\n", serde_json::Value::from(value.as_str()));
    let lines: String = fields.into_iter().filter(|(_, value)| !value.is_empty()).map(line).collect();
    format!("\n[[{name}]]\n{lines}")
}

/// Maximum number of documents.
const MAX: usize = 200;

/// Fetches the documents that schemas of charts refer to by URL, with those that these refer to, into the cache, and writes
/// their digests to the lock. Those of the lock are fetched again only if `renews`.
///
/// # Errors
/// Errors of reading the charts and of the servers; `store.wrong_digest`; `limit.templates`.
pub(super) fn fetch_schemas(
    charts: &[PathBuf],
    (lock, renews): (&mut ProjectLock, bool),
    sources: &Sources,
    stderr: &Stderr,
) -> std::result::Result<(), Failed> {
    let charts = charts.iter().map(ChartSource::open).collect::<std::result::Result<Vec<_>, _>>()?;
    let (cache, known) =
        (ChartCache::of_schemas()?, if renews { BTreeMap::new() } else { locked_charts::schemas(lock)? });
    let (mut found, mut fetched) = (BTreeMap::new(), 0);
    loop {
        let wanted = missing(&charts, &found)?;
        if wanted.is_empty() {
            break;
        }
        if found.len() + wanted.len() > MAX {
            let message = format!("the schemas of the charts refer to more than {MAX} documents");
            return Err(Diagnostic::new(Code::LimitTemplates, message).into());
        }
        let (there, absent): (Vec<_>, Vec<_>) = wanted.into_iter().partition(|url| known.contains_key(url));
        found.extend(
            there
                .into_iter()
                .filter_map(|url| known.get_key_value(&url))
                .map(|(url, text)| (url.clone(), text.clone())),
        );
        fetched += absent.len();
        let texts = sources.documents(&absent)?;
        for (url, text) in absent.into_iter().zip(texts) {
            check_schema(&url, &text, lock.schemas.iter().filter(|_| !renews))?;
            found.insert(url, text);
        }
    }
    let locked =
        |(url, text): (&String, &String)| LockedSchema { url: url.clone(), digest: oci::digest(text.as_bytes()) };
    let locked: Vec<LockedSchema> = found.iter().map(locked).collect();
    for text in found.values() {
        cache.put(text.as_bytes())?;
    }
    if lock.schemas != locked {
        lock.schemas = locked;
        lock.write()?;
    }
    stderr.note(&format!("{} in `{}`, {fetched} fetched", counted(found.len(), "schema"), lock.shown()));
    Ok(())
}

/// Returns the URLs of documents that are not there.
fn missing(charts: &[ChartSource], found: &BTreeMap<String, String>) -> std::result::Result<Vec<String>, Failed> {
    let mut urls = BTreeSet::new();
    for chart in charts {
        Chart::load(&chart.clone().with_schemas(found)?)?.missing_schemas(&mut urls);
    }
    let is_new = |url: &String| (url.starts_with("https://") || url.starts_with("http://")) && !found.contains_key(url);
    Ok(urls.into_iter().filter(is_new).collect())
}

/// Checks that a document is that of the lock, if it has one.
fn check_schema<'l>(
    url: &str,
    text: &str,
    mut locked: impl Iterator<Item = &'l LockedSchema>,
) -> std::result::Result<(), Failed> {
    let found = oci::digest(text.as_bytes());
    match locked.find(|one| one.url == url).filter(|one| one.digest != found) {
        None => Ok(()),
        Some(one) => {
            let message = format!("the schema `{url}` has the digest `{found}` instead of `{}`", one.digest);
            let help = "read what has changed, then run `dropforge deps update --schemas`";
            Err(Diagnostic::new(Code::WrongDigest, message).with_help(help).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_sorted_and_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("dropforge.toml");
        let mut lock = ProjectLock::read(&project).unwrap();
        assert!(lock.charts.is_empty());
        let chart = |chart: &str, range: &str| LockedChart {
            chart: chart.to_owned(),
            range: range.to_owned(),
            name: "a\"b".to_owned(),
            version: "1.0.0".to_owned(),
            digest: format!("sha256:{}", "0f".repeat(32)),
            source: "https://r.io/a.tgz".to_owned(),
        };
        lock.charts = vec![chart("z/a", ""), chart("r/a", "^1"), chart("r/a", "\u{1}"), chart("z/a", "")];
        lock.schemas = vec![LockedSchema { url: "https://e.x/a.json".to_owned(), digest: chart("", "").digest }];
        lock.write().unwrap();
        let again = ProjectLock::read(&project).unwrap();
        assert_eq!(again.schemas, lock.schemas);
        assert_eq!(again.charts, [chart("r/a", "\u{1}"), chart("r/a", "^1"), chart("z/a", "")]);
        for wrong in ["chart = 1", "[[chart]]\nchart = \"a\"", "[[chart]]\nchart = 1", "[[schema]]\nurl = \"a\"", "x"] {
            std::fs::write(lock.path(), wrong).unwrap();
            assert!(ProjectLock::read(&project).is_err(), "{wrong}");
        }
    }

    #[test]
    fn charts_are_found_by_their_digest_unless_they_were_changed() {
        let dir = tempfile::tempdir().unwrap();
        let cache = ChartCache { dir: dir.path().join("charts"), ending: "tgz" };
        let digest = oci::digest(b"x");
        assert_eq!(cache.find(&digest).unwrap(), None);
        let path = cache.put(b"x").unwrap();
        assert_eq!(cache.find(&digest).unwrap(), Some(path.clone()));
        std::fs::write(path, "y").unwrap();
        assert_eq!(cache.find(&digest).unwrap_err().code, Code::WrongDigest);
    }
}
