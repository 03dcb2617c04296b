//! Values by a specification.

use super::{Spec, Transform};
use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::body::{Attribute, Content, Context, Faults, Label, mistyped, put, structure};
use crate::dialect::hcl::call::invoke;
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::refine::Refine;
use crate::dialect::hcl::values::types::without_optional;
use crate::function::Wrong;
use crate::value::{Refinement, Type, Value};

/// What does not fit, and where in the value.
pub(super) fn said(wrong: &Wrong) -> String {
    let path: String = wrong.path.iter().map(ToString::to_string).collect();
    if path.is_empty() { wrong.message.clone() } else { format!("{path}: {}", wrong.message) }
}

/// The value of an attribute, converted to a type; unknown where it cannot be.
pub(super) fn converted<'r>(
    attribute: &Attribute<'r>,
    ty: &Type<'r>,
    context: &Context<'r>,
    summary: &str,
    faults: &mut Faults,
) -> Value<'r> {
    let value = attribute.expr.evaluate(context, faults);
    let wrong = |what: &Wrong| {
        let detail = format!("The value of `{}` does not fit: {}.", attribute.name, said(what));
        let range = attribute.expr.range();
        attribute.expr.place().put(mistyped(summary, detail)).with_context(attribute.name_range.to(range))
    };
    let converted = context.attempt(faults, |cx| convert(cx, value, ty), wrong);
    converted.unwrap_or_else(|| context.arena().faulty(without_optional(context.arena(), *ty)))
}

impl<'r> Spec<'r> {
    /// What the content of a body is made into; `labels` are those of the block that the body is of.
    pub(super) fn value(
        &self,
        content: &Content<'r>,
        labels: &[Label],
        context: &Context<'r>,
        faults: &mut Faults,
    ) -> Value<'r> {
        let arena = context.arena();
        match self {
            Spec::Object(entries) => {
                let entries: Vec<_> = entries
                    .iter()
                    .map(|(name, spec)| (arena.copy_str(name), spec.value(content, labels, context, faults)))
                    .collect();
                bounded(context, faults, |cx| cx.map(&entries))
            }
            Spec::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|spec| spec.value(content, labels, context, faults)).collect();
                bounded(context, faults, |cx| cx.list(&items))
            }
            Spec::Attr { name, ty, .. } => match content.attributes.get(name.as_str()) {
                Some(attribute) => converted(attribute, ty, context, "Incorrect attribute value type", faults),
                None => arena.null(without_optional(arena, *ty)),
            },
            Spec::Literal(value) => *value,
            Spec::Expr(expr) => expr.evaluate(context, faults),
            Spec::Block { .. } | Spec::Blocks { .. } | Spec::KeyedBlocks { .. } | Spec::BlockAttrs { .. } => {
                self.block_value(content, context, faults)
            }
            Spec::BlockLabel { index, .. } => match labels.get(*index) {
                Some(label) => arena.text(&label.text),
                None => arena.unknown(Type::String),
            },
            Spec::Default(first, second) => {
                let value = first.value(content, labels, context, faults);
                if value.is_null() { second.value(content, labels, context, faults) } else { value }
            }
            Spec::Transform(wrapped, _) | Spec::Validate(wrapped, _) | Spec::Refine(wrapped, _) => {
                let before = faults.len();
                let value = wrapped.value(content, labels, context, faults);
                if faults.len() > before {
                    return arena.faulty(self.value_type(context, faults));
                }
                let mut own = Vec::new();
                let made = self.made(value, context, &mut own);
                // What says no place is about the whole.
                let place = || wrapped.place(content, labels);
                let placed = |fault: Box<Diagnostic>| if fault.labels.is_empty() { put(place(), fault) } else { fault };
                faults.extend(own.into_iter().map(placed));
                made
            }
        }
    }

    /// What is made of what it wraps.
    fn made(&self, value: Value<'r>, context: &Context<'r>, faults: &mut Faults) -> Value<'r> {
        match self {
            Spec::Transform(_, Transform::Expr { expr, context, variable }) => {
                expr.evaluate(&context.child([(*variable, value)]), faults)
            }
            Spec::Transform(_, Transform::Value(value)) => *value,
            Spec::Transform(_, Transform::Function(function)) => {
                let wrong = |what: &Wrong| structure("Transform function failed", said(what));
                let answer = context.attempt(faults, |cx| invoke(cx, function, &[value]), wrong);
                answer.unwrap_or_else(|| context.arena().faulty(self.value_type(context, faults)))
            }
            Spec::Validate(_, check) => {
                faults.extend((check.0)(value));
                value
            }
            Spec::Refine(_, refinement) => refined(value, refinement, context, faults),
            _ => value,
        }
    }
}

/// `value`, of which this is known, too.
fn refined<'r>(value: Value<'r>, known: &Refinement<'r>, context: &Context<'r>, faults: &mut Faults) -> Value<'r> {
    let wrong = |what: &Wrong| structure("Inconsistent refinement", said(what));
    let made = context.attempt(
        faults,
        |cx| {
            let mut refined = Refine::of(value);
            if known.not_null {
                refined = refined.not_null();
            }
            if let Some((number, inclusive)) = known.least {
                refined = refined.at_least(cx, *number, *inclusive);
            }
            if let Some((number, inclusive)) = known.most {
                refined = refined.at_most(cx, *number, *inclusive);
            }
            if !known.prefix.is_empty() {
                refined = refined.prefix(cx, known.prefix)?;
            }
            refined.length_at_least(known.len_least).length_at_most(known.len_most).done(cx)
        },
        wrong,
    );
    made.unwrap_or(value)
}

/// A value that is built within the limits.
pub(super) fn bounded<'r>(
    context: &Context<'r>,
    faults: &mut Faults,
    build: impl FnOnce(&crate::function::Cx<'r>) -> crate::diagnostics::Result<Value<'r>>,
) -> Value<'r> {
    match context.with_cx(build) {
        Ok(value) => value,
        Err(limit) => {
            context.stop(limit, faults);
            context.arena().faulty(Type::Dynamic)
        }
    }
}
