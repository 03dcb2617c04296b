//! Values as Rust types, and errors of deserialization.

use std::fmt;

use serde::de;
use serde::de::Visitor;
use serde::de::value::MapDeserializer;

use crate::body::errors::{mistyped, structure};
use crate::body::{Body, Context, DiagnosticList, Location};
use crate::values::convert;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Label};
use dropforge_machine::function::Wrong;
use dropforge_value::{Coerce, Misfit, Path, Step, Type, Value, ValueDeserializer};

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

/// The errors of a body that does not deserialize.
#[derive(Debug)]
pub(super) struct Error {
    diagnostics: DiagnosticList,
    /// The path in the value of an argument, until the error gets the location of the argument.
    path: Path,
}

impl Error {
    pub fn of(diagnostics: DiagnosticList) -> Self {
        Self { diagnostics, path: Path::default() }
    }

    pub fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics.into()
    }

    /// Adds a location to diagnostics without one.
    pub fn at(mut self, location: Option<Location<'_>>) -> Self {
        let path = std::mem::take(&mut self.path);
        for diagnostic in self.diagnostics.iter_mut().filter(|diagnostic| diagnostic.labels.is_empty()) {
            if !path.is_empty() {
                diagnostic.notes.push(format!("the error is at `{path}` in the value"));
            }
            let label = |Location { source, span }| Label { source: Clone::clone(source), span, text: String::new() };
            diagnostic.labels.extend(location.map(label));
        }
        self
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::of(vec![diagnostic])
    }
}

impl Misfit for Error {
    fn within(mut self, step: Step) -> Self {
        self.path.begin_with(step);
        self
    }

    /// Limits contain no values.
    fn withheld(self) -> Self {
        if self.diagnostics.iter().all(|diagnostic| diagnostic.code.is_limit()) {
            return self;
        }
        de::Error::custom("the value is marked and does not fit")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Diagnostics::from(self.diagnostics.clone()).fmt(f)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        mistyped("Unsuitable value", format!("{message}.")).into()
    }

    fn missing_field(field: &'static str) -> Self {
        structure("Missing required argument", format!("`{field}` is required, but not set.")).into()
    }
}
