//! Connections that callers share in turns.

use crate::fair::{Gate, Identity, Load, Pass};

/// Connections of a pool. Callers get them in turns, and none gets all of them. Work of the service itself, such as
/// looking up keys, does not queue: the pool has some more connections for it.
#[derive(Debug)]
pub(super) struct Connections(Gate);

impl Connections {
    /// Shares connections for writing, which mostly wait for the disk: a caller gets at most two thirds.
    pub(super) fn for_writing(count: usize) -> Self {
        Self(Gate::new(count, (count * 2 / 3).max(1)))
    }

    /// Shares connections for reading, which keep a core busy with rows: a caller gets at most two thirds, and leaves a
    /// core to others.
    pub(super) fn for_reading(count: usize) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        Self(Gate::new(count, (count * 2 / 3).clamp(1, cores - 1)))
    }

    /// Waits for the caller's turn. The connection may be used while the result lives.
    pub(super) async fn turn(&self) -> Option<Pass> {
        if Identity::current() == Identity::Service { None } else { self.0.pass().await }
    }

    /// The current use.
    pub(super) fn load(&self) -> Load {
        self.0.load()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Actor;

    #[tokio::test]
    async fn connections_are_left_for_others_and_for_the_service() {
        let connections = Connections::for_writing(3);
        let greedy = Identity::Caller(Actor::Readonly);
        let turn = || async { tokio::time::timeout(Duration::from_millis(1), connections.turn()).await.ok() };
        let held = [greedy.scope(turn()).await.flatten(), greedy.scope(turn()).await.flatten()];
        assert!(held.iter().all(Option::is_some) && greedy.scope(turn()).await.is_none());
        let other = Identity::Caller(Actor::Admin).scope(turn()).await.flatten();
        assert_eq!((other.is_some(), connections.load().running), (true, 3));
        assert!(Identity::Caller(Actor::Agent).scope(turn()).await.is_none(), "the last is the service's");
        assert!(turn().await.is_some_and(|pass| pass.is_none()));
    }
}
