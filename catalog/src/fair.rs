//! Fair sharing: whatever callers compete for is handed out in turns, one caller after another.
//!
//! Each [`Identity`] has a queue of its own. [`Turns`] takes from the queues round robin, so a caller with a thousand
//! waiting entries delays another by one entry, not by a thousand. No caller holds all places at the same time, and a
//! full queue refuses only its owner. The render threads, the connections of the stores and the writer of SQLite share
//! in this way.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::Future;
use std::ops::Add;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

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

/// Limits of [`Turns`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Maximum number of entries in progress.
    pub(crate) places: usize,
    /// Maximum number of entries in progress of one caller.
    pub(crate) share: usize,
    /// Maximum number of waiting entries.
    pub(crate) waiting: usize,
    /// Maximum number of waiting entries of one caller.
    pub(crate) own_waiting: usize,
}

/// The use of what callers share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Entries in progress.
    pub running: usize,
    /// Waiting entries.
    pub waiting: usize,
    /// Callers with waiting entries.
    pub waiting_callers: usize,
}

impl Add for Load {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            running: self.running + other.running,
            waiting: self.waiting + other.waiting,
            waiting_callers: self.waiting_callers + other.waiting_callers,
        }
    }
}

/// Queues of several callers, served round robin.
pub(crate) struct Turns<T> {
    bounds: Bounds,
    callers: HashMap<Identity, CallerQueue<T>>,
    /// Callers with waiting entries. The first has the next turn.
    order: VecDeque<Identity>,
    running: usize,
    waiting: usize,
    tickets: u64,
}

/// The entries of a caller.
struct CallerQueue<T> {
    /// Waiting entries with their tickets.
    waiting: VecDeque<(u64, T)>,
    running: usize,
}

impl<T> Turns<T> {
    /// Creates empty queues.
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, callers: HashMap::new(), order: VecDeque::new(), running: 0, waiting: 0, tickets: 0 }
    }

    /// Adds an entry to a caller's queue and returns its ticket, or returns the entry if a queue is full.
    pub(crate) fn add(&mut self, who: Identity, entry: T) -> Result<u64, T> {
        let (waiting, running) = self.callers.get(&who).map_or((0, 0), |one| (one.waiting.len(), one.running));
        // An entry that can begin at once does not wait, even if nobody has taken it yet.
        let Bounds { places, share, waiting: most, own_waiting: own_most } = self.bounds;
        if waiting + running >= share.saturating_add(own_most)
            || self.waiting + self.running >= places.saturating_add(most)
        {
            return Err(entry);
        }
        if waiting == 0 {
            self.order.push_back(who);
        }
        let ticket = self.tickets;
        self.tickets += 1;
        self.waiting += 1;
        let new = || CallerQueue { waiting: VecDeque::new(), running: 0 };
        self.callers.entry(who).or_insert_with(new).waiting.push_back((ticket, entry));
        Ok(ticket)
    }

    /// Begins the next entry: the oldest of the next caller in turn that has not used up its share.
    pub(crate) fn next(&mut self) -> Option<(Identity, T)> {
        if self.running >= self.bounds.places {
            return None;
        }
        let has_share = |who: &Identity| self.callers.get(who).is_some_and(|one| one.running < self.bounds.share);
        let at = self.order.iter().position(has_share)?;
        let who = self.order.remove(at)?;
        let caller = self.callers.get_mut(&who)?;
        let (_, entry) = caller.waiting.pop_front()?;
        caller.running += 1;
        self.running += 1;
        self.waiting -= 1;
        if !caller.waiting.is_empty() {
            self.order.push_back(who);
        }
        Some((who, entry))
    }

    /// Ends an entry that [`Turns::next`] began.
    pub(crate) fn end(&mut self, who: Identity) {
        if let Some(caller) = self.callers.get_mut(&who) {
            caller.running = caller.running.saturating_sub(1);
            self.running = self.running.saturating_sub(1);
            self.forget_idle(who);
        }
    }

    /// Takes a waiting entry back. Returns `None` if it has begun.
    pub(crate) fn take_back(&mut self, who: Identity, ticket: u64) -> Option<T> {
        let queue = &mut self.callers.get_mut(&who)?.waiting;
        let at = queue.binary_search_by_key(&ticket, |(ticket, _)| *ticket).ok()?;
        let (_, entry) = queue.remove(at)?;
        self.waiting -= 1;
        if queue.is_empty() {
            self.order.retain(|other| *other != who);
            self.forget_idle(who);
        }
        Some(entry)
    }

    fn forget_idle(&mut self, who: Identity) {
        if self.callers.get(&who).is_some_and(|caller| caller.running == 0 && caller.waiting.is_empty()) {
            self.callers.remove(&who);
        }
    }

    /// The current use.
    pub(crate) fn load(&self) -> Load {
        Load { running: self.running, waiting: self.waiting, waiting_callers: self.order.len() }
    }
}

