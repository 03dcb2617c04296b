//! Builds inputs directly in an arena: from JSON text, owned data, any deserializer and anything that serializes.

use std::cell::{RefCell, RefMut};

use serde::de::{DeserializeSeed, Deserializer};

use super::data::Seed;
use super::long_numbers::below;
use super::outline::{KeyStep, Learned, Place};
use super::read_json::JsonReader;
use super::{Arena, Data, DataMap, Numbers, Shape, Shapes, Text, Value};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

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
    numbers: Numbers,
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
pub(super) struct Scratch<'v> {
    keys: Vec<&'v str>,
    pub values: Vec<Value<'v>>,
}

/// A map under construction.
pub(super) struct OpenMap<'w> {
    /// The last key. `None` if the keys are pending instead.
    step: Option<&'w KeyStep<'w>>,
    /// The numbers of keys and values pending before it.
    mark: (usize, usize),
}

impl<'w> OpenMap<'w> {
    /// Returns the expected next key.
    #[inline(always)]
    pub fn expected(&self) -> Option<&'w KeyStep<'w>> {
        self.step?.expected()
    }

    /// Adds an expected key. Returns the place of its value.
    #[inline(always)]
    pub fn enter(&mut self, step: &'w KeyStep<'w>) -> Place<'w, 'w> {
        self.step = Some(step);
        step.place()
    }
}

