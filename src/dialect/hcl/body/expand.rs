//! `dynamic` blocks: a block for each element of a collection.

use std::collections::HashSet;
use std::rc::Rc;

use super::content::{Attribute, Attributes, Block, Content, Label, Place};
use super::expression::Iterators;
use super::faults::{mistyped, structure};
use super::schema::BlockSchema;
use super::{Body, Context, Expression, Faults, Kind, Schema};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::elements;
use crate::dialect::hcl::values::types::constraint_name;
use crate::text::Span;
use crate::value::{Type, Value};

/// The type of the blocks that are expanded.
const DYNAMIC: &str = "dynamic";

/// A body whose `dynamic` blocks are expanded as content is asked for, at every depth.
///
/// `dynamic "x" { for_each = … content { … } }` stands for a block `x` for each element, in which `x.key` and
/// `x.value` are the element's (with `iterator = y`, `y.key` and `y.value`). `labels` are evaluated for each element.
/// Where `for_each` is not known, there is one block whose content is not known. What `for_each` is marked with marks
/// everything in the blocks.
pub fn expand<'r>(body: Body<'r>, context: &Context<'r>) -> Body<'r> {
    expanded(body, context.clone(), None)
}

fn expanded<'r>(original: Body<'r>, context: Context<'r>, iterators: Option<Rc<Iterators<'r>>>) -> Body<'r> {
    let (attributes, blocks) = (HashSet::new(), Vec::new());
    Body(Kind::Expanded(Rc::new(Expanded { original, context, iterators, attributes, blocks })))
}

#[derive(Debug, Clone)]
pub(super) struct Expanded<'r> {
    original: Body<'r>,
    /// Where `for_each` and `labels` are evaluated.
    context: Context<'r>,
    iterators: Option<Rc<Iterators<'r>>>,
    /// Attributes that were taken already.
    attributes: HashSet<String>,
    /// Blocks that were taken already.
    blocks: Vec<BlockSchema>,
}

/// What a `dynamic` block says.
struct Dynamic<'r> {
    name: String,
    source: Place<'r>,
    type_range: Span,
    collection: Value<'r>,
    marks: &'r [&'r str],
    iterator: &'r str,
    labels: Vec<Expression<'r>>,
    content: Body<'r>,
}

impl<'r> Expanded<'r> {
    pub(super) fn marks(&self) -> &[&'r str] {
        self.iterators.as_ref().map_or(&[], |iterators| &iterators.marks)
    }