impl<T> fmt::Debug for Turns<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").field("load", &self.load()).finish_non_exhaustive()
    }
}

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
    use uuid::Uuid;

    use super::*;
    use crate::Actor;

    const LOOSE: Bounds = Bounds { places: 8, share: 8, waiting: 100, own_waiting: 100 };

    fn generator(n: u128) -> Identity {
        Identity::Caller(Actor::Generator(Uuid::from_u128(n)))
    }

    /// The entries in the order in which they begin, if each ends before the next begins.
    fn served(turns: &mut Turns<&'static str>) -> Vec<&'static str> {
        let mut served = Vec::new();
        while let Some((who, entry)) = turns.next() {
            served.push(entry);
            turns.end(who);
        }
        served
    }

    #[test]
    fn callers_take_turns_whoever_came_first() {
        let (mut turns, [greedy, light, other]) = (Turns::new(LOOSE), [1, 2, 3].map(generator));
        for entry in ["g1", "g2", "g3", "g4"] {
            turns.add(greedy, entry).unwrap();
        }
        turns.add(light, "l1").unwrap();
        turns.add(other, "o1").unwrap();
        turns.add(light, "l2").unwrap();
        assert_eq!(served(&mut turns), ["g1", "l1", "o1", "g2", "l2", "g3", "g4"]);
        assert_eq!(turns.load(), Load::default());
        assert!(turns.callers.is_empty() && turns.order.is_empty(), "nothing is kept of callers that left");
    }

    #[test]
    fn a_late_caller_waits_one_turn_of_each_other() {
        let (mut turns, light) = (Turns::new(LOOSE), generator(0));
        for n in 0..90 {
            turns.add(generator(1 + n % 3), "greedy").unwrap();
        }
        for _ in 0..5 {
            turns.add(light, "light").unwrap();
            let waited = served_until(&mut turns, "light");
            assert!(waited <= 3, "{waited}");
        }
    }

    fn served_until(turns: &mut Turns<&'static str>, until: &str) -> usize {
        let mut before = 0;
        while let Some((who, entry)) = turns.next() {
            turns.end(who);
            if entry == until {
                return before;
            }
            before += 1;
        }
        panic!("{until} was never served")
    }

    #[test]
    fn nobody_holds_more_than_a_share() {
        let mut turns = Turns::new(Bounds { places: 3, share: 2, ..LOOSE });
        let (greedy, light) = (generator(1), generator(2));
        (0..5).for_each(|_| assert!(turns.add(greedy, "g").is_ok()));
        assert!(turns.next().is_some() && turns.next().is_some() && turns.next().is_none());
        turns.add(light, "l").unwrap();
        assert_eq!(turns.next(), Some((light, "l")), "a place is left for others");
        turns.add(light, "l").unwrap();
        assert_eq!(turns.next(), None, "all places are taken");
        turns.end(greedy);
        assert_eq!(turns.next(), Some((greedy, "g")), "greedy was first in turn");
        assert_eq!(turns.load(), Load { running: 3, waiting: 3, waiting_callers: 2 });
    }

    #[test]
    fn a_full_queue_refuses_only_its_owner() {
        let mut turns = Turns::new(Bounds { places: 1, share: 1, waiting: 3, own_waiting: 1 });
        let [greedy, light, other] = [1, 2, 3].map(generator);
        turns.add(greedy, 1).unwrap();
        turns.add(greedy, 2).unwrap();
        assert_eq!(turns.add(greedy, 3), Err(3));
        assert_eq!(turns.next(), Some((greedy, 1)));
        assert_eq!(turns.add(greedy, 3), Err(3), "one is running, one is waiting");
        turns.add(light, 4).unwrap();
        turns.add(light, 5).unwrap();
        assert_eq!(turns.add(other, 6), Err(6), "all queues together are bounded too");
    }

    #[test]
    fn an_entry_that_is_taken_back_takes_no_turn() {
        let (mut turns, greedy, light) = (Turns::new(LOOSE), generator(1), generator(2));
        let tickets: Vec<_> = ["a", "b", "c"].map(|entry| turns.add(greedy, entry).unwrap()).into();
        let only = turns.add(light, "l").unwrap();
        assert_eq!(turns.take_back(greedy, tickets[1]), Some("b"));
        assert_eq!(turns.take_back(greedy, tickets[1]), None);
        assert_eq!(turns.take_back(light, only), Some("l"));
        assert_eq!(turns.take_back(generator(9), only), None);
        assert_eq!(served(&mut turns), ["a", "c"]);
        assert_eq!(turns.take_back(greedy, tickets[0]), None);
        assert!(turns.callers.is_empty());
    }
}

#[cfg(test)]
mod gate_tests {
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
