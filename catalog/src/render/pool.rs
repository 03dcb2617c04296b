//! A thread pool for renders, with a bounded queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use super::Options;
use super::trial::Room;
use crate::refusal::{Class, Refusal, Result};

/// Stack size of a thread in bytes. Validation of deeply nested parameters needs the most.
const STACK: usize = 64 << 20;

type Job = Box<dyn FnOnce(&mut Room) + Send>;

/// A pool of render threads.
#[derive(Debug)]
pub(super) struct Pool {
    jobs: Sender<Job>,
    /// Permits, one for each running or waiting job.
    places: Arc<Semaphore>,
    all_places: usize,
    taken_on: AtomicU64,
    patience: Duration,
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
        let all_places = threads.saturating_add(options.queue).min(Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(all_places));
        Self { jobs, places, all_places, taken_on: AtomicU64::new(0), patience: options.deadline }
    }

    /// The number of accepted jobs, and of those running or waiting.
    pub(super) fn figures(&self) -> (u64, usize) {
        let under_way = self.all_places.saturating_sub(self.places.available_permits());
        (self.taken_on.load(Ordering::Relaxed), under_way)
    }

    /// Runs `job` on a thread of the pool.
    ///
    /// # Errors
    /// `renders_busy` if the queue stays full, `internal_error` if the job panicked.
    pub(super) async fn run<R: Send + 'static>(&self, job: impl FnOnce(&mut Room) -> R + Send + 'static) -> Result<R> {
        let place = tokio::time::timeout(self.patience, self.places.clone().acquire_owned()).await;
        let place = place.ok().and_then(std::result::Result::ok).ok_or_else(busy)?;
        self.taken_on.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        let job = move |room: &mut Room| {
            // The caller may have stopped waiting.
            if !answer.is_closed() {
                drop(answer.send(job(room)));
            }
            drop(place);
        };
        self.jobs.send(Box::new(job)).map_err(|_| broken())?;
        answered.await.map_err(|_| broken())
    }
}

fn work(waiting: &Mutex<Receiver<Job>>) {
    let mut room = Room::default();
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if catch_unwind(AssertUnwindSafe(|| job(&mut room))).is_err() {
            room = Room::default();
        }
    }
}

fn busy() -> Refusal {
    Refusal::new(Class::Busy, "renders_busy", "too many renders are waiting: retry later")
}

fn broken() -> Refusal {
    Refusal::new(Class::Internal, "internal_error", "the render failed")
}
