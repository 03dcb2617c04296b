//! Fields of structs: arguments or blocks.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::{BodyDeserializer, Error, deserializer, forward_to_value, label_names, visit_attributes};
use crate::body::content::structure;
use crate::body::{Attribute, Block, Body, BodySchema, Context, DiagnosticList, Location};
use dropforge_value::{Misfit, Step, Value};
use serde::de;
use serde::de::{DeserializeSeed, SeqAccess, Visitor};

/// The content of a body with one name: an argument or blocks. In the JSON syntax, a property may be either.
#[derive(Clone)]
pub(super) struct Field<'b, 'r> {
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
    pub(super) fn new(body: &'b Body<'r>, name: &'static str, context: &'b Context<'r>) -> Option<Self> {
        let (mut found, _) = body.partial_content(&BodySchema::new().optional(name), &mut Vec::new());
        let attribute = found.attributes.swap_remove(name);
        let field = Self { body, name, context, attribute, only: None, count: Rc::default(), last: Rc::default() };
        (field.attribute.is_some() || field.blocks() > 0).then_some(field)
    }

    /// The location of the argument.
    pub(super) fn location(&self) -> Option<Location<'r>> {
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
