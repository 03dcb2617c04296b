//! Duplicate detection for names and paths at eight bytes a key.

use std::hash::{BuildHasher, RandomState};

/// The sorted hashes of a set of distinct keys. Lookups may report false positives, never false negatives.
///
/// Each set has its own random seed, so nobody can craft keys that collide.
#[derive(Debug)]
pub(super) struct KeyHashes {
    state: RandomState,
    sorted: Vec<u64>,
}

impl KeyHashes {
    /// Hashes the keys that `each` passes on, about `count` of them. Returns `None` if two may be equal.
    pub(super) fn distinct(count: usize, each: impl FnOnce(&mut dyn FnMut(&str))) -> Option<Self> {
        let (state, mut sorted) = (RandomState::new(), Vec::with_capacity(count));
        each(&mut |key| sorted.push(state.hash_one(key)));
        sorted.sort_unstable();
        let distinct = sorted.windows(2).all(|pair| pair.first() != pair.last());
        distinct.then_some(Self { state, sorted })
    }

    /// Returns `true` if `key` may be one of the keys.
    pub(super) fn may_contain(&self, key: &str) -> bool {
        self.sorted.binary_search(&self.state.hash_one(key)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_found() {
        let of = |keys: &[&str]| KeyHashes::distinct(keys.len(), |add| keys.iter().for_each(|key| add(key)));
        assert!(of(&["a", "b", "a"]).is_none());
        let hashes = of(&["a", "b", "A", ""]).unwrap();
        assert!(hashes.may_contain("a") && hashes.may_contain("") && !hashes.may_contain("c"));
    }
}
