//! The lease of a lock: the content of its object, and the thread that renews it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Held;
use crate::clock::rfc3339;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The content of a lock object. Times are milliseconds since the Unix epoch, by the clock of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockRecord {
    /// The random id of the holder.
    pub owner: String,
    /// The name of the holder's machine.
    pub host: String,
    /// The id of the holder's process.
    pub pid: u32,
    /// The time when the lock was taken.
    pub made: u64,
    /// The time when it was renewed last.
    pub renewed: u64,
    /// The time after which others may take it. 0 if it was released.
    pub expires: u64,
}

impl LockRecord {
    /// Returns the record of this process with a new id.
    pub(super) fn new() -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let owner = format!("{:016x}", fastrand::u64(..));
        Self { owner, host, pid: std::process::id(), made: 0, renewed: 0, expires: 0 }
    }

    /// Returns the record of a lock that is taken or renewed at `now`.
    pub(super) fn renewed(&self, now: Duration, lease: Duration) -> Self {
        let made = if self.made == 0 { millis(now) } else { self.made };
        Self { made, renewed: millis(now), expires: millis(now.saturating_add(lease)), ..self.clone() }
    }

    /// Returns the record of a lock that others may take at once.
    pub(super) fn released(&self) -> Self {
        Self { expires: 0, ..self.clone() }
    }

    /// Returns `true` if others may take the lock.
    pub(super) fn is_expired(&self, now: Duration) -> bool {
        self.expires <= millis(now)
    }

    /// Returns the holder for messages.
    pub(super) fn holder(&self) -> String {
        format!("process {} on `{}`", self.pid, self.host)
    }

    /// Returns the time when the lock was taken, such as `2026-11-23T12:00:00Z`.
    pub fn made_at(&self) -> String {
        rfc3339(self.made / 1_000)
    }

    /// Returns the time after which others may take the lock.
    pub fn expires_at(&self) -> String {
        rfc3339(self.expires / 1_000)
    }

    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    pub(super) fn bytes(&self) -> bytes::Bytes {
        let mut json = serde_json::to_vec(self).unwrap_or_default();
        json.push(b'\n');
        json.into()
    }
}

/// Returns whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A thread that renews a lock until it is stopped or the lock is lost.
#[derive(Debug)]
pub(super) struct Renewal {
    stop: Sender<()>,
    /// Disconnected when the thread has ended. The mutex makes locks usable from several threads.
    ended: Mutex<Receiver<()>>,
}

impl Renewal {
    /// Starts the thread.
    ///
    /// # Errors
    /// `internal` if the system gives no thread.
    pub(super) fn start(held: &Arc<Held>, every: Duration) -> Result<Self> {
        let (stop, stopped) = channel();
        let (alive, ended) = channel();
        let held = Arc::downgrade(held);
        let run = move || {
            let _alive: Sender<()> = alive;
            renew_until(&held, every, &stopped);
        };
        let started = thread::Builder::new().name("dropforge-lock".to_owned()).spawn(run);
        started.map_err(|error| {
            Diagnostic::new(Code::Internal, format!("cannot start a thread: {error}")).caused_by(error)
        })?;
        Ok(Self { stop, ended: Mutex::new(ended) })
    }

    /// Stops the thread. Returns `true` if it ended within `timeout`.
    pub(super) fn stop(self, timeout: Duration) -> bool {
        drop(self.stop);
        let ended = self.ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        matches!(ended.recv_timeout(timeout), Err(RecvTimeoutError::Disconnected))
    }
}

fn renew_until(held: &Weak<Held>, every: Duration, stopped: &Receiver<()>) {
    while matches!(stopped.recv_timeout(every), Err(RecvTimeoutError::Timeout)) {
        let Some(held) = held.upgrade() else { return };
        // Errors of the store may pass before the lease does. A lost lock cannot be renewed.
        if held.renew().is_err_and(|error| error.code == Code::LockLost) {
            return;
        }
    }
}
