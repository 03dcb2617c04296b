//! The front end: parses source text to a [`tree`].
//!
//! `lexer` turns a source into tokens with balanced blocks and with white-space markers already applied. The LALRPOP
//! grammar (`grammar/tera.lalrpop`) parses them in one run and nests the blocks. `build` has its actions, `error`
//! the wording of its errors. `parser` continues after a broken tag, so that it reports every error of a file at once.
//!
//! Invariant: nesting (blocks, parentheses, brackets) is counted before the grammar sees a token, and chains (`a + b +
//! …`, `| f | g …`, `elif`, `.a.b`) are flat lists. Deep input uses no more of the host's stack than
//! [`Limits::nesting`](dropforge_base::limits::Limits::nesting) allows.

mod build;
mod error;
mod lexer;
mod parser;
pub mod tree;

pub use parser::parse;
