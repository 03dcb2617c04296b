//! Sets of names and paths of any size, as hashes of 16 bytes. Small sets are in memory, others in a temporary file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{BuildHasher, RandomState};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::scratch::Scratch;
use dropforge_base::diagnostics::Result;

/// The number of hashes that are sorted in memory: 2 MiB.
const SORTED: usize = 1 << 17;
/// The number of bytes of a hash.
const BYTES: usize = size_of::<u128>();
/// The number of hashes that are read at once.
const PAGE: usize = 256;

/// A set of keys that is being filled.
///
/// Each set has a random seed, so nobody can craft keys with the same hash.
#[derive(Debug)]
pub struct KeySet {
    seed: u64,
    unsorted: Vec<u128>,
    /// Sorted hashes, one run after the other.
    sorted: Scratch,
    /// The numbers of hashes before the ends of the runs.
    ends: Vec<u64>,
}

impl Default for KeySet {
    fn default() -> Self {
        let seed = RandomState::new().hash_one(0);
        Self { seed, unsorted: Vec::new(), sorted: Scratch::default(), ends: Vec::new() }
    }
}

impl KeySet {
    /// Adds a key.
    ///
    /// # Errors
    /// Errors of [`Scratch::push`].
    pub fn add(&mut self, key: &str) -> Result<()> {
        self.unsorted.push(hash(self.seed, key));
        if self.unsorted.len() < SORTED { Ok(()) } else { self.end_run() }
    }

    fn end_run(&mut self) -> Result<()> {
        self.unsorted.sort_unstable();
        self.unsorted.iter().try_for_each(|hash| self.sorted.push(&hash.to_le_bytes()))?;
        self.unsorted.clear();
        self.ends.push(self.sorted.len() / BYTES as u64);
        Ok(())
    }

    /// Sorts all hashes.
    ///
    /// # Errors
    /// Errors of the temporary file.
    pub fn sort(mut self) -> Result<SortedKeys> {
        if self.ends.is_empty() {
            let mut keys = SortedKeys::new(self.seed, 1);
            self.unsorted.sort_unstable();
            self.unsorted.iter().try_for_each(|hash| keys.add(*hash))?;
            return Ok(keys);
        }
        let mut keys = SortedKeys::new(self.seed, PAGE as u64);
        self.end_run()?;
        self.unsorted = Vec::new();
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let mut runs: Vec<SortedRun<'_>> = starts
            .zip(&self.ends)
            .map(|(start, end)| SortedRun { of: &self.sorted, left: start..*end, page: Vec::new() })
            .collect();
        let mut heap = BinaryHeap::new();
        for (nth, run) in runs.iter_mut().enumerate() {
            heap.extend(run.next()?.map(|hash| Reverse((hash, nth))));
        }
        while let Some(Reverse((hash, nth))) = heap.pop() {
            keys.add(hash)?;
            let next = runs.get_mut(nth).map_or(Ok(None), SortedRun::next)?;
            heap.extend(next.map(|hash| Reverse((hash, nth))));
        }
        Ok(keys)
    }
}

fn hash(seed: u64, key: &str) -> u128 {
    xxh3_128_with_seed(key.as_bytes(), seed)
}

/// The rest of a run of sorted hashes.
struct SortedRun<'s> {
    of: &'s Scratch,
    left: std::ops::Range<u64>,
    /// The next hashes, the last first.
    page: Vec<u128>,
}

impl SortedRun<'_> {
    fn next(&mut self) -> Result<Option<u128>> {
        if self.page.is_empty() {
            self.page = page(self.of, &mut self.left)?;
            self.page.reverse();
        }
        Ok(self.page.pop())
    }
}

/// Reads the first hashes of a range and takes them off it.
fn page(of: &Scratch, left: &mut std::ops::Range<u64>) -> Result<Vec<u128>> {
    let count = (left.end - left.start).min(PAGE as u64);
    let mut bytes = vec![0; count as usize * BYTES];
    of.read(left.start * BYTES as u64, &mut bytes)?;
    left.start += count;
    Ok(bytes.chunks_exact(BYTES).map(|hash| u128::from_le_bytes(hash.try_into().unwrap_or_default())).collect())
}

