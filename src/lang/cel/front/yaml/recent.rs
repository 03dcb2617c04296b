//! Results that the next round can use again.

use std::borrow::Borrow;
use std::hash::Hash;

use hashbrown::HashMap;

/// Results by key. A round begins with those of the round before, and forgets those that it does not use.
#[derive(Debug, Clone)]
pub(super) struct Recent<K, V> {
    used: HashMap<K, V>,
    earlier: HashMap<K, V>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { used: HashMap::new(), earlier: HashMap::new() }
    }
}

impl<K: Eq + Hash, V> Recent<K, V> {
    /// Begins a round.
    pub(crate) fn next_round(&mut self) {
        let used = HashMap::with_capacity(self.used.len());
        self.earlier = std::mem::replace(&mut self.used, used);
    }

    /// Returns a result, and `true` if this round has not used it before.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<(&V, bool)>
    where
        K: Borrow<Q>,
    {
        let again = if self.earlier.is_empty() { None } else { self.earlier.remove_entry(key) };
        let is_first = again.is_some();
        if let Some((key, result)) = again {
            self.used.insert(key, result);
        }
        self.used.get(key).map(|result| (result, is_first))
    }

    /// Adds a result.
    pub fn insert(&mut self, key: K, result: V) {
        self.used.insert(key, result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_forgets_what_it_does_not_use() {
        let mut recent = Recent::default();
        recent.insert("a", 1);
        recent.insert("b", 2);
        assert_eq!(recent.get("a"), Some((&1, false)));
        recent.next_round();
        assert_eq!(recent.get("a"), Some((&1, true)));
        assert_eq!(recent.get("a"), Some((&1, false)));
        recent.next_round();
        assert_eq!(recent.get("a"), Some((&1, true)));
        assert_eq!(recent.get("b"), None);
    }
}
