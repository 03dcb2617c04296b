//! `charts/` and `Chart.lock` of a chart's folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use chrono::{Local, SecondsFormat};
use dropforge::bulk::write_file;
use dropforge::diagnostics::{Code, Diagnostic, Result, counted};
use dropforge::dialect::helm::chart::repository::{ChartLock, digest, newest, old_digest, pack};
use dropforge::dialect::helm::chart::{Bounds, Chart, ChartSource, Dependency};
use dropforge::files::unreadable;
use dropforge::text::Source;

use super::list::table;
use super::shown;
use super::sources::{Release, Sources};
use super::versions::{NEWER, Versions, bad_range, exact_of_registry};
use crate::exit::Failed;
use crate::stderr::Stderr;

/// The folder of a chart.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) chart: Chart,
    pub(super) lock: Option<ChartLock>,
}

/// A packed chart for `charts/`, by the name of its file.
type Archives = BTreeMap<String, Vec<u8>>;

impl Folder {
    /// Reads a chart and its lock.
    ///
    /// # Errors
    /// `usage` for anything but a folder with a chart; errors of reading it.
    pub(super) fn read(path: &Path) -> std::result::Result<Self, Failed> {
        if !path.is_dir() {
            let message = format!("`{}` is not the folder of a chart", path.display());
            return Err(Diagnostic::new(Code::Usage, message).with_help("name the folder with `Chart.yaml`").into());
        }
        let source = ChartSource::open(path)?.in_folder(&shown(path));
        let chart = Chart::load(&source)?;
        let lock = ["requirements.lock", "Chart.lock"].into_iter().find_map(|name| {
            let file = source.files().iter().find(|file| file.path() == name)?;
            let text = String::from_utf8_lossy(file.bytes()).into_owned();
            Some(ChartLock::read(&Source::new(shown(&path.join(name)), text)))
        });
        Ok(Self { path: path.to_owned(), chart, lock: lock.transpose()? })
    }

    pub(super) fn is_old(&self) -> bool {
        self.chart.metadata().api_version == "v1"
    }

    /// Returns the path of the lock.
    pub(super) fn lock_path(&self) -> PathBuf {
        self.path.join(if self.is_old() { "requirements.lock" } else { "Chart.lock" })
    }

    /// Returns the path of the file that declares the dependencies.
    fn declared(&self) -> &'static str {
        if self.is_old() { "requirements.yaml" } else { "Chart.yaml" }
    }

    /// Returns the dependencies with URLs in place of names of repositories.
    ///
    /// # Errors
    /// `charts.unknown_repository`.
    pub(super) fn wanted(&self, sources: &Sources) -> Result<Vec<Dependency>> {
        let resolved = |one: &Dependency| {
            let is_name = one.repository.starts_with('@') || one.repository.starts_with("alias:");
            let is_local = one.repository.is_empty() || one.repository.starts_with("file://");
            let repository = match is_local || one.repository.starts_with("oci://") {
                true => one.repository.clone(),
                false => {
                    let found = sources.repository(&one.repository).map_err(|error| self.at(one, error))?;
                    if is_name { found.url } else { one.repository.clone() }
                }
            };
            Ok(Dependency { repository, ..one.clone() })
        };
        self.chart.metadata().dependencies.iter().map(resolved).collect()
    }

    /// Checks that the lock is of these dependencies.
    ///
    /// # Errors
    /// `charts.stale_lock`.
    pub(super) fn check_lock(&self, lock: &ChartLock, wanted: &[Dependency]) -> Result<()> {
        let own = self.listed(&self.chart.metadata().dependencies);
        let is_old = || self.is_old() && old_digest(own) == lock.digest;
        if digest(self.listed(wanted), &lock.dependencies) == lock.digest || is_old() {
            return Ok(());
        }
        let (path, declared) = (shown(&self.lock_path()), self.declared());
        let message = format!("the lock `{path}` is out of sync with the dependencies in `{declared}`");
        Err(Diagnostic::new(Code::StaleLock, message)
            .with_help(format!("write it again: `dropforge deps update {}`", shown(&self.path))))
    }

    /// Returns the dependencies if the chart has a list of them.
    fn listed<'d>(&self, dependencies: &'d [Dependency]) -> Option<&'d [Dependency]> {
        self.chart.metadata().has_dependencies.then_some(dependencies)
    }

    /// Returns the folder that a dependency without a repository, or with `file://`, names.
    fn local(&self, one: &Dependency) -> Result<PathBuf> {
        let path = match one.repository.strip_prefix("file://") {
            Some(path) => self.path.join(path),
            None => self.path.join("charts").join(&one.name),
        };
        if path.is_dir() {
            return Ok(path);
        }
        let message = format!("the dependency `{}` has no folder `{}`", one.name, shown(&path));
        Err(Diagnostic::new(Code::MissingChart, message).with_help("check its `repository`"))
    }

    /// Returns an error at the dependency that it is about.
    fn at(&self, one: &Dependency, error: Box<Diagnostic>) -> Box<Diagnostic> {
        match self.chart.place_of_dependency(&one.name) {
            Some((source, span)) => error.at(source, span, ""),
            None => error,
        }
    }

    /// Packs the chart of a dependency on this machine, or checks the one in `charts/`. Returns its version.
    fn pack(&self, one: &Dependency, archives: &mut Archives) -> std::result::Result<String, Failed> {
        let path = self.local(one).map_err(|error| self.at(one, error))?;
        let source = ChartSource::open(&path)?.in_folder(&shown(&path));
        let version = Chart::load(&source)?.metadata().version.clone();
        if newest(&one.version, [version.as_str()]).map_err(|why| self.at(one, bad_range(one, &why)))?.is_none() {
            let message = format!("the chart `{}` in `{}` has the version {version}", one.name, shown(&path));
            let error = self.at(one, Diagnostic::new(Code::NoChartVersion, message));
            return Err(error.with_help(format!("the dependency wants `{}`", one.version)).into());
        }
        if !one.repository.is_empty() {
            let packed = pack(&source, &|name| time_of(&path.join(name)))?;
            archives.insert(format!("{}-{}.tgz", packed.name, packed.version), packed.bytes);
        }
        Ok(version)
    }

    /// Replaces the charts in `charts/` that are not folders.
    fn save(&self, archives: Archives, locked: &[Dependency], stderr: &Stderr) -> Result<()> {
        let charts = self.path.join("charts");
        let unwritable = |error: std::io::Error| {
            let message = format!("cannot write to `{}`: {error}", shown(&charts));
            Diagnostic::new(Code::WriteFailed, message).caused_by(error)
        };
        // Nothing is replaced before everything is on disk.
        let staged = tempfile::Builder::new().prefix(".charts-").tempdir_in(&self.path).map_err(unwritable)?;
        for (name, bytes) in &archives {
            fs::write(staged.path().join(name), bytes).map_err(unwritable)?;
        }
        fs::create_dir_all(&charts).map_err(unwritable)?;
        for name in archives.keys() {
            fs::rename(staged.path().join(name), charts.join(name)).map_err(unwritable)?;
        }
        for entry in fs::read_dir(&charts).map_err(unwritable)?.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() || archives.contains_key(&*name.to_string_lossy()) {
                continue;
            }
            let of = ChartSource::open(&path).ok().and_then(|source| Chart::load(&source).ok());
            match of {
                None => stderr.detail(&format!("`{}` is not a chart, and stays", shown(&path))),
                Some(chart)
                    if locked.iter().any(|one| one.repository.is_empty() && one.name == chart.metadata().name) => {}
                Some(_) => fs::remove_file(&path).map_err(unwritable)?,
            }
        }
        Ok(())
    }
}

