//! A pool of threads for everything that computes: parsing, compiling, rendering and checking. Callers take turns within
//! the limits of [`Options`].

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::scratch::Scratch;
use crate::error::{CatalogError, ErrorKind, Result};
use crate::fair::{Bounds, Identity, Load, Turns};
use dropforge::diagnostics::caught;
use dropforge::limits::Deadline;

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
