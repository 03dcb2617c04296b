//! The JSON syntax of the language: JSON documents as bodies and expressions.
//!
//! ```text
//! text ─scan─▶ tokens ─parse─▶ Document ─body─▶ content by a schema ─lower─▶ bytecode of its values
//! ```
//! What a JSON value means depends on who asks: as a body an object holds attributes and blocks, as an expression it is
//! an object constructor, and a string is a template where templates are wanted and plain text where they are not.

mod body;
pub mod document;
mod file;
mod parser;
mod programs;
pub mod scan;
mod string;
mod templates;

pub(in crate::dialect::hcl) use body::JsonBody;
pub use document::{Document, Json, JsonId, Property};
pub(in crate::dialect::hcl) use file::JsonFile;
pub use parser::{Parsed, parse_expression, parse_file};
pub(in crate::dialect::hcl) use templates::Templates;

use super::suggest::near;

/// The keyword of JSON that `given` could have been meant to be.
///
/// ```
/// use dropforge::dialect::hcl::json::keyword_suggestion;
/// assert_eq!(keyword_suggestion("flase"), Some("false"));
/// assert_eq!(keyword_suggestion("NaN"), None);
/// ```
pub fn keyword_suggestion(given: &str) -> Option<&'static str> {
    near(given, ["false", "true", "null"])
}