/// Returns the time of a file in seconds since 1970, or that of `SOURCE_DATE_EPOCH`.
fn time_of(path: &Path) -> u64 {
    if let Some(fixed) = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok()) {
        return fixed;
    }
    let time = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    // Go rounds to the nearest second.
    since.map_or(0, |since| since.as_secs() + u64::from(since.subsec_millis() >= 500))
}

/// Fetches what the lock names. Without one, chooses versions.
///
/// # Errors
/// `charts.stale_lock`; errors of [`update`].
pub(super) fn build(path: &Path, sources: &Sources, stderr: &Stderr) -> std::result::Result<(), Failed> {
    let folder = Folder::read(path)?;
    let Some(lock) = &folder.lock else { return update_folder(&folder, sources, stderr) };
    folder.check_lock(lock, &folder.wanted(sources)?)?;
    let versions = sources.versions(&lock.dependencies)?;
    let choose = |one: &Dependency, versions: Option<&Versions>| match versions {
        Some(versions) => versions.exact(one, &one.version),
        None => exact_of_registry(one),
    };
    let (archives, _) = archives(&folder, &lock.dependencies, (sources, &versions), &choose)?;
    finish(&folder, archives, &lock.dependencies, stderr)
}

/// Chooses the newest versions, fetches them and writes the lock.
///
/// # Errors
/// Errors of reading the chart, of the servers, and of writing.
pub(super) fn update(path: &Path, sources: &Sources, stderr: &Stderr) -> std::result::Result<(), Failed> {
    update_folder(&Folder::read(path)?, sources, stderr)
}

fn update_folder(folder: &Folder, sources: &Sources, stderr: &Stderr) -> std::result::Result<(), Failed> {
    let wanted = folder.wanted(sources)?;
    if folder.listed(&wanted).is_none() {
        stderr.note(&format!("`{}` has no dependencies", shown(&folder.path)));
        return Ok(());
    }
    let versions = sources.versions(&wanted)?;
    let choose = |one: &Dependency, versions: Option<&Versions>| match versions {
        Some(versions) => versions.newest(one),
        None => exact_of_registry(one),
    };
    let (archives, locked) = archives(folder, &wanted, (sources, &versions), &choose)?;
    finish(folder, archives, &locked, stderr)?;
    let digest = digest(folder.listed(&wanted), &locked);
    if folder.lock.as_ref().is_some_and(|lock| lock.digest == digest) {
        return Ok(());
    }
    let generated = Local::now().to_rfc3339_opts(SecondsFormat::Nanos, true);
    let lock = ChartLock { generated: without_zeros(&generated), digest, dependencies: locked };
    write_file(&folder.lock_path(), lock.text().as_bytes(), false)?;
    Ok(())
}

