//! A pool of threads for everything that computes: parsing, compiling, rendering and checking. Callers take turns within
//! the limits of [`Options`]. A thread keeps its state between renders, and reads YAML under the limits of each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::{CatalogError, ErrorKind, Result};
use crate::fair::{Bounds, Identity, Load, Turns};
use crate::review::{Finding, MAX_MESSAGE, PARAMETERS_ONLY, shortened};
use crate::validation;
use dropforge::diagnostics::{Code, Diagnostic, caught, panicked};
use dropforge::engine::{OutputCheck, OutputSyntax};
use dropforge::limits::{Deadline, Limits};
use dropforge::text::Source;
use dropforge::value::{InputSpace, Inputs, Scanner, yaml};
use dropforge::vm::Session;
use serde_json::{Value as Json, json};

/// Limits of a renderer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Number of threads that one caller can keep busy. There is one more, so that no caller delays all others.
    pub threads: usize,
    /// Maximum number of waiting jobs: renders, compilations, checks.
    pub queue: usize,
    /// Maximum number of waiting jobs of one caller.
    pub own_queue: usize,
    /// Maximum steps of one render.
    pub fuel: u64,
    /// Maximum bytes allocated by one render and the check of its text. All threads together hold at most this for each
    /// of them, and the rendered texts.
    pub memory: u64,
    /// Maximum bytes of one rendered text.
    pub output_bytes: usize,
    /// Maximum time from accepting a job to its end, waiting included.
    pub deadline: Duration,
    /// Maximum number of cached templates.
    pub cached: usize,
    /// Maximum bytes of the memory of cached templates and schemas.
    pub cached_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
            queue: 256,
            own_queue: 64,
            fuel: 20_000_000,
            memory: 64 << 20,
            output_bytes: 4 << 20,
            deadline: Duration::from_secs(5),
            cached: 1024,
            cached_bytes: 64 << 20,
        }
    }
}

/// Stack size of a thread in bytes. Validation of deeply nested parameters needs the most.
const STACK: usize = 64 << 20;
/// Added to the niceness of a thread: on a busy machine, connections and the store come first.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 5;
/// Additional time for work that began before its deadline and ends by itself.
const GRACE: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce(&mut Scratch) + Send>;

/// A pool of threads.
#[derive(Debug)]
pub(super) struct Pool {
    shared: Arc<SharedQueues>,
    refused: AtomicU64,
    timeout: Duration,
}

#[derive(Debug)]
struct SharedQueues {
    queues: Mutex<JobQueues>,
    changed: Condvar,
}

#[derive(Debug)]
struct JobQueues {
    turns: Turns<Job>,
    /// `true` once the pool is dropped.
    closed: bool,
}

impl Pool {
    /// Starts one thread more than one caller can keep busy, so that no caller delays all others.
    pub(super) fn new(options: &Options) -> Self {
        let share = options.threads.max(1);
        let bounds = Bounds {
            places: share.saturating_add(1),
            share,
            waiting: options.queue,
            own_waiting: options.own_queue.min(options.queue),
        };
        let queues = Mutex::new(JobQueues { turns: Turns::new(bounds), closed: false });
        let shared = Arc::new(SharedQueues { queues, changed: Condvar::new() });
        let memory = options.memory;
        for at in 0..bounds.places {
            let shared = shared.clone();
            let thread = thread::Builder::new().name(format!("render-{at}")).stack_size(STACK);
            // If the system cannot start a thread, the others do the work.
            drop(thread.spawn(move || {
                // Elsewhere this would apply to all threads.
                #[cfg(target_os = "linux")]
                let _ = rustix::process::nice(NICENESS);
                shared.work(memory)
            }));
        }
        Self { shared, refused: AtomicU64::new(0), timeout: options.deadline }
    }

    /// The number of refused jobs.
    pub(super) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// The current use.
    pub(super) fn load(&self) -> Load {
        self.shared.lock().turns.load()
    }

