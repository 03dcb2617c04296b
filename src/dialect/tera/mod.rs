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
#[cfg(feature = "compile")]
pub mod ast;
#[cfg(feature = "compile")]
mod build;
pub mod builtins;
#[cfg(feature = "compile")]
mod chain;
#[cfg(feature = "compile")]
mod expected;
#[cfg(feature = "compile")]
mod fold;
#[cfg(feature = "compile")]
mod lexer;
#[cfg(feature = "compile")]
mod lower;
#[cfg(feature = "compile")]
mod nesting;
#[cfg(feature = "compile")]
mod parser;
#[cfg(feature = "compile")]
mod path;
mod semantics;
#[cfg(feature = "compile")]
mod stacks;
#[cfg(feature = "compile")]
mod structure;
#[cfg(feature = "compile")]
mod syntax;
#[cfg(feature = "compile")]
mod tags;
#[cfg(feature = "compile")]
mod templates;
#[cfg(all(test, feature = "compile"))]
mod tests;

pub use builtins::registry;
#[cfg(feature = "compile")]
pub use lower::{compile, compile_all};
#[cfg(feature = "compile")]
pub use parser::parse;
pub use semantics::Rules;
