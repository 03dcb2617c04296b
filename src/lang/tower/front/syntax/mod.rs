//! Parses the text of a field to its [`tree`].

mod error;
mod lexer;
mod parser;
pub mod tree;

pub use error::SyntaxError;
pub use error::SyntaxErrorKind;
pub(crate) use lexer::first_expression;
pub use parser::parse;