    pub(super) fn missing_item(&self) -> Option<Place<'r>> {
        self.original.missing_item()
    }

    pub(super) fn just_attributes(&self, faults: &mut Faults) -> Attributes<'r> {
        self.attributes(self.unseen().just_attributes(faults))
    }

    /// The original body without what was taken already; `dynamic` blocks were taken where all of them are of types
    /// that were. What is wrong with what was taken has been said.
    fn unseen(&self) -> Body<'r> {
        if self.attributes.is_empty() && self.blocks.is_empty() {
            return self.original.clone();
        }
        let mut taken = self.extended(&Schema::new());
        let (content, rest) = self.original.partial_content(&taken, &mut Vec::new());
        let hidden = |block: &Block<'r>| block.labels.first().is_some_and(|label| self.hides(&label.text));
        if content.blocks_of(DYNAMIC).all(hidden) {
            return rest;
        }
        taken.blocks.retain(|block| block.name != DYNAMIC);
        self.original.partial_content(&taken, &mut Vec::new()).1
    }

    pub(super) fn content(&self, schema: &Schema, faults: &mut Faults) -> Content<'r> {
        let raw = self.original.content(&self.extended(schema), faults);
        let blocks = self.expand(schema, raw.blocks, false, faults);
        Content { attributes: self.attributes(raw.attributes), blocks, missing_item: raw.missing_item }
    }

    pub(super) fn partial_content(&self, schema: &Schema, faults: &mut Faults) -> (Content<'r>, Body<'r>) {
        // What is left over is found in the whole again: `dynamic` blocks of other types are still in it.
        let (raw, _) = self.original.partial_content(&self.extended(schema), faults);
        let blocks = self.expand(schema, raw.blocks, true, faults);
        let content = Content { attributes: self.attributes(raw.attributes), blocks, missing_item: raw.missing_item };
        let mut rest = self.clone();
        rest.attributes.extend(schema.attributes.iter().map(|attribute| attribute.name.clone()));
        rest.blocks.extend(schema.blocks.iter().cloned());
        (content, Body(Kind::Expanded(Rc::new(rest))))
    }

    /// What is asked for, with `dynamic` blocks and what is hidden, so that neither is unexpected.
    fn extended(&self, schema: &Schema) -> Schema {
        let mut extended = schema.clone();
        extended.add_block(DYNAMIC.to_owned(), vec!["type".to_owned()]);
        for block in self.blocks.iter().filter(|block| schema.block_of(&block.name).is_none()) {
            extended.add_block(block.name.clone(), block.labels.clone());
        }
        for name in &self.attributes {
            extended.add_attribute(name.clone(), false);
        }
        extended
    }

    fn attributes(&self, raw: Attributes<'r>) -> Attributes<'r> {
        let seen = raw.into_iter().filter(|(name, _)| !self.attributes.contains(*name));
        match &self.iterators {
            None => seen.collect(),
            Some(iterators) => seen
                .map(|(name, attribute)| {
                    let expr = attribute.expr.clone().iterated(iterators);
                    (name, Attribute { expr, ..attribute })
                })
                .collect(),
        }
    }

    fn hides(&self, name: &str) -> bool {
        self.blocks.iter().any(|block| block.name == name)
    }

    fn expand(&self, schema: &Schema, raw: Vec<Block<'r>>, partial: bool, faults: &mut Faults) -> Vec<Block<'r>> {
        let mut blocks = Vec::new();
        for block in raw {
            if block.name != DYNAMIC {
                if !self.hides(&block.name) {
                    let body = self.child(block.body, self.iterators.clone());
                    blocks.push(Block { body, ..block });
                }
                continue;
            }
            let Some(label) = block.labels.first().filter(|label| !self.hides(&label.text)) else { continue };
            match schema.block_of(&label.text) {
                Some(wanted) => self.expand_block(wanted, &block, label, &mut blocks, faults),
                None if partial => {}
                None => {
                    let detail = format!("Blocks of type `{}` are not expected here.", label.text);
                    let place = Place { source: block.source, span: label.range };
                    let error = place.put(structure("Unsupported block type", detail));
                    faults.push(error.with_suggestion(&label.text, schema.block_names()));
                }
            }
        }
        blocks
    }

    /// Adds the blocks that a `dynamic` block stands for.
    fn expand_block(
        &self,
        wanted: &BlockSchema,
        block: &Block<'r>,
        label: &Label,
        blocks: &mut Vec<Block<'r>>,
        faults: &mut Faults,
    ) {
        let Some(dynamic) = self.read(wanted, block, label, faults) else { return };
        if !dynamic.collection.is_known() {
            let unknown = self.context.arena().unknown(Type::Dynamic);
            let made = self.make(&dynamic, unknown, unknown, faults);
            blocks.extend(made.map(|block| Block { body: Body(Kind::Unknown(Rc::new(block.body))), ..block }));
            return;
        }
        let Some(elements) = self.context.attempt(
            faults,
            |cx| elements(cx, dynamic.collection),
            |what| mistyped("Invalid dynamic for_each value", &*what.message),
        ) else {
            return;
        };
        for (key, value) in elements {
            // Blocks are made of more than values are: each is paid for before the next is made.
            let paid = self.context.with_cx(|cx| cx.spend(1).and_then(|()| cx.charge(size_of::<Block<'_>>())));
            if let Err(limit) = paid {
                return self.context.stop(limit, faults);
            }
            blocks.extend(self.make(&dynamic, key, value, faults));
        }
    }

    /// What a `dynamic` block says; nothing where it is wrong.
    fn read(&self, wanted: &BlockSchema, block: &Block<'r>, label: &Label, faults: &mut Faults) -> Option<Dynamic<'r>> {
        let schema = Schema::new().required("for_each").optional("iterator").block("content", &[]);
        let schema = if wanted.labels.is_empty() { schema } else { schema.required("labels") };
        let before = faults.len();
        let said = block.body.content(&schema, faults);
        if faults.len() > before {
            return None;
        }
        let for_each = &said.attributes.get("for_each")?.expr;
        let (collection, marks) = for_each.evaluate(&self.context, faults).unmarked();
        if faults.len() > before {
            return None;
        }
        if let Some(why) = not_iterable(self.context.arena(), collection) {
            faults.push(for_each.place().put(mistyped("Invalid dynamic for_each value", why)));
            return None;
        }
        let iterator = match said.attributes.get("iterator") {
            Some(attribute) => self.iterator(&attribute.expr, faults)?,
            None => self.context.arena().copy_str(&wanted.name),
        };
        let labels = match said.attributes.get("labels") {
            Some(attribute) => self.labels(wanted, &attribute.expr, faults)?,
            None => Vec::new(),
        };
        let content = self.content_block(&said, faults)?;
        let (source, name) = (block.place(), wanted.name.clone());
        Some(Dynamic { name, source, type_range: label.range, collection, marks, iterator, labels, content })
    }

    fn iterator(&self, expr: &Expression<'r>, faults: &mut Faults) -> Option<&'r str> {
        let name = expr.keyword();
        if name.is_none() {
            let error = mistyped("Invalid dynamic iterator name", "An iterator is named by one name alone.");
            faults.push(expr.place().put(error));
        }
        name.map(|name| self.context.arena().copy_str(&name))
    }

    fn labels(&self, wanted: &BlockSchema, expr: &Expression<'r>, faults: &mut Faults) -> Option<Vec<Expression<'r>>> {
        let Some(labels) = expr.static_list() else {
            faults.push(expr.place().put(mistyped("Invalid expression", "The labels are a list of expressions.")));
            return None;
        };
        let detail = format!("Blocks of type `{}` have {} labels.", wanted.name, wanted.labels.len());
        let (summary, place) = match labels.get(wanted.labels.len()) {
            Some(extra) => ("Extraneous dynamic block label", extra.place()),
            None if labels.len() < wanted.labels.len() => ("Insufficient dynamic block labels", expr.place()),
            None => return Some(labels),
        };
        faults.push(place.put(structure(summary, detail)));
        None
    }

    fn content_block(&self, said: &Content<'r>, faults: &mut Faults) -> Option<Body<'r>> {
        match said.blocks.as_slice() {
            [content] => Some(content.body.clone()),
            [_, extra, ..] => {
                let detail = "A `dynamic` block has one `content` block, which says what is in each block.";
                faults.push(extra.place().put(structure("Extraneous dynamic content block", detail)));
                None
            }
            [] => {
                let detail = "A `dynamic` block has a `content` block, which says what is in each block.";
                let error = structure("Missing dynamic content block", detail);
                faults.push(super::content::put(said.missing_item, error));
                None
            }
        }
    }

    /// The block for an element.
    fn make(&self, dynamic: &Dynamic<'r>, key: Value<'r>, value: Value<'r>, faults: &mut Faults) -> Option<Block<'r>> {
        let mut iterators = self.iterators.as_deref().cloned().unwrap_or_default();
        iterators.values.push((dynamic.iterator, self.context.arena().map(&[("key", key), ("value", value)])));
        iterators.marks.extend(dynamic.marks);
        iterators.marks.sort_unstable();
        iterators.marks.dedup();
        let iterators = Rc::new(iterators);
        let context = iterators.within(&self.context);
        let labels = dynamic.labels.iter().map(|label| self.label(label, &context, faults));
        Some(Block {
            name: dynamic.name.clone(),
            labels: labels.collect::<Option<Vec<_>>>()?,
            body: self.child(dynamic.content.clone(), Some(iterators)),
            source: dynamic.source.source,
            def_range: dynamic.source.span,
            type_range: dynamic.type_range,
        })
    }

    fn label(&self, expr: &Expression<'r>, context: &Context<'r>, faults: &mut Faults) -> Option<Label> {
        let before = faults.len();
        let value = expr.evaluate(context, faults);
        if faults.len() > before {
            return None;
        }
        let wrong = |why: &str| {
            let detail = format!("This cannot be the label of a block: {why}.");
            expr.place().put(mistyped("Invalid dynamic block label", detail))
        };
        let text =
            context.attempt(faults, |cx| convert(cx, value, &Type::String), |what| wrong(&what.message))?.unmarked().0;
        match text.as_str() {
            Some(text) => return Some(Label { text: text.to_owned(), range: expr.range() }),
            None if text.is_null() => faults.push(wrong("it is null")),
            None => faults.push(wrong("it is not known yet")),
        }
        None
    }

    /// A body of a block in this one.
    fn child(&self, body: Body<'r>, iterators: Option<Rc<Iterators<'r>>>) -> Body<'r> {
        let context = match &iterators {
            Some(iterators) => iterators.within(&self.context),
            None => self.context.clone(),
        };
        expanded(body, context, iterators)
    }
}

/// Why a value cannot be gone over.
pub(in crate::dialect::hcl) fn not_iterable<'r>(arena: &'r crate::value::Arena, value: Value<'r>) -> Option<String> {
    if value.is_null() {
        return Some("It is null, and must be a collection.".into());
    }
    if value.elements().is_some() || value.entries().is_some() {
        return None;
    }
    match value.type_in(arena) {
        Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Tuple(_) | Type::Object(_) => None,
        other => Some(format!("It is a {}, and must be a collection.", constraint_name(&other))),
    }
}

/// `content`, of whose values nothing is known.
pub(super) fn unknown<'r>(content: Content<'r>) -> Content<'r> {
    let hide = |block: Block<'r>| Block { body: Body(Kind::Unknown(Rc::new(block.body.clone()))), ..block };
    Content {
        attributes: unknown_attributes(content.attributes),
        blocks: content.blocks.into_iter().map(hide).collect(),
        ..content
    }
}

/// `attributes`, of whose values nothing is known.
pub(super) fn unknown_attributes<'r>(attributes: Attributes<'r>) -> Attributes<'r> {
    let hide = |(name, attribute): (_, Attribute<'r>)| {
        (name, Attribute { expr: attribute.expr.clone().unknown(), ..attribute })
    };
    attributes.into_iter().map(hide).collect()
}
