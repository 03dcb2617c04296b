//! Destinations: a directory, standard output, a file, or an object store.

use std::io;
use std::path::Path;

use dropforge::bulk::{self, Change, FilePreview, Job, Report, Stamper, StreamFile};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use indicatif::ProgressBar;

use super::{SINGLE, StampArgs};
use crate::changes::ChangeArgs;
use crate::console::Console;
use crate::input::unreadable;
#[cfg(not(feature = "remote"))]
use crate::no_remote as remote;
use crate::output::stdout_error;
#[cfg(feature = "remote")]
use crate::remote;
/// The destination of outputs.
pub(super) enum Target<'a> {
    Directory(&'a Path),
    Stdout,
    File(&'a Path),
    Store(remote::StoreTarget),
}

impl<'a> Target<'a> {
    /// Returns the destination that the options name.
    ///
    /// # Errors
    /// `usage`.
    pub(super) fn of(args: &'a StampArgs) -> Result<Self> {
        let usage = |message: &str, help: &str| Err(Diagnostic::new(Code::Usage, message).with_help(help));
        let is_single = args.layout == SINGLE;
        if is_single && args.prune {
            return usage("`--prune` does not apply to `--layout single`", "remove one of them");
        }
        if let Some(target) = remote::StoreTarget::of(args.output.as_deref(), is_single, &args.stores)? {
            return Ok(Target::Store(target));
        }
        match &args.output {
            None if is_single => Ok(Target::Stdout),
            None => usage("`--output` is missing", "use `-o DIR`, or `--layout single` for standard output"),
            Some(path) if path.as_os_str() == "-" && is_single => Ok(Target::Stdout),
            Some(path) if path.as_os_str() == "-" => {
                usage("`-o -` needs `--layout single`", "add `--layout single`, or use `-o DIR`")
            }
            Some(path) if is_single => Ok(Target::File(path)),
            Some(path) => Ok(Target::Directory(path)),
        }
    }
}

/// Stamps, or previews a run.
///
/// # Errors
/// Errors of the run.
pub(super) fn stamp(
    args: &StampArgs,
    target: &Target<'_>,
    stamper: &Stamper<'_>,
    job: &Job<'_>,
    bar: &ProgressBar,
    console: &Console,
) -> Result<Report> {
    let preview = args.changes.preview();
    match target {
        Target::Store(target) => target.stamp(&args.changes, stamper, job, bar, console),
        Target::Directory(out) if preview.is_some() => args.changes.print(stamper, job, out, bar, console),
        Target::Directory(out) => bulk::stamp(stamper, job, out),
        Target::Stdout => match preview {
            Some(option) => Err(Diagnostic::new(Code::Usage, format!("`{option}` needs an output file (`-o FILE`)"))),
            None => bulk::stream(stamper, job, &mut io::stdout()),
        },
        Target::File(path) if preview.is_some() => compare_file(args, path, stamper, job, console),
        Target::File(path) => write_stream(path, stamper, job),
    }
}

fn write_stream(path: &Path, stamper: &Stamper<'_>, job: &Job<'_>) -> Result<Report> {
    let mut file = StreamFile::create(path)?;
    let report = bulk::stream(stamper, job, &mut file)?;
    if report.is_complete() {
        return Ok(one_file(report, file.finish()?));
    }
    Ok(kept_old(path, report))
}

/// Returns the report of a run that replaced no file.
pub(super) fn kept_old(path: &Path, report: Report) -> Report {
    let warning = format!("kept the old `{}` because the run is incomplete", path.display());
    Report { created: 0, warnings: vec![warning], ..report }
}

/// Converts the report of a stream, which counts outputs, to the report of one file.
pub(crate) fn one_file(report: Report, change: Change) -> Report {
    let count = |other: Change| usize::from(change == other);
    let (created, updated) = (count(Change::Create), count(Change::Update));
    Report { created, updated, unchanged: count(Change::Unchanged), ..report }
}

/// Previews one file. Both texts are held in memory.
fn compare_file(
    args: &StampArgs,
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
    compare_one(&args.changes, &path.display().to_string(), old, stamper, job, console)
}

/// Compares a stream with the `old` content of one file or object.
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
