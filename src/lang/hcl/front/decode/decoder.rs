//! Decoding of bodies and their blocks.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::{Collection, Keyed, Spec, Transform};
use crate::argument_gate::{invoke, reason};
use crate::body::{
    Attribute, Block, Body, Content, Context, DiagnosticList, Label, Location, locate, mistyped, structure,
};
use crate::values::{Refine, convert, list_of, map_of, set_of, type_of, types_of, unify, without_optional};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::{Cx, Outcome, Wrong};
use dropforge_value::{Refinement, Type, Value};

impl<'r> Spec<'r> {
    /// Decodes a body. Values that fail to decode are unknown.
    pub fn decode(&self, body: &Body<'r>, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Value<'r> {
        Decoder { context, diagnostics }.body(self, body, &[])
    }

    /// Decodes a body that may have more content, and returns a body of the rest.
    pub fn partial_decode(
        &self,
        body: &Body<'r>,
        context: &Context<'r>,
        diagnostics: &mut DiagnosticList,
    ) -> (Value<'r>, Body<'r>) {
        let (content, rest) = body.partial_content(&self.implied_schema(), diagnostics);
        let value = Decoder { context, diagnostics }.value(self, &content, &[]);
        (context.arena().marked(value, body.marks()), rest)
    }
}

/// The context and the diagnostics of decoding.
pub(super) struct Decoder<'d, 'r> {
    pub context: &'d Context<'r>,
    pub diagnostics: &'d mut DiagnosticList,
}

impl<'r> Decoder<'_, 'r> {
    /// Decodes the body of a block with these labels.
    pub fn body(&mut self, spec: &Spec<'r>, body: &Body<'r>, labels: &[Label]) -> Value<'r> {
        let content = body.content(&spec.implied_schema(), self.diagnostics);
        let value = self.value(spec, &content, labels);
        self.context.arena().marked(value, body.marks())
    }

    /// Decodes the content of a body of a block with these labels.
    pub fn value(&mut self, spec: &Spec<'r>, content: &Content<'r>, labels: &[Label]) -> Value<'r> {
        let arena = self.context.arena();
        match spec {
            Spec::Object(entries) => {
                let entries = entries.iter();
                let entries: Vec<_> =
                    entries.map(|(name, spec)| (arena.copy_str(name), self.value(spec, content, labels))).collect();
                self.build(|cx| cx.map(&entries))
            }
            Spec::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|spec| self.value(spec, content, labels)).collect();
                self.build(|cx| cx.list(&items))
            }
            Spec::Attr { name, ty, .. } => match content.attributes.get(name.as_str()) {
                Some(attribute) => self.attribute(attribute, ty, "Incorrect attribute value type"),
                None => arena.null(without_optional(arena, *ty)),
            },
            Spec::Literal(value) => *value,
            Spec::Expr(expr) => expr.evaluate(self.context, self.diagnostics),
            Spec::Block { .. } | Spec::Blocks { .. } | Spec::KeyedBlocks { .. } | Spec::BlockAttrs { .. } => {
                self.blocks(spec, content)
            }
            Spec::BlockLabel { index, .. } => match labels.get(*index) {
                Some(label) => arena.text(&label.text),
                None => arena.unknown(Type::String),
            },
            Spec::Default(first, second) => {
                let value = self.value(first, content, labels);
                if value.is_null() { self.value(second, content, labels) } else { value }
            }
            Spec::Transform(wrapped, _) | Spec::Validate(wrapped, _) | Spec::Refine(wrapped, _) => {
                let before = self.diagnostics.len();
                let value = self.value(wrapped, content, labels);
                if self.diagnostics.len() > before {
                    return arena.faulty(self.value_type(spec));
                }
                let value = self.wrap(spec, value);
                // Errors without a location are about the whole value.
                for error in self.diagnostics.split_off(before) {
                    let location = if error.labels.is_empty() { wrapped.location(content, labels) } else { None };
                    self.diagnostics.push(locate(location, error));
                }
                value
            }
        }
    }

    /// Evaluates an attribute and converts it to a type. If that fails, the value is unknown.
    pub fn attribute(&mut self, attribute: &Attribute<'r>, ty: &Type<'r>, summary: &str) -> Value<'r> {
        let Attribute { name, expr, name_range, .. } = attribute;
        let value = expr.evaluate(self.context, self.diagnostics);
        let error = |wrong: &Wrong| {
            let detail = format!("The value of `{name}` does not fit: {}.", reason(wrong));
            expr.location().label(mistyped(summary, detail)).with_context(name_range.to(expr.range()))
        };
        let arena = self.context.arena();
        self.attempt(|cx| convert(cx, value, ty), error).unwrap_or_else(|| arena.faulty(without_optional(arena, *ty)))
    }

    /// Transforms, validates or refines the value of a wrapped specification.
    fn wrap(&mut self, spec: &Spec<'r>, value: Value<'r>) -> Value<'r> {
        match spec {
            Spec::Transform(_, Transform::Expr { expr, context, variable }) => {
                expr.evaluate(&context.child([(*variable, value)]), self.diagnostics)
            }
            Spec::Transform(_, Transform::Value(value)) => *value,
            Spec::Transform(_, Transform::Function(function)) => {
                let error = |wrong: &Wrong| structure("Transform function failed", reason(wrong));
                let answer = self.attempt(|cx| invoke(cx, function, &[value]), error);
                answer.unwrap_or_else(|| self.context.arena().faulty(self.value_type(spec)))
            }
            Spec::Validate(_, check) => {
                self.diagnostics.extend((check.0)(value));
                value
            }
            Spec::Refine(_, refinement) => {
                let error = |wrong: &Wrong| structure("Inconsistent refinement", reason(wrong));
                self.attempt(|cx| refined(cx, value, refinement), error).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// Runs `work` on values within the budgets of the context.
    pub fn attempt<T>(
        &mut self,
        work: impl FnOnce(&Cx<'r>) -> Outcome<T>,
        error: impl FnOnce(&Wrong) -> Box<Diagnostic>,
    ) -> Option<T> {
        self.context.attempt(self.diagnostics, work, error)
    }

    /// Builds a value within the budgets of the context.
    pub fn build(&mut self, build: impl FnOnce(&Cx<'r>) -> Result<Value<'r>>) -> Value<'r> {
        match self.context.with_cx(build) {
            Ok(value) => value,
            Err(limit) => {
                self.context.stop(limit, self.diagnostics);
                self.context.arena().faulty(Type::Dynamic)
            }
        }
    }
}

/// The blocks of a type.
struct Blocks<'c, 'r> {
    name: &'c str,
    nested: &'c Spec<'r>,
    found: Vec<&'c Block<'r>>,
    missing_item: Option<Location<'r>>,
}

impl<'c, 'r> Blocks<'c, 'r> {
    fn new(content: &'c Content<'r>, name: &'c str, nested: &'c Spec<'r>) -> Self {
        Self { name, nested, found: content.blocks_of(name).collect(), missing_item: content.missing_item }
    }

    fn location(&self, at: usize) -> Option<Location<'r>> {
        self.found.get(at).and_then(|block| self.nested.location_in_block(block))
    }
}

/// The value of a block by the labels that are its keys.
type KeyedValue<'c, 'r> = (&'c [Label], Value<'r>);

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
                match self.keyed_values(&Blocks::new(content, name, nested), labels.len()) {
                    Some(values) if values.is_empty() && *into == Keyed::Object => self.context.arena().map(&[]),
                    // The reference's empty map has one level, whatever the number of labels.
                    Some(values) => {
                        let element = self.value_type(nested);
                        self.level(&values, &element, *into)
                    }
                    None => self.context.arena().unknown(self.value_type(spec)),
                }
            }
            Spec::Blocks { name, nested, into, least, most } => {
                let blocks = Blocks::new(content, name, nested);
                match self.items(&blocks) {
                    Some(items) => {
                        self.check_number(&blocks, *least, *most);
                        self.collection(&blocks, &items, *into)
                    }
                    None => self.context.arena().unknown(self.value_type(spec)),
                }
            }
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
    fn items(&mut self, blocks: &Blocks<'_, 'r>) -> Option<Vec<Value<'r>>> {
        let item = |block: &&Block<'r>| {
            let value = self.body(blocks.nested, &block.body, &block.labels);
            (!block.body.is_unknown()).then_some(value)
        };
        blocks.found.iter().map(item).collect()
    }

    fn check_number(&mut self, blocks: &Blocks<'_, 'r>, least: usize, most: Option<usize>) {
        let (name, given) = (blocks.name, blocks.found.len());
        if given < least {
            let detail = format!("The number of blocks of type `{name}` must be at least {least}.");
            let error = structure(format!("Insufficient {name} blocks"), detail);
            self.diagnostics.push(locate(blocks.missing_item, error));
        } else if let Some(most) = most.filter(|most| given > *most) {
            let detail = format!("The number of blocks of type `{name}` must be at most {most}.");
            let error = structure(format!("Too many {name} blocks"), detail);
            self.diagnostics.push(locate(blocks.location(most), error));
        }
    }

    /// Collects values in a list, a set or a tuple.
    fn collection(&mut self, blocks: &Blocks<'_, 'r>, items: &[Value<'r>], into: Collection) -> Value<'r> {
        if into == Collection::Tuple {
            return self.build(|cx| cx.list(items));
        }
        let (element, nothing) = (self.value_type(blocks.nested), self.context.arena().faulty(Type::Dynamic));
        let unified = self.unified(items, &element, |at| blocks.location(at), blocks.name);
        let Some((element, items)) = unified else { return nothing };
        let summary = format!("Invalid {} blocks", blocks.name);
        let error = |wrong: &Wrong| locate(blocks.missing_item, mistyped(summary, reason(wrong)));
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
    fn keyed_values<'c>(&mut self, blocks: &Blocks<'c, 'r>, keys: usize) -> Option<Vec<KeyedValue<'c, 'r>>> {
        let (mut values, mut seen) = (Vec::new(), HashSet::new());
        for block in &blocks.found {
            if block.body.is_unknown() {
                return None;
            }
            let (keys, rest) = block.labels.split_at_checked(keys).unwrap_or((&block.labels, &[]));
            let value = self.body(blocks.nested, &block.body, rest);
            let texts: Vec<_> = keys.iter().map(|label| label.text.as_str()).collect();
            if seen.contains(&texts) {
                let (name, keys) = (blocks.name, texts.join("\" \""));
                let detail = format!("There is already a block `{name} \"{keys}\"`. The labels must be unique.");
                self.diagnostics.push(block.location().label(structure(format!("Duplicate {name} block"), detail)));
            } else {
                seen.insert(texts);
                values.push((keys, value));
            }
        }
        Some(values)
    }

    /// Collects values in a map or an object by their first key, and those of a key by the next.
    fn level(&mut self, values: &[KeyedValue<'_, 'r>], element: &Type<'r>, into: Keyed) -> Value<'r> {
        let mut below: IndexMap<&str, Vec<KeyedValue<'_, 'r>>> = IndexMap::new();
        for (keys, value) in values {
            let Some((key, rest)) = keys.split_first() else { continue };
            below.entry(&key.text).or_default().push((rest, *value));
        }
        let mut entries = Vec::with_capacity(below.len());
        for (key, values) in &below {
            let value = if let [([], value)] = values.as_slice() { *value } else { self.level(values, element, into) };
            entries.push((self.context.arena().copy_str(key), value));
        }
        if into == Keyed::Object {
            return self.build(|cx| cx.map(&entries));
        }
        let is_last = values.iter().all(|(keys, _)| keys.len() == 1);
        let first = entries.first().filter(|_| !is_last || element.has_dynamic());
        let map = self.attempt(
            |cx| {
                let element = first.map_or(Ok(*element), |(_, value)| type_of(cx, *value))?;
                map_of(cx, element, &entries)
            },
            |wrong| mistyped("Invalid blocks", reason(wrong)),
        );
        map.unwrap_or_default()
    }
}

/// Refines a value.
fn refined<'r>(cx: &Cx<'r>, value: Value<'r>, refinement: &Refinement<'r>) -> Outcome<Value<'r>> {
    let Refinement { not_null, least, most, prefix, len_least, len_most } = *refinement;
    let mut refined = Refine::of(value);
    if not_null {
        refined = refined.not_null();
    }
    if let Some((number, inclusive)) = least {
        refined = refined.at_least(cx, *number, *inclusive);
    }
    if let Some((number, inclusive)) = most {
        refined = refined.at_most(cx, *number, *inclusive);
    }
    if !prefix.is_empty() {
        refined = refined.prefix(cx, prefix)?;
    }
    refined.length_at_least(len_least).length_at_most(len_most).done(cx)
}
