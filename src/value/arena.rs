//! The bump arena that values of one render (or one set of inputs) live in: reset, not freed, between renders.

use bumpalo::Bump;

use super::{BLOCK, List, Map, ROOM, Shape, Text, Value, Within};

/// Owns what values borrow. Nothing in it is dropped; [`Arena::reset`] makes its memory usable again.
#[derive(Debug, Default)]
pub struct Arena {
    bump: Bump,
}

impl Arena {
    /// An empty arena; it allocates when first used.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything in the arena and keeps its largest block for what comes next.
    pub fn reset(&mut self) {
        self.bump.reset();
    }

    /// Bytes the arena holds from the allocator.
    pub fn allocated_bytes(&self) -> usize {
        self.bump.allocated_bytes()
    }

    /// The arena underneath, for what is not a value.
    pub(crate) fn bump(&self) -> &Bump {
        &self.bump
    }

    /// A copy of `text` in the arena.
    pub fn copy_str(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// A copy of `bytes` in the arena.
    pub fn copy_bytes(&self, bytes: &[u8]) -> &[u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// A text value that is a copy of `text`. Short texts get room behind them, so that they can be written whole.
    pub fn text<'v>(&'v self, text: &str) -> Value<'v> {
        Value::Str(self.bump.alloc(self.copy_text(text)))
    }

    /// A copy of `text`, with room behind it where it is short.
    pub(super) fn copy_text<'v>(&'v self, text: &str) -> Text<'v> {
        let Some(rest) = ROOM.get(text.len()..) else { return Text::new(self.bump.alloc_str(text)) };
        let mut room = bumpalo::collections::String::with_capacity_in(BLOCK, &self.bump);
        room.push_str(text);
        room.push_str(rest);
        Text::in_front_of(room.into_bump_str(), text.len())
    }

    /// A text value that borrows `text`.
    pub fn borrowed_text<'v>(&'v self, text: &'v str) -> Value<'v> {
        Value::Str(self.bump.alloc(Text::new(text)))
    }

    /// A text value that is the first `len` bytes of `room`.
    pub(crate) fn text_in_front_of<'v>(&'v self, room: &'v str, len: usize) -> Value<'v> {
        Value::Str(self.bump.alloc(Text::in_front_of(room, len)))
    }

    /// A text value of at most `len` bytes that `write` writes piece by piece, without a copy.
    pub fn text_with<'v>(&'v self, len: usize, write: impl FnOnce(&mut bumpalo::collections::String<'v>)) -> Value<'v> {
        let mut text = bumpalo::collections::String::with_capacity_in(len, &self.bump);
        write(&mut text);
        self.borrowed_text(text.into_bump_str())
    }

    /// A list value that is a copy of `items`.
    pub fn list<'v>(&'v self, items: &[Value<'v>]) -> Value<'v> {
        let mut within = Within::default();
        let items = self.bump.alloc_slice_fill_iter(items.iter().inspect(|item| within.add(item)).copied());
        Value::List(self.bump.alloc(List { items, within: within.held() }))
    }

    /// A list value that borrows `items`.
    pub fn borrowed_list<'v>(&'v self, items: &'v [Value<'v>]) -> Value<'v> {
        Value::List(self.bump.alloc(List::new(items)))
    }

    /// A map value of `entries`, in their order; of a key that comes twice the last value counts.
    pub fn map<'v>(&'v self, entries: &[(&'v str, Value<'v>)]) -> Value<'v> {
        let keys = self.bump.alloc_slice_fill_iter(entries.iter().map(|(key, _)| Text::new(key)));
        let values = self.bump.alloc_slice_fill_iter(entries.iter().map(|(_, value)| *value));
        match Shape::without_duplicates(self, keys) {
            Some(shape) => self.shaped_map(shape, values),
            None => self.map(&last_of_each(entries)),
        }
    }

    /// A map of `shape`'s keys with the values that `values` yields, one for each key.
    #[inline(always)]
    pub(crate) fn map_of_values<'v>(
        &'v self,
        shape: &'v Shape<'v>,
        values: impl ExactSizeIterator<Item = Value<'v>>,
    ) -> &'v Map<'v> {
        let mut within = Within::default();
        let values = self.bump.alloc_slice_fill_iter(values.inspect(|value| within.add(value)));
        self.bump.alloc(Map::around(shape, values, within.held()))
    }

    /// A map value of `shape`'s keys with `values`, one for each key.
    pub(crate) fn shaped_map<'v>(&'v self, shape: &'v Shape<'v>, values: &'v [Value<'v>]) -> Value<'v> {
        Value::Map(self.bump.alloc(Map::new(shape, values)))
    }
}

/// `entries` with each key once, at its first place, with its last value.
pub(super) fn last_of_each<'v>(entries: &[(&'v str, Value<'v>)]) -> Vec<(&'v str, Value<'v>)> {
    let mut unique: indexmap::IndexMap<&'v str, Value<'v>> = indexmap::IndexMap::new();
    unique.extend(entries.iter().copied());
    unique.into_iter().collect()
}
