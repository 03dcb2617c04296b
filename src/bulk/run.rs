//! The runs: workers take cluster after cluster, render all its outputs and hand them on at once.
//!
//! How a template is rendered is [`Stamp`]'s business, so this module knows no template language. A worker holds
//! the outputs of one cluster and no more; a cluster of which one template fails hands on nothing. Results do
//! not depend on the number of threads: files are independent, and streams are written in the fleet's order.

use std::collections::HashSet;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::fleet::Fleet;
use super::layers::{Layers, Overlay};
use super::manifest::Manifest;
use super::plan::Plan;
use super::report::{Folder, Report};
use super::sink::{DiskSink, LookSink, StreamSink};
use super::tree::OutputDir;
use super::write::{Change, Writer};
use crate::diagnostics::{Code, Diagnostic, Result};

/// What renders the outputs of a plan. The shared layer is part of it.
///
/// ```
/// use dropforge::bulk::{Overlay, Renderer, Stamp};
/// use dropforge::diagnostics::Result;
///
/// /// One output: the number of the cluster's own inputs.
/// struct Count;
/// impl Stamp for Count {
///     fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
///         body(&mut Count);
///     }
/// }
/// impl Renderer for Count {
///     fn render(&mut self, own: &Overlay<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> Result<()> {
///         text.push_str(&own.to_map()?.len().to_string());
///         results.push(Ok(text.len()));
///         Ok(())
///     }
/// }
/// ```
pub trait Stamp: Sync {
    /// Sets up what a thread needs for itself (a machine, its memory, the shared inputs) and calls `body` with
    /// it, once; it is kept from cluster to cluster.
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer));
}

/// What one thread renders with.
pub trait Renderer {
    /// Renders all outputs of the plan, in its order, for one cluster: appends each text to `text`, and to
    /// `results` where it ends there, or why it failed (then nothing of it stays in `text`).
    ///
    /// # Errors
    /// Where the cluster's inputs cannot be used at all.
    fn render(&mut self, own: &Overlay<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> Result<()>;
}

/// How a run goes about it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Threads; 0 takes as many as the machine has.
    pub threads: usize,
    /// Stop at the first cluster that fails.
    pub fail_fast: bool,
    /// Make files survive a loss of power.
    pub fsync: bool,
    /// After a run without failures remove what the run before wrote and this one has no place for.
    pub prune: bool,
    /// Prune even where most files would go.
    pub prune_force: bool,
}

/// How a run is watched and stopped from outside.
#[derive(Clone, Copy)]
pub struct Watch<'w> {
    /// Set to end the run after the clusters that are under way.
    pub stop: &'w AtomicBool,
    /// Called after each cluster, from any thread.
    pub done: &'w (dyn Fn() + Sync),
}

impl Watch<'static> {
    /// Nobody watches.
    pub fn none() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { stop: &NEVER, done: &|| {} }
    }
}

/// Everything a run works on.
#[derive(Clone, Copy)]
pub struct Job<'j> {
    /// The clusters.
    pub fleet: &'j Fleet,
    /// What they share, and what is set over them.
    pub layers: &'j Layers,
    /// What is stamped and where it goes.
    pub plan: &'j Plan,
    /// How.
    pub options: &'j Options,
    /// Who looks on.
    pub watch: Watch<'j>,
}

impl Job<'_> {
    fn name(&self, at: usize) -> String {
        let cluster = self.plan.cluster(at).and_then(|at| self.fleet.clusters().get(at));
        cluster.map_or(String::new(), |cluster| cluster.name().to_owned())
    }

    fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.options.threads == 0 { all() } else { self.options.threads };
        threads.min(self.plan.clusters()).clamp(1, 1_024)
    }

    fn planned(&self) -> HashSet<String> {
        let mut planned = HashSet::new();
        self.plan.each_path(self.fleet, |path| {
            planned.insert(path.to_owned());
        });
        planned
    }
}

/// One output as a run that only looks reports it.
#[derive(Debug)]
pub struct Looked<'t> {
    /// Its path below the output directory.
    pub path: &'t str,
    /// What a real run would do; `None` for a file that pruning would remove.
    pub change: Option<Change>,
    /// What the file holds now; empty where there is none or it is no text.
    pub old: &'t str,
    /// What it would hold.
    pub new: &'t str,
}

