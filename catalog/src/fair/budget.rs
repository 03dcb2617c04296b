//! An amount that callers share: bytes in memory, or places.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::identity::Identity;

/// An amount that callers share. One caller gets at most a part of it, and nobody waits.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
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
        Self(Arc::new(Mutex::new(State { most, share, all: 0, callers: HashMap::new() })))
    }

    /// Holds nothing yet, for the current caller.
    pub(crate) fn begin(&self) -> Held {
        Held { budget: self.clone(), who: Identity::current(), amount: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
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
    use super::*;
    use crate::Actor;

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
