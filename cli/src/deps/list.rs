//! The state of a chart's dependencies: `deps list`, as `helm dependency list` prints it, and `deps verify`.

use std::fs;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Code, Diagnostic, counted};
use dropforge::dialect::helm::chart::repository::newest;
use dropforge::dialect::helm::chart::{Chart, Dependency};
use dropforge::stdlib::semver::{LenientVersion, Version};

use super::chart::{Folder, chart_in};
use super::shown;
use super::sources::Sources;
use super::versions::is_same_version;
use crate::exit::Failed;
use crate::stderr::Stderr;

/// Returns the table of a chart's dependencies.
///
/// # Errors
/// Errors of reading the chart.
pub(super) fn list(path: &Path) -> Result<String, Failed> {
    if !path.exists() {
        let error = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(dropforge::files::unreadable(path, error).into());
    }
    let chart = chart_in(path)?;
    let dependencies = &chart.metadata().dependencies;
    let charts = path.join("charts");
    if !chart.metadata().has_dependencies {
        return Ok(format!("WARNING: no dependencies at {}\n", charts.display()));
    }
    let row = |one: &Dependency| {
        [one.name.clone(), one.version.clone(), one.repository.clone(), status(&charts, one, &chart).to_owned()]
    };
    let mut text = table(&["NAME", "VERSION", "REPOSITORY", "STATUS"], dependencies.iter().map(row));
    text.push('\n');
    for path in entries(&charts) {
        let name = path.display();
        match chart_in(&path) {
            Err(_) => text.push_str(&format!("WARNING: {:?} is not a chart.\n", name.to_string())),
            Ok(found) if !dependencies.iter().any(|one| one.name == found.metadata().name) => {
                text.push_str(&format!("WARNING: {:?} is not in Chart.yaml.\n", name.to_string()));
            }
            Ok(_) => {}
        }
    }
    Ok(text)
}

/// Returns the folders and packed charts in `charts/`.
fn entries(charts: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(charts).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|extension| extension == "tgz");
    let mut found: Vec<PathBuf> = entries.filter(is_one).collect();
    found.sort();
    found
}

/// Returns the state of a dependency in Helm's words.
fn status(charts: &Path, one: &Dependency, parent: &Chart) -> &'static str {
    let prefix = format!("{}-", one.name);
    let version_of = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        Some(name.strip_prefix(&prefix)?.strip_suffix(".tgz")?.to_owned())
    };
    let archives: Vec<(PathBuf, String)> =
        entries(charts).into_iter().filter_map(|path| Some((path.clone(), version_of(&path)?))).collect();
    let is_exact = |(_, version): &&(PathBuf, String)| Version::parse(version).is_ok();
    match archives.as_slice() {
        [] => {}
        [(archive, _)] => return of_archive(archive, one),
        several => match several.iter().filter(is_exact).collect::<Vec<_>>().as_slice() {
            [] => {}
            [(archive, _)] => return of_archive(archive, one),
            _ => return "too many matches",
        },
    }
    // The last one counts.
    match parent.charts().filter(|chart| chart.metadata().name == one.name).last() {
        None => "missing",
        Some(chart) => fits(&chart.metadata().version, one).unwrap_or("unpacked"),
    }
}

fn of_archive(archive: &Path, one: &Dependency) -> &'static str {
    match chart_in(archive) {
        Err(_) => "corrupt",
        Ok(chart) if chart.metadata().name != one.name => "misnamed",
        Ok(chart) => fits(&chart.metadata().version, one).unwrap_or("ok"),
    }
}

/// Returns why a version does not fit a dependency.
fn fits(version: &str, one: &Dependency) -> Option<&'static str> {
    if version == one.version {
        return None;
    }
    match (newest(&one.version, [version]), LenientVersion::parse(version)) {
        (Err(_), _) | (_, Err(_)) => Some("invalid version"),
        (Ok(None), _) => Some("wrong version"),
        (Ok(Some(_)), _) => None,
    }
}

/// Maximum width of a column.
const WIDTH: usize = 80;

/// Returns the lines of a table. Columns have the width of their longest cell, up to a bound.
pub(super) fn table<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(|at| width(at).min(WIDTH)).collect();
    let cell = |(text, width): (&String, &usize)| {
        let count = text.chars().count();
        match count > *width {
            true => text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect(),
            false => format!("{text}{}", " ".repeat(width - count)),
        }
    };
    let line = |row: &[String; N]| row.iter().zip(&widths).map(cell).collect::<Vec<String>>().join("\t") + "\n";
    rows.iter().map(line).collect()
}

/// Checks that the lock fits the chart, and that `charts/` has what it names.
///
/// # Errors
/// `charts.stale_lock`, `charts.missing`; errors of reading the chart.
pub(super) fn verify(path: &Path, stderr: &Stderr) -> Result<(), Failed> {
    let folder = Folder::read(path)?;
    let wanted = folder.wanted(&Sources::read()?)?;
    let again = |command: &str| format!("run `dropforge deps {command} {}`", shown(path));
    let locked = match &folder.lock {
        Some(lock) => {
            folder.check_lock(lock, &wanted)?;
            lock.dependencies.as_slice()
        }
        None if wanted.is_empty() => &[],
        None => {
            let message = format!("there is no lock `{}`", shown(&folder.lock_path()));
            return Err(Diagnostic::new(Code::StaleLock, message).with_help(again("update")).into());
        }
    };
    let is_it = |one: &Dependency, chart: &Chart| {
        let metadata = chart.metadata();
        let is_version = one.repository.is_empty() || is_same_version(&metadata.version, &one.version);
        metadata.name == one.name && is_version
    };
    let missing = locked.iter().filter(|one| !folder.chart.charts().any(|chart| is_it(one, chart)));
    let error = |one: &Dependency| {
        let (name, version, charts) = (&one.name, &one.version, shown(&path.join("charts")));
        let message = format!("the chart `{name}` {version} of the lock is not in `{charts}`");
        let there = folder.chart.charts().map(|chart| chart.metadata()).filter(|metadata| metadata.name == *name);
        let there: Vec<String> = there.map(|metadata| format!("{name} {}", metadata.version)).collect();
        Diagnostic::new(Code::MissingChart, message).with_help(again("build")).with_available(there)
    };
    let errors: Vec<Box<Diagnostic>> = missing.map(error).collect();
    if !errors.is_empty() {
        return Err(errors.into());
    }
    stderr.note(&format!("verified {} of `{}`", counted(locked.len(), "chart"), shown(path)));
    Ok(())
}
