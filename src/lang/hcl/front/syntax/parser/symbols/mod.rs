//! The symbols between the lexer and the grammar.
//!
//! [`Symbols`] drops comments and line ends that mean nothing, tells the words of `for` and of directives from names,
//! and counts nesting. All of this depends on the open constructs, a stack of levels.
//!
//! The grammar alone decides where an error is: the parser calls [`Symbols::refuse`] and reads the item again. When the
//! refused token comes up again, `repair/` reports what had to stand there, skips tokens as the reference
//! implementation does, and gives the grammar symbols that complete the open constructs. Faults that no grammar sees,
//! such as unknown escapes, are reported on the way.

mod level;
mod repair;
mod stream;
mod tokens;

pub use level::{Directive, Symbol};
pub use stream::Symbols;
