//! The open collections of a scan, and the keys of open maps.

use xxhash_rust::xxh3::xxh3_64;

/// Maximum nesting that all readers allow.
const DEPTH: usize = 127;
/// Maximum number of keys that are compared pair by pair.
const FEW: usize = 12;

/// The kind of an open collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Map,
    List,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    pub kind: Kind,
    /// The column of its entries. Flow collections have that of the block collection around them.
    pub column: usize,
    /// Index of the first of its keys.
    keys: usize,
}

/// A stack of collections.
#[derive(Debug, Default)]
pub(super) struct Nest {
    levels: Vec<Level>,
    /// Hashes of the keys of open maps, outermost map first.
    keys: Vec<u64>,
}

impl Nest {
    pub fn clear(&mut self) {
        self.levels.clear();
        self.keys.clear();
    }

    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    #[inline(always)]
    pub fn top(&self) -> Option<Level> {
        self.levels.last().copied()
    }

    #[inline]
    pub fn open(&mut self, kind: Kind, column: usize) -> Option<()> {
        if self.levels.len() >= DEPTH {
            return None;
        }
        self.levels.push(Level { kind, column, keys: self.keys.len() });
        Some(())
    }

    /// Adds a key to the innermost map.
    #[inline]
    pub fn key(&mut self, name: &[u8]) {
        self.keys.push(xxh3_64(name));
    }

    /// Closes the innermost collection. Returns `None` if two keys have one hash: they are equal, or nearly never different.
    pub fn close(&mut self) -> Option<()> {
        let first = self.levels.pop()?.keys;
        let distinct = are_distinct(self.keys.get_mut(first..)?);
        self.keys.truncate(first);
        distinct.then_some(())
    }

    /// Closes all collections beyond the first `depth`.
    pub fn close_to(&mut self, depth: usize) -> Option<()> {
        while self.levels.len() > depth {
            self.close()?;
        }
        Some(())
    }
}

fn are_distinct(hashes: &mut [u64]) -> bool {
    if hashes.len() <= FEW {
        let mut rest = &*hashes;
        while let Some((last, others)) = rest.split_last() {
            if others.contains(last) {
                return false;
            }
            rest = others;
        }
        return true;
    }
    hashes.sort_unstable();
    hashes.windows(2).all(|pair| pair.first() != pair.last())
}
