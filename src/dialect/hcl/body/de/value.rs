//! Values as Rust types.

use serde::de::value::MapDeserializer;
use serde::de::{self, Visitor};

use super::super::faults::mistyped;
use super::super::{Body, Context};
use super::Error;
use crate::dialect::hcl::values::convert::convert;
use crate::value::{Coerce, Type, Value, ValueDeserializer};

/// `value`, to be made into a Rust type: converted as the language converts values.
pub(super) fn evaluated<'b, 'r>(
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
        let mut faults = Vec::new();
        let wrong = |what: &crate::function::Wrong| {
            mistyped("Unsuitable value", format!("The value does not fit: {}.", what.message))
        };
        match self.context.attempt(&mut faults, |cx| convert(cx, value, &ty), wrong) {
            Some(value) if value.is_null() => Err(de::Error::custom("the value must not be null")),
            Some(value) => Ok(value),
            None => Err(Error::of(faults)),
        }
    }
}

/// The arguments of a body as a map.
pub(super) fn attributes<'r, V: Visitor<'r>>(
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
        return Err(Error::of(faults));
    }
    visitor.visit_map(MapDeserializer::new(values.into_iter())).map_err(|error: Error| error.at(body.missing_item()))
}

/// Methods of a deserializer that hand the value on.
macro_rules! by_value {
    ($($method:ident)*) => {
        $(fn $method<V: serde::de::Visitor<'r>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            evaluated(self.value()?, self.context).$method(visitor)
        })*
    };
}

pub(super) use by_value;
