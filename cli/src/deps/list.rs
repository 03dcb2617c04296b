//! `deps list`: the table that `helm dependency list` prints.

use std::fs;
use std::path::{Path, PathBuf};

use dropforge::dialect::helm::chart::repository::newest;
use dropforge::dialect::helm::chart::{Chart, Dependency};
use dropforge::stdlib::semver::{LenientVersion, Version};

use super::chart::chart_in;
use super::table::table;
use crate::exit::Failed;

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
