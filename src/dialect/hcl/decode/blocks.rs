//! Values that are made of blocks.

use indexmap::IndexMap;

use super::value::{bounded, converted, said};
use super::{Collection, Keyed, Spec};
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::body::{Block, Content, Context, Faults, Place, mistyped, put, structure};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::{list_of, map_of};
use crate::dialect::hcl::values::sets::set_of;
use crate::dialect::hcl::values::types::{type_of, types_of, without_optional};
use crate::dialect::hcl::values::unify::unify;
use crate::function::{Cx, Wrong};
use crate::value::{Type, Value};

/// Blocks by their labels, level by level.
enum Level<'r> {
    Inner(IndexMap<String, Level<'r>>),
    Value(Value<'r>),
}

impl<'r> Spec<'r> {
    /// What the blocks of a type are made into.
    pub(super) fn block_value(&self, content: &Content<'r>, context: &Context<'r>, faults: &mut Faults) -> Value<'r> {
        match self {
            Spec::Block { name, nested, required } => match only_block(content, name, *required, faults) {
                Some(block) => nested.decode_block(&block.body, &block.labels, context, faults),
                None => context.arena().null(nested.value_type(context, faults)),
            },
            Spec::BlockAttrs { name, element, required } => match only_block(content, name, *required, faults) {
                Some(block) => block_attributes(block, element, context, faults),
                None => context.arena().null(self.value_type(context, faults)),
            },
            Spec::KeyedBlocks { name, labels, nested, into } => {
                self.keyed(content, (name, labels), nested, *into, context, faults)
            }
            Spec::Blocks { name, nested, into, .. } => {
                let Some(items) = self.items(content, name, nested, context, faults) else {
                    return context.arena().unknown(self.value_type(context, faults));
                };
                collected(content, name, nested, &items, *into, context, faults)
            }
            _ => context.arena().faulty(Type::Dynamic),
        }
    }

    /// What each block of a type is made into; nothing where it is not known how many there are.
    fn items(
        &self,
        content: &Content<'r>,
        name: &str,
        nested: &Spec<'r>,
        context: &Context<'r>,
        faults: &mut Faults,
    ) -> Option<Vec<Value<'r>>> {
        let mut items = Vec::new();
        for block in content.blocks_of(name) {
            let value = nested.decode_block(&block.body, &block.labels, context, faults);
            if block.body.is_unknown() {
                return None;
            }
            items.push(value);
        }
        self.check_number(content, name, nested, items.len(), faults);
        Some(items)
    }

    fn check_number(&self, content: &Content<'r>, name: &str, nested: &Spec<'r>, given: usize, faults: &mut Faults) {
        let Spec::Blocks { least, most, .. } = self else { return };
        if given < *least {
            let detail = format!("At least {least} blocks of type `{name}` are required.");
            faults.push(put(content.missing_item, structure(format!("Insufficient {name} blocks"), detail)));
        } else if let Some(most) = most.filter(|most| given > *most) {
            let detail = format!("No more than {most} blocks of type `{name}` are allowed.");
            let place = content.blocks_of(name).nth(most).and_then(|block| nested.place_in_block(block));
            faults.push(put(place, structure(format!("Too many {name} blocks"), detail)));
        }
    }

    fn keyed(
        &self,
        content: &Content<'r>,
        (name, labels): (&str, &[String]),
        nested: &Spec<'r>,
        into: Keyed,
        context: &Context<'r>,
        faults: &mut Faults,
    ) -> Value<'r> {
        let mut root = IndexMap::new();
        for block in content.blocks_of(name) {
            if block.body.is_unknown() {
                return context.arena().unknown(self.value_type(context, faults));
            }
            let (keys, rest) = block.labels.split_at_checked(labels.len()).unwrap_or((&block.labels, &[]));
            let value = nested.decode_block(&block.body, rest, context, faults);
            let keys: Vec<_> = keys.iter().map(|label| label.text.as_str()).collect();
            if !insert(&mut root, &keys, value) {
                faults.push(duplicate_key(name, &keys, block));
            }
        }
        if root.is_empty() {
            // The reference's empty map is one level deep, however many labels there are.
            return match into {
                Keyed::Map => {
                    let element = nested.value_type(context, faults);
                    let empty = |cx: &_| map_of(cx, element, &[]);
                    context.attempt(faults, empty, |what| mistyped("Invalid blocks", said(what))).unwrap_or_default()
                }
                Keyed::Object => context.arena().map(&[]),
            };
        }
        let element = nested.value_type(context, faults);
        leveled(&root, into, &element, context, faults)
    }
}

/// The only block of a type.
fn only_block<'c, 'r>(
    content: &'c Content<'r>,
    name: &str,
    required: bool,
    faults: &mut Faults,
) -> Option<&'c Block<'r>> {
    let mut blocks = content.blocks_of(name);
    let first = blocks.next();
    match (first, blocks.next()) {
        (Some(first), Some(other)) => {
            let detail =
                format!("Only one block of type `{name}` is allowed, and {} is one.", first.place().position());
            faults.push(other.place().put(structure(format!("Duplicate {name} block"), detail)));
        }
        (None, _) if required => {
            let detail = format!("A block of type `{name}` is required here.");
            faults.push(put(content.missing_item, structure(format!("Missing {name} block"), detail)));
        }
        _ => {}
    }
    first
}

