//! The worker threads of a run. Each takes blocks of consecutive clusters, renders their outputs and passes them to a
//! sink.
//!
//! A cluster with a template that fails passes on nothing. Sinks that need fleet order wait for their turn.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::cluster::Cluster;
use super::documents::{Heads, ranked_documents};
use super::job::{Checked, Job, Order, Renderer, Stamp};
use super::pieces::Piece;
use super::plan::Placed;
use super::report::{FailureCollector, Report};
use super::schema::{Explained, is_unfit_input};
use crate::lock;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, caught, panicked, thousands};
use dropforge_engine::OutputSyntax;

/// Returns the error of writing to a stream.
pub(crate) fn cannot_write(error: io::Error) -> Box<Diagnostic> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Diagnostic::new(Code::ClosedPipe, "the output pipe was closed"),
        _ => Diagnostic::new(Code::WriteFailed, format!("cannot write: {error}")),
    }
    .caused_by(error)
}

/// Receives the errors of clusters, with their indexes in the fleet.
pub type Late<'l> = &'l mut dyn FnMut(usize, Box<Diagnostic>);

/// An error of a sink.
pub enum SinkError {
    /// Fails the cluster.
    Cluster(Box<Diagnostic>),
    /// Fails the run.
    Run(Box<Diagnostic>),
}

pub(crate) type SinkResult = std::result::Result<(), SinkError>;

/// A destination of a worker's outputs.
pub trait Sink {
    /// The result of the worker.
    type Done: Send;

    /// Maximum number of clusters in a block. Larger blocks save waits in sinks that buffer.
    const BLOCK: usize = 1;

    /// `true` if documents are put in the order of installation.
    const SORTS: bool = false;

    /// Takes the outputs of a cluster. `pieces` divide `text` into files.
    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult;

    /// Skips the cluster at `at`, which has no outputs.
    fn skip(&mut self, at: usize);

    /// Writes buffered outputs at the end of a block.
    fn flush(&mut self) -> SinkResult {
        Ok(())
    }

    /// Returns the result of the worker. Passes on the errors of clusters that were known only after
    /// [`Sink::take`].
    fn done(self, late: Late<'_>) -> Self::Done;
}

/// State that the workers of a run share.
#[derive(Default)]
struct Shared {
    next: AtomicUsize,
    /// The number of clusters rendered so far.
    reached: AtomicUsize,
    halted: AtomicBool,
    /// Set when a worker gave up the rest of its block.
    cut: AtomicBool,
    failures: Mutex<FailureCollector>,
    fatal: Mutex<Option<Box<Diagnostic>>>,
}

/// Runs the workers. Returns the results of their sinks, and the report without counts of files. When the run ends
/// early, calls `halt` with the first cluster that is left out, so that no sink waits for it.
pub(super) fn drive<K: Sink>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    halt: &(dyn Fn(usize) + Sync),
    sink: &(impl Fn() -> K + Sync),
) -> Result<(Vec<K::Done>, Report)> {
    let shared = Shared::default();
    stamp.prepare(job);
    let done = std::thread::scope(|scope| {
        let worker = || work(stamp, job, &shared, halt, sink());
        // This thread is a worker, too, unless its stack is too small.
        let (stack, threads) = (stamp.stack_bytes(), job.threads());
        let others: Vec<_> = (usize::from(stack == 0)..threads)
            .filter_map(|_| crate::job::thread(stack).spawn_scoped(scope, worker).ok())
            .collect();
        let mut done: Vec<_> = (stack == 0).then(worker).into_iter().collect();
        done.extend(others.into_iter().filter_map(|other| other.join().ok()));
        done
    });
    if let Some(fatal) = lock(&shared.fatal).take() {
        return Err(fatal);
    }
    let failures = std::mem::take(&mut *lock(&shared.failures));
    let taken = shared.next.load(Ordering::SeqCst);
    let mut reader = job.fleet.reader();
    let report = Report {
        clusters: job.plan.clusters(),
        failed: failures.failed(),
        unreached: job.plan.clusters().saturating_sub(shared.reached.load(Ordering::SeqCst)),
        failures: failures.into_failures(|at| reader.name(at)),
        interrupted: job.watch.stop.load(Ordering::SeqCst)
            && (taken < job.fleet.len() || shared.cut.load(Ordering::SeqCst)),
        ..Report::default()
    };
    Ok((done, report))
}

/// Runs one worker. After a panic, which is a bug, it restarts with a new renderer.
fn work<K: Sink>(stamp: &dyn Stamp, job: &Job<'_>, shared: &Shared, halt: &(dyn Fn(usize) + Sync), sink: K) -> K::Done {
    let mut worker = Worker { stamp, job, shared, halt, sink, block: 0..0 };
    let mut again = true;
    while again {
        again = false;
        stamp.work(&mut |renderer| again = worker.clusters(renderer));
    }
    worker.sink.done(&mut |at, error| lock(&shared.failures).add(at, error))
}

/// What a worker renders into.
#[derive(Default)]
struct Buffers {
    text: String,
    results: Vec<Result<usize>>,
    pieces: Vec<Piece>,
    explained: Explained,
    heads: Heads,
}

