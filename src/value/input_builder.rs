//! Reads inputs directly into an arena: JSON text or any deserializer, borrowing text where possible.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::data::visit_scalars;
use super::{Arena, Data, DataMap, Shape, Shapes, Text, Value};
use crate::diagnostics::{Code, Diagnostic, Result};

/// A builder of values in an arena. Maps with the same keys share an interned shape.
///
/// ```
/// use dropforge::value::{Arena, InputBuilder, Shapes};
/// let (arena, names) = (Arena::new(), Arena::new());
/// let shapes = Shapes::new(&names);
/// let builder = InputBuilder::new(&arena, &shapes);
/// let value = builder.json(r#"[{"a": 1}, {"a": 2}]"#).unwrap();
/// let items = value.as_list().unwrap();
/// assert_eq!(items[0].as_map().unwrap().shape().id(), items[1].as_map().unwrap().shape().id());
/// ```
#[derive(Debug)]
pub struct InputBuilder<'v, 'w> {
    arena: &'v Arena,
    shapes: &'v Shapes<'w>,
    scratch: RefCell<Scratch<'v>>,
    /// The JSON text that strings are borrowed from.
    read: Cell<&'v str>,
}

/// Maximum nesting of an input, which bounds the use of the host's stack.
pub(super) const MAX_DEPTH: usize = 128;

/// Returns the error of an input that nests deeper than [`MAX_DEPTH`].
#[cold]
pub(super) fn too_deep() -> Box<Diagnostic> {
    Diagnostic::new(Code::LimitDepth, format!("the input nests too deep: the limit is {MAX_DEPTH} levels"))
}

/// The entries of the containers under construction, innermost last.
#[derive(Debug, Default)]
struct Scratch<'v> {
    keys: Vec<&'v str>,
    values: Vec<Value<'v>>,
}

