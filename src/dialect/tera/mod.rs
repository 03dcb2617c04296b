//! `tera`: a drop-in for Tera 1.20.
//!
//! `compile` loads the templates that an entry reaches, [`syntax`] parses them, and `lower` turns them into one
//! program. `semantics` has the rules of the machine that runs it, [`builtins`] its filters, tests and functions.

mod arithmetic;
pub mod builtins;
#[cfg(feature = "compile")]
mod compile;
mod hints;
#[cfg(feature = "compile")]
mod load;
#[cfg(feature = "compile")]
mod lower;
#[cfg(feature = "compile")]
mod marks;
mod semantics;
#[cfg(feature = "compile")]
pub mod syntax;
#[cfg(all(test, feature = "compile"))]
mod tests;

pub use builtins::{plain, registry};
#[cfg(feature = "compile")]
pub use compile::{compile, compile_all};
#[cfg(feature = "compile")]
pub use marks::marks;
pub use semantics::Rules;
#[cfg(feature = "compile")]
pub use syntax::parse;