/// Stamps the fleet below the directory `out`.
///
/// ```
/// # let temp = tempfile::tempdir().unwrap();
/// # let out = temp.path().join("out");
/// use dropforge::bulk::{self, Fleet, Format, Job, Layers, Layout, Options, Output, Overlay, Plan};
/// use dropforge::bulk::{Renderer, Selector, Stamp, Watch};
/// use dropforge::diagnostics::Result;
/// use dropforge::text::Source;
///
/// struct Hello;
/// impl Stamp for Hello {
///     fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
///         body(&mut Hello);
///     }
/// }
/// impl Renderer for Hello {
///     fn render(&mut self, own: &Overlay<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> Result<()> {
///         let own = own.to_map()?;
///         text.push_str("hello ");
///         text.push_str(own.get("name").and_then(|name| name.as_str()).unwrap_or("you"));
///         results.push(Ok(text.len()));
///         Ok(())
///     }
/// }
///
/// let source = Source::new("fleet.ndjson", "{\"name\": \"eu-1\"}\n{\"name\": \"us-1\"}\n");
/// let fleet = Fleet::read(&source, Format::Ndjson, None).unwrap();
/// let layers = Layers::default();
/// let outputs = vec![Output { template: "hello.tera".into(), name: "hello.yaml".into() }];
/// let layout = Layout::parse("{cluster}/{template}").unwrap();
/// let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, layout).unwrap();
/// let options = Options::default();
/// let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
/// let report = bulk::stamp(&Hello, &job, &out).unwrap();
/// assert_eq!((report.created, report.failed), (2, 0));
/// assert_eq!(std::fs::read_to_string(out.join("us-1/hello.yaml")).unwrap(), "hello us-1");
/// ```
///
/// # Errors
/// `file.locked`, `plan.mass_delete`, `file.bad_manifest`, and what keeps the directory from being opened. What
/// fails for single clusters is in the report.
pub fn stamp<S: Stamp>(stamp: &S, job: &Job<'_>, out: &Path) -> Result<Report> {
    let dir = OutputDir::create(out)?;
    dir.lock(true)?;
    let mut manifest = Manifest::read(Some(&dir))?;
    let stale = stale(job, &manifest)?;
    dir.begin()?;
    let (done, mut report) = drive(stamp, job, &|| {}, &|| DiskSink::new(job, &dir))?;
    for (counts, written) in done {
        report.add(&counts);
        let mut path = String::new();
        for (at, output, hash) in written {
            job.plan.path(job.fleet, at, output, &mut path);
            manifest.insert(path.clone(), hash);
        }
    }
    if let Err(error) = finish(job, &dir, &mut manifest, &stale, &mut report) {
        report.errors.push(error);
    }
    dir.end();
    Ok(report)
}

fn stale(job: &Job<'_>, manifest: &Manifest) -> Result<Vec<String>> {
    if !job.options.prune {
        return Ok(Vec::new());
    }
    let stale = manifest.stale(&job.planned());
    manifest.guard(stale.len(), job.options.prune_force)?;
    Ok(stale)
}

fn finish(
    job: &Job<'_>,
    dir: &OutputDir,
    manifest: &mut Manifest,
    stale: &[String],
    report: &mut Report,
) -> Result<()> {
    let whole = report.failed == 0 && !report.interrupted;
    if whole {
        let (removed, changed) = manifest.prune(dir, stale)?;
        report.deleted = removed;
        if changed > 0 {
            report.warnings.push(format!("{changed} stale files were left: their content is not what was written"));
        }
    } else if job.options.prune {
        report.warnings.push("nothing was pruned, because the run was not complete".into());
    }
    manifest.write(&mut Writer::new(dir, job.options.fsync)).map(|_| ())
}

