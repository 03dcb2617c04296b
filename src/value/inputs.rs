//! The inputs of a render and the memory that holds them.

use bumpalo::Bump;
use self_cell::self_cell;

use super::borrowed::{List, Summary};
use super::{BLOCK, InputBuilder, Map, PADDING, Shape, Shapes, Text, Value};

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
    #[doc(hidden)]
    pub fn bump(&self) -> &Bump {
        &self.bump
    }

    /// Returns a copy of `text` in the arena.
    pub fn copy_str(&self, text: &str) -> &str {
        self.bump.alloc_str(text)
    }

    /// Returns a copy of `bytes` in the arena.
    #[doc(hidden)]
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
    #[doc(hidden)]
    pub fn text_with<'v>(&'v self, len: usize, write: impl FnOnce(&mut bumpalo::collections::String<'v>)) -> Value<'v> {
        let mut text = bumpalo::collections::String::with_capacity_in(len, &self.bump);
        write(&mut text);
        self.borrowed_text(text.into_bump_str())
    }

    /// Returns a list value that copies `items`.
    pub fn list<'v>(&'v self, items: &[Value<'v>]) -> Value<'v> {
        self.borrowed_list(self.bump.alloc_slice_copy(items))
    }

    /// Returns a map value that copies `values`, one for each key of the shape.
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
    #[doc(hidden)]
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
    #[doc(hidden)]
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

/// Maximum memory kept for values, and for shapes, in bytes.
const KEPT: usize = 1 << 20;

self_cell!(
    struct OwnShapes {
        owner: Arena,
        #[not_covariant]
        dependent: Shapes,
    }
);

impl Default for OwnShapes {
    fn default() -> Self {
        Self::new(Arena::new(), |arena| Shapes::new(arena))
    }
}

/// The memory of the inputs of one render after another. It remembers their keys, so that similar inputs are converted
/// faster and read sites find their values again.
///
/// ```
/// use dropforge::value::InputSpace;
/// let mut space = InputSpace::default();
/// let lengths = [3, 5].map(|n| space.with(|builder| builder.serialize(&vec![1; n]).unwrap().as_list().unwrap().len()));
/// assert_eq!(lengths, [3, 5]);
/// ```
#[derive(Default)]
pub struct InputSpace {
    values: Arena,
    shapes: OwnShapes,
}

impl InputSpace {
    /// Drops all values and calls `work` with a builder of new ones.
    pub fn with<'s, R>(&'s mut self, work: impl for<'w> FnOnce(&InputBuilder<'s, 'w>) -> R) -> R {
        if self.values.allocated_bytes() > KEPT {
            self.values = Arena::new();
        }
        self.values.reset();
        if self.shapes.with_dependent(|arena, shapes| shapes.is_full() || arena.allocated_bytes() > KEPT) {
            self.shapes = OwnShapes::default();
        }
        let Self { values, shapes } = self;
        shapes.with_dependent(|_, shapes| work(&InputBuilder::new(values, shapes)))
    }
}

/// Top-level names in two layers. A name in `over` hides the same name in `base` completely.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inputs<'v> {
    base: Option<&'v Map<'v>>,
    over: Option<&'v Map<'v>>,
}

impl<'v> Inputs<'v> {
    /// Inputs with one layer. Anything but a map has no names.
    pub fn new(value: Value<'v>) -> Self {
        Self { base: value.as_map(), over: None }
    }

    /// Inputs with two layers.
    pub fn layered(base: Value<'v>, over: Value<'v>) -> Self {
        Self { base: base.as_map(), over: over.as_map() }
    }

    /// Returns the layers in order of precedence.
    #[doc(hidden)]
    pub fn layers(&self) -> [Option<&'v Map<'v>>; 2] {
        [self.over, self.base]
    }

    /// Returns `true` if both consist of identical layers, not merely equal ones.
    #[doc(hidden)]
    pub fn is(&self, other: &Self) -> bool {
        let identities = |inputs: &Self| inputs.layers().map(|layer| layer.map(std::ptr::from_ref));
        identities(self) == identities(other)
    }

