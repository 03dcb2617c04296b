//! The front end: source text to [`tree`].
//!
//! `lexer` turns a source into tokens whose blocks are balanced and whose text is already trimmed by the white-space
//! markers. The LALRPOP grammar (`grammar/tera.lalrpop`) reads them in one run and nests the blocks. `build` holds its
//! actions, `expected` words its errors, and `recovery` goes on behind a wrong tag, so that `parser` reports every error of
//! a file at once.
//!
//! Invariant: nesting (blocks, parentheses, brackets) is counted before the grammar sees a token, and chains
//! (`a + b + …`, `| f | g …`, `elif`, `.a.b`) are flat lists: no depth of input becomes depth of the host stack
//! beyond [`Limits::nesting`](crate::limits::Limits::nesting).

mod build;
mod error;
mod expected;
mod lexer;
mod parser;
mod recovery;
pub mod tree;

pub use parser::parse;