impl<'v, 'w: 'v> InputBuilder<'v, 'w> {
    /// Returns a builder that stores values in `arena` and interns shapes in `shapes`.
    pub fn new(arena: &'v Arena, shapes: &'v Shapes<'w>) -> Self {
        Self { arena, shapes, scratch: RefCell::default(), read: Cell::default() }
    }

    /// Returns the arena that stores the values.
    pub fn arena(&self) -> &'v Arena {
        self.arena
    }

    /// Reads a value from JSON text. Strings without escapes borrow from it.
    pub fn json(&self, text: &'v str) -> Result<Value<'v>> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        self.read.set(text);
        let value = Seed(self).deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
        value.map_err(|error| match error.to_string() {
            why if why.starts_with("recursion limit") => too_deep(),
            why => Diagnostic::new(Code::InputSyntax, format!("this is not JSON: {why}")),
        })
    }

    /// Returns a text value. A slice of the JSON text is borrowed together with the bytes after it; any other text is
    /// copied, because nothing is known about the bytes after it.
    fn text(&self, text: &'v str) -> Value<'v> {
        let read = self.read.get();
        let at = text.as_ptr().addr().wrapping_sub(read.as_ptr().addr());
        match read.get(at..) {
            Some(rest) if text.len() <= rest.len() => self.arena.prefix_text(rest, text.len()),
            _ => self.arena.text(text),
        }
    }

    /// Reads a value from any deserializer.
    pub fn deserialize<'de: 'v, D: Deserializer<'de>>(
        &self,
        deserializer: D,
    ) -> std::result::Result<Value<'v>, D::Error> {
        Seed(self).deserialize(deserializer)
    }

    /// Converts an owned value, borrowing its texts and keys.
    ///
    /// # Errors
    /// `limit.depth` for data that nests deeper than 128 levels.
    pub fn data(&self, data: &'v Data) -> Result<Value<'v>> {
        self.owned(data, MAX_DEPTH)
    }

    /// Converts an owned map, borrowing its texts and keys.
    ///
    /// # Errors
    /// Same as [`InputBuilder::data`].
    pub fn data_map(&self, map: &'v DataMap) -> Result<Value<'v>> {
        self.owned_map(map, MAX_DEPTH)
    }

    /// Converts an owned value with at most `levels` levels.
    fn owned(&self, data: &'v Data, levels: usize) -> Result<Value<'v>> {
        Ok(match data {
            Data::Null => Value::Null,
            Data::Bool(b) => Value::Bool(*b),
            Data::Int(n) => Value::Int(*n),
            Data::Uint(n) => Value::uint(*n),
            Data::Float(n) => Value::Float(*n),
            Data::Str(text) => self.arena.borrowed_text(text),
            Data::List(items) => {
                let levels = levels.checked_sub(1).ok_or_else(too_deep)?;
                let items = items.iter().map(|item| self.owned(item, levels));
                self.arena.borrowed_list(self.arena.bump().alloc_slice_try_fill_iter(items)?)
            }
            Data::Map(map) => self.owned_map(map, levels)?,
        })
    }

    fn owned_map(&self, map: &'v DataMap, levels: usize) -> Result<Value<'v>> {
        let levels = levels.checked_sub(1).ok_or_else(too_deep)?;
        let values = map.values().map(|value| self.owned(value, levels));
        let values = self.arena.bump().alloc_slice_try_fill_iter(values)?;
        let keys = self.arena.bump().alloc_slice_fill_iter(map.keys().map(String::as_str));
        Ok(self.map(keys, values))
    }

    /// Returns a map of `keys` and `values`. The last value of a duplicate key wins.
    pub(super) fn map(&self, keys: &[&'v str], values: &'v [Value<'v>]) -> Value<'v> {
        if let Some(shape) = self.shapes.intern(keys) {
            return self.arena.shaped_map(shape, values);
        }
        match Shape::without_duplicates(
            self.arena,
            self.arena.bump().alloc_slice_fill_iter(keys.iter().map(|key| Text::new(key))),
        ) {
            Some(shape) => self.arena.shaped_map(shape, values),
            None => {
                let entries: Vec<_> = keys.iter().copied().zip(values.iter().copied()).collect();
                self.arena.map(&super::arena::last_of_each(&entries))
            }
        }
    }

    /// Begins a container: the numbers of keys and values pending before it.
    pub(super) fn open(&self) -> (usize, usize) {
        let scratch = self.scratch.borrow();
        (scratch.keys.len(), scratch.values.len())
    }

    pub(super) fn push(&self, value: Value<'v>) {
        self.scratch.borrow_mut().values.push(value);
    }

    pub(super) fn push_entry(&self, key: &'v str, value: Value<'v>) {
        let mut scratch = self.scratch.borrow_mut();
        scratch.keys.push(key);
        scratch.values.push(value);
    }

    pub(super) fn close_list(&self, mark: (usize, usize)) -> Value<'v> {
        let mut scratch = self.scratch.borrow_mut();
        let list = self.arena.list(scratch.values.get(mark.1..).unwrap_or(&[]));
        scratch.values.truncate(mark.1);
        list
    }

    pub(super) fn close_map(&self, mark: (usize, usize)) -> Value<'v> {
        let mut scratch = self.scratch.borrow_mut();
        let values = self.arena.bump().alloc_slice_copy(scratch.values.get(mark.1..).unwrap_or(&[]));
        let map = self.map(scratch.keys.get(mark.0..).unwrap_or(&[]), values);
        scratch.keys.truncate(mark.0);
        scratch.values.truncate(mark.1);
        map
    }
}

struct Seed<'b, 'v, 'w>(&'b InputBuilder<'v, 'w>);

impl<'de: 'v, 'v, 'w: 'v> DeserializeSeed<'de> for Seed<'_, 'v, 'w> {
    type Value = Value<'v>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value<'v>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de: 'v, 'v, 'w: 'v> Visitor<'de> for Seed<'_, 'v, 'w> {
    type Value = Value<'v>;

    visit_scalars!(Value);

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Value<'v>, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> std::result::Result<Value<'v>, E> {
        Ok(self.0.text(text))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Value<'v>, E> {
        Ok(self.0.arena.text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> std::result::Result<Value<'v>, A::Error> {
        let mark = self.0.open();
        while let Some(item) = access.next_element_seed(Seed(self.0))? {
            self.0.push(item);
        }
        Ok(self.0.close_list(mark))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> std::result::Result<Value<'v>, A::Error> {
        let mark = self.0.open();
        while let Some(key) = access.next_key_seed(KeySeed(self.0.arena))? {
            let value = access.next_value_seed(Seed(self.0))?;
            self.0.push_entry(key, value);
        }
        Ok(self.0.close_map(mark))
    }
}

/// Reads a map key, borrowing it where possible.
struct KeySeed<'v>(&'v Arena);

impl<'de: 'v, 'v> DeserializeSeed<'de> for KeySeed<'v> {
    type Value = &'v str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<&'v str, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de: 'v, 'v> Visitor<'de> for KeySeed<'v> {
    type Value = &'v str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> std::result::Result<&'v str, E> {
        Ok(key)
    }

    fn visit_str<E: Error>(self, key: &str) -> std::result::Result<&'v str, E> {
        Ok(self.0.copy_str(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_survive_a_round_trip() {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let mut random = fastrand::Rng::with_seed(5);
        let any = (0..4000).map(|at| if at % 2 == 0 { f64::from_bits(random.u64(..)) } else { random.f64() });
        let numbers: Vec<f64> = any.filter(|number| number.is_finite()).chain([5e-324, f64::MAX, 2.2e-308]).collect();
        let texts: Vec<_> = numbers.iter().map(|n| zmij::Buffer::new().format_finite(*n).to_owned()).collect();
        let text = format!("[{}]", texts.join(","));
        let read = builder.json(&text).unwrap();
        let owned: Vec<Data> = serde_json::from_str(&text).unwrap();
        for (((number, text), read), owned) in numbers.iter().zip(&texts).zip(read.as_list().unwrap()).zip(&owned) {
            let (Value::Float(read), Data::Float(owned)) = (read, owned) else { panic!("{text}: {read:?}, {owned:?}") };
            assert_eq!([read.to_bits(), owned.to_bits()], [number.to_bits(); 2], "{text}: {read}, {owned}");
        }
    }

    #[test]
    fn maps_share_a_shape_by_their_keys_alone_whatever_came_before() {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let text = r#"[{"a":1},{"b":1},{"a":1},{"a":1},{"a":1,"b":2},{"b":2,"a":1},{"a":1,"a":2},{},{"b":1},{"a":1}]"#;
        for _ in 0..3 {
            let list = builder.json(text).unwrap();
            let ids: Vec<u32> = list.as_list().unwrap().iter().map(|map| map.as_map().unwrap().shape_id()).collect();
            let [a, b, _, _, ab, ba, twice, none, ..] = ids[..] else { panic!("{ids:?}") };
            assert_eq!(ids, [a, b, a, a, ab, ba, twice, none, b, a]);
            assert!(a != b && a != ab && ab != ba && ba != none && none != a);
        }
    }

    #[test]
    fn a_byte_is_found_in_a_text_and_not_behind_it() {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        for length in 0..70 {
            for at in (0..length).map(Some).chain([None]) {
                let mut text = vec!["x"; length];
                at.into_iter().for_each(|at| text[at] = "'");
                let (text, behind) = (text.concat(), "'".repeat(40));
                let json = arena.copy_str(&format!("[\"{text}\",\"{behind}\"]"));
                let list = InputBuilder::new(&arena, &shapes).json(json).unwrap();
                let Value::Str(read) = list.as_list().unwrap()[0] else { panic!("{json}") };
                let Value::Str(copied) = arena.text(&text) else { panic!("{json}") };
                let found = [read.has_either(b'\'', 0), copied.has_either(b'\'', 0), copied.has_either(0, b'\'')];
                assert_eq!(found, [at.is_some(); 3], "{length} {at:?}");
            }
        }
    }
}