impl<'v, 'w: 'v> InputBuilder<'v, 'w> {
    /// Returns a builder that stores values in `arena` and interns shapes in `shapes`.
    pub fn new(arena: &'v Arena, shapes: &'v Shapes<'w>) -> Self {
        Self { arena, shapes, scratch: RefCell::default(), numbers: Numbers::AsWritten }
    }

    /// Returns the builder with a policy for the numbers of all values that it builds from now on.
    ///
    /// ```
    /// use dropforge::value::{Arena, InputBuilder, Numbers, Shapes, Value};
    /// let (arena, names) = (Arena::new(), Arena::new());
    /// let shapes = Shapes::new(&names);
    /// let value = InputBuilder::new(&arena, &shapes).with_numbers(Numbers::Floats).json("[1, {\"a\": 2}]").unwrap();
    /// assert!(matches!(value.as_list().unwrap()[0], Value::Float(1.0)));
    /// ```
    pub fn with_numbers(self, numbers: Numbers) -> Self {
        Self { numbers, ..self }
    }

    /// Returns the policy for numbers.
    pub(super) fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Returns a whole value with its numbers by the policy. Values that are built as they are written cost nothing
    /// more.
    #[inline]
    pub(super) fn numbered(&self, value: Value<'v>) -> Value<'v> {
        if self.numbers.keeps() { value } else { self.numbers.all(self.arena, value) }
    }

    /// Returns the arena that stores the values.
    pub fn arena(&self) -> &'v Arena {
        self.arena
    }

    /// Reads a value from JSON text. Strings without escapes borrow from it.
    pub fn json(&self, text: &'v str) -> Result<Value<'v>> {
        let mark = self.open();
        if let Some(value) = JsonReader::new(self, &mut self.scratch.borrow_mut(), text).document(self.whole()) {
            return Ok(self.numbered(value));
        }
        self.cut(mark);
        self.explained(text)
    }

    /// Reads a value from text that is not JSON, for the error.
    #[cold]
    fn explained(&self, text: &'v str) -> Result<Value<'v>> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = self.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
        let value = value.map_err(|error| match error.to_string() {
            why if why.starts_with("recursion limit") => too_deep(),
            why => Diagnostic::new(Code::InputSyntax, format!("this is not JSON: {why}")),
        })?;
        // A number is refused, which an owned value shows with its path.
        let (data, arena) = (Data::of_json(text).unwrap_or_default(), Arena::new());
        InputBuilder::new(&arena, &Shapes::new(&Arena::new())).with_numbers(self.numbers).data(&data).map(|_| value)
    }

    /// Reads a value from any deserializer.
    pub fn deserialize<'de: 'v, D: Deserializer<'de>>(
        &self,
        deserializer: D,
    ) -> std::result::Result<Value<'v>, D::Error> {
        Seed(self, self.whole()).deserialize(deserializer).map(|value| self.numbered(value))
    }

    /// Converts an owned value, borrowing its texts and keys.
    ///
    /// # Errors
    /// `limit.depth` for data that nests deeper than 128 levels.
    pub fn data(&self, data: &'v Data) -> Result<Value<'v>> {
        self.owned(data, self.whole(), MAX_DEPTH)
    }

    /// Converts an owned map, borrowing its texts and keys.
    ///
    /// # Errors
    /// Same as [`InputBuilder::data`].
    pub fn data_map(&self, map: &'v DataMap) -> Result<Value<'v>> {
        self.owned_map(map, self.whole(), MAX_DEPTH)
    }

    /// Converts an owned value with at most `levels` levels.
    fn owned(&self, data: &'v Data, place: Place<'_, 'w>, levels: usize) -> Result<Value<'v>> {
        let is_unread = place.is_some_and(Learned::is_unread);
        Ok(match data {
            Data::Str(_) if is_unread => self.arena.text(""),
            Data::List(_) if is_unread => self.arena.list(&[]),
            Data::Map(_) if is_unread => self.arena.map(&[]),
            Data::Null => Value::Null,
            Data::Bool(b) => Value::Bool(*b),
            Data::Int(n) => self.numbers.int(self.arena, *n),
            Data::Uint(n) => self.numbers.uint(self.arena, *n),
            Data::Float(n) => self.numbers.float(*n),
            Data::Number(_) if is_unread => Value::Int(0),
            Data::Number(text) => self.numbers.long(self.arena, text)?,
            Data::Str(text) => self.arena.borrowed_text(text),
            Data::List(items) => {
                let levels = levels.checked_sub(1).ok_or_else(too_deep)?;
                let place = self.item(place);
                let items = items.iter().enumerate();
                let items = items.map(|(at, item)| below(self.owned(item, place, levels), &at.to_string()));
                self.arena.borrowed_list(self.arena.bump().alloc_slice_try_fill_iter(items)?)
            }
            Data::Map(map) => self.owned_map(map, place, levels)?,
        })
    }

    fn owned_map(&self, map: &'v DataMap, place: Place<'_, 'w>, levels: usize) -> Result<Value<'v>> {
        let levels = levels.checked_sub(1).ok_or_else(too_deep)?;
        let mut open = self.open_map(place, &self.scratch());
        for (key, value) in map {
            let place = self.enter(&mut open, key, |key| key);
            match below(self.owned(value, place, levels), key) {
                Ok(value) => self.push(value),
                Err(error) => {
                    self.cut(open.mark);
                    return Err(error);
                }
            }
        }
        Ok(self.finish_map(open, &mut self.scratch()))
    }

    /// Returns a map of `keys` and a copy of `values`. The last value of a duplicate key wins.
    pub fn map(&self, keys: &[&'v str], values: &[Value<'v>]) -> Value<'v> {
        if let Some(shape) = self.shapes.intern(keys) {
            return self.arena.copied_map(shape, values);
        }
        let texts = self.arena.bump().alloc_slice_fill_iter(keys.iter().map(|key| Text::new(key)));
        match Shape::without_duplicates(self.arena, texts) {
            Some(shape) => self.arena.copied_map(shape, values),
            None => {
                let entries: Vec<_> = keys.iter().copied().zip(values.iter().copied()).collect();
                let (keys, values): (Vec<_>, Vec<_>) = super::inputs::last_of_each(&entries).into_iter().unzip();
                self.map(&keys, &values)
            }
        }
    }

    /// Begins a container: the numbers of keys and values pending before it.
    #[inline]
    pub(super) fn open(&self) -> (usize, usize) {
        self.scratch.borrow().mark()
    }

    /// Drops what is pending since `mark`.
    pub(super) fn cut(&self, mark: (usize, usize)) {
        self.scratch.borrow_mut().cut(mark);
    }

    #[inline]
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
        scratch.cut(mark);
        list
    }

    pub(super) fn close_map(&self, mark: (usize, usize)) -> Value<'v> {
        self.finish_map(OpenMap { step: None, mark }, &mut self.scratch())
    }

    /// Returns the place of the whole inputs.
    pub(super) fn whole(&self) -> Place<'v, 'w> {
        self.shapes.inputs()
    }

    pub(super) fn scratch(&self) -> RefMut<'_, Scratch<'v>> {
        self.scratch.borrow_mut()
    }

    /// Returns the place of the items of the list at `list`.
    #[inline(always)]
    pub(super) fn item(&self, list: Place<'_, 'w>) -> Place<'w, 'w> {
        self.shapes.outline(list).map(|outline| &outline.items)
    }

    /// Begins the map at `place`.
    #[inline(always)]
    pub(super) fn open_map(&self, place: Place<'_, 'w>, scratch: &Scratch<'v>) -> OpenMap<'w> {
        let step = self.shapes.outline(place).map(|outline| &outline.start);
        OpenMap { step, mark: scratch.mark() }
    }

    /// Adds a key; `copy` makes it last. Returns the place of its value.
    #[inline]
    pub(super) fn enter<'k>(
        &self,
        map: &mut OpenMap<'w>,
        key: &'k str,
        copy: impl FnOnce(&'k str) -> &'v str,
    ) -> Place<'w, 'w> {
        match map.expected() {
            Some(step) if step.key() == key => map.enter(step),
            _ => self.enter_slowly(map, key, &mut self.scratch(), copy),
        }
    }

    /// Adds a key that was not expected; `copy` makes it last. Returns the place of its value.
    #[inline(never)]
    pub(super) fn enter_slowly<'k>(
        &self,
        map: &mut OpenMap<'w>,
        key: &'k str,
        scratch: &mut Scratch<'v>,
        copy: impl FnOnce(&'k str) -> &'v str,
    ) -> Place<'w, 'w> {
        if let Some(step) = map.step {
            if let Some(next) = self.shapes.follow(step, key) {
                return map.enter(next);
            }
            scratch.keys.extend(step.keys());
            map.step = None;
        }
        scratch.keys.push(copy(key));
        None
    }

    /// Returns the last key of a map under construction.
    #[cold]
    pub(super) fn last_key(&self, map: &OpenMap<'w>) -> &'v str {
        match map.step {
            Some(step) => step.key(),
            None => self.scratch.borrow().keys.last().copied().unwrap_or(""),
        }
    }

    /// Returns the finished map.
    #[inline(always)]
    pub(super) fn finish_map(&self, map: OpenMap<'w>, scratch: &mut Scratch<'v>) -> Value<'v> {
        let values = scratch.values.get(map.mark.1..).unwrap_or(&[]);
        let value = match map.step.and_then(|step| step.shape.get()) {
            Some(shape) => self.arena.copied_map(shape, values),
            None => self.finish_new(&map, scratch),
        };
        scratch.cut(map.mark);
        value
    }

    /// Finishes a map whose keys were not found in this order before.
    #[inline(never)]
    fn finish_new(&self, map: &OpenMap<'w>, scratch: &Scratch<'v>) -> Value<'v> {
        let values = scratch.values.get(map.mark.1..).unwrap_or(&[]);
        let Some(step) = map.step else {
            return self.map(scratch.keys.get(map.mark.0..).unwrap_or(&[]), values);
        };
        let keys = step.keys();
        let shape = self.shapes.intern(&keys);
        step.shape.set(shape);
        match shape {
            Some(shape) => self.arena.copied_map(shape, values),
            None => self.map(&keys, values),
        }
    }
}

impl Scratch<'_> {
    fn mark(&self) -> (usize, usize) {
        (self.keys.len(), self.values.len())
    }

    fn cut(&mut self, (keys, values): (usize, usize)) {
        self.keys.truncate(keys);
        self.values.truncate(values);
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
