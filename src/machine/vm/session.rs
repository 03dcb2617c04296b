//! Sessions: repeated renders on one thread.

use std::sync::Arc;

use super::access::{Access, Trusting};
#[cfg(feature = "checked")]
use super::checked::Checking;
use super::hooks::{Hooks, NoHooks};
use super::run::{Run, run_in};
use super::semantics::Semantics;
use super::space::Space;
use crate::function::Cx;
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Deadline;
use dropforge_value::Value;

/// A space that is reset before every render. A session belongs to one thread, renders any number of programs and keeps
/// its memory.
#[derive(Debug, Default)]
pub struct Session {
    space: Space,
    /// A buffer for the text of results, and for output that is dropped.
    pub text: String,
}

impl Session {
    /// Creates an empty session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a deadline for the following renders, in addition to their time limit. A render notices within some
    /// milliseconds that it is over, and fails with `limit.time`.
    pub fn set_deadline(&mut self, deadline: Option<Arc<Deadline>>) {
        self.space.deadline = deadline;
    }

    /// Returns how many bytes of its memory limit the last render had left.
    pub fn memory_left(&self) -> u64 {
        self.space.left.get()
    }
}

/// Runs a program and appends its output to `out`. After an error, `out` holds the output before it.
pub fn run<S: Semantics + Default, H: Hooks>(
    session: &mut Session,
    run: Run<'_>,
    out: &mut String,
    hooks: &mut H,
) -> Result<()> {
    answer::<S, H>(session, run, Some(out), hooks).map(drop)
}

/// Runs a program for its result, which lives until the next run of the session. Output is appended to `out`, or dropped.
///
/// # Errors
/// The errors of the run.
pub fn answer<'s, S: Semantics + Default, H: Hooks>(
    session: &'s mut Session,
    run: Run<'s>,
    out: Option<&mut String>,
    hooks: &mut H,
) -> Result<Value<'s>> {
    #[cfg(feature = "checked")]
    if H::CHECKS {
        return run_by::<S, H, Checking>(session, run, out, hooks);
    }
    run_by::<S, H, Trusting>(session, run, out, hooks)
}

/// Runs a program in the space of a session for what `end` makes of its result. Output is appended to `out`.
///
/// # Errors
/// The errors of the run.
pub fn ended<'s, S: Semantics + Default, R>(
    session: &'s mut Session,
    run: Run<'s>,
    out: &mut String,
    end: impl FnOnce(&Cx<'s>, Value<'s>) -> R,
) -> Result<R> {
    session.space.reset();
    run_in::<S, NoHooks, Trusting, _>(&session.space, run, Some(out), &mut NoHooks, |machine| {
        machine.settled().map(|()| end(&machine.cx, machine.result))
    })
}

/// Runs a program in the space of a session. Output is dropped without `out`.
pub(super) fn run_by<'s, S: Semantics + Default, H: Hooks, A: Access>(
    session: &'s mut Session,
    run: Run<'s>,
    out: Option<&mut String>,
    hooks: &mut H,
) -> Result<Value<'s>> {
    let Session { space, text } = session;
    space.reset();
    let out = match out {
        Some(out) => out,
        None => {
            text.clear();
            text
        }
    };
    run_in::<S, H, A, _>(space, run, Some(out), hooks, |machine| machine.settled().map(|()| machine.result))
}
