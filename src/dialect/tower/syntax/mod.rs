//! Parses the text of a field to its [`tree`].

mod error;
mod lexer;
mod parser;
pub mod tree;

pub use error::{SyntaxError, SyntaxErrorKind};
pub use lexer::first_expression;
pub use parser::parse;