/// Renders everything and reports, in the fleet's order, what a run would do to the directory `out`.
///
/// # Errors
/// As [`stamp`]; and what `each` returns (`file.closed_pipe` where the reader has gone).
pub fn look<S: Stamp>(
    stamp: &S,
    job: &Job<'_>,
    out: &Path,
    each: &mut (dyn FnMut(&Looked<'_>) -> io::Result<()> + Send),
) -> Result<Report> {
    let dir = OutputDir::open(out)?;
    if let Some(dir) = &dir {
        dir.lock(false)?;
    }
    let stale = stale(job, &Manifest::read(dir.as_ref())?)?;
    let turns = Turns::new(each);
    let (done, mut report) = drive(stamp, job, &|| turns.close(), &|| LookSink::new(job, dir.as_ref(), &turns))?;
    done.iter().for_each(|counts| report.add(counts));
    for path in &stale {
        report.deleted += 1;
        let looked = Looked { path, change: None, old: "", new: "" };
        (turns.lock().out)(&looked).map_err(|error| cannot_write(&error))?;
    }
    Ok(report)
}

/// Writes all outputs to one stream, in the fleet's order, as YAML documents.
///
/// # Errors
/// `file.closed_pipe`, `file.write_failed`.
pub fn stream<S: Stamp>(stamp: &S, job: &Job<'_>, out: &mut (dyn Write + Send)) -> Result<Report> {
    let turns = Turns::new(out);
    let (done, mut report) = drive(stamp, job, &|| turns.close(), &|| StreamSink::new(job, &turns))?;
    done.iter().for_each(|counts| report.add(counts));
    turns.lock().out.flush().map_err(|error| cannot_write(&error))?;
    Ok(report)
}

/// The error of a stream that does not take what is written.
pub(super) fn cannot_write(error: &io::Error) -> Box<Diagnostic> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Diagnostic::new(Code::ClosedPipe, "the reader of the output has gone"),
        _ => Diagnostic::new(Code::WriteFailed, format!("cannot write: {error}")),
    }
}

/// Why outputs were not taken.
pub(super) enum Fault {
    /// The cluster fails, the others go on.
    Cluster(Box<Diagnostic>),
    /// The run fails.
    Run(Box<Diagnostic>),
}

/// Where a worker's outputs go.
pub(super) trait Sink {
    /// What is left when the worker has ended.
    type Done: Send;

    /// Takes all outputs of the cluster at `at`; `ends` is where each ends in `text`.
    fn take(&mut self, at: usize, text: &str, ends: &[usize]) -> std::result::Result<(), Fault>;

    /// The cluster at `at` has no outputs.
    fn skip(&mut self, at: usize);

    /// The end.
    fn done(self) -> Self::Done;
}

/// What the workers of a run share.
#[derive(Default)]
struct Shared {
    next: AtomicUsize,
    halted: AtomicBool,
    folder: Mutex<Folder>,
    fatal: Mutex<Option<Box<Diagnostic>>>,
}

/// A lock, whatever became of other holders: what it guards is whole after each statement.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the workers; gives what their sinks leave, and the report without its counts. `halt` is called when the
/// run ends before its time, so that nobody waits for ever.
fn drive<S: Stamp, K: Sink>(
    stamp: &S,
    job: &Job<'_>,
    halt: &(dyn Fn() + Sync),
    sink: &(impl Fn() -> K + Sync),
) -> Result<(Vec<K::Done>, Report)> {
    let shared = Shared::default();
    let done = std::thread::scope(|scope| {
        let worker = || work(stamp, job, &shared, halt, sink());
        let others: Vec<_> = (1..job.threads()).map(|_| scope.spawn(worker)).collect();
        let mut done = vec![worker()];
        done.extend(others.into_iter().filter_map(|other| other.join().ok()));
        done
    });
    if let Some(fatal) = lock(&shared.fatal).take() {
        return Err(fatal);
    }
    let folder = std::mem::take(&mut *lock(&shared.folder));
    let taken = shared.next.load(Ordering::SeqCst);
    let report = Report {
        clusters: job.plan.clusters(),
        failed: folder.failed(),
        failures: folder.into_failures(|at| job.name(at)),
        interrupted: job.watch.stop.load(Ordering::SeqCst) && taken < job.plan.clusters(),
        ..Report::default()
    };
    Ok((done, report))
}

/// One worker's life: after a panic, which is a mistake of ours, it begins anew.
fn work<S: Stamp, K: Sink>(
    stamp: &S,
    job: &Job<'_>,
    shared: &Shared,
    halt: &(dyn Fn() + Sync),
    mut sink: K,
) -> K::Done {
    let mut again = true;
    while again {
        again = false;
        stamp.work(&mut |renderer| again = clusters(renderer, job, shared, halt, &mut sink));
    }
    sink.done()
}

