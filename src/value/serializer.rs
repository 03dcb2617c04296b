//! Serializes any Rust value directly into an arena.

use std::fmt;

use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple};

use super::input_builder::{MAX_DEPTH, OpenMap, too_deep};
use super::outline::Place;
use super::serialize_key::KeySerializer;
use super::{InputBuilder, Numbers, Step, Value};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

impl<'v, 'w: 'v> InputBuilder<'v, 'w> {
    /// Serializes `input` into a value, copying texts into the arena. Enum variants become `"Name"` or
    /// `{"Name": content}`, bytes a list of integers, and characters text of one character.
    ///
    /// ```
    /// use dropforge::value::{Arena, InputBuilder, Shapes};
    /// let (arena, names) = (Arena::new(), Arena::new());
    /// let shapes = Shapes::new(&names);
    /// let value = InputBuilder::new(&arena, &shapes).serialize(&("a", 1, None::<u8>)).unwrap();
    /// assert_eq!(serde_json::to_string(&value.to_data()).unwrap(), r#"["a",1,null]"#);
    /// ```
    pub fn serialize<T: Serialize + ?Sized>(&self, input: &T) -> Result<Value<'v>> {
        let mark = self.open();
        let value = input.serialize(Serializer { builder: self, depth: 0, place: self.whole() });
        value.map(|value| self.numbered(value)).map_err(|refused| {
            self.cut(mark);
            match refused {
                SerializeError::Deep => too_deep(),
                SerializeError::Other(refusal) => {
                    Diagnostic::new(Code::InputSyntax, format!("this input cannot be used: {refusal}"))
                }
            }
        })
    }
}

/// The reason for refusing an input.
#[derive(Debug)]
pub(super) enum SerializeError {
    /// It nests too deep.
    Deep,
    /// A message of the value.
    Other(Box<Refusal>),
}

/// A message about a part of an input.
#[derive(Debug)]
pub(super) struct Refusal {
    why: String,
    /// Innermost step first.
    path: Vec<Step>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", Step::expression(self.path.iter().rev()))?;
        }
        f.write_str(&self.why)
    }
}

impl SerializeError {
    /// Creates the error of a value that is refused.
    #[cold]
    pub(super) fn refused(why: String) -> Self {
        SerializeError::Other(Box::new(Refusal { why, path: Vec::new() }))
    }

    /// Adds the step to the part that is refused.
    #[cold]
    fn within(mut self, step: Step) -> Self {
        if let SerializeError::Other(refusal) = &mut self {
            refusal.path.push(step);
        }
        self
    }
}

impl fmt::Display for SerializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SerializeError::Deep => f.write_str(&too_deep().message),
            SerializeError::Other(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for SerializeError {}

impl ser::Error for SerializeError {
    fn custom<T: fmt::Display>(why: T) -> Self {
        SerializeError::refused(why.to_string())
    }
}

type Made<'v> = std::result::Result<Value<'v>, SerializeError>;

#[derive(Clone, Copy)]
struct Serializer<'b, 'v, 'w> {
    builder: &'b InputBuilder<'v, 'w>,
    depth: usize,
    place: Place<'b, 'w>,
}

/// A list under construction. `variant` wraps it as `{variant: …}`.
struct ListCompound<'b, 'v, 'w> {
    /// The serializer of items.
    serializer: Serializer<'b, 'v, 'w>,
    mark: (usize, usize),
    variant: Option<&'static str>,
}

/// A map under construction. `variant` wraps it as `{variant: …}`.
struct MapCompound<'b, 'v, 'w> {
    /// The serializer of the value whose key was given last.
    serializer: Serializer<'b, 'v, 'w>,
    map: OpenMap<'w>,
    variant: Option<&'static str>,
    /// `true` between a key and its value.
    has_key: bool,
}

impl<'b, 'v, 'w: 'v> Serializer<'b, 'v, 'w> {
    fn inner(self) -> std::result::Result<Self, SerializeError> {
        if self.depth >= MAX_DEPTH { Err(SerializeError::Deep) } else { Ok(Self { depth: self.depth + 1, ..self }) }
    }

    fn open_list(self, variant: Option<&'static str>) -> std::result::Result<ListCompound<'b, 'v, 'w>, SerializeError> {
        let place = self.builder.item(self.place);
        let serializer = Serializer { place, ..self.inner()? };
        Ok(ListCompound { serializer, mark: self.builder.open(), variant })
    }

    fn open_map(self, variant: Option<&'static str>) -> std::result::Result<MapCompound<'b, 'v, 'w>, SerializeError> {
        let map = self.builder.open_map(self.place, &self.builder.scratch());
        Ok(MapCompound { serializer: self.inner()?, map, variant, has_key: false })
    }

    /// Adds a value to the innermost container. Of a value that is refused, nothing is left.
    fn push<T: Serialize + ?Sized>(
        self,
        value: &T,
        step: impl FnOnce() -> Step,
    ) -> std::result::Result<(), SerializeError> {
        let mark = self.builder.open();
        let value = value.serialize(self).map_err(|error| {
            self.builder.cut(mark);
            error.within(step())
        })?;
        self.builder.push(value);
        Ok(())
    }

    /// Returns a number that 64 bits do not hold.
    fn long(self, text: &str) -> Made<'v> {
        let number = Numbers::AsWritten.long(self.builder.arena(), text);
        number.map_err(|error| SerializeError::refused(error.message))
    }

    fn wrapped(self, variant: Option<&'static str>, value: Value<'v>) -> Value<'v> {
        match variant {
            Some(variant) => self.builder.arena().map(&[(variant, value)]),
            None => value,
        }
    }
}

