//! `deps verify`: the lock of a chart, and the charts that it names.

use std::path::Path;

use dropforge::diagnostics::{Code, Diagnostic, counted};
use dropforge::dialect::helm::chart::{Chart, Dependency};

use super::chart::Folder;
use super::shown;
use super::sources::Sources;
use super::versions::is_same_version;
use crate::exit::Failed;
use crate::stderr::Stderr;

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
