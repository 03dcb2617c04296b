//! Destinations: a directory, standard output, a file, or an object store.

use std::io;
use std::path::Path;

use dropforge::bulk::{self, Job, Report, Selector, Stamper};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use indicatif::ProgressBar;

use super::{SINGLE, StampArgs};
use crate::console::Console;
use crate::fleet::FleetArgs;
#[cfg(not(feature = "remote"))]
use crate::no_remote as remote;
use crate::one_file::{compare_file, write_stream};
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
        Target::File(path) if preview.is_some() => compare_file(&args.changes, path, stamper, job, console),
        Target::File(path) => write_stream(path, stamper, job),
    }
}

/// Returns `true` for a run of all clusters of files. Standard input may hold another part of a fleet each time.
pub(super) fn is_whole(fleet: &FleetArgs, selector: &Selector) -> bool {
    selector.is_empty() && fleet.fleet.iter().all(|one| one != "-")
}
