//! The bump arena that holds the values of one render or one set of inputs. It is reset, not freed, between renders.

use bumpalo::Bump;

use super::borrowed::{List, Summary};
use super::{BLOCK, Map, PADDING, Shape, Text, Value};

/// The owner of the data that values borrow. Its contents are never dropped; [`Arena::reset`] frees them for reuse.
#[derive(Debug, Default)]
pub struct Arena {
    bump: Bump,
}

impl Arena {
    /// Returns an empty arena; it allocates when first used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Discards all contents and keeps the largest block for reuse.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Memory obtained from the allocator, in bytes.
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// Returns the underlying bump allocator, for data that is not a value.
    pub fn bump(&self) -> &Bump {
        &self.bump
    }

    /// Returns a copy of `text` in the arena.
    pub fn copy_str(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// Returns a copy of `bytes` in the arena.
    pub fn copy_bytes(&self, bytes: &[u8]) -> &[u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// Returns a text value that copies `text`. Short texts are padded to a `Block`.
    pub fn text<'v>(&'v self, text: &str) -> Value<'v> {
        Value::Str(self.bump.alloc(self.copy_text(text)))
    }

    /// Returns a copy of `text`, padded to a [`Block`](super::Block) if it is short.
    #[inline]
    pub(super) fn copy_text<'v>(&'v self, text: &str) -> Text<'v> {
        let Some(rest) = PADDING.get(text.len()..) else { return Text::new(self.bump.alloc_str(text)) };
        let mut padded = bumpalo::collections::String::with_capacity_in(BLOCK, &self.bump);
        padded.push_str(text);
        padded.push_str(rest);
        Text::prefix_of(padded.into_bump_str(), text.len())
    }

    /// Returns a text value that borrows a long `text` and copies a short one, because nothing is known about the bytes
    /// after it.
    pub(super) fn given_text<'v>(&'v self, text: &'v str) -> Value<'v> {
        if text.len() > BLOCK { self.borrowed_text(text) } else { self.text(text) }
    }

    /// Returns a text value that borrows `text`.
    pub fn borrowed_text<'v>(&'v self, text: &'v str) -> Value<'v> {
        Value::Str(self.bump.alloc(Text::new(text)))
    }

    /// Returns a text value of at most `len` bytes that `write` builds in place.
    pub fn text_with<'v>(&'v self, len: usize, write: impl FnOnce(&mut bumpalo::collections::String<'v>)) -> Value<'v> {
        let mut text = bumpalo::collections::String::with_capacity_in(len, &self.bump);
        write(&mut text);
        self.borrowed_text(text.into_bump_str())
    }

    /// Returns a list value that copies `items`.
    pub fn list<'v>(&'v self, items: &[Value<'v>]) -> Value<'v> {
        self.borrowed_list(self.bump.alloc_slice_copy(items))
    }

    /// Returns a map value that copies `values`, which are as many as the shape has keys.
    #[inline(always)]
    pub(super) fn copied_map<'v>(&'v self, shape: &'v Shape<'v>, values: &[Value<'v>]) -> Value<'v> {
        let mut summary = Summary::default();
        let values = self.bump.alloc_slice_fill_iter(values.iter().inspect(|value| summary.add(value)).copied());
        Value::Map(self.bump.alloc(Map::summarized(shape, values, summary.held())))
    }

    /// Returns a list value that borrows `items`.
    pub fn borrowed_list<'v>(&'v self, items: &'v [Value<'v>]) -> Value<'v> {
        Value::List(self.bump.alloc(List::new(items)))
    }

    /// Returns a map value of `entries` in their order. The last value of a duplicate key wins.
    pub fn map<'v>(&'v self, entries: &[(&'v str, Value<'v>)]) -> Value<'v> {
        let keys = self.bump.alloc_slice_fill_iter(entries.iter().map(|(key, _)| Text::new(key)));
        let values = self.bump.alloc_slice_fill_iter(entries.iter().map(|(_, value)| *value));
        match Shape::without_duplicates(self, keys) {
            Some(shape) => self.shaped_map(shape, values),
            None => self.map(&last_of_each(entries)),
        }
    }

    /// Returns a map with the keys of `shape` and one value for each of them.
    #[inline(always)]
    pub fn map_of_values<'v>(
        &'v self,
        shape: &'v Shape<'v>,
        values: impl ExactSizeIterator<Item = Value<'v>>,
    ) -> &'v Map<'v> {
        let mut summary = Summary::default();
        let values = self.bump.alloc_slice_fill_iter(values.inspect(|value| summary.add(value)));
        self.bump.alloc(Map::summarized(shape, values, summary.held()))
    }

    /// Returns a map value with the keys of `shape` and one value for each of them.
    pub fn shaped_map<'v>(&'v self, shape: &'v Shape<'v>, values: &'v [Value<'v>]) -> Value<'v> {
        Value::Map(self.bump.alloc(Map::new(shape, values)))
    }
}

/// `entries` without duplicate keys. Each key keeps its first position and its last value.
pub(super) fn last_of_each<'v>(entries: &[(&'v str, Value<'v>)]) -> Vec<(&'v str, Value<'v>)> {
    let mut unique: indexmap::IndexMap<&'v str, Value<'v>> = indexmap::IndexMap::new();
    unique.extend(entries.iter().copied());
    unique.into_iter().collect()
}
