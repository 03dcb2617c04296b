//! Serializes any Rust value directly into an arena.

use std::fmt;

use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple};

use super::input_builder::{MAX_DEPTH, too_deep};
use super::{InputBuilder, Value};
use crate::diagnostics::{Code, Diagnostic, Result};

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
        input.serialize(Serializer { builder: self, depth: 0 }).map_err(|refused| match refused {
            Refused::Deep => too_deep(),
            Refused::Other(why) => Diagnostic::new(Code::InputSyntax, format!("this input cannot be used: {why}")),
        })
    }
}

/// The reason for refusing an input.
#[derive(Debug)]
enum Refused {
    /// It nests too deep.
    Deep,
    /// A message.
    Other(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Deep => f.write_str(&too_deep().message),
            Refused::Other(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Refused {}

impl ser::Error for Refused {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Refused::Other(why.to_string())
    }
}

type Made<'v> = std::result::Result<Value<'v>, Refused>;

#[derive(Clone, Copy)]
struct Serializer<'b, 'v, 'w> {
    builder: &'b InputBuilder<'v, 'w>,
    depth: usize,
}

/// A list or map under construction. `variant` wraps the result as `{variant: …}`.
struct Compound<'b, 'v, 'w> {
    serializer: Serializer<'b, 'v, 'w>,
    mark: (usize, usize),
    variant: Option<&'static str>,
}

impl<'b, 'v, 'w: 'v> Serializer<'b, 'v, 'w> {
    fn open(self, variant: Option<&'static str>) -> std::result::Result<Compound<'b, 'v, 'w>, Refused> {
        if self.depth >= MAX_DEPTH {
            return Err(Refused::Deep);
        }
        let serializer = Serializer { builder: self.builder, depth: self.depth + 1 };
        Ok(Compound { serializer, mark: self.builder.open(), variant })
    }

    fn wrapped(self, variant: Option<&'static str>, value: Value<'v>) -> Value<'v> {
        match variant {
            Some(variant) => self.builder.arena().map(&[(variant, value)]),
            None => value,
        }
    }
}

impl<'v, 'w: 'v> Compound<'_, 'v, 'w> {
    fn item<T: Serialize + ?Sized>(&mut self, item: &T) -> std::result::Result<(), Refused> {
        let value = item.serialize(self.serializer)?;
        self.serializer.builder.push(value);
        Ok(())
    }

    fn entry<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> std::result::Result<(), Refused> {
        let value = value.serialize(self.serializer)?;
        let builder = self.serializer.builder;
        builder.push_entry(builder.arena().copy_str(key), value);
        Ok(())
    }

    fn list(self) -> Value<'v> {
        self.serializer.wrapped(self.variant, self.serializer.builder.close_list(self.mark))
    }

    fn map(self) -> Value<'v> {
        self.serializer.wrapped(self.variant, self.serializer.builder.close_map(self.mark))
    }
}

macro_rules! scalars {
    ($($method:ident $type:ty: $n:ident => $value:expr;)*) => {
        $(fn $method(self, $n: $type) -> Made<'v> { Ok($value) })*
    };
}

impl<'b, 'v, 'w: 'v> ser::Serializer for Serializer<'b, 'v, 'w> {
    type Ok = Value<'v>;
    type Error = Refused;
    type SerializeSeq = Compound<'b, 'v, 'w>;
    type SerializeTuple = Compound<'b, 'v, 'w>;
    type SerializeTupleStruct = Compound<'b, 'v, 'w>;
    type SerializeTupleVariant = Compound<'b, 'v, 'w>;
    type SerializeMap = MapCompound<'b, 'v, 'w>;
    type SerializeStruct = Compound<'b, 'v, 'w>;
    type SerializeStructVariant = Compound<'b, 'v, 'w>;

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
        let mut map = self.open(None)?;
        map.entry(variant, value)?;
        Ok(map.map())
    }

    fn serialize_seq(self, _len: Option<usize>) -> std::result::Result<Self::SerializeSeq, Refused> {
        self.open(None)
    }

    fn serialize_tuple(self, _len: usize) -> std::result::Result<Self::SerializeTuple, Refused> {
        self.open(None)
    }

    fn serialize_tuple_struct(
        self,
        _name: &'static str,
        _len: usize,
    ) -> std::result::Result<Self::SerializeTupleStruct, Refused> {
        self.open(None)
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> std::result::Result<Self::SerializeTupleVariant, Refused> {
        self.open(Some(variant))
    }

    fn serialize_map(self, _len: Option<usize>) -> std::result::Result<Self::SerializeMap, Refused> {
        Ok(MapCompound { compound: self.open(None)?, key: String::new() })
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> std::result::Result<Self::SerializeStruct, Refused> {
        self.open(None)
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> std::result::Result<Self::SerializeStructVariant, Refused> {
        self.open(Some(variant))
    }
}

macro_rules! sequences {
    ($($trait:path: $method:ident;)*) => {
        $(impl<'v, 'w: 'v> $trait for Compound<'_, 'v, 'w> {
            type Ok = Value<'v>;
            type Error = Refused;
            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> std::result::Result<(), Refused> {
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
        $(impl<'v, 'w: 'v> $trait for Compound<'_, 'v, 'w> {
            type Ok = Value<'v>;
            type Error = Refused;
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> std::result::Result<(), Refused> {
                self.entry(key, value)
            }
            fn end(self) -> Made<'v> { Ok(self.map()) }
        })*
    };
}

structs! {
    SerializeStruct;
    ser::SerializeStructVariant;
}

/// A map under construction, with the key of the next value.
struct MapCompound<'b, 'v, 'w> {
    compound: Compound<'b, 'v, 'w>,
    key: String,
}

impl<'v, 'w: 'v> SerializeMap for MapCompound<'_, 'v, 'w> {
    type Ok = Value<'v>;
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> std::result::Result<(), Refused> {
        let value = key.serialize(self.compound.serializer)?;
        self.key = match value {
            Value::Str(text) => text.as_str().to_owned(),
            Value::Int(n) => n.to_string(),
            Value::Uint(n) => n.to_string(),
            Value::Bool(b) => b.to_string(),
            other => return Err(Refused::Other(format!("a map key is a {}, not text", other.kind()))),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> std::result::Result<(), Refused> {
        let key = std::mem::take(&mut self.key);
        self.compound.entry(&key, value)
    }

    fn end(self) -> Made<'v> {
        Ok(self.compound.map())
    }
}
