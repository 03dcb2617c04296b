//! The syntax of expressions: lexer, parser, tree, macros, unparser, and expressions within other text.

mod build;
mod children;
mod error;
mod interpolation;
mod lexer;
mod literal;
mod macros;
mod nodes;
mod operator;
mod parser;
pub(crate) mod qualified;
mod recover;
#[cfg(test)]
mod tests;
mod token;
pub mod tree;
mod unparse;

pub(crate) use build::{balanced, is_reserved};
pub use interpolation::{Part, ScanError, ScanErrorKind, scan};
pub(crate) use lexer::Tokens;
pub use macros::{ACCUMULATOR, UNUSED};
pub(crate) use macros::{QUANTIFIERS, expanded};
pub use parser::{Options, parse};
pub(crate) use token::{Symbol, is_identifier};
pub(crate) use unparse::quoted;
pub use unparse::unparse;