/// Returns a time without zeros at the end of its fraction, as Go prints it.
fn without_zeros(time: &str) -> String {
    let Some((seconds, rest)) = time.split_once('.') else { return time.to_owned() };
    let (fraction, zone) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { format!("{seconds}{zone}") } else { format!("{seconds}.{fraction}{zone}") }
}

/// Returns the dependencies of which there are newer versions than in the lock.
///
/// # Errors
/// `charts.stale_lock` without a lock; errors of the servers.
pub(super) fn outdated(path: &Path, sources: &Sources) -> std::result::Result<String, Failed> {
    let folder = Folder::read(path)?;
    let wanted = folder.wanted(sources)?;
    let Some(lock) = &folder.lock else {
        let message = format!("there is no lock `{}`", shown(&folder.lock_path()));
        let help = format!("run `dropforge deps update {}`", shown(path));
        return Err(Diagnostic::new(Code::StaleLock, message).with_help(help).into());
    };
    folder.check_lock(lock, &wanted)?;
    let any: Vec<Dependency> = wanted.iter().map(|one| Dependency { version: "*".to_owned(), ..one.clone() }).collect();
    let mut rows = Vec::new();
    for (((wanted, any), locked), versions) in
        wanted.iter().zip(&any).zip(&lock.dependencies).zip(sources.versions(&any)?)
    {
        let Some(versions) = versions else { continue };
        rows.extend(versions.newer(&locked.version, (wanted, any)));
    }
    Ok(if rows.is_empty() { String::new() } else { table(&NEWER, rows.into_iter()) })
}

type Choose<'c> = dyn Fn(&Dependency, Option<&Versions>) -> Result<Release> + 'c;

/// Fetches and packs the dependencies. Returns them with their exact versions.
fn archives(
    folder: &Folder,
    wanted: &[Dependency],
    (sources, versions): (&Sources, &[Option<Versions>]),
    choose: &Choose<'_>,
) -> std::result::Result<(Archives, Vec<Dependency>), Failed> {
    let (mut archives, mut locked, mut releases) = (Archives::new(), Vec::new(), Vec::<Release>::new());
    for (one, versions) in wanted.iter().zip(versions) {
        let is_local = one.repository.is_empty() || one.repository.starts_with("file://");
        let version = if is_local {
            let version = folder.pack(one, &mut archives)?;
            if one.repository.is_empty() { one.version.clone() } else { version }
        } else {
            let release = choose(one, versions.as_ref()).map_err(|error| folder.at(one, error))?;
            let version = release.version.clone();
            if !releases.contains(&release) {
                releases.push(release);
            }
            version
        };
        let (name, repository) = (one.name.clone(), one.repository.clone());
        locked.push(Dependency { name, version, repository, ..Dependency::default() });
    }
    for (release, bytes) in releases.iter().zip(sources.fetch(&releases)?) {
        archives.insert(release.file_name()?, bytes);
    }
    Ok((archives, locked))
}

fn finish(
    folder: &Folder,
    archives: Archives,
    locked: &[Dependency],
    stderr: &Stderr,
) -> std::result::Result<(), Failed> {
    let count = archives.len();
    folder.save(archives, locked, stderr)?;
    stderr.note(&format!("saved {} in `{}`", counted(count, "chart"), shown(&folder.path.join("charts"))));
    Ok(())
}

/// Reads the chart in a file of `charts/`.
///
/// # Errors
/// Errors of reading it.
pub(super) fn chart_in(path: &Path) -> Result<Arc<Chart>> {
    let source = match path.is_dir() {
        true => ChartSource::open(path)?,
        false => {
            let bytes = dropforge::files::read(path, Bounds::default().total_bytes);
            ChartSource::archive(&bytes.map_err(|error| unreadable(path, error))?, Bounds::default())?
        }
    };
    let chart = Chart::load(&source).map_err(|errors| match errors.into_vec().into_iter().next() {
        Some(error) => error,
        None => Diagnostic::new(Code::InputStructure, "the chart cannot be read"),
    })?;
    Ok(Arc::new(chart))
}

#[cfg(test)]
mod tests {
    use super::without_zeros;

    #[test]
    fn times_are_printed_as_in_go() {
        for (time, shown) in [
            ("2026-11-30T08:26:07.120000000Z", "2026-11-30T08:26:07.12Z"),
            ("2026-11-30T08:26:07.000000000+02:00", "2026-11-30T08:26:07+02:00"),
            ("2026-11-30T08:26:07.000000001-01:30", "2026-11-30T08:26:07.000000001-01:30"),
            ("2026-11-30T08:26:07Z", "2026-11-30T08:26:07Z"),
        ] {
            assert_eq!(without_zeros(time), shown);
        }
    }
}
