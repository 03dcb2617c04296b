//! The JSON syntax of the language: JSON documents with the span of every value.
//!
//! ```text
//! text ─scan─▶ tokens ─parse─▶ JsonDocument ─body─▶ content by a schema ─lower─▶ bytecode of its values
//! ```
//! The meaning of a JSON value depends on its use. A body is an object of attributes and blocks. An expression is an
//! object constructor, and its strings are templates or literal text.

pub(crate) mod document;
mod parser;
pub mod scan;

pub use document::Templates;
pub use document::{JsonContent, JsonDocument, JsonId, Property};
pub use parser::{ParsedJson, keyword_suggestion, parse_expression, parse_file};