struct Worker<'w, 'j, K> {
    stamp: &'w dyn Stamp,
    job: &'w Job<'j>,
    shared: &'w Shared,
    halt: &'w (dyn Fn(usize) + Sync),
    sink: K,
    /// The rest of the worker's block.
    block: Range<usize>,
}

impl<K: Sink> Worker<'_, '_, K> {
    /// Renders cluster after cluster. Returns `true` if the renderer panicked and must be replaced.
    fn clusters(&mut self, renderer: &mut dyn Renderer) -> bool {
        let (mut reader, mut buffers) = (self.job.fleet.reader(), Buffers::default());
        while let Some(at) = self.next() {
            if !self.job.plan.selects(at) {
                self.sink.skip(at);
                continue;
            }
            match reader.cluster(at) {
                Ok(cluster) if self.cluster(at, cluster, renderer, &mut buffers) => return true,
                Ok(_) => {}
                Err(error) => self.fatal(error),
            }
        }
        false
    }

    /// Renders a cluster. Returns `true` if the renderer panicked.
    fn cluster(
        &mut self,
        at: usize,
        cluster: &Cluster,
        renderer: &mut dyn Renderer,
        Buffers { text, results, pieces, explained, heads }: &mut Buffers,
    ) -> bool {
        text.clear();
        results.clear();
        pieces.clear();
        self.shared.reached.fetch_add(1, Ordering::Relaxed);
        let job = self.job;
        let rendered = caught(|| {
            let unfit = job.layers.new_violations(Some(cluster), explained);
            let mut errors = match unfit.is_empty() {
                true => match render(renderer, job, (at, cluster), text, results) {
                    Ok(()) => collect(job, text, results, pieces),
                    Err(error) => vec![error],
                },
                false => unfit,
            };
            self.explain(cluster, &mut errors, explained);
            errors
        });
        let is_broken = rendered.is_err();
        let mut errors = rendered.unwrap_or_else(|_| vec![panicked("rendering")]);
        match job.plan.place(at, cluster, job.layers) {
            Ok(placed) if errors.is_empty() => {
                pieces.iter_mut().for_each(|piece| piece.blank |= !job.plan.makes(&placed, piece.output));
                errors = self.pass_on(&placed, renderer, text, (pieces, heads));
            }
            Ok(_) => {}
            Err(error) => errors.push(error),
        }
        if !errors.is_empty() {
            self.sink.skip(at);
            self.stamp.mask(job.layers, cluster).hide_in_all(&mut errors);
            self.fail(at, cluster.name(), errors);
        }
        (job.watch.done)();
        is_broken
    }

    /// Checks the outputs of a cluster and passes them to the sink. Returns the errors.
    fn pass_on(
        &mut self,
        cluster: &Placed<'_>,
        renderer: &mut dyn Renderer,
        text: &str,
        (pieces, heads): (&mut Vec<Piece>, &mut Heads),
    ) -> Vec<Box<Diagnostic>> {
        let (job, mut errors) = (self.job, Vec::new());
        if job.plan.is_of_documents() {
            pieces.clear();
            renderer.take_pieces(pieces);
            errors = job.plan.document_collisions(cluster, pieces);
        }
        if errors.is_empty() && job.options.check_outputs {
            let sorts = K::SORTS && job.options.order == Order::Install;
            errors = check(renderer, job, cluster, text, (pieces, sorts.then_some(heads)));
        }
        if errors.is_empty() {
            match self.sink.take(cluster, text, pieces) {
                Ok(()) => {}
                Err(SinkError::Cluster(error)) => errors.push(error),
                Err(SinkError::Run(error)) => self.fatal(error),
            }
        }
        errors
    }

    /// Adds the origins of values to errors about inputs, to each error once.
    fn explain(&self, cluster: &Cluster, errors: &mut [Box<Diagnostic>], explained: &mut Explained) {
        for error in errors.iter_mut().filter(|error| is_unfit_input(error)) {
            if explained.is_new(error) {
                self.job.layers.explain(Some(cluster), error);
            }
        }
    }

    /// Returns the next cluster of the block or of a new one, unless the run has to end.
    fn next(&mut self) -> Option<usize> {
        let ends = self.shared.halted.load(Ordering::SeqCst) || self.job.watch.stop.load(Ordering::SeqCst);
        if !ends && let Some(at) = self.block.next() {
            return Some(at);
        }
        if let Err(SinkError::Run(error) | SinkError::Cluster(error)) = self.sink.flush() {
            self.fatal(error);
            return None;
        }
        if ends {
            self.cut();
            return None;
        }
        let size = block_size(self.job, K::BLOCK);
        let start = self.shared.next.fetch_add(size, Ordering::SeqCst);
        self.block = start..start.saturating_add(size).min(self.job.fleet.len());
        self.block.next()
    }

    /// Gives up the rest of the block.
    fn cut(&mut self) {
        if let Some(at) = self.block.next() {
            self.shared.cut.store(true, Ordering::SeqCst);
            (self.halt)(at);
        }
    }

