//! `dynamic` blocks: a block for each element of a collection, or one unknown block.

use std::collections::HashSet;
use std::rc::Rc;

use super::content::{BodySource, Split, mistyped, structure};
use super::expression::Iterators;
use super::{
    Attribute, Attributes, Block, BlockSchema, Body, BodyExpression, BodySchema, Content, Context, DiagnosticList,
    Label, Location, locate,
};
use crate::syntax::is_identifier;
use crate::values::elements::elements;
use crate::values::{constraint_name, convert};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::Span;
use dropforge_value::{Arena, Type, Value};

/// The type of the blocks that are expanded.
pub const DYNAMIC: &str = "dynamic";

/// Returns a body whose `dynamic` blocks are expanded, at every depth, when its content is asked for.
///
/// `dynamic "x" { for_each = … content { … } }` stands for a block `x` for each element, in which `x.key` and `x.value`
/// are the element's (with `iterator = y`, `y.key` and `y.value`). `labels` are evaluated for each element. If
/// `for_each` is unknown, there is one block with unknown content. The marks of `for_each` mark all values in the
/// blocks.
pub fn expand<'r>(body: Body<'r>, context: &Context<'r>) -> Body<'r> {
    ExpandedBody::of(body, context.clone(), None)
}

/// A body whose `dynamic` blocks are expanded.
#[derive(Debug, Clone)]
struct ExpandedBody<'r> {
    original: Body<'r>,
    /// The context of `for_each` and `labels`.
    context: Context<'r>,
    iterators: Option<Rc<Iterators<'r>>>,
    /// The attributes that were taken.
    hidden_attributes: HashSet<String>,
    /// The blocks that were taken.
    hidden_blocks: Vec<BlockSchema>,
}

/// The arguments of a `dynamic` block.
struct Dynamic<'r> {
    name: String,
    location: Location<'r>,
    type_range: Span,
    collection: Value<'r>,
    marks: &'r [&'r str],
    iterator: &'r str,
    labels: Vec<BodyExpression<'r>>,
    content: Body<'r>,
}

impl<'r> BodySource<'r> for ExpandedBody<'r> {
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r> {
        // The rest is found in the original again, which still has `dynamic` blocks of other types.
        let (raw, _) = self.original.source().split(&self.extended(schema), complete, diagnostics);
        let content = self.expanded(schema, raw, complete, diagnostics);
        let mut rest = self.clone();
        rest.hidden_attributes.extend(schema.attribute_names().map(str::to_owned));
        rest.hidden_blocks.extend(schema.blocks.values().cloned());
        (content, Body::of(rest))
    }

    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        self.visible(self.rest_of_original().just_attributes(diagnostics))
    }

    fn missing_item(&self) -> Option<Location<'r>> {
        self.original.missing_item()
    }

    fn marks(&self) -> &[&'r str] {
        self.iterators.as_ref().map_or(&[], |iterators| &iterators.marks)
    }
}

impl<'r> ExpandedBody<'r> {
    fn of(original: Body<'r>, context: Context<'r>, iterators: Option<Rc<Iterators<'r>>>) -> Body<'r> {
        let (hidden_attributes, hidden_blocks) = (HashSet::new(), Vec::new());
        Body::of(Self { original, context, iterators, hidden_attributes, hidden_blocks })
    }

    /// The original body without the taken items. `dynamic` blocks were taken if all of them are of taken types. Errors
    /// of the taken items were reported.
    fn rest_of_original(&self) -> Body<'r> {
        if self.hidden_attributes.is_empty() && self.hidden_blocks.is_empty() {
            return self.original.clone();
        }
        let mut taken = self.extended(&BodySchema::new());
        let (content, rest) = self.original.partial_content(&taken, &mut Vec::new());
        let is_hidden = |block: &Block<'r>| block.labels.first().is_some_and(|label| self.hides(&label.text));
        if content.blocks_of(DYNAMIC).all(is_hidden) {
            return rest;
        }
        taken.blocks.shift_remove(DYNAMIC);
        self.original.partial_content(&taken, &mut Vec::new()).1
    }

