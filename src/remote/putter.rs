//! Concurrent puts and deletions that report every outcome.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

use bytes::Bytes;

use super::failure::Failure;
use super::lock::Guard;
use super::store::Store;
use super::task::Task;
use super::task::{Condition, Revision};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The bounds of a [`Putter`].
#[derive(Debug, Clone)]
pub struct PutOptions {
    /// Maximum number of requests at a time.
    pub requests: usize,
    /// Maximum number of bytes underway. One object may be longer.
    pub bytes: usize,
    /// The lock without which nothing is written, checked before each attempt.
    pub guard: Option<Guard>,
}

impl Default for PutOptions {
    /// 64 requests with 64 MiB at a time, without a lock.
    fn default() -> Self {
        Self { requests: 64, bytes: 64 << 20, guard: None }
    }
}

/// Writes objects concurrently, for several threads. Each has a [`Lane`] of its own.
///
/// ```
/// use dropforge::remote::{Condition, PutOptions, Putter, Store};
/// let putter = Putter::new(&Store::in_memory(), PutOptions::default());
/// let mut lane = putter.lane();
/// for number in 0..100 {
///     lane.put(number, &format!("{number}.txt"), "x".into(), Condition::Always);
/// }
/// let outcomes = lane.finish();
/// assert_eq!(outcomes.len(), 100);
/// assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
/// ```
#[derive(Debug, Clone)]
pub struct Putter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    store: Store,
    options: PutOptions,
    /// The number of requests underway, and that of their bytes.
    underway: Mutex<(usize, usize)>,
    finished: Condvar,
    began: Instant,
    /// The time of the last success, in milliseconds after `began`.
    success: AtomicU64,
    /// The reason why nothing more is tried.
    down: Mutex<Option<String>>,
}

/// The requests of one thread and their outcomes.
#[derive(Debug)]
pub struct Lane<T> {
    shared: Arc<Shared>,
    sender: Sender<Outcome<T>>,
    receiver: Receiver<Outcome<T>>,
    pending: usize,
}

/// The outcome of a put or a deletion.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The caller's name for the request.
    pub ticket: T,
    /// The version that was put, or `None` for a deletion.
    ///
    /// # Errors
    /// `store.lock_lost` if the lock was lost before an attempt; `store.changed` if the condition does not hold;
    /// `store.unreachable` if attempts failed for too long, or those of others did; other errors of the store.
    pub result: Result<Option<Revision>>,
}

/// What is done with an object: it is put with its content on a condition, or deleted.
type Action = Option<(Bytes, Condition)>;

impl Putter {
    /// Writes to `store`, with its attempts and their total time.
    pub fn new(store: &Store, options: PutOptions) -> Self {
        Self(Arc::new(Shared {
            store: store.clone(),
            options,
            underway: Mutex::default(),
            finished: Condvar::new(),
            began: Instant::now(),
            success: AtomicU64::new(0),
            down: Mutex::new(None),
        }))
    }

    /// Returns a lane for one thread.
    pub fn lane<T: Send + 'static>(&self) -> Lane<T> {
        let (sender, receiver) = channel();
        Lane { shared: self.0.clone(), sender, receiver, pending: 0 }
    }

    /// Returns the reason why nothing is written any more, for any lane: the lock was lost, or the store is down.
    pub fn stopped(&self) -> Option<Box<Diagnostic>> {
        match self.0.check() {
            Err(Failure::Ours(error)) => Some(error),
            _ => None,
        }
    }
}

