//! Values as Rust types.

use serde::de::value::MapDeserializer;
use serde::de::{self, Visitor};

use super::Error;
use crate::dialect::hcl::body::errors::mistyped;
use crate::dialect::hcl::body::{Body, Context};
use crate::dialect::hcl::values::convert::convert;
use crate::function::Wrong;
use crate::value::{Coerce, Type, Value, ValueDeserializer};

/// Deserializes `value` with the conversions of the language.
pub(super) fn deserializer<'b, 'r>(
    value: Value<'r>,
    context: &'b Context<'r>,
) -> ValueDeserializer<'r, Conversions<'b, 'r>> {
    ValueDeserializer::new(value, Conversions { context })
}

/// The conversions of the language.
#[derive(Clone, Copy)]
pub(super) struct Conversions<'b, 'r> {
    context: &'b Context<'r>,
}

impl<'r> Coerce<'r> for Conversions<'_, 'r> {
    type Error = Error;

    const SORTED: bool = true;

    fn coerce(self, value: Value<'r>, ty: Type<'static>) -> Result<Value<'r>, Error> {
        let mut diagnostics = Vec::new();
        let error = |wrong: &Wrong| mistyped("Unsuitable value", format!("The value does not fit: {}.", wrong.message));
        match self.context.attempt(&mut diagnostics, |cx| convert(cx, value, &ty), error) {
            Some(value) if value.is_null() => Err(de::Error::custom("the value must not be null")),
            Some(value) => Ok(value),
            None => Err(Error::of(diagnostics)),
        }
    }
}

/// Visits the arguments of a body as a map.
pub(super) fn visit_attributes<'r, V: Visitor<'r>>(
    body: &Body<'r>,
    context: &Context<'r>,
    visitor: V,
) -> Result<V::Value, Error> {
    let mut diagnostics = Vec::new();
    let attributes = body.just_attributes(&mut diagnostics);
    let values: Vec<_> = attributes
        .iter()
        .map(|(name, attribute)| (*name, deserializer(attribute.expr.evaluate(context, &mut diagnostics), context)))
        .collect();
    if !diagnostics.is_empty() {
        return Err(Error::of(diagnostics));
    }
    visitor.visit_map(MapDeserializer::new(values.into_iter())).map_err(|error: Error| error.at(body.missing_item()))
}

/// Defines methods of a deserializer that forward to the value.
macro_rules! forward_to_value {
    ($($method:ident)*) => {
        $(fn $method<V: serde::de::Visitor<'r>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            deserializer(self.value()?, self.context).$method(visitor)
        })*
    };
}

pub(super) use forward_to_value;
