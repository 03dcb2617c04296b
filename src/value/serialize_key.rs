//! Serializes the keys of maps.

use std::fmt::Display;

use serde::ser::{self, Impossible, Serialize};

use super::serializer::SerializeError;

/// Passes the text of a key on. Integers and booleans become text.
pub(super) struct KeySerializer<F>(pub F);

/// Returns the error of a key that is not text.
fn refused<R>(kind: &str) -> Result<R, SerializeError> {
    Err(SerializeError::refused(format!("a map key must be text, found {kind}")))
}

impl<F: FnOnce(&str)> KeySerializer<F> {
    fn shown(self, key: impl Display) -> Result<(), SerializeError> {
        (self.0)(&key.to_string());
        Ok(())
    }
}

macro_rules! shown {
    ($($method:ident $type:ty;)*) => {
        $(fn $method(self, key: $type) -> Result<(), SerializeError> { self.shown(key) })*
    };
}

macro_rules! refused {
    ($($method:ident($($argument:ty),*) -> $result:ty: $kind:literal;)*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<$result, SerializeError> { refused($kind) })*
    };
}

impl<F: FnOnce(&str)> ser::Serializer for KeySerializer<F> {
    type Ok = ();
    type Error = SerializeError;
    type SerializeSeq = Impossible<(), SerializeError>;
    type SerializeTuple = Impossible<(), SerializeError>;
    type SerializeTupleStruct = Impossible<(), SerializeError>;
    type SerializeTupleVariant = Impossible<(), SerializeError>;
    type SerializeMap = Impossible<(), SerializeError>;
    type SerializeStruct = Impossible<(), SerializeError>;
    type SerializeStructVariant = Impossible<(), SerializeError>;

    shown! {
        serialize_bool bool;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_i128 i128;
        serialize_u128 u128;
        serialize_char char;
    }

    #[inline]
    fn serialize_str(self, key: &str) -> Result<(), SerializeError> {
        (self.0)(key);
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), SerializeError> {
        self.serialize_str(variant)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<(), SerializeError> {
        key.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Result<(), SerializeError> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), SerializeError> {
        refused("map")
    }

    refused! {
        serialize_f32(f32) -> (): "number";
        serialize_f64(f64) -> (): "number";
        serialize_bytes(&[u8]) -> (): "list";
        serialize_none() -> (): "null";
        serialize_unit() -> (): "null";
        serialize_unit_struct(&'static str) -> (): "null";
        serialize_seq(Option<usize>) -> Self::SerializeSeq: "list";
        serialize_tuple(usize) -> Self::SerializeTuple: "list";
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct: "list";
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant: "map";
        serialize_map(Option<usize>) -> Self::SerializeMap: "map";
        serialize_struct(&'static str, usize) -> Self::SerializeStruct: "map";
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant: "map";
    }
}
