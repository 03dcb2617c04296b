//! The syntax of expressions: tokens, trees, macros, text made of a tree, and expressions in other text.

mod build;
mod fault;
mod lexer;
mod literal;
mod macros;
mod operator;
mod parser;
mod parts;
mod recover;
mod same;
mod scan;
#[cfg(test)]
mod show;
#[cfg(test)]
mod tests;
mod token;
pub mod tree;
mod unparse;

pub(crate) use build::{balanced, expanded, is_reserved};
pub(crate) use lexer::Tokens;
pub use macros::{ACCUMULATOR, UNUSED};
pub use parser::{Options, parse};
pub use scan::{Part, ScanError, ScanErrorKind, scan};
pub(crate) use token::Symbol;
pub use unparse::unparse;
