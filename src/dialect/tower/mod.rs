//! `tower`: `${scope.name}` substitution in tower-fleet intent files (tower-fleet/template/v1).
//!
//! A field is text with `${scope.name}` expressions. Nothing is evaluated, there are no defaults, and a missing value
//! is an error. Values are inserted unchanged (literal mode) or as one shell token (shell mode).
//!
//! | module | content |
//! |---|---|
//! | `compile` | the entry point: a field to a program |
//! | [`syntax`] | the text of a field to its tree |
//! | [`check`] | lints, and hazards of shell quoting |
//! | `lower` | a tree to bytecode |
//! | `semantics` | the rules of the machine |
//! | [`error`] | error objects as defined by the specification |
//! | [`intent`] | whole intent definitions: fields, modes, parameters, steps and their outputs |

#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod check;
#[cfg(feature = "compile")]
mod compile;
pub mod error;
#[cfg(all(feature = "compile", feature = "yaml"))]
pub mod intent;
#[cfg(feature = "compile")]
mod lower;
#[cfg(feature = "compile")]
mod marks;
mod mode;
mod scope;
mod semantics;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod syntax;

#[cfg(feature = "compile")]
#[doc(hidden)]
pub use compile::{compile, program};
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use marks::marks;
pub use mode::RenderMode;
pub use scope::Scope;
#[doc(hidden)]
pub use semantics::Rules;
