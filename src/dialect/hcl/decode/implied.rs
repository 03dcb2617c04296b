//! What follows from a specification without a value: the schema of the body, the type of the value, its place.

use super::{Collection, Keyed, Spec, Transform};
use crate::dialect::hcl::body::{Block, Body, Content, Context, Faults, Label, Place, Schema, mistyped};
use crate::dialect::hcl::call::invoke;
use crate::dialect::hcl::values::types::{type_of, without_optional};
use crate::function::Wrong;
use crate::text::Span;
use crate::value::{Attribute, Type, Value};

impl<'r> Spec<'r> {
    /// The specifications in this one that look at the same body.
    pub(super) fn same_body(&self) -> Vec<&Spec<'r>> {
        match self {
            Spec::Object(entries) => entries.iter().map(|(_, spec)| spec).collect(),
            Spec::Tuple(items) => items.iter().collect(),
            Spec::Default(first, second) => vec![first, second],
            Spec::Transform(wrapped, _) | Spec::Validate(wrapped, _) | Spec::Refine(wrapped, _) => vec![wrapped],
            _ => Vec::new(),
        }
    }

    /// The type of blocks it is made of, and the specification of each.
    pub(super) fn block_type(&self) -> Option<(&str, Option<&Spec<'r>>)> {
        match self {
            Spec::Block { name, nested, .. }
            | Spec::Blocks { name, nested, .. }
            | Spec::KeyedBlocks { name, nested, .. } => Some((name, Some(nested))),
            Spec::BlockAttrs { name, .. } => Some((name, None)),
            _ => None,
        }
    }

    /// The schema of the bodies that it can be made of.
    pub fn implied_schema(&self) -> Schema {
        let mut schema = Schema::new();
        self.add_to(&mut schema);
        schema
    }

    fn add_to(&self, schema: &mut Schema) {
        match self {
            Spec::Attr { name, required, .. } => schema.add_attribute(name.clone(), *required),
            Spec::Block { name, nested, .. } | Spec::Blocks { name, nested, .. } => {
                schema.add_block(name.clone(), nested.label_names());
            }
            Spec::KeyedBlocks { name, labels, nested, .. } => {
                schema.add_block(name.clone(), labels.iter().cloned().chain(nested.label_names()).collect());
            }
            Spec::BlockAttrs { name, .. } => schema.add_block(name.clone(), Vec::new()),
            _ => self.same_body().iter().for_each(|spec| spec.add_to(schema)),
        }
    }

    /// What the labels are called of the blocks that it is a specification of.
    fn label_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.add_labels(&mut names);
        names
    }

    fn add_labels(&self, names: &mut Vec<String>) {
        if let Spec::BlockLabel { index, name } = self {
            while names.len() <= *index {
                names.push(format!("label{}", names.len()));
            }
            if let Some(place) = names.get_mut(*index) {
                place.clone_from(name);
            }
        }
        self.same_body().iter().for_each(|spec| spec.add_labels(names));
    }

    /// The type of the value it is made into, as far as that is known before there is a body. A limit that is reached
    /// is added to `faults`.
    pub fn implied_type(&self, context: &Context<'r>, faults: &mut Faults) -> Type<'r> {
        let arena = context.arena();
        match self {
            Spec::Object(entries) => {
                let attribute = |(name, spec): &(String, Spec<'r>)| Attribute {
                    name: arena.copy_str(name),
                    ty: spec.implied_type(context, faults),
                    optional: false,
                };
                arena.object_type(&entries.iter().map(attribute).collect::<Vec<_>>())
            }
            Spec::Tuple(items) => {
                arena.tuple_type(&items.iter().map(|spec| spec.implied_type(context, faults)).collect::<Vec<_>>())
            }
            Spec::Attr { ty, .. } => *ty,
            Spec::Literal(value) => paid_type(*value, context, faults),
            Spec::Block { nested, .. } => nested.implied_type(context, faults),
            Spec::Blocks { nested, into: Collection::List, .. } => {
                arena.list_type(nested.implied_type(context, faults))
            }
            Spec::Blocks { nested, into: Collection::Set, .. } => arena.set_type(nested.implied_type(context, faults)),
            Spec::KeyedBlocks { nested, labels, into: Keyed::Map, .. } => {
                labels.iter().fold(nested.implied_type(context, faults), |element, _| arena.map_type(element))
            }
            Spec::BlockAttrs { element, .. } => arena.map_type(*element),
            Spec::BlockLabel { .. } => Type::String,
            Spec::Default(wrapped, _) | Spec::Validate(wrapped, _) | Spec::Refine(wrapped, _) => {
                wrapped.implied_type(context, faults)
            }
            Spec::Transform(wrapped, transform) => {
                let unknown = arena.unknown(without_optional(arena, wrapped.implied_type(context, faults)));
                transform.type_of(unknown, context, faults)
            }
            Spec::Expr(_) | Spec::Blocks { .. } | Spec::KeyedBlocks { .. } => Type::Dynamic,
        }
    }

    /// The type of values: without optional attributes.
    pub(super) fn value_type(&self, context: &Context<'r>, faults: &mut Faults) -> Type<'r> {
        without_optional(context.arena(), self.implied_type(context, faults))
    }

    /// The place of what it is made of in the body of a block with these labels.
    pub(super) fn place_in(&self, body: &Body<'r>, labels: &[Label]) -> Option<Place<'r>> {
        let (content, _) = body.partial_content(&self.implied_schema(), &mut Vec::new());
        self.place(&content, labels)
    }

    /// The place of what it is made of in a block.
    pub(super) fn place_in_block(&self, block: &Block<'r>) -> Option<Place<'r>> {
        self.place_in(&block.body, &block.labels)
    }

    pub(super) fn place(&self, content: &Content<'r>, labels: &[Label]) -> Option<Place<'r>> {
        let first = |name: &str| content.blocks.iter().find(|block| block.name == *name);
        match self {
            Spec::Attr { name, .. } => match content.attributes.get(name.as_str()) {
                Some(attribute) => Some(attribute.expr.place()),
                None => content.missing_item,
            },
            Spec::Literal(_) => None,
            Spec::Expr(expr) => Some(expr.place()),
            Spec::Block { name, nested, .. } | Spec::Blocks { name, nested, .. } => match first(name) {
                Some(block) => nested.place_in_block(block),
                None => content.missing_item,
            },
            Spec::KeyedBlocks { name, labels, nested, .. } => match first(name) {
                Some(block) => nested.place_in(&block.body, block.labels.get(labels.len()..).unwrap_or(&[])),
                None => content.missing_item,
            },
            Spec::BlockAttrs { name, .. } => first(name).map(Block::place).or(content.missing_item),
            Spec::BlockLabel { index, .. } => {
                let span = labels.get(*index).map_or(Span::default(), |label| label.range);
                content.missing_item.map(|place| Place { span, ..place })
            }
            Spec::Default(wrapped, _)
            | Spec::Transform(wrapped, _)
            | Spec::Validate(wrapped, _)
            | Spec::Refine(wrapped, _) => wrapped.place(content, labels),
            Spec::Object(_) | Spec::Tuple(_) => content.missing_item,
        }
    }
}

impl<'r> Transform<'r> {
    /// The type of what is made of `unknown`.
    fn type_of(&self, unknown: Value<'r>, context: &Context<'r>, faults: &mut Faults) -> Type<'r> {
        match self {
            Transform::Expr { expr, context, variable } => {
                let value = expr.evaluate(&context.child([(*variable, unknown)]), &mut Vec::new());
                paid_type(value, context, faults)
            }
            Transform::Value(value) => paid_type(*value, context, faults),
            Transform::Function(function) => {
                let answer = context.with_cx(|cx| invoke(cx, function, &[unknown]));
                answer.map_or(Type::Dynamic, |answer| paid_type(answer, context, faults))
            }
        }
    }
}

/// The type of a value, within the budgets of the context.
fn paid_type<'r>(value: Value<'r>, context: &Context<'r>, faults: &mut Faults) -> Type<'r> {
    let wrong = |what: &Wrong| mistyped("Invalid value", &*what.message);
    context.attempt(faults, |cx| type_of(cx, value), wrong).unwrap_or(Type::Dynamic)
}
