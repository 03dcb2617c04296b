//! A thread pool for renders, with a bounded queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use super::options::Options;
use super::request::Scratch;
use crate::error::{CatalogError, ErrorKind, Result};

/// Stack size of a thread in bytes. Validation of deeply nested parameters needs the most.
const STACK: usize = 64 << 20;

type Job = Box<dyn FnOnce(&mut Scratch) + Send>;

/// A pool of render threads.
#[derive(Debug)]
pub(super) struct Pool {
    jobs: Sender<Job>,
    /// Permits, one for each running or waiting job.
    permits: Arc<Semaphore>,
    all_permits: usize,
    accepted: AtomicU64,
    timeout: Duration,
}

impl Pool {
    pub(super) fn new(options: &Options) -> Self {
        let (jobs, waiting) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let threads = options.threads.max(1);
        for at in 0..threads {
            let waiting = waiting.clone();
            let thread = thread::Builder::new().name(format!("render-{at}")).stack_size(STACK);
            // If the system cannot start a thread, the others do the work.
            drop(thread.spawn(move || work(&waiting)));
        }
        let all_permits = threads.saturating_add(options.queue).min(Semaphore::MAX_PERMITS);
        let permits = Arc::new(Semaphore::new(all_permits));
        Self { jobs, permits, all_permits, accepted: AtomicU64::new(0), timeout: options.deadline }
    }

    /// The number of accepted jobs, and of those running or waiting.
    pub(super) fn stats(&self) -> (u64, usize) {
        let in_progress = self.all_permits.saturating_sub(self.permits.available_permits());
        (self.accepted.load(Ordering::Relaxed), in_progress)
    }

    /// Runs `job` on a thread of the pool.
    ///
    /// # Errors
    /// `renders_busy` if the queue stays full, `internal_error` if the job panicked.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Scratch) -> R + Send + 'static,
    ) -> Result<R> {
        let permit = tokio::time::timeout(self.timeout, self.permits.clone().acquire_owned()).await;
        let permit = permit.ok().and_then(std::result::Result::ok).ok_or_else(busy)?;
        self.accepted.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        let job = move |scratch: &mut Scratch| {
            // The caller may have stopped waiting.
            if !sender.is_closed() {
                drop(sender.send(job(scratch)));
            }
            drop(permit);
        };
        self.jobs.send(Box::new(job)).map_err(|_| broken())?;
        receiver.await.map_err(|_| broken())
    }
}

fn work(waiting: &Mutex<Receiver<Job>>) {
    let mut scratch = Scratch::default();
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if catch_unwind(AssertUnwindSafe(|| job(&mut scratch))).is_err() {
            scratch = Scratch::default();
        }
    }
}

fn busy() -> CatalogError {
    CatalogError::new(ErrorKind::Busy, "renders_busy", "too many renders are waiting: retry later")
}

fn broken() -> CatalogError {
    CatalogError::new(ErrorKind::Internal, "internal_error", "the render failed")
}
