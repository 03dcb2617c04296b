//! The progress of a connection: between requests, receiving a head, or handling a request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Timeouts of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeouts {
    /// For a whole request head.
    pub(super) head: Duration,
    /// For the first byte of the next request.
    pub(super) keep_alive: Duration,
    /// For a client that accepts nothing.
    pub(super) write: Duration,
}

/// A phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// A request head is expected or arriving.
    Head,
    /// A response was sent, and nothing of the next request has arrived.
    Idle,
    /// A request is handled, or its response is sent.
    Busy,
    /// The response has ended but may not be sent.
    Ended,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    since: Instant,
    closing: bool,
}

/// The progress of a connection, shared by its task, its stream, its service and the list of connections.
#[derive(Debug)]
pub(super) struct Progress {
    state: Mutex<State>,
    close: Notify,
    /// Notified when the connection becomes idle.
    changed: Arc<Notify>,
}

impl Progress {
    /// The progress of a new connection.
    pub(super) fn new(changed: Arc<Notify>) -> Self {
        let state = State { phase: Phase::Head, since: Instant::now(), closing: false };
        Self { state: Mutex::new(state), close: Notify::new(), changed }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(state: &mut State, phase: Phase) {
        (state.phase, state.since) = (phase, Instant::now());
    }

    /// Records that bytes arrived.
    pub(super) fn bytes_arrived(&self) {
        let mut state = self.state();
        if state.phase == Phase::Idle {
            Self::enter(&mut state, Phase::Head);
        }
    }

    /// Records that a request head is complete.
    pub(super) fn request_began(&self) {
        Self::enter(&mut self.state(), Phase::Busy);
    }

    /// Records that the response has no more bytes.
    pub(super) fn response_ended(&self) {
        let mut state = self.state();
        if state.phase == Phase::Busy {
            Self::enter(&mut state, Phase::Ended);
        }
    }

    /// Records that all bytes were sent.
    pub(super) fn flushed(&self) {
        let mut state = self.state();
        if state.phase == Phase::Ended {
            Self::enter(&mut state, Phase::Idle);
            self.changed.notify_one();
        }
    }

    /// The time since when the connection has no request. `None` if it has one, is being closed, or has been waiting for
    /// its first one for less than `grace`.
    pub(super) fn idle_since(&self, grace: Duration) -> Option<Instant> {
        let state = self.state();
        let idle = match state.phase {
            Phase::Head => state.since.elapsed() >= grace,
            Phase::Idle => true,
            Phase::Busy | Phase::Ended => false,
        };
        (idle && !state.closing).then_some(state.since)
    }

    /// The time at which the connection is closed if nothing happens.
    pub(super) fn deadline(&self, timeouts: Timeouts) -> Option<Instant> {
        let state = self.state();
        match state.phase {
            Phase::Head => state.since.checked_add(timeouts.head),
            Phase::Idle => state.since.checked_add(timeouts.keep_alive),
            Phase::Busy | Phase::Ended => None,
        }
    }

    /// Asks the connection to close unless a request arrives first.
    pub(super) fn close(&self) {
        self.state().closing = true;
        self.close.notify_one();
    }

    /// Returns `true` if the connection was asked to close and has no request.
    pub(super) fn is_closing(&self) -> bool {
        self.state().closing
    }

    /// Resolves when the connection was asked to close.
    pub(super) async fn asked_to_close(&self) {
        self.close.notified().await;
    }

    /// Returns `true` if the connection has a request, which is finished even if the connection should close.
    pub(super) fn has_request(&self) -> bool {
        let mut state = self.state();
        let busy = matches!(state.phase, Phase::Busy | Phase::Ended);
        if busy && state.closing {
            state.closing = false;
            self.changed.notify_one();
        }
        busy
    }
}