impl<T: Send + 'static> Lane<T> {
    /// Starts to put an object. Waits while too many requests or bytes are underway.
    pub fn put(&mut self, ticket: T, key: &str, bytes: Bytes, condition: Condition) {
        self.start(ticket, key, Some((bytes, condition)));
    }

    /// Starts to delete an object.
    pub fn delete(&mut self, ticket: T, key: &str) {
        self.start(ticket, key, None);
    }

    /// Returns the outcomes that are known by now. Does not wait.
    pub fn ready(&mut self) -> Vec<Outcome<T>> {
        let ready: Vec<_> = self.receiver.try_iter().collect();
        self.pending = self.pending.saturating_sub(ready.len());
        ready
    }

    /// Waits for all outcomes that were not returned yet.
    pub fn finish(&mut self) -> Vec<Outcome<T>> {
        let pending = std::mem::take(&mut self.pending);
        self.receiver.iter().take(pending).collect()
    }

    /// Returns the number of outcomes that were not returned yet.
    pub fn pending(&self) -> usize {
        self.pending
    }

    fn start(&mut self, ticket: T, key: &str, action: Action) {
        self.pending += 1;
        let report = Report { ticket: Some(ticket), sender: self.sender.clone() };
        let task = match self.shared.store.task(key) {
            Ok(task) => task,
            Err(error) => return report.send(Err(error)),
        };
        let slot = self.shared.slot(action.as_ref().map_or(0, |(bytes, _)| bytes.len()));
        let verb = if action.is_some() { "write" } else { "delete" };
        let (shared, url) = (self.shared.clone(), self.shared.store.url_of(key));
        self.shared.store.spawn(async move {
            let result = shared.attempt(&task, &action).await;
            // Others may start before the outcome is read.
            drop(slot);
            report.send(result.map_err(|failure| failure.diagnostic(verb, &url)));
        });
    }
}

impl Shared {
    fn underway(&self) -> MutexGuard<'_, (usize, usize)> {
        self.underway.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Waits for a place among the requests underway.
    fn slot(self: &Arc<Self>, bytes: usize) -> Slot {
        let mut underway = self.underway();
        let (requests, most) = (self.options.requests.max(1), self.options.bytes);
        while underway.0 >= requests || (underway.0 > 0 && underway.1.saturating_add(bytes) > most) {
            underway = self.finished.wait(underway).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        underway.0 += 1;
        underway.1 = underway.1.saturating_add(bytes);
        Slot { shared: self.clone(), bytes }
    }

    /// Carries out an action, with as many attempts as it takes.
    async fn attempt(&self, task: &Task, action: &Action) -> std::result::Result<Option<Revision>, Failure> {
        let began = self.millis();
        let attempt = |failures| async move {
            self.check()?;
            match action {
                Some((bytes, condition)) => task.put_once(bytes, condition, failures).await.map(Some),
                None => task.delete_once().await.map(|()| None),
            }
        };
        let result = self.store.patience().run(attempt).await;
        match &result {
            Ok(_) => _ = self.success.fetch_max(self.millis(), Ordering::Relaxed),
            // Others would fail in the same way, each after the same time.
            Err(Failure::Transient(failure)) if self.success.load(Ordering::Relaxed) < began.max(1) => {
                self.down().get_or_insert_with(|| failure.why.clone());
            }
            Err(_) => {}
        }
        result
    }

    /// Checks that writing may go on.
    fn check(&self) -> std::result::Result<(), Failure> {
        if let Some(guard) = self.options.guard.as_ref().filter(|guard| !guard.is_held()) {
            return Err(Failure::Ours(guard.lost()));
        }
        match self.down().as_ref() {
            None => Ok(()),
            Some(why) => {
                let message = format!("cannot write to `{}` any more: {why}", self.store.url());
                let error = Diagnostic::new(Code::StoreUnreachable, message);
                Err(Failure::Ours(error.with_help("check the network and the endpoint, then run the command again")))
            }
        }
    }

    fn down(&self) -> MutexGuard<'_, Option<String>> {
        self.down.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// A place among the requests underway.
struct Slot {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut underway = self.shared.underway();
        underway.0 = underway.0.saturating_sub(1);
        underway.1 = underway.1.saturating_sub(self.bytes);
        self.shared.finished.notify_all();
    }
}

/// Sends one outcome, also if the task ends early.
struct Report<T> {
    ticket: Option<T>,
    sender: Sender<Outcome<T>>,
}

impl<T> Report<T> {
    fn send(mut self, result: Result<Option<Revision>>) {
        self.report(result);
    }

    fn report(&mut self, result: Result<Option<Revision>>) {
        if let Some(ticket) = self.ticket.take() {
            // Without a receiver nobody wants to know.
            let _ = self.sender.send(Outcome { ticket, result });
        }
    }
}

impl<T> Drop for Report<T> {
    fn drop(&mut self) {
        self.report(Err(Diagnostic::new(Code::Internal, "the thread of a request ended early")));
    }
}

#[cfg(test)]
#[path = "putter_tests.rs"]
mod tests;