    /// Runs `job` on a thread of the pool when it is the caller's turn. If the caller stops waiting, the job does not
    /// begin, or finds its deadline over.
    ///
    /// # Errors
    /// `renders_busy` if the caller's queue is full or the deadline is over, `internal_error` if the job panicked.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Scratch) -> R + Send + 'static,
    ) -> Result<R> {
        let (sender, mut receiver) = oneshot::channel();
        let (deadline, time) = (Arc::new(Deadline::after(self.timeout)), self.timeout);
        let until = deadline.clone();
        let job: Job = Box::new(move |scratch| drop(sender.send(scratch.within(until, time, job))));
        let waiting = self.enqueue(job, deadline)?;
        let answer = match timeout(self.timeout, &mut receiver).await {
            Ok(answer) => answer,
            Err(_) if waiting.take_back() => return Err(self.refuse()),
            Err(_) => timeout(GRACE, &mut receiver).await.map_err(|_| self.refuse())?,
        };
        answer.map_err(|_| broken())
    }

    fn enqueue(&self, job: Job, deadline: Arc<Deadline>) -> Result<WaitingJob<'_>> {
        let who = Identity::current();
        let ticket = self.shared.lock().turns.add(who, job).map_err(|_| self.refuse())?;
        self.shared.changed.notify_one();
        Ok(WaitingJob { shared: &self.shared, who, ticket, deadline })
    }

    fn refuse(&self) -> CatalogError {
        self.refused.fetch_add(1, Ordering::Relaxed);
        busy()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl SharedQueues {
    fn lock(&self) -> MutexGuard<'_, JobQueues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until the pool is dropped.
    fn work(&self, memory: u64) {
        let mut scratch = Scratch::new(memory);
        while let Some((who, job)) = self.next() {
            if caught(|| job(&mut scratch)).is_err() {
                scratch = Scratch::new(memory);
            }
            // What may begin now is taken by this thread.
            self.lock().turns.end(who);
        }
    }

    /// Waits for the next job.
    fn next(&self) -> Option<(Identity, Job)> {
        let mut queues = self.lock();
        loop {
            if queues.closed {
                return None;
            }
            if let Some(next) = queues.turns.next() {
                return Some(next);
            }
            queues = self.changed.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A job that its caller waits for.
struct WaitingJob<'p> {
    shared: &'p SharedQueues,
    who: Identity,
    ticket: u64,
    deadline: Arc<Deadline>,
}

impl WaitingJob<'_> {
    /// Takes the job out of the queue. Returns `false` if it has begun.
    fn take_back(&self) -> bool {
        let job = self.shared.lock().turns.take_back(self.who, self.ticket);
        job.is_some()
    }
}

impl Drop for WaitingJob<'_> {
    fn drop(&mut self) {
        self.deadline.cancel();
        self.take_back();
    }
}

/// An error for work that found no place in time.
pub(super) fn busy() -> CatalogError {
    CatalogError::new(ErrorKind::Busy, "renders_busy", "too much work is waiting: retry later")
}

fn broken() -> CatalogError {
    CatalogError::new(ErrorKind::Internal, "internal_error", "the work failed")
}

/// Maximum number of errors or warnings about one text.
const MAX_DIAGNOSTICS: usize = 20;

/// State that a thread reuses between jobs, and the deadline of the current one.
pub struct Scratch {
    pub(super) session: Session,
    /// The memory of parameters. `None` while it is in use.
    inputs: Option<InputSpace>,
    pub(super) check: OutputCheck,
    scanner: Scanner,
    /// Maximum bytes of a check.
    pub(super) memory: u64,
    deadline: Option<Arc<Deadline>>,
    /// `true` if the job waited for more than half of its time.
    waited: bool,
}

impl Scratch {
    /// Creates an empty state.
    pub(super) fn new(memory: u64) -> Self {
        let (session, inputs, check, scanner) = Default::default();
        Self { session, inputs, check, scanner, memory, deadline: None, waited: false }
    }

    /// Runs a job that has `time` in all, waiting included, and has to end at its deadline.
    pub(super) fn within<R>(&mut self, deadline: Arc<Deadline>, time: Duration, job: impl FnOnce(&mut Self) -> R) -> R {
        self.waited = deadline.remaining() < time / 2;
        self.session.set_deadline(Some(deadline.clone()));
        self.deadline = Some(deadline);
        let done = job(self);
        self.session.set_deadline(None);
        self.deadline = None;
        done
    }

    /// Renders. A panic is an error of the render: what it left half done is dropped, and the thread goes on.
    ///
    /// # Errors
    /// Those of the render; `template_render_failed` for a panic.
    pub(super) fn guarded<R>(&mut self, render: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        caught(|| render(self)).unwrap_or_else(|_| {
            let deadline = self.deadline.take();
            *self = Self { deadline: deadline.clone(), waited: self.waited, ..Self::new(self.memory) };
            self.session.set_deadline(deadline);
            Err(failed(panicked("rendering")))
        })
    }

    /// Reads the inputs of a render in the memory that the thread keeps for them.
    pub(super) fn with_inputs<R>(
        &mut self,
        parameters: &str,
        render: impl FnOnce(&mut Self, Inputs<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut space = self.inputs.take().unwrap_or_default();
        let result = space.with(|builder| {
            let inputs = builder.json(builder.arena().copy_str(parameters)).map_err(failed)?;
            render(self, Inputs::new(inputs))
        });
        self.inputs = Some(space);
        result
    }

    /// Returns `true` if the job is out of time because it had to wait. A job that had all the time has itself to blame.
    pub(super) fn is_late(&self) -> bool {
        self.waited && self.deadline.as_ref().is_some_and(|deadline| deadline.is_over())
    }

    /// The limits of checking a text: the remaining time, and `memory`.
    pub(super) fn limits(&self, memory: u64) -> Limits {
        let time = self.deadline.as_ref().map(|deadline| deadline.remaining());
        Limits { source_bytes: usize::MAX, time, memory, diagnostics: MAX_DIAGNOSTICS, ..Limits::default() }
    }
}

/// Name of checked texts in diagnostics.
const NAME: &str = "output";
/// Code of warnings about text that is not YAML.
const NOT_YAML: &str = "output.not_yaml";

impl Scratch {
    /// The errors of the text of the last render, which has as much memory left as the check may use.
    pub(super) fn output_errors(&mut self, text: &str) -> Vec<Box<Diagnostic>> {
        let limits = self.limits(self.session.left().map_or(0, |left| left.memory));
        self.check.errors_within(&limits, OutputSyntax::Yaml, NAME, text)
    }

    /// Warnings about the text of the last render.
    pub(super) fn output_warnings(&mut self, text: &str) -> Vec<Finding> {
        self.output_errors(text).iter().map(|error| Finding::from_diagnostic(error, NOT_YAML)).collect()
    }

    /// Requires YAML with at least one document.
    ///
    /// # Errors
    /// `invalid_deployment_object`.
    pub(crate) fn require_yaml(&mut self, text: &str) -> Result<()> {
        validation::yaml(text)?;
        if has_content(text) && self.scanner.is_yaml(text) {
            return Ok(());
        }
        let invalid = |message: &str| CatalogError::invalid("invalid_deployment_object", message);
        match count_documents(text, &self.limits(self.memory)) {
            Ok(0) => Err(invalid("YAML content has no documents")),
            Ok(_) => Ok(()),
            Err(findings) => {
                let first = findings.first().map_or("", |first| first.message.as_str());
                Err(invalid(&format!("invalid YAML: {first}")).with_details(json!({ "findings": findings })))
            }
        }
    }
}

/// Returns `true` if a line has more than a comment.
fn has_content(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Counts the non-empty documents of a text, or returns its errors.
fn count_documents(text: &str, limits: &Limits) -> Result<usize, Vec<Finding>> {
    match yaml::read_with(&Source::new(NAME, text), limits, yaml::Tags::Kept) {
        Ok(documents) => Ok(documents.len()),
        Err(errors) => Err(errors.iter().map(|error| Finding::from_diagnostic(error, NOT_YAML)).collect()),
    }
}

/// Formats an error in one line with its position.
pub(super) fn error_line(error: &Diagnostic) -> String {
    let place = error.position().map_or_else(String::new, |at| format!(" (line {}, column {})", at.line, at.column));
    format!("{}{place}", shortened(&error.message, MAX_MESSAGE))
}

/// Writes an error as JSON. Long texts, such as those that a template throws, are shortened.
pub(super) fn error_json(error: &Diagnostic) -> Json {
    let mut json = error.to_json();
    shorten_texts(&mut json);
    json
}

fn shorten_texts(json: &mut Json) {
    match json {
        Json::String(text) if text.len() > MAX_MESSAGE => *text = shortened(text, MAX_MESSAGE),
        Json::Array(items) => items.iter_mut().for_each(shorten_texts),
        Json::Object(map) => map.values_mut().for_each(shorten_texts),
        _ => {}
    }
}

/// The error of a render.
pub(super) fn failed(mut error: Box<Diagnostic>) -> CatalogError {
    // Users of a catalog cannot change capabilities or limits.
    error.help = match error.code {
        Code::CapabilityOff => Some(PARAMETERS_ONLY.to_owned()),
        code if code.is_limit() => None,
        _ => error.help,
    };
    CatalogError::invalid("template_render_failed", format!("Template rendering failed: {}", error_line(&error)))
        .with_details(json!({ "diagnostics": [error_json(&error)] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Option<String> {
        Scratch::new(64 << 20).require_yaml(text).err().map(|error| format!("{}: {}", error.code, error.message))
    }

    #[test]
    fn the_quick_check_and_the_full_one_agree() {
        for good in ["a: 1", "---", "# c\na: 1", "? complex\n: key", "a: !Sub x", "--- # c\n...\n", "%YAML 1.2\n---\na"]
        {
            assert_eq!(code(good), None, "{good}");
            assert!(count_documents(good, &Limits::default()).is_ok_and(|count| count > 0), "{good}");
        }
        for none in ["# only a comment", "\n# a\n  # b\n"] {
            assert_eq!(code(none).as_deref(), Some("invalid_deployment_object: YAML content has no documents"));
        }
        assert!(code("a: [").is_some_and(|error| error.contains("invalid YAML: ")));
    }

    #[test]
    fn a_text_full_of_errors_has_few_and_short_ones() {
        let text = format!("? {}\n: 1\n", "k".repeat(50_000)).repeat(40);
        let error = Scratch::new(64 << 20).require_yaml(&text).unwrap_err();
        let body = serde_json::to_string(&error).unwrap();
        assert!(body.len() < 20_000, "{} bytes", body.len());
        assert_eq!(error.details.unwrap()["findings"].as_array().unwrap().len(), MAX_DIAGNOSTICS);
    }

    #[test]
    fn a_text_that_needs_too_much_memory_is_refused() {
        // Outside of what the scanner takes. A node takes much more memory than its two bytes of text.
        let text = format!("? x\n: [{}]\n", "1,".repeat(2 << 20));
        let error = code(&text).unwrap();
        assert!(error.contains("needs too much memory"), "{error}");
    }
}
