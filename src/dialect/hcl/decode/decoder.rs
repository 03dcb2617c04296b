//! Decoding of bodies.

use super::Spec;
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::hcl::argument_gate::reason;
use crate::dialect::hcl::body::{Attribute, Body, Content, Context, DiagnosticList, Label, locate, mistyped};
use crate::dialect::hcl::values::{convert, without_optional};
use crate::function::{Cx, Outcome, Wrong};
use crate::value::{Type, Value};

impl<'r> Spec<'r> {
    /// Decodes a body. Values that fail to decode are unknown.
    pub fn decode(&self, body: &Body<'r>, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Value<'r> {
        Decoder { context, diagnostics }.body(self, body, &[])
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
            Spec::Transform(wrapped, transform) => {
                let before = self.diagnostics.len();
                let value = self.value(wrapped, content, labels);
                if self.diagnostics.len() > before {
                    return arena.faulty(self.value_type(spec));
                }
                let value = transform.apply(value, self.diagnostics);
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
