//! Errors of bodies. The summaries are the reference's.

use super::{BodySchema, Location, locate};
use crate::diagnostics::{Code, Diagnostic};
use crate::text::Span;

/// An error of the structure of a body.
pub fn structure(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputStructure, summary).with_detail(detail)
}

/// An error of the type of a value.
pub fn mistyped(summary: impl Into<String>, detail: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputType, summary).with_detail(detail)
}

pub fn missing_argument(name: &str, location: Option<Location<'_>>) -> Box<Diagnostic> {
    locate(location, structure("Missing required argument", format!("The argument `{name}` is required, but not set.")))
}

pub fn duplicate_argument(name: &str, before: Location<'_>, location: Location<'_>) -> Box<Diagnostic> {
    let detail = format!("The argument `{name}` is already set at {}.", before.position());
    location.label(Diagnostic::new(Code::DuplicateDefinition, "Duplicate argument").with_detail(detail))
}

/// An argument that `schema` does not have. `unset` are the names of the schema that are not set.
pub fn unsupported_argument<'s>(
    name: &str,
    schema: &'s BodySchema,
    unset: impl IntoIterator<Item = &'s str>,
    location: Location<'_>,
) -> Box<Diagnostic> {
    let error = structure("Unsupported argument", format!("An argument named `{name}` is not expected here."));
    location.label(match schema.block_of(name) {
        Some(_) => error.with_help(format!("write a block `{name} {{ … }}`")),
        None => error.with_suggestion(name, unset),
    })
}

pub fn unsupported_block(name: &str, schema: &BodySchema, location: Location<'_>) -> Box<Diagnostic> {
    let error = structure("Unsupported block type", format!("Blocks of type `{name}` are not expected here."));
    location.label(match schema.has_attribute(name) {
        true => error.with_help(format!("set the argument: `{name} = …`")),
        false => error.with_suggestion(name, schema.block_names()),
    })
}

/// A block with too many or too few labels.
pub fn label_count(
    summary: String,
    name: &str,
    labels: &[String],
    location: Location<'_>,
    header: Span,
) -> Box<Diagnostic> {
    let detail = match labels {
        [] => format!("Blocks of type `{name}` have no labels."),
        [label] => format!("Blocks of type `{name}` have one label ({label})."),
        _ => format!("Blocks of type `{name}` have {} labels ({}).", labels.len(), labels.join(", ")),
    };
    location.label(structure(summary, detail)).with_context(header)
}