    /// Returns `schema` with `dynamic` blocks and the hidden items, so that they are not unexpected.
    fn extended(&self, schema: &BodySchema) -> BodySchema {
        let mut extended = schema.clone();
        extended.add_block(DYNAMIC.to_owned(), vec!["type".to_owned()]);
        for block in self.hidden_blocks.iter().filter(|block| schema.block_of(&block.name).is_none()) {
            extended.add_block(block.name.clone(), block.labels.clone());
        }
        for name in &self.hidden_attributes {
            extended.add_attribute(name.clone(), false);
        }
        extended
    }

    /// The attributes that are not hidden, which see the iterators.
    fn visible(&self, mut attributes: Attributes<'r>) -> Attributes<'r> {
        attributes.retain(|name, _| !self.hidden_attributes.contains(*name));
        if let Some(iterators) = &self.iterators {
            for attribute in attributes.values_mut() {
                attribute.expr = attribute.expr.clone().iterated(iterators);
            }
        }
        attributes
    }

    fn hides(&self, name: &str) -> bool {
        self.hidden_blocks.iter().any(|block| block.name == name)
    }

    /// Expands the `dynamic` blocks of the raw content.
    fn expanded(
        &self,
        schema: &BodySchema,
        raw: Content<'r>,
        complete: bool,
        diagnostics: &mut DiagnosticList,
    ) -> Content<'r> {
        let mut blocks = Vec::new();
        for block in raw.blocks {
            if block.name != DYNAMIC {
                if !self.hides(&block.name) {
                    let body = self.child(block.body, self.iterators.clone());
                    blocks.push(Block { body, ..block });
                }
                continue;
            }
            let Some(label) = block.labels.first().filter(|label| !self.hides(&label.text)) else { continue };
            match schema.block_of(&label.text) {
                Some(wanted) => self.expand_block(wanted, &block, label, &mut blocks, diagnostics),
                None if !complete => {}
                None => {
                    let detail = format!("Blocks of type `{}` are not expected here.", label.text);
                    let error = structure("Unsupported block type", detail);
                    let location = Location { source: block.source, span: label.range };
                    diagnostics.push(location.label(error).with_suggestion(&label.text, schema.block_names()));
                }
            }
        }
        Content { attributes: self.visible(raw.attributes), blocks, missing_item: raw.missing_item }
    }

