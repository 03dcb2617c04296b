//! Bodies as Rust types, through serde.
//!
//! A struct is a body. The name of a field selects its content:
//!
//! | field | content |
//! |---|---|
//! | `port: u16` | the argument `port`, converted as the language converts values |
//! | `route: Route` | the only block `route { … }`, or an argument that is an object |
//! | `route: Vec<Route>` | all blocks of that type, or an argument that is a list |
//! | `#[serde(rename = "@name")] name: String` | a label of the block: the fields with `@` are its labels in order |
//! | `#[serde(rename = "...")] rest: T` | all other arguments, as a map or a type that deserializes from one |
//!
//! Optional content is an `Option` or has `#[serde(default)]`. Content without a field is an error, unless the struct
//! has the field `...`. Errors are diagnostics with their locations.
//!
//! ```
//! use dropforge::hcl::body::{Context, File, from_body};
//! use dropforge::{Dialect, Engine};
//! use dropforge::{limits::Limits, text::Source, vm::Space};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Service {
//!     #[serde(rename = "@name")]
//!     name: String,
//!     port: u16,
//!     #[serde(default)]
//!     route: Vec<Route>,
//! }
//!
//! #[derive(Deserialize)]
//! struct Route {
//!     #[serde(rename = "@path")]
//!     path: String,
//!     methods: Option<Vec<String>>,
//! }
//!
//! #[derive(Deserialize)]
//! struct Config {
//!     service: Vec<Service>,
//! }
//!
//! let text = "service \"web\" {\n  port = \"80\" + 8000\n  route \"/\" { methods = [\"GET\"] }\n  route \"/up\" {}\n}\n";
//! let (limits, space) = (Limits::default(), Space::new());
//! let file = File::native(&Source::new("services.hcl", text), Engine::new().registry(Dialect::Hcl), &limits);
//! let config: Config = from_body(&file.body(), &Context::new(&space, &limits)).unwrap();
//! let web = &config.service[0];
//! assert_eq!((web.name.as_str(), web.port, web.route.len()), ("web", 8080, 2));
//! assert_eq!(web.route[0].methods.as_deref(), Some(&["GET".to_owned()][..]));
//! assert_eq!((web.route[1].path.as_str(), &web.route[1].methods), ("/up", &None));
//! ```

mod field;

use std::fmt;

use super::content::{mistyped, structure};
use super::{Body, BodySchema, Context, DiagnosticList, Label, Location};
use crate::values::convert;
use dropforge_base::diagnostics;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics};
use dropforge_machine::function::Wrong;
use dropforge_value::{Coerce, Misfit, Step, Type, Value, ValueDeserializer};
use field::Field;
use serde::de;
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{Deserialize, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};

/// Deserializes a body. The result may borrow text of its values.
///
/// # Errors
/// Content that does not fit the type or that the type has no field for, errors of evaluation, or a limit.
pub fn from_body<'r, T: Deserialize<'r>>(body: &Body<'r>, context: &Context<'r>) -> Result<T, Diagnostics> {
    T::deserialize(BodyDeserializer { body, labels: &[], context }).map_err(Error::into_diagnostics)
}

/// The name of the field for all other arguments.
const REST: &str = "...";

/// The prefix of the names of label fields.
const LABEL: char = '@';

