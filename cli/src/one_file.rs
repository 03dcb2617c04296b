//! One file or object for the whole fleet: `--layout single`.

use std::io;
use std::path::Path;

use dropforge::bulk::{self, Change, FilePreview, Job, Report, Stamper, StreamFile};
use dropforge::diagnostics::Result;

use crate::changes::ChangeArgs;
use crate::console::Console;
use crate::input::unreadable;
use crate::output::stdout_error;

/// Writes all outputs to one file, atomically.
///
/// # Errors
/// Errors of the file, and of the run.
pub(crate) fn write_stream(path: &Path, stamper: &Stamper<'_>, job: &Job<'_>) -> Result<Report> {
    let mut file = StreamFile::create(path)?;
    let report = bulk::stream(stamper, job, &mut file)?;
    if report.is_complete() {
        return Ok(one_file(report, file.finish()?));
    }
    Ok(kept_old(&path.display().to_string(), report))
}

/// Returns the report of a run that left the file or object at `path` as it was.
pub(crate) fn kept_old(path: &str, report: Report) -> Report {
    let warning = format!("kept the old `{path}` because the run is incomplete");
    Report { created: 0, warnings: vec![warning], ..report }
}

/// Converts the report of a stream, which counts outputs, to the report of one file.
pub(crate) fn one_file(report: Report, change: Change) -> Report {
    let count = |other: Change| usize::from(change == other);
    let (created, updated) = (count(Change::Create), count(Change::Update));
    Report { created, updated, unchanged: count(Change::Unchanged), ..report }
}

/// Previews one file. Both texts are held in memory.
///
/// # Errors
/// Errors of reading the file, and of the run.
pub(crate) fn compare_file(
    changes: &ChangeArgs,
    path: &Path,
    stamper: &Stamper<'_>,
    job: &Job<'_>,
    console: &Console,
) -> Result<Report> {
    let old = match std::fs::read(path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(path, error)),
    };
    compare_one(changes, &path.display().to_string(), old, stamper, job, console)
}

/// Compares a stream with the `old` content of one file or object.
///
/// # Errors
/// Errors of the run, and of standard output.
pub(crate) fn compare_one(
    changes: &ChangeArgs,
    path: &str,
    old: Option<Vec<u8>>,
    stamper: &Stamper<'_>,
    job: &Job<'_>,
    console: &Console,
) -> Result<Report> {
    let mut new = Vec::new();
    let report = bulk::stream(stamper, job, &mut new)?;
    let change = match &old {
        Some(old) if *old == new => return Ok(one_file(report, Change::Unchanged)),
        Some(_) => Change::Update,
        None => Change::Create,
    };
    let old = old.unwrap_or_default();
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let file = FilePreview { path, cluster: "", template: "", change: Some(change), old: &old, new: &new };
    let mut changes = changes.printer(Path::new(""), console);
    changes.print(&file).and_then(|()| changes.finish()).map_err(|error| stdout_error(&error))?;
    Ok(one_file(report, change))
}