    /// Returns the value of `name`.
    pub fn get(&self, name: &str) -> Option<Value<'v>> {
        self.layers().into_iter().flatten().find_map(|layer| layer.get(name))
    }

    /// All names with their values, without duplicates, in order of precedence.
    pub fn iter(&self) -> impl Iterator<Item = (&'v str, Value<'v>)> + use<'v> {
        let over = self.over;
        let hidden = move |key: &str| over.is_some_and(|over| over.get(key).is_some());
        let below = self.base.into_iter().flat_map(Map::iter).filter(move |(key, _)| !hidden(key));
        over.into_iter().flat_map(Map::iter).chain(below)
    }
}

impl<'v, 'w: 'v> InputBuilder<'v, 'w> {
    /// Returns the inputs `over`, merged deeply over `base`: maps key by key; a null removes the value in `base`; any
    /// other value replaces it.
    ///
    /// ```
    /// use dropforge::value::{Arena, InputBuilder, Shapes};
    /// let (arena, names) = (Arena::new(), Arena::new());
    /// let shapes = Shapes::new(&names);
    /// let builder = InputBuilder::new(&arena, &shapes);
    /// let base = builder.json(r#"{"a": {"x": 1, "y": 2}, "b": 3}"#).unwrap();
    /// let over = builder.json(r#"{"a": {"y": 4}, "b": null}"#).unwrap();
    /// let inputs = builder.merged(base, over);
    /// assert_eq!(inputs.get("a").unwrap().as_map().unwrap().len(), 2);
    /// assert!(inputs.get("b").is_none());
    /// ```
    pub fn merged(&self, base: Value<'v>, over: Value<'v>) -> Inputs<'v> {
        let (Some(below), Some(above)) = (base.as_map(), over.as_map()) else { return Inputs::layered(base, over) };
        let removes = |(key, value): (&str, Value<'_>)| matches!(value, Value::Null) && below.get(key).is_some();
        if above.iter().any(removes) {
            return Inputs::new(self.merge(below, above));
        }
        let both = |key: &str| below.get(key).is_some_and(|value| value.as_map().is_some());
        if !above.iter().any(|(key, value)| value.as_map().is_some() && both(key)) {
            return Inputs::layered(base, over);
        }
        let mark = self.open();
        above.iter().for_each(|(key, value)| self.push_entry(key, self.merged_value(below.get(key), value)));
        Inputs::layered(base, self.close_map(mark))
    }

    fn merge(&self, below: &Map<'v>, above: &Map<'v>) -> Value<'v> {
        let mark = self.open();
        for (key, value) in below.iter() {
            match above.get(key) {
                Some(Value::Null) => {}
                Some(over) => self.push_entry(key, self.merged_value(Some(value), over)),
                None => self.push_entry(key, value),
            }
        }
        let added = above.iter().filter(|(key, _)| below.get(key).is_none());
        added.for_each(|(key, value)| self.push_entry(key, value));
        self.close_map(mark)
    }

    /// Returns `above` over `below`, for a value that is not removed.
    fn merged_value(&self, below: Option<Value<'v>>, above: Value<'v>) -> Value<'v> {
        match (below.as_ref().and_then(Value::as_map), above.as_map()) {
            (Some(below), Some(above)) => self.merge(below, above),
            _ => above,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn memory_is_bounded_whatever_the_keys() {
        let mut space = InputSpace::default();
        for round in 0..400 {
            let map: BTreeMap<String, u32> =
                (0..100).map(|at| (format!("{round}-{at}-{}", "k".repeat(100)), at)).collect();
            let sum: i64 = space.with(|builder| {
                let value = builder.serialize(&map).unwrap();
                let values = value.as_map().unwrap().values().iter();
                values.map(|value| if let super::super::Value::Int(n) = value { *n } else { 0 }).sum()
            });
            assert_eq!(sum, (0..100).sum::<i64>());
            let kept = space.shapes.with_dependent(|arena, _| arena.allocated_bytes());
            assert!(kept < 4 * KEPT, "{kept}");
        }
    }
}