/// Cluster after cluster; true where the renderer panicked and must not be used any more.
fn clusters<K: Sink>(
    renderer: &mut dyn Renderer,
    job: &Job<'_>,
    shared: &Shared,
    halt: &(dyn Fn() + Sync),
    sink: &mut K,
) -> bool {
    let (mut text, mut results, mut ends) = (String::new(), Vec::new(), Vec::new());
    while let Some(at) = claim(job, shared) {
        text.clear();
        results.clear();
        ends.clear();
        let rendered = catch_unwind(AssertUnwindSafe(|| render(renderer, job, at, &mut text, &mut results)));
        let mut faults = match &rendered {
            Ok(Ok(())) => collect(job, &mut results, &mut ends),
            Ok(Err(fault)) => vec![fault.clone()],
            Err(_) => vec![
                Diagnostic::new(Code::Internal, "rendering panicked")
                    .with_help("this is a mistake in dropforge: please report it"),
            ],
        };
        if faults.is_empty() {
            match sink.take(at, &text, &ends) {
                Ok(()) => {}
                Err(Fault::Cluster(fault)) => faults.push(fault),
                Err(Fault::Run(fault)) => {
                    lock(&shared.fatal).get_or_insert(fault);
                    shared.halted.store(true, Ordering::SeqCst);
                    halt();
                }
            }
        }
        if !faults.is_empty() {
            sink.skip(at);
            fail(job, shared, at, faults);
        }
        (job.watch.done)();
        if rendered.is_err() {
            return true;
        }
    }
    false
}

/// The next cluster, unless the run is to end.
fn claim(job: &Job<'_>, shared: &Shared) -> Option<usize> {
    if shared.halted.load(Ordering::SeqCst) || job.watch.stop.load(Ordering::SeqCst) {
        return None;
    }
    let at = shared.next.fetch_add(1, Ordering::SeqCst);
    (at < job.plan.clusters()).then_some(at)
}

/// Renders one cluster.
fn render(
    renderer: &mut dyn Renderer,
    job: &Job<'_>,
    at: usize,
    text: &mut String,
    results: &mut Vec<Result<usize>>,
) -> Result<()> {
    let Some(cluster) = job.plan.cluster(at).and_then(|at| job.fleet.clusters().get(at)) else { return Ok(()) };
    let own = job.layers.overlay(cluster)?;
    match renderer.render(&own, text, results) {
        // The fleet knows where the text stands in its file.
        Err(error) => Err(cluster.inputs().err().unwrap_or(error)),
        Ok(()) => Ok(()),
    }
}

/// Sorts the results into ends and errors; each error names its template.
fn collect(job: &Job<'_>, results: &mut Vec<Result<usize>>, ends: &mut Vec<usize>) -> Vec<Box<Diagnostic>> {
    let mut faults = Vec::new();
    for (result, output) in results.drain(..).zip(job.plan.outputs()) {
        match result {
            Ok(end) => ends.push(end),
            Err(mut fault) => {
                fault.template.get_or_insert_with(|| output.template.clone());
                faults.push(fault);
            }
        }
    }
    faults
}

fn fail(job: &Job<'_>, shared: &Shared, at: usize, faults: Vec<Box<Diagnostic>>) {
    for mut fault in faults {
        fault.cluster = Some(job.name(at));
        lock(&shared.folder).add(at, fault);
    }
    if job.options.fail_fast {
        shared.halted.store(true, Ordering::SeqCst);
    }
}

/// Lets workers write to one place, each when the clusters before its own have been written.
pub(super) struct Turns<W> {
    state: Mutex<Turn<W>>,
    changed: Condvar,
}

/// What the worker whose turn it is may use.
pub(super) struct Turn<W> {
    /// Where to write.
    pub(super) out: W,
    next: usize,
    closed: bool,
}

impl<W> Turns<W> {
    pub(super) fn new(out: W) -> Self {
        Self { state: Mutex::new(Turn { out, next: 0, closed: false }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Turn<W>> {
        lock(&self.state)
    }

    /// Waits for the turn of the cluster at `at` and runs `write`; `None` where the run has ended before.
    pub(super) fn take<T>(&self, at: usize, write: impl FnOnce(&mut W) -> T) -> Option<T> {
        let mut turn = self.lock();
        while turn.next != at && !turn.closed {
            turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        if turn.closed {
            return None;
        }
        let result = write(&mut turn.out);
        turn.next = at + 1;
        self.changed.notify_all();
        Some(result)
    }

    /// Nobody waits any more.
    fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