impl<'v, 'w: 'v> ListCompound<'_, 'v, 'w> {
    fn item<T: Serialize + ?Sized>(&self, item: &T) -> std::result::Result<(), SerializeError> {
        self.serializer.push(item, || Step::Index(self.serializer.builder.open().1 - self.mark.1))
    }

    fn list(self) -> Value<'v> {
        self.serializer.wrapped(self.variant, self.serializer.builder.close_list(self.mark))
    }
}

impl<'v, 'w: 'v> MapCompound<'_, 'v, 'w> {
    fn key<'k>(&mut self, key: &'k str, copy: impl FnOnce(&'k str) -> &'v str) {
        self.serializer.place = self.serializer.builder.enter(&mut self.map, key, copy);
        self.has_key = true;
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), SerializeError> {
        self.serializer.push(value, || Step::Key(self.serializer.builder.last_key(&self.map).to_owned()))?;
        self.has_key = false;
        Ok(())
    }

    fn entry<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> std::result::Result<(), SerializeError> {
        self.expect(false)?;
        self.key(key, |key| key);
        self.value(value)
    }

    fn map(self) -> Made<'v> {
        self.expect(false)?;
        let builder = self.serializer.builder;
        let map = builder.finish_map(self.map, &mut builder.scratch());
        Ok(self.serializer.wrapped(self.variant, map))
    }

    /// Checks that keys and values alternate: is there a key without a value?
    #[inline]
    fn expect(&self, has_key: bool) -> std::result::Result<(), SerializeError> {
        match self.has_key == has_key {
            true => Ok(()),
            false => Err(SerializeError::refused("the keys and values of a map do not alternate".to_owned())),
        }
    }
}

