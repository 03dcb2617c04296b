//! Iterators over the items and entries of values.

use std::iter::Copied;
use std::ops::Range;
use std::slice::Iter;

use super::tree::{Key, Sorted};
use crate::{Entries, Map, Text, Value};

/// An iterator over the entries of a map value.
#[derive(Debug, Clone)]
pub enum MapEntries<'v> {
    /// Entries in insertion order.
    Inserted(Iter<'v, Text<'v>>, Iter<'v, Value<'v>>),
    /// The remaining entries in byte order of the keys.
    Sorted(&'v Map<'v>, Range<usize>),
    /// Entries in insertion order, with keys other than text.
    Keyed(Iter<'v, Value<'v>>, Iter<'v, Value<'v>>),
    /// A prepared list of entries.
    Listed(std::vec::IntoIter<(Key<'v>, Value<'v>)>),
}

impl<'v> MapEntries<'v> {
    /// Returns the entries of a map, optionally in key order.
    #[inline]
    pub fn of(map: &'v Map<'v>, sorted: bool) -> Self {
        match sorted {
            true => Self::Sorted(map, 0..map.len()),
            false => Self::Inserted(map.shape().keys().iter(), map.values().iter()),
        }
    }

    /// Returns the entries of a map with keys other than text.
    pub fn keyed(entries: &Entries<'v>) -> Self {
        Self::Keyed(entries.keys().iter(), entries.values().iter())
    }

    /// Returns `true` if there may be keys other than text.
    pub(super) const fn has_other_keys(&self) -> bool {
        matches!(self, Self::Keyed(..) | Self::Listed(_))
    }
}

impl<'v> MapEntries<'v> {
    /// Returns the next entry of a map that may have other keys.
    #[cold]
    #[inline(never)]
    fn next_rare(&mut self) -> Option<(Key<'v>, Value<'v>)> {
        match self {
            MapEntries::Keyed(keys, values) => Some((Key::of(*keys.next()?), *values.next()?)),
            MapEntries::Listed(entries) => entries.next(),
            MapEntries::Inserted(..) | MapEntries::Sorted(..) => None,
        }
    }
}

impl<'v> Iterator for MapEntries<'v> {
    type Item = (Key<'v>, Value<'v>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            MapEntries::Inserted(keys, values) => Some((Key::Text(*keys.next()?), *values.next()?)),
            MapEntries::Sorted(map, left) => {
                let (key, value) = map.sorted_entry(left.next()?)?;
                Some((Key::Text(*key), value))
            }
            MapEntries::Keyed(..) | MapEntries::Listed(_) => self.next_rare(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            MapEntries::Inserted(_, values) | MapEntries::Keyed(_, values) => values.size_hint(),
            MapEntries::Listed(entries) => entries.size_hint(),
            MapEntries::Sorted(_, left) => left.size_hint(),
        }
    }
}

impl ExactSizeIterator for MapEntries<'_> {}

/// The items of a list or the entries of a map whose maps are written in key order.
#[derive(Debug, Clone)]
pub struct InOrder<I>(I);

impl<I> InOrder<I> {
    /// Returns the items or entries of `values`.
    #[inline(always)]
    pub(super) const fn new(values: I) -> Self {
        Self(values)
    }
}

impl InOrder<MapEntries<'_>> {
    /// Returns `true` if there may be keys other than text.
    #[inline(always)]
    pub(super) const fn has_other_keys(&self) -> bool {
        self.0.has_other_keys()
    }
}

impl<'v> Iterator for InOrder<Copied<Iter<'v, Value<'v>>>> {
    type Item = Sorted<'v>;

    #[inline(always)]
    fn next(&mut self) -> Option<Sorted<'v>> {
        self.0.next().map(Sorted)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'v> Iterator for InOrder<MapEntries<'v>> {
    type Item = (Key<'v>, Sorted<'v>);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key, Sorted(value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for InOrder<I> where Self: Iterator {}
