//! Connections that callers share in turns.

use crate::fair::{Gate, Identity, Load, Pass};

/// The connections of a pool. Callers get them in turns, and none gets all of them. Work of the service itself, such as
/// looking up keys, does not queue: some connections are always free for it.
#[derive(Debug)]
pub(super) struct Connections(Gate);

impl Connections {
    /// Shares `all` connections of a pool: callers get all but one in ten and at least one, each caller at most two
    /// thirds of these.
    pub(super) fn new(all: u32) -> Self {
        let all = all as usize;
        let callers = all.saturating_sub((all / 10).max(1)).max(1);
        Self(Gate::new(callers, (callers * 2 / 3).max(1)))
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
        let connections = Connections::new(4);
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