/// Returns the names of the labels of a struct with these fields.
fn label_names(fields: &[&'static str]) -> Vec<&'static str> {
    fields.iter().filter_map(|field| field.strip_prefix(LABEL)).collect()
}

/// A body, and the labels of its block.
struct BodyDeserializer<'b, 'r> {
    body: &'b Body<'r>,
    labels: &'b [Label],
    context: &'b Context<'r>,
}

impl<'r> de::Deserializer<'r> for BodyDeserializer<'_, 'r> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'r>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let Self { body, labels, context } = self;
        let mut schema = BodySchema::new();
        let mut found = Vec::with_capacity(fields.len());
        let mut names = labels.iter();
        let mut takes_rest = false;
        for &name in fields {
            if name == REST {
                takes_rest = true;
            } else if name.starts_with(LABEL) {
                found.extend(names.next().map(|label| (name, FieldContent::Label(label))));
            } else if let Some(field) = Field::new(body, name, context) {
                schema.add_attribute(name.to_owned(), false);
                schema.add_block(name.to_owned(), Vec::new());
                found.push((name, FieldContent::Field(field)));
            }
        }
        let (_, rest) = body.partial_content(&schema, &mut Vec::new());
        if takes_rest {
            found.push((REST, FieldContent::Rest(&rest)));
        }
        let access = Fields { items: found.into_iter(), next: None, context };
        let made = visitor.visit_map(access).map_err(|error| error.at(body.missing_item()))?;
        if !takes_rest {
            check_unexpected(body, fields)?;
        }
        Ok(made)
    }

    fn deserialize_any<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        visit_attributes(self.body, self.context, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'r>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'r>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

/// Reports content without a field.
fn check_unexpected(body: &Body<'_>, fields: &'static [&'static str]) -> Result<(), Error> {
    let mut schema = BodySchema::new();
    for name in fields.iter().filter(|name| !name.starts_with(LABEL)) {
        schema = schema.optional(*name).block(*name, &[]);
    }
    let mut diagnostics = Vec::new();
    body.content(&schema, &mut diagnostics);
    // The fields of blocks check their labels.
    let of_labels = |error: &Diagnostic| {
        error.message.starts_with("Extraneous label") || error.message.starts_with("Incorrect JSON")
    };
    diagnostics.retain(|error| !of_labels(error));
    if diagnostics.is_empty() { Ok(()) } else { Err(Error::of(diagnostics)) }
}

/// The content of a field.
enum FieldContent<'b, 'r> {
    Label(&'b Label),
    Field(Field<'b, 'r>),
    Rest(&'b Body<'r>),
}

struct Fields<'b, 'r, I> {
    items: I,
    next: Option<FieldContent<'b, 'r>>,
    context: &'b Context<'r>,
}

impl<'b, 'r, I: Iterator<Item = (&'static str, FieldContent<'b, 'r>)>> MapAccess<'r> for Fields<'b, 'r, I> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'r>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((name, item)) = self.items.next() else { return Ok(None) };
        self.next = Some(item);
        let key: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'r>>(&mut self, seed: V) -> Result<V::Value, Error> {
        match self.next.take() {
            Some(FieldContent::Label(label)) => {
                seed.deserialize(deserializer(self.context.arena().text(&label.text), self.context))
            }
            Some(FieldContent::Field(field)) => {
                let location = field.location();
                seed.deserialize(field).map_err(|error| error.at(location))
            }
            Some(FieldContent::Rest(body)) => {
                seed.deserialize(BodyDeserializer { body, labels: &[], context: self.context })
            }
            None => Err(de::Error::custom("there is no value")),
        }
    }
}

/// Deserializes `value` with the conversions of the language.
fn deserializer<'b, 'r>(value: Value<'r>, context: &'b Context<'r>) -> ValueDeserializer<'r, Conversions<'b, 'r>> {
    ValueDeserializer::new(value, Conversions { context })
}

/// The conversions of the language.
#[derive(Clone, Copy)]
struct Conversions<'b, 'r> {
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
fn visit_attributes<'r, V: Visitor<'r>>(body: &Body<'r>, context: &Context<'r>, visitor: V) -> Result<V::Value, Error> {
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

use forward_to_value;

/// The errors of a body that does not deserialize.
#[derive(Debug)]
struct Error {
    diagnostics: DiagnosticList,
    /// The path in the value of an argument, innermost step first, until the error gets the location of the argument.
    path: Vec<Step>,
}

impl Error {
    pub fn of(diagnostics: DiagnosticList) -> Self {
        Self { diagnostics, path: Vec::new() }
    }

    pub fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics.into()
    }

    /// Adds a location to diagnostics without one.
    pub fn at(mut self, location: Option<Location<'_>>) -> Self {
        let path = std::mem::take(&mut self.path);
        for diagnostic in self.diagnostics.iter_mut().filter(|diagnostic| diagnostic.labels.is_empty()) {
            if !path.is_empty() {
                let path = Step::expression(path.iter().rev());
                diagnostic.notes.push(format!("the error is at `{path}` in the value"));
            }
            let label = |Location { source, span }| diagnostics::Label {
                source: Clone::clone(source),
                span,
                text: String::new(),
            };
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
        self.path.push(step);
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
