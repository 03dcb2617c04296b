//! From source to program: parsers, checks, lowering.

pub(crate) mod compile;
pub(crate) mod load;
pub(crate) mod lower;
pub(crate) mod marks;
pub mod syntax;

pub use compile::{compile, compile_all};
pub use marks::marks;
pub use syntax::parse;