    fn fail(&self, at: usize, name: &str, errors: Vec<Box<Diagnostic>>) {
        for error in errors {
            lock(&self.shared.failures).add(at, error.for_cluster(name));
        }
        if self.job.options.fail_fast {
            self.shared.halted.store(true, Ordering::SeqCst);
        }
    }

    fn fatal(&self, error: Box<Diagnostic>) {
        lock(&self.shared.fatal).get_or_insert(error);
        self.shared.halted.store(true, Ordering::SeqCst);
        (self.halt)(0);
    }
}

/// Returns the number of clusters in a block, small enough that every thread gets several.
fn block_size(job: &Job<'_>, most: usize) -> usize {
    (job.plan.clusters() / (job.threads() * 4)).clamp(1, most.max(1))
}

/// Renders one cluster.
fn render(
    renderer: &mut dyn Renderer,
    job: &Job<'_>,
    (at, cluster): (usize, &Cluster),
    text: &mut String,
    results: &mut Vec<Result<usize>>,
) -> Result<()> {
    let own = job.layers.overlay(cluster)?;
    // Errors of the cluster itself have the position in the fleet file.
    renderer.render(Some(at), cluster, &own, text, results).map_err(|error| cluster.inputs().err().unwrap_or(error))
}

/// Splits results into pieces and errors. Each error names its template.
fn collect(
    job: &Job<'_>,
    text: &str,
    results: &mut Vec<Result<usize>>,
    pieces: &mut Vec<Piece>,
) -> Vec<Box<Diagnostic>> {
    let (mut errors, mut start) = (Vec::new(), 0);
    let is_blank = |text: &str| text.bytes().all(|byte| byte.is_ascii_whitespace());
    for (output, result) in results.drain(..).enumerate() {
        match result {
            Ok(end) => {
                let may_be_blank = !job.options.keep_empty && job.plan.bytes(output).is_none();
                let blank = may_be_blank && text.get(start..end).is_some_and(is_blank);
                start = end;
                pieces.push(Piece { output, end, blank, ..Piece::default() });
            }
            Err(error) => errors.push(for_template(job, output, error)),
        }
    }
    errors
}

/// Checks the outputs of a cluster, and notes the documents that it finds on the way if they are to be sorted. Each error
/// names its template.
fn check(
    renderer: &mut dyn Renderer,
    job: &Job<'_>,
    cluster: &Placed<'_>,
    text: &str,
    (pieces, mut heads): (&mut [Piece], Option<&mut Heads>),
) -> Vec<Box<Diagnostic>> {
    let (mut all, mut path, mut start) = (Vec::new(), String::new(), 0);
    for piece in pieces.iter_mut() {
        job.plan.path_of(cluster, piece, &mut path);
        let text = text.get(start..piece.end).unwrap_or("");
        start = piece.end;
        if job.options.unchecked.iter().any(|glob| glob.matches(&path)) {
            continue;
        }
        let mut errors = match job.plan.bytes(piece.output) {
            Some(bytes) => not_text(&path, bytes),
            None => {
                let Checked { errors, marks } = renderer.check(piece.output, &path, text);
                let heads = heads.as_deref_mut();
                piece.documents = marks.zip(heads).map(|(marks, heads)| ranked_documents(text, marks, heads));
                errors
            }
        };
        if errors.is_empty() {
            continue;
        }
        if let Ok(own) = job.layers.overlay(cluster.cluster) {
            renderer.show_writer(cluster.cluster, &own, (piece.output, text), &mut errors);
        }
        all.extend(errors.into_iter().map(|error| for_template(job, piece.output, error)));
    }
    all
}

/// Returns the error of bytes that are not text, in a file that has to be YAML or JSON.
fn not_text(path: &str, bytes: &[u8]) -> Vec<Box<Diagnostic>> {
    let Some(syntax) = OutputSyntax::of_file(path) else { return Vec::new() };
    let at = str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let message = format!("the output is not valid {}: it is not UTF-8 at byte {}", syntax.name(), thousands(at));
    vec![Diagnostic::new(Code::InvalidOutput, message)]
}

/// Adds the template to an error that has none.
pub(crate) fn for_template(job: &Job<'_>, output: usize, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    if error.template.is_none() {
        error.template = job.plan.outputs().get(output).map(|output| output.template.clone());
    }
    error
}

/// Gives workers access to one output in fleet order: each waits until all earlier clusters are written.
pub struct Turns<W> {
    state: Mutex<Turn<W>>,
    changed: Condvar,
}

/// The state behind [`Turns`].
pub struct Turn<W> {
    /// The output.
    pub(super) out: W,
    next: usize,
    /// The first cluster that is left out.
    end: usize,
}

impl<W> Turns<W> {
    pub(super) fn new(out: W) -> Self {
        Self { state: Mutex::new(Turn { out, next: 0, end: usize::MAX }), changed: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Turn<W>> {
        lock(&self.state)
    }

    /// Waits for the turn of these clusters and runs `write`. Returns `None` if the run ended before them.
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

    /// Ends the waits for the cluster at `at` and later ones.
    pub(super) fn close(&self, at: usize) {
        let mut turn = self.lock();
        turn.end = turn.end.min(at);
        drop(turn);
        self.changed.notify_all();
    }
}
