//! Errors of JSON values as bodies. The summaries are the reference's.

use std::collections::HashSet;

use crate::diagnostics::Diagnostic;
use crate::dialect::hcl::body::errors::{mistyped, structure};
use crate::dialect::hcl::body::{BodySchema, Location};
use crate::dialect::hcl::name_suggestion::name_suggestion;

/// A value of the wrong JSON type.
pub fn wrong_type(detail: impl Into<String>, location: Location<'_>) -> Box<Diagnostic> {
    location.label(mistyped("Incorrect JSON value type", detail))
}

/// A property that `schema` has no name for. Names of attributes in `set` are not suggested.
pub fn extraneous(name: &str, schema: &BodySchema, set: &HashSet<String>, location: Location<'_>) -> Box<Diagnostic> {
    let unset = schema.attribute_names().filter(|name| !set.contains(*name));
    let detail = format!("There is no argument and no block type named `{name}`.");
    let error = location.label(structure("Extraneous JSON object property", detail)).with_context(location.span);
    match name_suggestion(name, unset.chain(schema.block_names())) {
        Some(meant) => error.with_help(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// A value that is neither an object nor an array of objects, in place of a body or of properties named by `label`.
pub fn not_an_object(label: Option<&str>, location: Location<'_>) -> Box<Diagnostic> {
    let detail = match label {
        Some(label) => format!("The labels of this block ({label}) must be the property names of a JSON object."),
        None => "Arguments and blocks must be the properties of a JSON object.".into(),
    };
    wrong_type(detail, location)
}