    /// Adds the blocks of a `dynamic` block.
    fn expand_block(
        &self,
        wanted: &BlockSchema,
        block: &Block<'r>,
        label: &Label,
        blocks: &mut Vec<Block<'r>>,
        diagnostics: &mut DiagnosticList,
    ) {
        let Some(dynamic) = self.dynamic(wanted, block, label, diagnostics) else { return };
        if !dynamic.collection.is_known() {
            let unknown = self.context.arena().unknown(Type::Dynamic);
            let made = self.block(&dynamic, unknown, unknown, diagnostics);
            blocks.extend(made.map(|block| Block { body: block.body.unknown(), ..block }));
            return;
        }
        let elements = self.context.attempt(
            diagnostics,
            |cx| elements(cx, dynamic.collection),
            |wrong| mistyped(INVALID_FOR_EACH, &*wrong.message),
        );
        for (key, value) in elements.into_iter().flatten() {
            // A block is larger than an element, so each is paid for before the next is made.
            let paid = self.context.with_cx(|cx| cx.spend(1).and_then(|()| cx.charge(size_of::<Block<'_>>())));
            if let Err(limit) = paid {
                return self.context.stop(limit, diagnostics);
            }
            blocks.extend(self.block(&dynamic, key, value, diagnostics));
        }
    }

    /// Reads the arguments of a `dynamic` block. Returns `None` after an error.
    fn dynamic(
        &self,
        wanted: &BlockSchema,
        block: &Block<'r>,
        label: &Label,
        diagnostics: &mut DiagnosticList,
    ) -> Option<Dynamic<'r>> {
        let schema = arguments();
        let schema = if wanted.labels.is_empty() { schema } else { schema.required("labels") };
        let before = diagnostics.len();
        let content = block.body.content(&schema, diagnostics);
        if diagnostics.len() > before {
            return None;
        }
        let for_each = &content.attributes.get("for_each")?.expr;
        let (collection, marks) = for_each.evaluate(&self.context, diagnostics).unmarked();
        if diagnostics.len() > before {
            return None;
        }
        if let Some(error) = not_iterable(self.context.arena(), collection) {
            diagnostics.push(for_each.location().label(error));
            return None;
        }
        let mut report = |error| diagnostics.push(error);
        let iterator = match content.attributes.get("iterator") {
            Some(attribute) => {
                let name = iterator(&attribute.expr).map_err(&mut report).ok()?;
                self.context.arena().copy_str(&name)
            }
            None => self.context.arena().copy_str(&wanted.name),
        };
        let labels = match content.attributes.get("labels") {
            Some(attribute) => labels(wanted, &attribute.expr).map_err(&mut report).ok()?,
            None => Vec::new(),
        };
        let content = content_block(&content).map_err(report).ok()?;
        let (location, name) = (block.location(), wanted.name.clone());
        Some(Dynamic { name, location, type_range: label.range, collection, marks, iterator, labels, content })
    }

    /// Makes the block of an element.
    fn block(
        &self,
        dynamic: &Dynamic<'r>,
        key: Value<'r>,
        value: Value<'r>,
        diagnostics: &mut DiagnosticList,
    ) -> Option<Block<'r>> {
        let mut iterators = self.iterators.as_deref().cloned().unwrap_or_default();
        iterators.values.push((dynamic.iterator, self.context.arena().map(&[("key", key), ("value", value)])));
        iterators.marks.extend(dynamic.marks);
        iterators.marks.sort_unstable();
        iterators.marks.dedup();
        let context = iterators.within(&self.context);
        let labels = dynamic.labels.iter().map(|label| block_label(label, &context, diagnostics));
        Some(Block {
            name: dynamic.name.clone(),
            labels: labels.collect::<Option<Vec<_>>>()?,
            body: self.child(dynamic.content.clone(), Some(Rc::new(iterators))),
            source: dynamic.location.source,
            def_range: dynamic.location.span,
            type_range: dynamic.type_range,
        })
    }

    /// Expands the body of a block in this one.
    fn child(&self, body: Body<'r>, iterators: Option<Rc<Iterators<'r>>>) -> Body<'r> {
        let context = match &iterators {
            Some(iterators) => iterators.within(&self.context),
            None => self.context.clone(),
        };
        Self::of(body, context, iterators)
    }
}

/// The content of a `dynamic` block, without `labels`, which blocks without labels do not have.
fn arguments() -> BodySchema {
    BodySchema::new().required("for_each").optional("iterator").block("content", &[])
}

/// Reports what is wrong with a `dynamic` block whatever the values of its arguments and the blocks that it makes.
pub fn check_dynamic(body: &Body<'_>, diagnostics: &mut DiagnosticList) {
    let content = body.content(&arguments().optional("labels"), diagnostics);
    let (attributes, mut found) = (&content.attributes, Vec::new());
    found.extend(attributes.get("iterator").and_then(|attribute| iterator(&attribute.expr).err()));
    found.extend(attributes.get("labels").and_then(|attribute| listed(&attribute.expr).err()));
    found.extend(content_block(&content).err());
    diagnostics.extend(found);
}

/// Reads the name of an iterator.
fn iterator(expr: &BodyExpression<'_>) -> Result<String> {
    let error = || {
        let detail = "The name of an iterator must be a single name.";
        let error = mistyped("Invalid dynamic iterator name", detail);
        let name = expr.location().source.slice(expr.range()).trim_matches('"');
        let error =
            if is_identifier(name) { error.with_help(format!("write it without quotes: `{name}`")) } else { error };
        expr.location().label(error)
    };
    expr.keyword().ok_or_else(error)
}

/// Returns the expressions of `labels`.
fn listed<'r>(expr: &BodyExpression<'r>) -> Result<Vec<BodyExpression<'r>>> {
    expr.static_list().ok_or_else(|| {
        expr.location().label(mistyped("Invalid expression", "The labels must be a list of expressions."))
    })
}

/// Returns the error of a value that cannot be a label.
pub fn not_a_label(location: Location<'_>, reason: &str) -> Box<Diagnostic> {
    let detail = format!("This value cannot be the label of a block: {reason}.");
    location.label(mistyped("Invalid dynamic block label", detail))
}

