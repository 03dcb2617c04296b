//! What can be wrong with a body, in words.

use super::Schema;
use super::content::{Place, put};
use crate::diagnostics::{Code, Diagnostic};
use crate::text::Span;

/// An error of a body's structure.
pub(in crate::dialect::hcl) fn structure(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputStructure, summary).with_detail(detail)
}

/// An error of a value's type.
pub(in crate::dialect::hcl) fn mistyped(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputType, summary).with_detail(detail)
}

pub(in crate::dialect::hcl) fn missing_argument(name: &str, place: Option<Place<'_>>) -> Box<Diagnostic> {
    put(place, structure("Missing required argument", format!("The argument `{name}` is required, but it is not set.")))
}

pub(in crate::dialect::hcl) fn duplicate_argument(name: &str, before: Place<'_>, place: Place<'_>) -> Box<Diagnostic> {
    let detail = format!("The argument `{name}` was already set at {}.", before.position());
    place.put(Diagnostic::new(Code::DuplicateDefinition, "Duplicate argument").with_detail(detail))
}

/// An argument that `schema` does not have; `free` are the names it has that are not set.
pub(super) fn unsupported_argument<'s>(
    name: &str,
    schema: &'s Schema,
    free: impl IntoIterator<Item = &'s str>,
    place: Place<'_>,
) -> Box<Diagnostic> {
    let error =
        place.put(structure("Unsupported argument", format!("An argument named `{name}` is not expected here.")));
    match schema.block_of(name) {
        Some(_) => error.with_help(format!("write a block `{name} {{ … }}`")),
        None => error.with_suggestion(name, free),
    }
}

pub(super) fn unsupported_block(name: &str, schema: &Schema, place: Place<'_>) -> Box<Diagnostic> {
    let error =
        place.put(structure("Unsupported block type", format!("Blocks of type `{name}` are not expected here.")));
    match schema.has_attribute(name) {
        true => error.with_help(format!("set the argument: `{name} = …`")),
        false => error.with_suggestion(name, schema.block_names()),
    }
}

pub(super) fn extraneous_label(name: &str, labels: &[String], place: Place<'_>, header: Span) -> Box<Diagnostic> {
    let detail = match labels {
        [] => format!("Blocks of type `{name}` have no labels."),
        _ => format!("Blocks of type `{name}` have {} labels ({}).", labels.len(), labels.join(", ")),
    };
    place.put(structure(format!("Extraneous label for {name}"), detail)).with_context(header)
}

pub(super) fn missing_label(
    name: &str,
    labels: &[String],
    missing: &str,
    place: Place<'_>,
    header: Span,
) -> Box<Diagnostic> {
    let detail = format!("Blocks of type `{name}` have {} labels ({}).", labels.len(), labels.join(", "));
    place.put(structure(format!("Missing {missing} for {name}"), detail)).with_context(header)
}

impl Place<'_> {
    /// The place as a person names it.
    pub(in crate::dialect::hcl) fn position(&self) -> String {
        format!("{}:{}", self.source.name(), self.source.position(self.span.start))
    }
}
