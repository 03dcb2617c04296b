//! Values as Rust types.

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, IntoDeserializer, Visitor};

use super::super::{Body, Context};
use super::Error;
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::numbers::number_of;
use crate::value::{Type, Value};

/// A value of the language.
#[derive(Clone, Copy)]
pub(super) struct Evaluated<'b, 'r> {
    value: Value<'r>,
    context: &'b Context<'r>,
}

/// `value`, to be made into a Rust type. Marks are taken off.
pub(super) fn evaluated<'b, 'r>(value: Value<'r>, context: &'b Context<'r>) -> Evaluated<'b, 'r> {
    Evaluated { value: value.unmarked().0, context }
}

/// The arguments of a body as a map.
pub(super) fn attributes<'de, 'r, V: Visitor<'de>>(
    body: &Body<'r>,
    context: &Context<'r>,
    visitor: V,
) -> Result<V::Value, Error> {
    let mut faults = Vec::new();
    let attributes = body.just_attributes(&mut faults);
    let values: Vec<_> = attributes
        .iter()
        .map(|(name, attribute)| (*name, evaluated(attribute.expr.evaluate(context, &mut faults), context)))
        .collect();
    if !faults.is_empty() {
        return Err(Error(faults));
    }
    visitor.visit_map(MapDeserializer::new(values.into_iter())).map_err(|error: Error| error.at(body.missing_item()))
}

/// Methods of a deserializer that hand the value on.
macro_rules! by_value {
    ($($method:ident)*) => {
        $(fn $method<V: serde::de::Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            evaluated(self.value()?, self.context).$method(visitor)
        })*
    };
}

pub(super) use by_value;

impl<'de, 'b, 'r> IntoDeserializer<'de, Error> for Evaluated<'b, 'r> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'r> Evaluated<'_, 'r> {
    /// The value converted to a type.
    fn of(self, ty: Type<'static>) -> Result<Value<'r>, Error> {
        let mut faults = Vec::new();
        let wrong = |what: &crate::function::Wrong| {
            super::super::mistyped("Unsuitable value", format!("The value does not fit: {}.", what.message))
        };
        let value = self.context.attempt(&mut faults, |cx| convert(cx, self.value, &ty), wrong);
        match value.map(|value| value.unmarked().0) {
            Some(value) if !value.is_null() && value.is_known() => Ok(value),
            Some(value) if value.is_null() => Err(de::Error::custom("the value must not be null")),
            Some(_) => Err(de::Error::custom("the value is not known")),
            None => Err(Error(faults)),
        }
    }

    /// A number by the narrowest type that holds it.
    fn number<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.of(Type::Number)? {
            Value::Int(n) => visitor.visit_i64(n),
            Value::Uint(n) => visitor.visit_u64(n),
            Value::Float(n) => visitor.visit_f64(n),
            other => {
                let number = number_of(other);
                let text = number.map(|number| number.to_text()).unwrap_or_default();
                match (text.parse::<i64>(), text.parse::<u64>(), number.and_then(|number| number.to_f64())) {
                    (Ok(n), ..) => visitor.visit_i64(n),
                    (_, Ok(n), _) => visitor.visit_u64(n),
                    (.., Some(n)) => visitor.visit_f64(n),
                    _ => Err(de::Error::custom("the number is too large")),
                }
            }
        }
    }

    fn text(self) -> Result<&'r str, Error> {
        self.of(Type::String)?.as_str().ok_or_else(|| de::Error::custom("the value must be text"))
    }
}

/// Methods for numbers.
macro_rules! numbers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> { self.number(visitor) })*
    };
}

impl<'de> de::Deserializer<'de> for Evaluated<'_, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let context = self.context;
        if self.value.is_null() {
            return visitor.visit_unit();
        }
        if let Some(items) = self.value.elements() {
            return visitor.visit_seq(SeqDeserializer::new(items.iter().map(|item| evaluated(*item, context))));
        }
        if let Some(entries) = self.value.entries() {
            let entries = entries.iter_sorted().map(|(key, value)| (key, evaluated(value, context)));
            return visitor.visit_map(MapDeserializer::new(entries));
        }
        match self.value {
            Value::Bool(truth) => visitor.visit_bool(truth),
            Value::Str(text) => visitor.visit_str(text.as_str()),
            _ => self.number(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(matches!(self.of(Type::Bool)?, Value::Bool(true)))
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    /// A unit variant is its name; another one an object of its name and its value.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Some(entries) = self.value.entries() {
            let entries = entries.iter_sorted().map(|(key, value)| (key, evaluated(value, self.context)));
            return visitor.visit_enum(de::value::MapAccessDeserializer::new(MapDeserializer::new(entries)));
        }
        let name: StrDeserializer<'_, Error> = self.text()?.into_deserializer();
        visitor.visit_enum(name)
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64
    }

    serde::forward_to_deserialize_any! {
        bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