/// Reads the `labels` of a `dynamic` block.
fn labels<'r>(wanted: &BlockSchema, expr: &BodyExpression<'r>) -> Result<Vec<BodyExpression<'r>>> {
    let labels = listed(expr)?;
    let (summary, location) = match labels.get(wanted.labels.len()) {
        Some(extra) => ("Extraneous dynamic block label", extra.location()),
        None if labels.len() < wanted.labels.len() => ("Insufficient dynamic block labels", expr.location()),
        None => return Ok(labels),
    };
    let detail = format!("The number of labels of a `{}` block must be {}.", wanted.name, wanted.labels.len());
    Err(location.label(structure(summary, detail)))
}

/// Returns the `content` block of a `dynamic` block.
fn content_block<'r>(content: &Content<'r>) -> Result<Body<'r>> {
    let detail = "A `dynamic` block must have one `content` block, the content of each block.";
    Err(match content.blocks.as_slice() {
        [content] => return Ok(content.body.clone()),
        [_, extra, ..] => extra.location().label(structure("Extraneous dynamic content block", detail)),
        [] => locate(content.missing_item, structure("Missing dynamic content block", detail)),
    })
}

/// Evaluates a label.
fn block_label<'r>(
    expr: &BodyExpression<'r>,
    context: &Context<'r>,
    diagnostics: &mut DiagnosticList,
) -> Option<Label> {
    let before = diagnostics.len();
    let value = expr.evaluate(context, diagnostics);
    if diagnostics.len() > before {
        return None;
    }
    let error = |reason: &str| not_a_label(expr.location(), reason);
    let convert = context.attempt(diagnostics, |cx| convert(cx, value, &Type::String), |wrong| error(&wrong.message));
    let text = convert?.unmarked().0;
    match text.as_str() {
        Some(text) => return Some(Label { text: text.to_owned(), range: expr.range() }),
        None if text.is_null() => diagnostics.push(error("it is null")),
        None => diagnostics.push(error("it is not known yet")),
    }
    None
}

const INVALID_FOR_EACH: &str = "Invalid dynamic for_each value";

/// Returns the error of a `for_each` value that is not iterable.
pub fn not_iterable<'r>(arena: &'r Arena, value: Value<'r>) -> Option<Box<Diagnostic>> {
    if value.elements().is_some() || value.entries().is_some() {
        return None;
    }
    let found = match value.type_in(arena) {
        _ if value.is_null() => "null".into(),
        Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Map(_) | Type::Tuple(_) | Type::Object(_) => return None,
        other => format!("a {}", constraint_name(&other)),
    };
    Some(mistyped(INVALID_FOR_EACH, format!("The value is {found}, but must be a collection.")))
}

/// A body whose values are unknown.
#[derive(Debug)]
struct UnknownBody<'r>(Body<'r>);

impl<'r> Body<'r> {
    /// Returns the body with unknown values.
    pub(super) fn unknown(self) -> Self {
        Self::of(UnknownBody(self))
    }
}

impl<'r> BodySource<'r> for UnknownBody<'r> {
    fn split(&self, schema: &BodySchema, complete: bool, diagnostics: &mut DiagnosticList) -> Split<'r> {
        let (content, rest) = self.0.source().split(schema, complete, diagnostics);
        let blocks = content.blocks.into_iter().map(|block| Block { body: block.body.unknown(), ..block }).collect();
        (Content { attributes: unknown_attributes(content.attributes), blocks, ..content }, rest.unknown())
    }

    fn just_attributes(&self, diagnostics: &mut DiagnosticList) -> Attributes<'r> {
        unknown_attributes(self.0.just_attributes(diagnostics))
    }

    fn missing_item(&self) -> Option<Location<'r>> {
        self.0.missing_item()
    }

    fn is_unknown(&self) -> bool {
        true
    }

    fn marks(&self) -> &[&'r str] {
        self.0.marks()
    }
}

fn unknown_attributes<'r>(attributes: Attributes<'r>) -> Attributes<'r> {
    let unknown = |(name, of): (_, Attribute<'r>)| (name, Attribute { expr: of.expr.unknown(), ..of });
    attributes.into_iter().map(unknown).collect()
}
