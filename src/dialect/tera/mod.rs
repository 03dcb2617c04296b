//! `tera`: a drop-in for Tera 1.20.
//!
//! The way of a template: `lexer` cuts the source into text, comments, raw blocks and the tokens of one
//! tag at a time; the LALRPOP grammar (`grammar/tera.lalrpop`) reads the tokens of a tag; `parser` puts the
//! tags together to a tree with a stack of its own and applies the white-space markers, so that the [`ast`]
//! holds final text. Everything a file has wrong is reported at once.
//!
//! Invariant: nesting (blocks, parentheses, brackets) is counted before the grammar sees a token, and chains
//! (`a + b + …`, `| f | g …`, `elif`, `.a.b`) are flat lists: no depth of input becomes depth of the host stack
//! beyond [`Limits::nesting`](crate::limits::Limits::nesting).

mod arithmetic;
pub mod ast;
mod build;
pub mod builtins;
mod chain;
mod expected;
mod lexer;
mod lower;
mod nesting;
mod parser;
mod path;
mod semantics;
mod stacks;
mod structure;
mod syntax;
mod tags;
mod templates;
#[cfg(test)]
mod tests;

pub use builtins::registry;
pub use lower::{compile, compile_all};
pub use parser::parse;
pub use semantics::Rules;
