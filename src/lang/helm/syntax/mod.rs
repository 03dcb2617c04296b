//! The front end: parses the text of one file to the templates that it defines.
//!
//! `lexer` splits a file into text and actions, and an action into tokens. The LALRPOP grammar (`grammar/helm.lalrpop`)
//! parses one action. `parser` nests actions into blocks with a stack of its own, and continues after each error, so that
//! all errors of a file are found. `known` keeps actions that files repeat, and the trees of actions that
//! differ in their names and literals only. `literal` has the values of literals, `action` the messages of Go.
//!
//! Invariant: blocks and parentheses nest as deep as [`Limits::nesting`](dropforge_base::limits::Limits::nesting) allows, and
//! `else if` chains and pipelines are flat lists, so that later stages may recurse over trees.

mod action;
mod blocks;
mod known;
mod lexer;
mod literal;
mod parser;
mod token;
pub mod tree;

pub(crate) use known::KnownActions;
pub use lexer::Delimiters;
pub(crate) use parser::parse_next;
pub use parser::{Names, parse};
