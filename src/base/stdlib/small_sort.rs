//! Sorting with little code.
//!
//! The sort of the standard library is compiled for each type and each comparison, to some 7 kB. Short lists and those off the
//! render path are sorted through one sort of numbers.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// A list that is sorted with little code. Its sorts are stable, and slower than those of the standard library.
pub trait SmallSort<T> {
    /// Sorts by a comparison.
    fn small_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key.
    fn small_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.small_sort_by(|a, b| key(a).cmp(&key(b)));
    }
}

impl<T> SmallSort<T> for [T] {
    fn small_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if self.len() < 2 {
            return;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        sort(&mut order, &mut |a, b| compare(&self[a], &self[b]));
        for start in 0..order.len() {
            // Each item of a cycle moves to its place. That of the first one passes through all of them.
            let mut at = start;
            while order[at] != start {
                let from = std::mem::replace(&mut order[at], at);
                self.swap(at, from);
                at = from;
            }
            order[at] = at;
        }
    }
}

/// Collects a map with little code: entries are inserted, and not sorted first. Of several with one key, the last wins.
pub fn tree_map<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(entries);
    map
}

#[inline(never)]
fn sort(order: &mut [usize], compare: &mut dyn FnMut(usize, usize) -> Ordering) {
    order.sort_by(|a, b| compare(*a, *b));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let mut random = fastrand::Rng::with_seed(7);
        for length in (0..40).chain([1_000]) {
            let mut items: Vec<(u32, usize)> = (0..length).map(|at| (random.u32(0..20), at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            items.small_sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            assert_eq!(items, expected);
            items.small_sort_by(|a, b| a.1.cmp(&b.1));
            assert!(items.iter().map(|(_, at)| *at).eq(0..length));
        }
    }
}
