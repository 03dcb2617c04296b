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

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use super::content::{mistyped, structure};
use super::{Attribute, Block, Body, BodySchema, Context, DiagnosticList, Label, Location};
use crate::values::convert;
use dropforge_base::diagnostics;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics};
use dropforge_machine::function::Wrong;
use dropforge_value::{Coerce, Misfit, Step, Type, Value, ValueDeserializer};
use serde::de;
use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{Deserialize, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};

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

/// The content of a body with one name: an argument or blocks. In the JSON syntax, a property may be either.
#[derive(Clone)]
struct Field<'b, 'r> {
    body: &'b Body<'r>,
    name: &'static str,
    context: &'b Context<'r>,
    attribute: Option<Attribute<'r>>,
    /// The index of one of the blocks or elements.
    only: Option<usize>,
    /// The number of blocks. In the JSON syntax, it depends on their labels.
    count: Rc<Cell<usize>>,
    /// The blocks of the last search, which all elements of a sequence share.
    last: Rc<RefCell<Rc<LabelledBlocks<'r>>>>,
}

/// The blocks with these labels, and their errors.
#[derive(Default)]
struct LabelledBlocks<'r> {
    labels: Option<Vec<&'static str>>,
    blocks: Vec<Block<'r>>,
    diagnostics: DiagnosticList,
}

impl<'b, 'r> Field<'b, 'r> {
    /// Creates the field, if the body has content of its name.
    fn new(body: &'b Body<'r>, name: &'static str, context: &'b Context<'r>) -> Option<Self> {
        let (mut found, _) = body.partial_content(&BodySchema::new().optional(name), &mut Vec::new());
        let attribute = found.attributes.swap_remove(name);
        let field = Self { body, name, context, attribute, only: None, count: Rc::default(), last: Rc::default() };
        (field.attribute.is_some() || field.blocks() > 0).then_some(field)
    }

    /// The location of the argument.
    fn location(&self) -> Option<Location<'r>> {
        self.attribute.as_ref().map(|attribute| attribute.expr.location())
    }

    /// Searches blocks with these labels.
    fn found(&self, labels: Vec<&'static str>) -> Rc<LabelledBlocks<'r>> {
        let mut last = self.last.borrow_mut();
        if last.labels.as_ref() != Some(&labels) {
            let mut diagnostics = Vec::new();
            let schema = BodySchema::new().block(self.name, &labels);
            let blocks = self.body.partial_content(&schema, &mut diagnostics).0.blocks;
            *last = Rc::new(LabelledBlocks { labels: Some(labels), blocks, diagnostics });
        }
        last.clone()
    }

    /// The number of blocks, including those with wrong labels.
    fn blocks(&self) -> usize {
        let found = self.found(Vec::new());
        found.blocks.len() + found.diagnostics.len()
    }

    /// Returns `true` if the content must be blocks.
    fn is_blocks(&self) -> bool {
        self.attribute.is_none()
    }

    fn value(&self) -> Result<Value<'r>, Error> {
        let Some(attribute) = &self.attribute else {
            return Err(de::Error::custom(format!("`{}` is a block, but must be an argument", self.name)));
        };
        let mut diagnostics = Vec::new();
        let value = attribute.expr.evaluate(self.context, &mut diagnostics);
        if !diagnostics.is_empty() {
            return Err(Error::of(diagnostics));
        }
        match (self.only, value.elements()) {
            (Some(at), Some(items)) => Ok(items.get(at).copied().unwrap_or_default()),
            _ => Ok(value),
        }
    }

    /// Deserializes the block as a struct with these fields.
    fn block<V: Visitor<'r>>(
        &self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let found = self.found(label_names(fields));
        if !found.diagnostics.is_empty() {
            return Err(Error::of(found.diagnostics.clone()));
        }
        self.count.set(found.blocks.len());
        let block = match (self.only, found.blocks.as_slice()) {
            (Some(at), blocks) => blocks.get(at),
            (None, [_, extra, ..]) => {
                let summary = format!("Duplicate {} block", self.name);
                let error = structure(summary, "Only one block of this type is allowed.");
                return Err(extra.location().label(error).into());
            }
            (None, blocks) => blocks.first(),
        };
        let Some(block) = block else { return Err(de::Error::custom(format!("there is no block `{}`", self.name))) };
        let inner = BodyDeserializer { body: &block.body, labels: &block.labels, context: self.context };
        de::Deserializer::deserialize_struct(inner, name, fields, visitor)
            .map_err(|error| error.at(Some(block.location())))
    }
}

impl<'r> de::Deserializer<'r> for Field<'_, 'r> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'r>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        // In the JSON syntax, a property that can be blocks is blocks.
        let can_be_blocks = |found: &LabelledBlocks<'_>| !found.blocks.is_empty() && found.diagnostics.is_empty();
        if self.is_blocks() || can_be_blocks(&self.found(label_names(fields))) {
            return self.block(name, fields, visitor);
        }
        deserializer(self.value()?, self.context).deserialize_struct(name, fields, visitor)
    }

    fn deserialize_seq<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        let items = if self.is_blocks() { None } else { self.value()?.elements() };
        // An object of the JSON syntax is one block, or one for each label.
        self.count.set(items.map_or_else(|| self.blocks(), <[_]>::len));
        visitor.visit_seq(BlockSequence { field: self, at: 0 })
    }

    fn deserialize_option<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_blocks() || !self.value()?.is_null() { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_newtype_struct<V: Visitor<'r>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_map<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.is_blocks() {
            return deserializer(self.value()?, self.context).deserialize_map(visitor);
        }
        let found = self.found(Vec::new());
        match found.blocks.get(self.only.unwrap_or(0)).filter(|_| found.diagnostics.is_empty()) {
            Some(block) => visit_attributes(&block.body, self.context, visitor),
            None => Err(Error::of(found.diagnostics.clone())),
        }
    }

    fn deserialize_any<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_blocks() {
            return if self.only.is_some() { self.deserialize_map(visitor) } else { self.deserialize_seq(visitor) };
        }
        deserializer(self.value()?, self.context).deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'r>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        deserializer(self.value()?, self.context).deserialize_enum(name, variants, visitor)
    }

    forward_to_value! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string
    }

    serde::forward_to_deserialize_any! {
        <V: Visitor<'r>>
        i128 u128 bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// The blocks of a type, or the elements of a list.
struct BlockSequence<'b, 'r> {
    field: Field<'b, 'r>,
    at: usize,
}

impl<'r> SeqAccess<'r> for BlockSequence<'_, 'r> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'r>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.at >= self.field.count.get() {
            return Ok(None);
        }
        let at = self.at;
        self.at += 1;
        let item = seed.deserialize(Field { only: Some(at), ..self.field.clone() });
        // An error of a block already has a location.
        item.map(Some).map_err(|error| error.within(Step::Index(at)))
    }
}
