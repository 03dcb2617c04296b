//! A pool of threads for everything that computes: parsing, compiling, rendering and checking. Callers take turns.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use dropforge::limits::Deadline;

use super::options::Options;
use super::scratch::Scratch;
use crate::error::{CatalogError, ErrorKind, Result};
use crate::fair::{Bounds, Identity, Load, Turns};

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
    shared: Arc<Shared>,
    refused: AtomicU64,
    timeout: Duration,
}

#[derive(Debug)]
struct Shared {
    queues: Mutex<Queues>,
    changed: Condvar,
}

#[derive(Debug)]
struct Queues {
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
        let queues = Mutex::new(Queues { turns: Turns::new(bounds), closed: false });
        let shared = Arc::new(Shared { queues, changed: Condvar::new() });
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

    fn enqueue(&self, job: Job, deadline: Arc<Deadline>) -> Result<Waiting<'_>> {
        let who = Identity::current();
        let ticket = self.shared.lock().turns.add(who, job).map_err(|_| self.refuse())?;
        self.shared.changed.notify_one();
        Ok(Waiting { shared: &self.shared, who, ticket, deadline })
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

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until the pool is dropped.
    fn work(&self, memory: u64) {
        let mut scratch = Scratch::new(memory);
        while let Some((who, job)) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| job(&mut scratch))).is_err() {
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
struct Waiting<'p> {
    shared: &'p Shared,
    who: Identity,
    ticket: u64,
    deadline: Arc<Deadline>,
}

impl Waiting<'_> {
    /// Takes the job out of the queue. Returns `false` if it has begun.
    fn take_back(&self) -> bool {
        let job = self.shared.lock().turns.take_back(self.who, self.ticket);
        job.is_some()
    }
}

impl Drop for Waiting<'_> {
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
