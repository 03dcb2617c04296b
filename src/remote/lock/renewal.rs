//! The thread that renews a lock.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use super::Held;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

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
