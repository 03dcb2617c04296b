//! Sorting with little code.
//!
//! The sort of the standard library is compiled for each type and each comparison, to some 7 kB. Short lists and those off the
//! render path are sorted through one sort of numbers.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Number of items to sort or merge between two questions.
const PART: usize = 64;

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
        arrange(self, &mut order);
    }
}

/// Sorts like [`SmallSort::small_sort_by`], and asks before each small part of the work. On an error the items are as before.
///
/// # Errors
/// That of `ask`.
pub fn sort_asking<T, E>(
    items: &mut [T],
    mut compare: impl FnMut(&T, &T) -> Ordering,
    ask: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    let compare: &mut dyn FnMut(usize, usize) -> Ordering = &mut |a, b| compare(&items[a], &items[b]);
    for part in order.chunks_mut(PART) {
        ask()?;
        sort(part, compare);
    }
    let mut width = PART;
    while width < order.len() {
        let mut merged = Vec::with_capacity(order.len());
        for pair in order.chunks(2 * width) {
            merge(pair.split_at(width.min(pair.len())), &mut merged, compare, ask)?;
        }
        order = merged;
        width *= 2;
    }
    arrange(items, &mut order);
    Ok(())
}

/// Appends two sorted lists in order. Of equal items, those of the first list come first.
fn merge<E>(
    (mut left, mut right): (&[usize], &[usize]),
    merged: &mut Vec<usize>,
    compare: &mut dyn FnMut(usize, usize) -> Ordering,
    ask: &mut dyn FnMut() -> Result<(), E>,
) -> Result<(), E> {
    while let ([a, after_a @ ..], [b, after_b @ ..]) = (left, right) {
        if merged.len().is_multiple_of(PART) {
            ask()?;
        }
        if compare(*b, *a).is_lt() {
            merged.push(*b);
            right = after_b;
        } else {
            merged.push(*a);
            left = after_a;
        }
    }
    merged.extend_from_slice(left);
    merged.extend_from_slice(right);
    Ok(())
}

/// Moves the item at `order[n]` to the place `n`, for each place.
fn arrange<T>(items: &mut [T], order: &mut [usize]) {
    for start in 0..order.len() {
        // Each item of a cycle moves to its place. That of the first one passes through all of them.
        let mut at = start;
        while order[at] != start {
            let from = std::mem::replace(&mut order[at], at);
            items.swap(at, from);
            at = from;
        }
        order[at] = at;
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

    /// Nothing is asked about an empty list.
    fn is_empty(length: usize) -> Result<(), ()> {
        if length == 0 { Ok(()) } else { Err(()) }
    }

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let mut random = fastrand::Rng::with_seed(7);
        for length in (0..40).chain([1_000]) {
            let mut items: Vec<(u32, usize)> = (0..length).map(|at| (random.u32(0..20), at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            let mut asked = 0;
            let mut ask = || -> Result<(), ()> {
                asked += 1;
                Ok(())
            };
            sort_asking(&mut items.clone(), |a, b| b.0.cmp(&a.0), &mut ask).unwrap();
            assert!(asked >= length / PART * (1 + (length / PART).checked_ilog2().unwrap_or(0) as usize), "{asked}");
            let mut asking = items.clone();
            sort_asking(&mut asking, |a, b| b.0.cmp(&a.0), &mut || Ok::<_, ()>(())).unwrap();
            assert_eq!(asking, expected);
            asking.clone_from(&items);
            assert_eq!(sort_asking(&mut asking, |a, b| b.0.cmp(&a.0), &mut || Err(())), Err(()).or(is_empty(length)));
            assert_eq!(asking, items);
            items.small_sort_by_key(|(key, _)| std::cmp::Reverse(*key));
            assert_eq!(items, expected);
            items.small_sort_by(|a, b| a.1.cmp(&b.1));
            assert!(items.iter().map(|(_, at)| *at).eq(0..length));
        }
    }
}