/// A map of the attributes of a block.
fn block_attributes<'r>(
    block: &Block<'r>,
    element: &Type<'r>,
    context: &Context<'r>,
    faults: &mut Faults,
) -> Value<'r> {
    let attributes = block.body.just_attributes(faults);
    let (names, values): (Vec<_>, Vec<_>) = attributes
        .iter()
        .map(|(name, attribute)| (*name, converted(attribute, element, context, "Invalid attribute value", faults)))
        .unzip();
    let place = block.place();
    let Some((element, values)) = unified(&values, element, context, faults, |_| Some(place), &block.name) else {
        return context.arena().faulty(Type::Dynamic);
    };
    let entries: Vec<_> = names.into_iter().zip(values).collect();
    let made = context.attempt(
        faults,
        |cx| map_of(cx, without_optional(cx.arena(), element), &entries),
        |what| place.put(mistyped("Invalid attribute value", said(what))),
    );
    made.map_or(context.arena().faulty(Type::Dynamic), |made| context.arena().marked(made, block.body.marks()))
}

/// The items as values of one type, and that type; `empty` where there is none.
fn unified<'r>(
    items: &[Value<'r>],
    empty: &Type<'r>,
    context: &Context<'r>,
    faults: &mut Faults,
    place: impl Fn(usize) -> Option<Place<'r>>,
    name: &str,
) -> Option<(Type<'r>, Vec<Value<'r>>)> {
    if items.is_empty() {
        return Some((*empty, Vec::new()));
    }
    let inconsistent = |at: usize, detail: String| -> Box<Diagnostic> {
        put(place(at), mistyped(format!("Inconsistent argument types in {name} blocks"), detail))
    };
    let found =
        context.attempt(faults, |cx| unify(cx, &types_of(cx, items)?, true), |what| inconsistent(0, said(what)))?;
    let Some(unified) = found else {
        faults.push(inconsistent(0, "The same argument must have one type in all blocks.".into()));
        return None;
    };
    let mut converted = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let wrong = |what: &Wrong| inconsistent(at, format!("Block {at} has other types: {}.", said(what)));
        converted.push(context.attempt(faults, |cx| convert(cx, *item, &unified.ty), wrong)?);
    }
    Some((unified.ty, converted))
}

fn collected<'r>(
    content: &Content<'r>,
    name: &str,
    nested: &Spec<'r>,
    items: &[Value<'r>],
    into: Collection,
    context: &Context<'r>,
    faults: &mut Faults,
) -> Value<'r> {
    if into == Collection::Tuple {
        return bounded(context, faults, |cx| cx.list(items));
    }
    let place = |at| content.blocks_of(name).nth(at).and_then(|block| nested.place_in_block(block));
    let element = nested.value_type(context, faults);
    let Some((element, items)) = unified(items, &element, context, faults, place, name) else {
        return context.arena().faulty(Type::Dynamic);
    };
    let made = context.attempt(
        faults,
        |cx| if into == Collection::List { list_of(cx, element, &items) } else { set_of(cx, element, &items) },
        |what| put(content.missing_item, mistyped(format!("Invalid {name} blocks"), said(what))),
    );
    made.unwrap_or_else(|| context.arena().faulty(Type::Dynamic))
}

/// Puts a value at its keys; false where there is one.
fn insert<'r>(level: &mut IndexMap<String, Level<'r>>, keys: &[&str], value: Value<'r>) -> bool {
    let Some((last, before)) = keys.split_last() else { return false };
    let mut level = level;
    for key in before {
        let inner = level.entry((*key).to_owned()).or_insert_with(|| Level::Inner(IndexMap::new()));
        let Level::Inner(inner) = inner else { return false };
        level = inner;
    }
    let vacant = !level.contains_key(*last);
    if vacant {
        level.insert((*last).to_owned(), Level::Value(value));
    }
    vacant
}

fn duplicate_key(name: &str, keys: &[&str], block: &Block<'_>) -> Box<Diagnostic> {
    let detail = format!("There is a block `{name} \"{}\"` already; the labels must be unique.", keys.join("\" \""));
    block.place().put(structure(format!("Duplicate {name} block"), detail))
}

/// A level and all below it as a value.
fn leveled<'r>(
    level: &IndexMap<String, Level<'r>>,
    into: Keyed,
    element: &Type<'r>,
    context: &Context<'r>,
    faults: &mut Faults,
) -> Value<'r> {
    let arena = context.arena();
    let entries: Vec<_> = level
        .iter()
        .map(|(key, below)| {
            let value = match below {
                Level::Value(value) => *value,
                Level::Inner(inner) => leveled(inner, into, element, context, faults),
            };
            (arena.copy_str(key), value)
        })
        .collect();
    if into == Keyed::Object {
        return bounded(context, faults, |cx| cx.map(&entries));
    }
    let is_last = level.values().all(|below| matches!(below, Level::Value(_)));
    let first = entries.first().filter(|_| !is_last || element.has_dynamic());
    let wrong = |what: &Wrong| mistyped("Invalid blocks", said(what));
    let make = |cx: &Cx<'r>| {
        let element = first.map_or(Ok(*element), |(_, value)| type_of(cx, *value))?;
        map_of(cx, element, &entries)
    };
    context.attempt(faults, make, wrong).unwrap_or_default()
}
