//! The caller that work is done for.

use std::future::Future;

use crate::Actor;

/// The caller that work is done for.
///
/// It belongs to the task of a request rather than to arguments: the methods of the store and the renderer that lead to
/// a queue are many, and none of them needs it for anything else. Work without a caller is the service's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Identity {
    /// The service: looking up keys, probes, metrics.
    Service,
    /// A caller. All administrators are one.
    Caller(Actor),
}

tokio::task_local! {
    static CURRENT: Identity;
}

impl Identity {
    /// The identity of the current task. Spawned tasks have none: see [`Identity::scope`].
    pub(crate) fn current() -> Self {
        CURRENT.try_with(|identity| *identity).unwrap_or(Self::Service)
    }

    /// Runs a future with this identity.
    pub(crate) fn scope<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, future)
    }
}
