//! Whether names or paths are all different, at the cost of eight bytes each.

use std::hash::{BuildHasher, RandomState};

/// Hashes of keys: what they say is not there is not there; what they say is there may be another of the same hash.
///
/// The seed is chosen anew each time, so that nobody can write keys that share a hash.
#[derive(Debug)]
pub(super) struct Hashes {
    state: RandomState,
    all: Vec<u64>,
}

impl Hashes {
    /// The hashes of keys that `each` hands over, about `count`; `None` where two may be equal.
    pub(super) fn of_different(count: usize, each: impl FnOnce(&mut dyn FnMut(&str))) -> Option<Self> {
        let mut hashes = Self { state: RandomState::new(), all: Vec::with_capacity(count) };
        let Self { state, all } = &mut hashes;
        each(&mut |key| all.push(state.hash_one(key)));
        all.sort_unstable();
        let different = all.windows(2).all(|pair| pair.first() != pair.last());
        different.then_some(hashes)
    }

    /// Whether `key` may be one of the keys.
    pub(super) fn may_hold(&self, key: &str) -> bool {
        self.all.binary_search(&self.state.hash_one(key)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_found() {
        let of = |keys: &[&str]| Hashes::of_different(keys.len(), |add| keys.iter().for_each(|key| add(key)));
        assert!(of(&["a", "b", "a"]).is_none());
        let hashes = of(&["a", "b", "A", ""]).unwrap();
        assert!(hashes.may_hold("a") && hashes.may_hold("") && !hashes.may_hold("c"));
    }
}
