//! A fair semaphore, and amounts that callers share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::{Bounds, Identity, Load, Turns};

/// A gate: a semaphore whose permits callers get in turns, and which no caller can take up alone.
#[derive(Debug, Clone)]
pub(crate) struct Gate(Arc<Mutex<Turns<oneshot::Sender<Pass>>>>);

/// A permit of a gate. Others may pass once it is dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    gate: Gate,
    who: Identity,
}

impl Gate {
    /// Creates a gate for `places` at a time, of which one caller takes at most `share`. Any number of callers can wait:
    /// the service bounds its requests.
    pub(crate) fn new(places: usize, share: usize) -> Self {
        let bounds = Bounds { places, share, waiting: usize::MAX, own_waiting: usize::MAX };
        Self(Arc::new(Mutex::new(Turns::new(bounds))))
    }

    /// Waits for the caller's turn. Never returns `None`, because the queues have no bounds.
    pub(crate) async fn pass(&self) -> Option<Pass> {
        let who = Identity::current();
        let (sender, receiver) = oneshot::channel();
        let ticket = self.lock().add(who, sender);
        self.open();
        let waiting = WaitingCaller { gate: self, who, ticket: ticket.ok() };
        let pass = receiver.await;
        drop(waiting);
        pass.ok()
    }

    /// The current use.
    pub(crate) fn load(&self) -> Load {
        self.lock().load()
    }

    /// Lets callers pass while there are places.
    fn open(&self) {
        loop {
            let Some((who, sender)) = self.lock().next() else { return };
            // If the caller has left, the pass is dropped here, which opens the gate again.
            drop(sender.send(Pass { gate: self.clone(), who }));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Turns<oneshot::Sender<Pass>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.gate.lock().end(self.who);
        self.gate.open();
    }
}

/// A caller in the queue. It takes no turn if it leaves.
struct WaitingCaller<'g> {
    gate: &'g Gate,
    who: Identity,
    ticket: Option<u64>,
}

impl Drop for WaitingCaller<'_> {
    fn drop(&mut self) {
        let left = self.ticket.and_then(|ticket| self.gate.lock().take_back(self.who, ticket));
        drop(left);
    }
}

/// An amount that callers share. One caller gets at most a part of it, and nobody waits.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Mutex<Amounts>>);

#[derive(Debug)]
struct Amounts {
    most: usize,
    /// Maximum of one caller.
    share: usize,
    all: usize,
    callers: HashMap<Identity, usize>,
}

/// The part of a caller. It is free again once this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Budget,
    who: Identity,
    amount: usize,
}

impl Budget {
    /// Creates a budget of `most`, of which one caller gets at most `share`.
    pub(crate) fn new(most: usize, share: usize) -> Self {
        Self(Arc::new(Mutex::new(Amounts { most, share, all: 0, callers: HashMap::new() })))
    }

    /// Holds nothing yet, for the current caller.
    pub(crate) fn begin(&self) -> Held {
        Held { budget: self.clone(), who: Identity::current(), amount: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Amounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Holds more. Returns `false` if the budget or the caller's part of it is used up.
    pub(crate) fn grow(&mut self, more: usize) -> bool {
        let mut held = self.budget.lock();
        let own = held.callers.get(&self.who).copied().unwrap_or_default();
        if more > held.share.saturating_sub(own) || more > held.most.saturating_sub(held.all) {
            return false;
        }
        held.all += more;
        held.callers.insert(self.who, own + more);
        self.amount += more;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = self.budget.lock();
        held.all -= self.amount;
        match held.callers.get_mut(&self.who) {
            Some(own) if *own > self.amount => *own -= self.amount,
            _ => drop(held.callers.remove(&self.who)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::Actor;

    fn generator(n: u128) -> Identity {
        Identity::Caller(Actor::Generator(Uuid::from_u128(n)))
    }

    /// Starts callers in this order. Each notes its number when it passes.
    async fn passed(gate: &Gate, callers: &[u128]) -> Vec<u128> {
        let (first, order) = (generator(0).scope(gate.pass()).await, Arc::new(Mutex::new(Vec::new())));
        let mut tasks = Vec::new();
        for &n in callers {
            let (gate, order) = (gate.clone(), order.clone());
            tasks.push(tokio::spawn(generator(n).scope(async move {
                let pass = gate.pass().await;
                order.lock().unwrap().push(n);
                drop(pass);
            })));
            tokio::task::yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        let order = order.lock().unwrap();
        order.clone()
    }

    #[tokio::test]
    async fn callers_pass_in_turns() {
        let gate = Gate::new(1, 1);
        assert_eq!(passed(&gate, &[1, 1, 1, 1, 2, 3, 2]).await, [1, 2, 3, 1, 2, 1, 1]);
        assert_eq!(gate.load(), Load::default());
    }

    #[tokio::test]
    async fn a_caller_that_leaves_takes_no_place() {
        let gate = Gate::new(1, 1);
        let first = gate.pass().await;
        let waiting = tokio::time::timeout(Duration::from_millis(1), gate.pass()).await;
        assert!(waiting.is_err());
        assert_eq!(gate.load(), Load { running: 1, waiting: 0, waiting_callers: 0 });
        drop(first);
        drop(gate.pass().await);
        assert_eq!(gate.load(), Load::default());
    }

    #[tokio::test]
    async fn a_pass_that_nobody_took_is_given_back() {
        let gate = Gate::new(1, 1);
        let first = gate.pass().await;
        let mut second = Box::pin(gate.pass());
        assert!(futures_now(&mut second).is_none());
        drop(first);
        // It was given the pass and leaves before it notices.
        drop(second);
        assert_eq!(gate.load(), Load::default());
    }

    /// Polls a future once.
    fn futures_now<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::Pin::new(future).poll(&mut cx) {
            std::task::Poll::Ready(done) => Some(done),
            std::task::Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn one_caller_cannot_take_all_places() {
        let gate = Gate::new(3, 2);
        let held = [generator(1).scope(gate.pass()).await, generator(1).scope(gate.pass()).await];
        let third = tokio::time::timeout(Duration::from_millis(1), generator(1).scope(gate.pass())).await;
        assert!(third.is_err());
        drop(generator(2).scope(gate.pass()).await);
        drop(held);
    }

    #[tokio::test]
    async fn a_caller_that_used_up_its_part_leaves_the_rest_to_others() {
        let budget = Budget::new(10, 6);
        let (mut first, mut second) = (budget.begin(), budget.begin());
        assert!(first.grow(4) && second.grow(2) && !first.grow(1) && !second.grow(usize::MAX));
        let mut admin = Identity::Caller(Actor::Admin).scope(async { budget.begin() }).await;
        assert!(admin.grow(4) && !admin.grow(1), "all together");
        drop(first);
        assert!(admin.grow(2) && !admin.grow(1) && second.grow(2));
        drop((admin, second));
        let held = budget.lock();
        assert!(held.all == 0 && held.callers.is_empty());
    }
}
