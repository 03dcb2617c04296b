//! Fields of structs: arguments, or blocks.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde::de::{self, DeserializeSeed, SeqAccess, Visitor};

use super::super::content::Place;
use super::super::{Attribute, Block, Body, Context, Faults, Schema};
use super::Error;
use super::structure::{BodyDeserializer, label_names};
use super::value::evaluated;
use crate::value::{Misfit, Step, Value};

/// What a body holds under a name: an argument, blocks, or, in the JSON syntax, what may be either.
#[derive(Clone)]
pub(super) struct Field<'b, 'r> {
    body: &'b Body<'r>,
    name: &'static str,
    context: &'b Context<'r>,
    attribute: Option<Attribute<'r>>,
    /// Which of the blocks is meant.
    only: Option<usize>,
    /// How many there are; in the JSON syntax that is known when their labels are.
    count: Rc<Cell<usize>>,
    /// The blocks that were looked for last: the elements of a sequence are all of one kind.
    last: Rc<RefCell<Rc<Found<'r>>>>,
}

/// The blocks of a name whose labels are called so, and what is wrong with them.
#[derive(Default)]
struct Found<'r> {
    labels: Option<Vec<&'static str>>,
    blocks: Vec<Block<'r>>,
    faults: Faults,
}

impl<'b, 'r> Field<'b, 'r> {
    /// The field, where the body holds something under its name.
    pub(super) fn new(body: &'b Body<'r>, name: &'static str, context: &'b Context<'r>) -> Option<Self> {
        let (mut found, _) = body.partial_content(&Schema::new().optional(name), &mut Vec::new());
        let attribute = found.attributes.swap_remove(name);
        let field = Self { body, name, context, attribute, only: None, count: Rc::default(), last: Rc::default() };
        (field.attribute.is_some() || field.blocks() > 0).then_some(field)
    }

    /// Where the argument stands.
    pub(super) fn place(&self) -> Option<Place<'r>> {
        self.attribute.as_ref().map(|attribute| attribute.expr.place())
    }

    /// The blocks whose labels are called so.
    fn found(&self, labels: Vec<&'static str>) -> Rc<Found<'r>> {
        let mut last = self.last.borrow_mut();
        if last.labels.as_ref() != Some(&labels) {
            let mut faults = Vec::new();
            let schema = Schema::new().block(self.name, &labels);
            let blocks = self.body.partial_content(&schema, &mut faults).0.blocks;
            *last = Rc::new(Found { labels: Some(labels), blocks, faults });
        }
        last.clone()
    }

    /// How many blocks there are, those with wrong labels among them.
    fn blocks(&self) -> usize {
        let found = self.found(Vec::new());
        found.blocks.len() + found.faults.len()
    }

    /// Whether it is blocks and nothing else.
    fn is_blocks(&self) -> bool {
        self.attribute.is_none()
    }

    fn value(&self) -> Result<Value<'r>, Error> {
        let Some(attribute) = &self.attribute else {
            return Err(de::Error::custom(format!("`{}` is a block, and must be an argument", self.name)));
        };
        let mut faults = Vec::new();
        let value = attribute.expr.evaluate(self.context, &mut faults);
        if !faults.is_empty() {
            return Err(Error::of(faults));
        }
        match (self.only, value.elements()) {
            (Some(at), Some(items)) => Ok(items.get(at).copied().unwrap_or_default()),
            _ => Ok(value),
        }
    }

    /// The block that is meant as a struct with these fields.
    fn block<V: Visitor<'r>>(
        &self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let found = self.found(label_names(fields));
        if !found.faults.is_empty() {
            return Err(Error::of(found.faults.clone()));
        }
        self.count.set(found.blocks.len());
        let block = match (self.only, found.blocks.as_slice()) {
            (Some(at), blocks) => blocks.get(at),
            (None, [_, extra, ..]) => {
                let summary = format!("Duplicate {} block", self.name);
                let fault = super::super::structure(summary, "Only one block of this type is allowed.");
                return Err(Error::one(extra.place().put(fault)));
            }
            (None, blocks) => blocks.first(),
        };
        let Some(block) = block else { return Err(de::Error::custom(format!("there is no block `{}`", self.name))) };
        let inner = BodyDeserializer { body: &block.body, labels: &block.labels, context: self.context };
        de::Deserializer::deserialize_struct(inner, name, fields, visitor)
            .map_err(|error| error.at(Some(block.place())))
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
        // In the JSON syntax what can be read as blocks is.
        let could_be = |found: &Found<'_>| !found.blocks.is_empty() && found.faults.is_empty();
        if self.is_blocks() || could_be(&self.found(label_names(fields))) {
            return self.block(name, fields, visitor);
        }
        evaluated(self.value()?, self.context).deserialize_struct(name, fields, visitor)
    }

    fn deserialize_seq<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        let len = match self.is_blocks() {
            true => self.blocks(),
            false => match self.value()?.elements() {
                Some(items) => items.len(),
                // An object of the JSON syntax is one block, or one for each label.
                None => self.blocks(),
            },
        };
        self.count.set(len);
        visitor.visit_seq(Blocks { field: self, at: 0 })
    }

    fn deserialize_option<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_blocks() || !self.value()?.is_null() { visitor.visit_some(self) } else { visitor.visit_none() }
    }

    fn deserialize_newtype_struct<V: Visitor<'r>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_map<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        if !self.is_blocks() {
            return evaluated(self.value()?, self.context).deserialize_map(visitor);
        }
        let found = self.found(Vec::new());
        match found.blocks.get(self.only.unwrap_or(0)).filter(|_| found.faults.is_empty()) {
            Some(block) => super::value::attributes(&block.body, self.context, visitor),
            None => Err(Error::of(found.faults.clone())),
        }
    }

    fn deserialize_any<V: Visitor<'r>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_blocks() {
            return if self.only.is_some() { self.deserialize_map(visitor) } else { self.deserialize_seq(visitor) };
        }
        evaluated(self.value()?, self.context).deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'r>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        evaluated(self.value()?, self.context).deserialize_enum(name, variants, visitor)
    }

    super::value::by_value! {
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
struct Blocks<'b, 'r> {
    field: Field<'b, 'r>,
    at: usize,
}

impl<'r> SeqAccess<'r> for Blocks<'_, 'r> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'r>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.at >= self.field.count.get() {
            return Ok(None);
        }
        let at = self.at;
        self.at += 1;
        let item = seed.deserialize(Field { only: Some(at), ..self.field.clone() });
        // An error of a block has its place already.
        item.map(Some).map_err(|error| error.within(Step::Index(at)))
    }
}
