//! The workers of a run: each takes cluster after cluster, renders all its outputs and hands them on.
//!
//! A worker takes a few clusters that follow one another at a time, as many as its sink asks for. A cluster of which
//! one template fails hands on nothing. Whoever needs the fleet's order waits for its turn.

use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::documents::{self, Piece};
use super::job::{Job, Renderer, Stamp};
use super::report::{Folder, Report};
use crate::diagnostics::{Code, Diagnostic, Result};

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

    /// How many clusters a worker takes at a time: more than one spares a sink that keeps them together a wait for
    /// each.
    const BLOCK: usize = 1;

    /// Takes all outputs of the cluster at `at`; `pieces` are the files that they make, one behind the other in `text`.
    fn take(&mut self, at: usize, text: &str, pieces: &[Piece]) -> std::result::Result<(), Fault>;

    /// The cluster at `at` has no outputs.
    fn skip(&mut self, at: usize);

    /// The worker leaves its block of clusters: what is kept back goes where it belongs.
    fn leave(&mut self) -> std::result::Result<(), Fault> {
        Ok(())
    }

    /// The end.
    fn done(self) -> Self::Done;
}

/// What the workers of a run share.
#[derive(Default)]
struct Shared {
    next: AtomicUsize,
    halted: AtomicBool,
    /// A worker has left its block before its end.
    cut: AtomicBool,
    folder: Mutex<Folder>,
    fatal: Mutex<Option<Box<Diagnostic>>>,
}

/// A lock, whatever became of other holders: what it guards is whole after each statement.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the workers; gives what their sinks leave, and the report without its counts. `halt` is called with the first
/// cluster that will not come when the run ends before its time, so that nobody waits for ever.
pub(super) fn drive<S: Stamp, K: Sink>(
    stamp: &S,
    job: &Job<'_>,
    halt: &(dyn Fn(usize) + Sync),
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
        interrupted: job.watch.stop.load(Ordering::SeqCst)
            && (taken < job.plan.clusters() || shared.cut.load(Ordering::SeqCst)),
        ..Report::default()
    };
    Ok((done, report))
}

/// One worker's life: after a panic, which is a mistake of ours, it begins anew.
fn work<S: Stamp, K: Sink>(
    stamp: &S,
    job: &Job<'_>,
    shared: &Shared,
    halt: &(dyn Fn(usize) + Sync),
    sink: K,
) -> K::Done {
    let mut worker = Worker { job, shared, halt, sink, block: 0..0 };
    let mut again = true;
    while again {
        again = false;
        stamp.work(&mut |renderer| again = worker.clusters(renderer));
    }
    worker.sink.done()
}

struct Worker<'w, 'j, K> {
    job: &'w Job<'j>,
    shared: &'w Shared,
    halt: &'w (dyn Fn(usize) + Sync),
    sink: K,
    /// The clusters that are its own and still to be done.
    block: Range<usize>,
}

impl<K: Sink> Worker<'_, '_, K> {
    /// Cluster after cluster; true where the renderer panicked and must not be used any more.
    fn clusters(&mut self, renderer: &mut dyn Renderer) -> bool {
        let (mut text, mut results, mut pieces) = (String::new(), Vec::new(), Vec::new());
        while let Some(at) = self.next() {
            text.clear();
            results.clear();
            pieces.clear();
            let rendered = catch_unwind(AssertUnwindSafe(|| render(renderer, self.job, at, &mut text, &mut results)));
            let mut faults = match &rendered {
                Ok(Ok(())) => collect(self.job, &mut results, &mut pieces),
                Ok(Err(fault)) => vec![fault.clone()],
                Err(_) => vec![
                    Diagnostic::new(Code::Internal, "rendering panicked")
                        .with_help("this is a mistake in dropforge: please report it"),
                ],
            };
            if faults.is_empty() && self.job.plan.is_of_documents() {
                pieces.clear();
                renderer.take_pieces(&mut pieces);
                faults = documents::faults(self.job, at, &pieces);
            }
            if faults.is_empty() {
                match self.sink.take(at, &text, &pieces) {
                    Ok(()) => {}
                    Err(Fault::Cluster(fault)) => faults.push(fault),
                    Err(Fault::Run(fault)) => self.fatal(fault),
                }
            }
            if !faults.is_empty() {
                self.sink.skip(at);
                fail(self.job, self.shared, at, faults);
            }
            (self.job.watch.done)();
            if rendered.is_err() {
                return true;
            }
        }
        false
    }

    /// The next cluster of the block, else the first of a new one, unless the run is to end.
    fn next(&mut self) -> Option<usize> {
        let ends = self.shared.halted.load(Ordering::SeqCst) || self.job.watch.stop.load(Ordering::SeqCst);
        if !ends && let Some(at) = self.block.next() {
            return Some(at);
        }
        if let Err(Fault::Run(fault) | Fault::Cluster(fault)) = self.sink.leave() {
            self.fatal(fault);
            return None;
        }
        if ends {
            self.cut();
            return None;
        }
        let size = block_size(self.job, K::BLOCK);
        let start = self.shared.next.fetch_add(size, Ordering::SeqCst);
        self.block = start..start.saturating_add(size).min(self.job.plan.clusters());
        self.block.next()
    }

    /// Gives up what is left of the block.
    fn cut(&mut self) {
        if let Some(at) = self.block.next() {
            self.shared.cut.store(true, Ordering::SeqCst);
            (self.halt)(at);
        }
    }

    fn fatal(&self, fault: Box<Diagnostic>) {
        lock(&self.shared.fatal).get_or_insert(fault);
        self.shared.halted.store(true, Ordering::SeqCst);
        (self.halt)(0);
    }
}

/// How many clusters are taken at a time: so few that every thread gets its part.
fn block_size(job: &Job<'_>, most: usize) -> usize {
    (job.plan.clusters() / (job.threads() * 4)).clamp(1, most.max(1))
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

/// Sorts the results into pieces and errors; each error names its template.
fn collect(job: &Job<'_>, results: &mut Vec<Result<usize>>, pieces: &mut Vec<Piece>) -> Vec<Box<Diagnostic>> {
    let mut faults = Vec::new();
    for (output, (result, planned)) in results.drain(..).zip(job.plan.outputs()).enumerate() {
        match result {
            Ok(end) => pieces.push(Piece { output, end, ..Piece::default() }),
            Err(mut fault) => {
                fault.template.get_or_insert_with(|| planned.template.clone());
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
    /// The first cluster that will never come.
    end: usize,
}

impl<W> Turns<W> {
    pub(super) fn new(out: W) -> Self {
        Self { state: Mutex::new(Turn { out, next: 0, end: usize::MAX }), changed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Turn<W>> {
        lock(&self.state)
    }

    /// Waits for the turn of these clusters and runs `write`; `None` where the run has ended before them.
    pub(super) fn take<T>(&self, clusters: Range<usize>, write: impl FnOnce(&mut W) -> T) -> Option<T> {
        let mut turn = self.lock();
        while turn.next != clusters.start && clusters.start < turn.end {
            turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        if clusters.start >= turn.end {
            return None;
        }
        let result = write(&mut turn.out);
        turn.next = clusters.end;
        drop(turn);
        self.changed.notify_all();
        Some(result)
    }

    /// Nobody waits any more for the cluster at `at` or one behind it.
    pub(super) fn close(&self, at: usize) {
        let mut turn = self.lock();
        turn.end = turn.end.min(at);
        drop(turn);
        self.changed.notify_all();
    }
}
