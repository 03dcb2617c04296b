//! The parser: text to a [`Tree`](super::tree::Tree) and diagnostics.
//!
//! The grammar (`grammar/hcl.lalrpop`) reads the symbols that `symbols/` makes of tokens. Where it refuses one, the
//! item is read again, and the error at that symbol is reported and repaired. Sources with and without errors share this
//! one parser.

mod parse;
pub(super) mod symbols;
#[cfg(test)]
mod tests;

pub(crate) use parse::parse_expression_at;
pub use parse::parse_template_at;
pub use parse::{Parsed, parse_config, parse_expression, parse_partial_traversal, parse_template, parse_traversal};
