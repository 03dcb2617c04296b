//! `dropforge.lock` and the fetched charts of a project.

use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Code, Diagnostic, Result, counted};
use dropforge::dialect::helm::chart::Dependency;
use dropforge::remote::oci;

use super::schemas;
use super::secrets::{with_secrets, without_secrets};
use super::sources::{Release, Sources, names};
use super::table::table;
use super::versions::{NEWER, Versions, exact_of_registry};
use crate::exit::Failed;
use crate::input::InputFiles;
use crate::locked_charts::{ChartCache, LockedChart, ProjectLock, RemoteChart};
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
    /// Errors of [`schemas::fetch`], and of finding the charts.
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
        schemas::fetch(&charts, (&mut self.lock, renews), sources, stderr)
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
