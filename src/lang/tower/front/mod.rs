//! From source to program: parsers, checks, lowering.

#[doc(hidden)]
pub mod check;
pub(crate) mod compile;
pub mod intent;
pub(crate) mod lower;
pub(crate) mod marks;
#[doc(hidden)]
pub mod syntax;

pub use compile::{compile, program};
pub use marks::marks;
