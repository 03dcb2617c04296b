//! The syntax of expressions: lexer, parser, tree, macros, unparser, and expressions within other text.

mod build;
mod error;
mod interpolation;
mod lexer;
mod literal;
mod macros;
mod nodes;
mod parser;
mod recover;
mod token;
pub mod tree;
mod unparse;

pub use build::{balanced, is_reserved};
pub use interpolation::ScanErrorKind;
pub use interpolation::{ScanError, ScannedPart, scan};
pub use lexer::Tokens;
pub(crate) use macros::ACCUMULATOR;
pub(crate) use macros::QUANTIFIERS;
pub use macros::UNUSED;
pub use macros::expanded;
pub(crate) use parser::parse_within;
pub use parser::{Options, parse};
pub use token::{Symbol, is_identifier};
pub use unparse::quoted;
pub use unparse::unparse;

#[cfg(test)]
mod tests;