macro_rules! scalars {
    ($($method:ident $type:ty: $n:ident => $value:expr;)*) => {
        $(fn $method(self, $n: $type) -> Made<'v> { Ok($value) })*
    };
}

impl<'b, 'v, 'w: 'v> ser::Serializer for Serializer<'b, 'v, 'w> {
    type Ok = Value<'v>;
    type Error = SerializeError;
    type SerializeSeq = ListCompound<'b, 'v, 'w>;
    type SerializeTuple = ListCompound<'b, 'v, 'w>;
    type SerializeTupleStruct = ListCompound<'b, 'v, 'w>;
    type SerializeTupleVariant = ListCompound<'b, 'v, 'w>;
    type SerializeMap = MapCompound<'b, 'v, 'w>;
    type SerializeStruct = MapCompound<'b, 'v, 'w>;
    type SerializeStructVariant = MapCompound<'b, 'v, 'w>;

    scalars! {
        serialize_bool bool: b => Value::Bool(b);
        serialize_i8 i8: n => Value::Int(n.into());
        serialize_i16 i16: n => Value::Int(n.into());
        serialize_i32 i32: n => Value::Int(n.into());
        serialize_i64 i64: n => Value::Int(n);
        serialize_u8 u8: n => Value::Int(n.into());
        serialize_u16 u16: n => Value::Int(n.into());
        serialize_u32 u32: n => Value::Int(n.into());
        serialize_u64 u64: n => Value::uint(n);
        serialize_f32 f32: n => Value::Float(n.into());
        serialize_f64 f64: n => Value::Float(n);
    }

    fn serialize_i128(self, n: i128) -> Made<'v> {
        match i64::try_from(n) {
            Ok(n) => Ok(Value::Int(n)),
            Err(_) => self.long(&n.to_string()),
        }
    }

    fn serialize_u128(self, n: u128) -> Made<'v> {
        match u64::try_from(n) {
            Ok(n) => Ok(Value::uint(n)),
            Err(_) => self.long(&n.to_string()),
        }
    }

    fn serialize_char(self, c: char) -> Made<'v> {
        self.serialize_str(c.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Made<'v> {
        Ok(self.builder.arena().text(text))
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Made<'v> {
        let bytes: Vec<_> = bytes.iter().map(|byte| Value::Int((*byte).into())).collect();
        Ok(self.builder.arena().list(&bytes))
    }

    fn serialize_none(self) -> Made<'v> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Made<'v> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Made<'v> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Made<'v> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Made<'v> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Made<'v> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Made<'v> {
        let mut map = self.open_map(None)?;
        map.entry(variant, value)?;
        map.map()
    }

    fn serialize_seq(self, _len: Option<usize>) -> std::result::Result<Self::SerializeSeq, SerializeError> {
        self.open_list(None)
    }

    /// Does what serde's own does, with half of the calls within calls for each level of lists.
    fn collect_seq<I>(self, items: I) -> std::result::Result<Value<'v>, SerializeError>
    where
        I: IntoIterator,
        I::Item: Serialize,
    {
        let list = self.open_list(None)?;
        for item in items {
            list.item(&item)?;
        }
        Ok(list.list())
    }

    fn serialize_tuple(self, _len: usize) -> std::result::Result<Self::SerializeTuple, SerializeError> {
        self.open_list(None)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> std::result::Result<Self::SerializeTupleStruct, SerializeError> {
        self.open_list(None)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> std::result::Result<Self::SerializeTupleVariant, SerializeError> {
        self.open_list(Some(variant))
    }

    fn serialize_map(self, _len: Option<usize>) -> std::result::Result<Self::SerializeMap, SerializeError> {
        self.open_map(None)
    }

    fn serialize_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> std::result::Result<Self::SerializeStruct, SerializeError> {
        self.open_map(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> std::result::Result<Self::SerializeStructVariant, SerializeError> {
        self.open_map(Some(variant))
    }
}

macro_rules! sequences {
    ($($trait:path: $method:ident;)*) => {
        $(impl<'v, 'w: 'v> $trait for ListCompound<'_, 'v, 'w> {
            type Ok = Value<'v>;
            type Error = SerializeError;
            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> std::result::Result<(), SerializeError> {
                self.item(item)
            }
            fn end(self) -> Made<'v> { Ok(self.list()) }
        })*
    };
}

sequences! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    ser::SerializeTupleStruct: serialize_field;
    ser::SerializeTupleVariant: serialize_field;
}

macro_rules! structs {
    ($($trait:path;)*) => {
        $(impl<'v, 'w: 'v> $trait for MapCompound<'_, 'v, 'w> {
            type Ok = Value<'v>;
            type Error = SerializeError;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> std::result::Result<(), SerializeError> {
                self.entry(key, value)
            }
            fn end(self) -> Made<'v> { self.map() }
        })*
    };
}

structs! {
    SerializeStruct;
    ser::SerializeStructVariant;
}

impl<'v, 'w: 'v> SerializeMap for MapCompound<'_, 'v, 'w> {
    type Ok = Value<'v>;
    type Error = SerializeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> std::result::Result<(), SerializeError> {
        self.expect(false)?;
        let arena = self.serializer.builder.arena();
        key.serialize(KeySerializer(|key: &str| self.key(key, |key| arena.copy_str(key))))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), SerializeError> {
        self.expect(true)?;
        self.value(value)
    }

    fn end(self) -> Made<'v> {
        self.map()
    }
}

#[cfg(test)]
mod tests {
    use serde::ser::{self, Error, Serialize, SerializeMap, SerializeSeq};

    use super::super::InputSpace;

    /// A list that fails after its first item.
    struct Fails;

    impl Serialize for Fails {
        fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_seq(None)?.serialize_element(&1)?;
            Err(S::Error::custom("it fails"))
        }
    }

    /// A list or a map that leaves out what fails.
    struct Forgives(bool);

    impl Serialize for Forgives {
        fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if self.0 {
                let mut map = serializer.serialize_map(None)?;
                drop(map.serialize_entry("a", &Fails));
                drop(map.serialize_entry("b", &2));
                return map.end();
            }
            let mut list = serializer.serialize_seq(None)?;
            drop(list.serialize_element(&Fails));
            list.serialize_element(&2)?;
            list.end()
        }
    }

    #[test]
    fn nothing_is_left_of_a_value_that_is_refused() {
        let mut space = InputSpace::default();
        for _ in 0..2 {
            space.with(|builder| {
                let list = builder.serialize(&Forgives(false)).unwrap();
                assert_eq!(serde_json::to_string(&list.to_data()).unwrap(), "[2]");
                let refused = builder.serialize(&Forgives(true)).unwrap_err();
                assert!(refused.message.contains("do not alternate"), "{refused}");
                assert!(builder.serialize(&Fails).unwrap_err().message.contains("it fails"));
            });
        }
    }
}
