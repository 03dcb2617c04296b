//! Runs over a fleet that is read once: faults of the plan are found as they come.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::destination::Destination;
use super::fleet::{Fleet, FleetStream, MAX_REPORTED};
use super::foreign;
use super::job::{Job, Stamp};
use super::key_set::KeySet;
use super::known_files::{KnownFiles, RUN_RECORD};
use super::output_dir::OutputDir;
use super::output_path::check_path;
use super::plan::Plan;
use super::report::Report;
use super::scratch::Scratch;
use super::selector::Selector;
use super::stamp::{Before, begin, end, made, stream};
use super::state::State;
use super::workers::drive;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Stamps the clusters of `fleet` that a selector selects into the directory `out`, batch by batch. A fault of a batch ends
/// the run. What was written before stays and is listed in the state, which is marked as incomplete; nothing is pruned.
/// The plan of `job` is that of no clusters, and its own fleet does not count.
///
/// A name or path that is repeated in another batch is found at the end.
///
/// # Errors
/// Same as [`stamp`](super::stamp()); faults of batches are in [`Report::errors`].
pub fn stamp_batches(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    selector: &Selector,
    fleet: &mut FleetStream<'_>,
    out: &Path,
) -> Result<Report> {
    let dir = OutputDir::create(out)?;
    dir.lock(true)?;
    stamp_batches_to(stamp, job, selector, fleet, &dir)
}

/// Works like [`stamp_batches`], for any destination. It must be locked.
///
/// # Errors
/// Same as [`stamp_batches`]; errors of the destination.
pub(crate) fn stamp_batches_to<D: Destination>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    selector: &Selector,
    fleet: &mut FleetStream<'_>,
    to: &D,
) -> Result<Report> {
    let (state, none) = (State::of(Some(to))?, Fleet::default());
    let (whole, run) = (Job { fleet: &none, ..*job }, job.options.run.as_ref());
    let before = anything(to, &KnownFiles::read(Some(to), (&state, run), "")?)?;
    begin(&whole, to, (RUN_RECORD, &before))?;
    // Now dropforge counts as the writer of all files but those that were there before.
    let mut known = KnownFiles::read(Some(to), (&state, run), "")?;
    let files = Mutex::default();
    let mut report = batches(job, selector, fleet, &mut |job| {
        foreign::check(stamp, job, to, &mut known)?;
        let (done, mut report) = drive(stamp, job, &|_| {}, &|| to.sink(job, &known, &files))?;
        done.iter().for_each(|counts| report.add(counts));
        Ok(report)
    })?;
    let before = Before { state: &state, stale: None, record: Some(RUN_RECORD) };
    end(&whole, to, before, made(files), &mut report);
    Ok(report)
}

/// Writes the outputs of the clusters of `fleet` to one stream, batch by batch, as [`stamp_batches`] does.
///
/// # Errors
/// Same as [`stream`]; faults of batches are in [`Report::errors`].
pub fn stream_batches(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    selector: &Selector,
    fleet: &mut FleetStream<'_>,
    out: &mut (dyn Write + Send),
) -> Result<Report> {
    batches(job, selector, fleet, &mut |job| stream(stamp, job, out))
}

/// Runs all batches. A fault of one is in the errors of the report.
fn batches(
    job: &Job<'_>,
    selector: &Selector,
    fleet: &mut FleetStream<'_>,
    run: &mut dyn FnMut(&Job<'_>) -> Result<Report>,
) -> Result<Report> {
    let (mut report, mut names) = (Report::default(), ClusterNames::default());
    loop {
        let batch = fleet.next_until(job.watch.stop);
        // The signal that stops this run may have ended the program that writes the pipe.
        if job.watch.stop.load(Ordering::SeqCst) {
            report.interrupted = true;
            break;
        }
        let batch = match batch {
            Ok(Some(batch)) => batch,
            Ok(None) => break,
            Err(fault) => {
                report.errors.push(fault);
                break;
            }
        };
        match one_batch(job, selector, &batch, &mut names, run) {
            Ok(more) => report.merge(more),
            // Nobody reads on.
            Err(faults) if faults.iter().any(|fault| fault.code == Code::ClosedPipe) => {
                return faults.into_iter().next().map_or(Ok(report), Err);
            }
            Err(faults) => report.errors.extend(faults),
        }
        let is_halted = report.interrupted || (job.options.fail_fast && report.failed > 0);
        if is_halted || !report.errors.is_empty() {
            break;
        }
    }
    if report.errors.is_empty() {
        report.errors.extend(names.repeated()?);
    }
    Ok(report)
}

fn one_batch(
    job: &Job<'_>,
    selector: &Selector,
    batch: &Fleet,
    names: &mut ClusterNames,
    run: &mut dyn FnMut(&Job<'_>) -> Result<Report>,
) -> std::result::Result<Report, Vec<Box<Diagnostic>>> {
    let one = |error| vec![error];
    batch.check_unique().map_err(one)?;
    batch.each(&mut |_, cluster| names.add(cluster.name())).map_err(one)?;
    let (outputs, layout) = (job.plan.outputs().to_vec(), job.plan.layout().clone());
    let plan = Plan::new(batch, job.layers, selector, outputs, layout);
    let plan = plan.map_err(|failures| failures.into_iter().map(|failure| failure.diagnostic).collect::<Vec<_>>())?;
    run(&Job { fleet: batch, plan: &plan, ..*job }).map_err(one)
}

/// Returns a record of a run that may write any file but those that are there and that dropforge did not write.
fn anything<D: Destination>(to: &D, known: &KnownFiles<'_>) -> Result<Scratch> {
    let mut record = Scratch::default();
    record.push(b"/\n")?;
    to.each_file("", &mut |path| match check_path(path).is_err() || known.contains(path)? {
        true => Ok(()),
        false => record.push(format!("!{path}\n").as_bytes()),
    })?;
    Ok(record)
}

/// The names of all clusters, to find repeated ones.
#[derive(Default)]
struct ClusterNames {
    keys: KeySet,
    lines: Scratch,
}

impl ClusterNames {
    fn add(&mut self, name: &str) -> Result<()> {
        // Names that differ only in letter case would have the same files in some file systems.
        self.keys.add(&name.to_ascii_lowercase())?;
        self.lines.push(name.as_bytes())?;
        self.lines.push(b"\n")
    }

    /// Returns the error of names that were repeated in another batch.
    fn repeated(self) -> Result<Option<Box<Diagnostic>>> {
        let keys = self.keys.sort()?;
        if keys.are_distinct() {
            return Ok(None);
        }
        let (mut seen, mut found, mut rest) = (HashMap::<String, usize>::new(), Vec::new(), Vec::new());
        self.lines.each_part(&mut |part| {
            rest.extend_from_slice(part);
            let end = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            for name in String::from_utf8_lossy(&rest.drain(..end).collect::<Vec<_>>()).lines() {
                let key = name.to_ascii_lowercase();
                if keys.is_repeated(&key) {
                    let count = seen.entry(key).or_default();
                    *count += 1;
                    if *count == 2 && found.len() < MAX_REPORTED {
                        found.push(format!("`{name}`"));
                    }
                }
            }
            Ok(())
        })?;
        let Some(first) = found.first() else { return Ok(None) };
        let message = format!("duplicate cluster name {first}, in another batch of the stream");
        let mut error = Diagnostic::new(Code::DuplicateCluster, message)
            .with_help("give each cluster a unique name; the one written last was kept");
        error.notes.extend(found.iter().skip(1).map(|more| format!("also {more}")));
        Ok(Some(error))
    }
}
