//! The state of a render thread.

use std::sync::Arc;
use std::time::Duration;

use super::request::failed;
use crate::error::Result;
use dropforge::engine::OutputCheck;
use dropforge::limits::{Deadline, Limits};
use dropforge::value::{InputSpace, Inputs, Scanner};
use dropforge::vm::Session;

/// Maximum number of errors or warnings about one text.
pub(super) const MAX_DIAGNOSTICS: usize = 20;

/// State that a thread reuses between jobs, and the deadline of the current one.
pub struct Scratch {
    pub(super) session: Session,
    /// The memory of parameters. `None` while it is in use.
    inputs: Option<InputSpace>,
    pub(super) check: OutputCheck,
    pub(super) scanner: Scanner,
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