/// The hashes of a set of keys.
#[derive(Debug, Default)]
pub struct SortedKeys {
    seed: u64,
    /// The number of hashes of a page. If it is 1, `pages` has them all.
    page: u64,
    hashes: Scratch,
    /// The first hash of each page.
    pages: Vec<u128>,
    count: u64,
    last: Option<u128>,
    /// Hashes that came more than once.
    repeated: Vec<u128>,
}

/// Maximum number of repeated hashes that are remembered.
const REPEATED: usize = 10_000;

impl SortedKeys {
    fn new(seed: u64, page: u64) -> Self {
        Self { seed, page, ..Self::default() }
    }

    /// Adds a hash that is not less than the last one.
    fn add(&mut self, hash: u128) -> Result<()> {
        if self.last.replace(hash) == Some(hash) {
            if self.repeated.len() < REPEATED && self.repeated.last() != Some(&hash) {
                self.repeated.push(hash);
            }
            return Ok(());
        }
        if self.count.is_multiple_of(self.page) {
            self.pages.push(hash);
        }
        self.count += 1;
        if self.page == 1 { Ok(()) } else { self.hashes.push(&hash.to_le_bytes()) }
    }

    /// Returns `true` if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns `true` if all keys have different hashes, and so are different.
    pub fn are_distinct(&self) -> bool {
        self.repeated.is_empty()
    }

    /// Returns `true` if another key may be the same as this one. Remembers the first 10,000 such keys.
    pub fn is_repeated(&self, key: &str) -> bool {
        self.repeated.binary_search(&hash(self.seed, key)).is_ok()
    }

    /// Returns `true` if `key` is in the set, which may be wrong for one of 10³⁸ keys.
    ///
    /// # Errors
    /// Errors of the temporary file.
    pub fn contains(&self, key: &str) -> Result<bool> {
        let hash = hash(self.seed, key);
        let Some(nth) = self.pages.partition_point(|first| *first <= hash).checked_sub(1) else { return Ok(false) };
        if self.page == 1 {
            return Ok(self.pages.get(nth) == Some(&hash));
        }
        let start = (nth * PAGE) as u64;
        Ok(page(&self.hashes, &mut (start..self.count))?.binary_search(&hash).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(keys: impl IntoIterator<Item = String>) -> SortedKeys {
        let mut set = KeySet::default();
        keys.into_iter().for_each(|key| set.add(&key).unwrap());
        set.sort().unwrap()
    }

    #[test]
    fn keys_are_found_whether_there_are_few_or_many() {
        for count in [0, 1, PAGE, PAGE + 1, SORTED - 1, SORTED, 3 * SORTED + 5] {
            let keys = of((0..count).map(|nth| format!("c{nth}")));
            assert!(keys.are_distinct() && keys.count == count as u64, "{count}");
            for nth in [0, 1, count / 2, count.saturating_sub(1)].into_iter().filter(|nth| *nth < count) {
                assert!(keys.contains(&format!("c{nth}")).unwrap(), "{nth} of {count}");
            }
            assert!(!keys.contains("C0").unwrap() && !keys.contains(&format!("c{count}")).unwrap());
        }
    }

    #[test]
    fn repeated_keys_are_remembered() {
        let count = 2 * SORTED;
        let keys = of((0..count).map(|nth| format!("c{}", if nth == count - 1 { 7 } else { nth })));
        assert!(!keys.are_distinct() && keys.is_repeated("c7") && !keys.is_repeated("c8"));
        assert_eq!(keys.count, count as u64 - 1);
        let all_equal = of(["", "", "a", ""].map(str::to_owned));
        assert_eq!((all_equal.count, all_equal.is_repeated(""), all_equal.is_repeated("a")), (2, true, false));
        assert_eq!(of((0..4 * REPEATED).map(|nth| format!("{}", nth / 2))).repeated.len(), REPEATED);
    }
}
