//! The threads of a store.

use std::future::Future;
use std::sync::{Arc, mpsc};

use tokio::runtime::{Builder, Handle, Runtime};

use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Threads that run the tasks of one store. They end with the last copy.
#[derive(Debug, Clone)]
pub(super) struct Threads(Arc<Owned>);

#[derive(Debug)]
struct Owned(Option<Runtime>);

impl Drop for Owned {
    fn drop(&mut self) {
        // Requests that run into their timeouts must not hold up the end of a run.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Threads {
    /// Starts threads for `requests` requests at a time.
    ///
    /// # Errors
    /// `internal` if the system gives no thread.
    pub(super) fn start(requests: usize) -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder
            .worker_threads(1)
            .max_blocking_threads(requests.max(1) + 4)
            .thread_name("dropforge-store")
            .enable_time();
        let runtime = builder.build().map_err(|error| {
            Diagnostic::new(Code::Internal, format!("cannot start a thread: {error}")).caused_by(error)
        })?;
        Ok(Self(Arc::new(Owned(Some(runtime)))))
    }

    /// Returns no threads. Tasks are not run.
    pub(super) fn none() -> Self {
        Self(Arc::new(Owned(None)))
    }

    fn handle(&self) -> Option<&Handle> {
        self.0.0.as_ref().map(Runtime::handle)
    }

    /// Starts a task.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(handle) = self.handle() {
            handle.spawn(task);
        }
    }

    /// Runs a task and waits for its result. Returns `None` if it panicked.
    pub(super) fn wait<T: Send + 'static>(&self, task: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.spawn(async move {
            let _ = sender.send(task.await);
        });
        receiver.recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_back_and_panics_do_not_hang() {
        let threads = Threads::start(2).expect("threads");
        assert_eq!(threads.wait(async { 7 }), Some(7));
        let none: Option<()> = threads.wait(async { panic!("expected by the test") });
        assert_eq!(none, None);
        assert_eq!(threads.wait(async { 8 }), Some(8), "other tasks run on");
    }
}
