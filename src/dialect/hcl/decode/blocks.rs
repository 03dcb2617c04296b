//! Decoding of blocks.

use indexmap::IndexMap;

use super::decoder::Decoder;
use super::{Collection, Keyed, Spec};
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::argument_gate::reason;
use crate::dialect::hcl::body::{Block, Content, Location, locate, mistyped, structure};
use crate::dialect::hcl::values::{convert, list_of, map_of, set_of, type_of, types_of, unify, without_optional};
use crate::function::Wrong;
use crate::value::{Type, Value};

/// Values by label, with a level for each label.
enum Level<'r> {
    Inner(IndexMap<String, Level<'r>>),
    Value(Value<'r>),
}

impl<'r> Decoder<'_, 'r> {
    /// Decodes the blocks of a specification of blocks.
    pub(super) fn blocks(&mut self, spec: &Spec<'r>, content: &Content<'r>) -> Value<'r> {
        match spec {
            Spec::Block { name, nested, required } => match self.only_block(content, name, *required) {
                Some(block) => self.body(nested, &block.body, &block.labels),
                None => self.context.arena().null(self.value_type(nested)),
            },
            Spec::BlockAttrs { name, element, required } => match self.only_block(content, name, *required) {
                Some(block) => self.block_attributes(block, element),
                None => self.context.arena().null(self.value_type(spec)),
            },
            Spec::KeyedBlocks { name, labels, nested, into } => {
                match self.levels(content, name, labels.len(), nested) {
                    Some(levels) => self.keyed_value(&levels, nested, *into),
                    None => self.context.arena().unknown(self.value_type(spec)),
                }
            }
            Spec::Blocks { name, nested, into, least, most } => match self.items(content, name, nested) {
                Some(items) => {
                    self.check_number(content, name, nested, items.len(), (*least, *most));
                    self.collection(content, name, nested, &items, *into)
                }
                None => self.context.arena().unknown(self.value_type(spec)),
            },
            _ => self.context.arena().faulty(Type::Dynamic),
        }
    }

    /// Returns the only block of a type.
    fn only_block<'c>(&mut self, content: &'c Content<'r>, name: &str, required: bool) -> Option<&'c Block<'r>> {
        let mut blocks = content.blocks_of(name);
        let first = blocks.next();
        match (first, blocks.next()) {
            (Some(first), Some(other)) => {
                let before = first.location().position();
                let detail = format!("Only one block of type `{name}` is allowed. Another one is at {before}.");
                self.diagnostics.push(other.location().label(structure(format!("Duplicate {name} block"), detail)));
            }
            (None, _) if required => {
                let detail = format!("A block of type `{name}` is required here.");
                let error = structure(format!("Missing {name} block"), detail);
                self.diagnostics.push(locate(content.missing_item, error));
            }
            _ => {}
        }
        first
    }

    /// Decodes a block to a map of its attributes.
    fn block_attributes(&mut self, block: &Block<'r>, element: &Type<'r>) -> Value<'r> {
        const SUMMARY: &str = "Invalid attribute value";
        let (arena, location) = (self.context.arena(), block.location());
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (name, attribute) in &block.body.just_attributes(self.diagnostics) {
            names.push(*name);
            values.push(self.attribute(attribute, element, SUMMARY));
        }
        let Some((element, values)) = self.unified(&values, element, |_| Some(location), &block.name) else {
            return arena.faulty(Type::Dynamic);
        };
        let entries: Vec<_> = names.into_iter().zip(values).collect();
        let error = |wrong: &Wrong| location.label(mistyped(SUMMARY, reason(wrong)));
        match self.attempt(|cx| map_of(cx, without_optional(arena, element), &entries), error) {
            Some(map) => arena.marked(map, block.body.marks()),
            None => arena.faulty(Type::Dynamic),
        }
    }

    /// Decodes the blocks of a type. Returns `None` if their number is unknown.
    fn items(&mut self, content: &Content<'r>, name: &str, nested: &Spec<'r>) -> Option<Vec<Value<'r>>> {
        let item = |block: &Block<'r>| {
            let value = self.body(nested, &block.body, &block.labels);
            (!block.body.is_unknown()).then_some(value)
        };
        content.blocks_of(name).map(item).collect()
    }

    fn check_number(
        &mut self,
        content: &Content<'r>,
        name: &str,
        nested: &Spec<'r>,
        given: usize,
        (least, most): (usize, Option<usize>),
    ) {
        if given < least {
            let detail = format!("The number of blocks of type `{name}` must be at least {least}.");
            let error = structure(format!("Insufficient {name} blocks"), detail);
            self.diagnostics.push(locate(content.missing_item, error));
        } else if let Some(most) = most.filter(|most| given > *most) {
            let detail = format!("The number of blocks of type `{name}` must be at most {most}.");
            let location = content.blocks_of(name).nth(most).and_then(|block| nested.location_in_block(block));
            self.diagnostics.push(locate(location, structure(format!("Too many {name} blocks"), detail)));
        }
    }

    /// Collects values in a list, a set or a tuple.
    fn collection(
        &mut self,
        content: &Content<'r>,
        name: &str,
        nested: &Spec<'r>,
        items: &[Value<'r>],
        into: Collection,
    ) -> Value<'r> {
        if into == Collection::Tuple {
            return self.build(|cx| cx.list(items));
        }
        let location = |at| content.blocks_of(name).nth(at).and_then(|block| nested.location_in_block(block));
        let (element, nothing) = (self.value_type(nested), self.context.arena().faulty(Type::Dynamic));
        let Some((element, items)) = self.unified(items, &element, location, name) else { return nothing };
        let error =
            |wrong: &Wrong| locate(content.missing_item, mistyped(format!("Invalid {name} blocks"), reason(wrong)));
        let collected = match into {
            Collection::List => self.attempt(|cx| list_of(cx, element, &items), error),
            _ => self.attempt(|cx| set_of(cx, element, &items), error),
        };
        collected.unwrap_or(nothing)
    }

    /// Converts values to one type, and returns that type. Without values, it is `empty`.
    fn unified(
        &mut self,
        items: &[Value<'r>],
        empty: &Type<'r>,
        location: impl Fn(usize) -> Option<Location<'r>>,
        name: &str,
    ) -> Option<(Type<'r>, Vec<Value<'r>>)> {
        if items.is_empty() {
            return Some((*empty, Vec::new()));
        }
        let inconsistent = |at: usize, detail: String| -> Box<Diagnostic> {
            locate(location(at), mistyped(format!("Inconsistent argument types in {name} blocks"), detail))
        };
        let unified =
            self.attempt(|cx| unify(cx, &types_of(cx, items)?, true), |wrong| inconsistent(0, reason(wrong)))?;
        let Some(unified) = unified else {
            let detail = "An argument must have the same type in all blocks.".into();
            self.diagnostics.push(inconsistent(0, detail));
            return None;
        };
        let converted = |(at, item): (usize, &Value<'r>)| {
            let error = |wrong: &Wrong| inconsistent(at, format!("Block {at} has other types: {}.", reason(wrong)));
            self.attempt(|cx| convert(cx, *item, &unified.ty), error)
        };
        Some((unified.ty, items.iter().enumerate().map(converted).collect::<Option<_>>()?))
    }

    /// Decodes blocks by their first `keys` labels. Returns `None` if their number is unknown.
    fn levels(
        &mut self,
        content: &Content<'r>,
        name: &str,
        keys: usize,
        nested: &Spec<'r>,
    ) -> Option<IndexMap<String, Level<'r>>> {
        let mut root = IndexMap::new();
        for block in content.blocks_of(name) {
            if block.body.is_unknown() {
                return None;
            }
            let (keys, rest) = block.labels.split_at_checked(keys).unwrap_or((&block.labels, &[]));
            let value = self.body(nested, &block.body, rest);
            let keys: Vec<_> = keys.iter().map(|label| label.text.as_str()).collect();
            if !insert(&mut root, &keys, value) {
                let keys = keys.join("\" \"");
                let detail = format!("There is already a block `{name} \"{keys}\"`. The labels must be unique.");
                self.diagnostics.push(block.location().label(structure(format!("Duplicate {name} block"), detail)));
            }
        }
        Some(root)
    }

    /// Collects the values of all levels in maps or objects.
    fn keyed_value(&mut self, levels: &IndexMap<String, Level<'r>>, nested: &Spec<'r>, into: Keyed) -> Value<'r> {
        if levels.is_empty() && into == Keyed::Object {
            return self.context.arena().map(&[]);
        }
        let element = self.value_type(nested);
        // The reference's empty map has one level, whatever the number of labels.
        self.level_value(levels, &element, into)
    }

    fn level_value(&mut self, level: &IndexMap<String, Level<'r>>, element: &Type<'r>, into: Keyed) -> Value<'r> {
        let arena = self.context.arena();
        let value = |(key, below): (&String, &Level<'r>)| {
            let value = match below {
                Level::Value(value) => *value,
                Level::Inner(inner) => self.level_value(inner, element, into),
            };
            (arena.copy_str(key), value)
        };
        let entries: Vec<_> = level.iter().map(value).collect();
        if into == Keyed::Object {
            return self.build(|cx| cx.map(&entries));
        }
        let is_last = level.values().all(|below| matches!(below, Level::Value(_)));
        let first = entries.first().filter(|_| !is_last || element.has_dynamic());
        let error = |wrong: &Wrong| mistyped("Invalid blocks", reason(wrong));
        let map = self.attempt(
            |cx| {
                let element = first.map_or(Ok(*element), |(_, value)| type_of(cx, *value))?;
                map_of(cx, element, &entries)
            },
            error,
        );
        map.unwrap_or_default()
    }
}

/// Inserts a value at its keys. Returns `false` if there is one already.
fn insert<'r>(level: &mut IndexMap<String, Level<'r>>, keys: &[&str], value: Value<'r>) -> bool {
    let Some((last, outer)) = keys.split_last() else { return false };
    let mut level = level;
    for key in outer {
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
