//! `hcl`: the native syntax, the JSON syntax and the information model of HCL, compatible with the reference
//! implementation.
//!
//! | module | contents |
//! |---|---|
//! | [`syntax`], [`json`] | lexers, parsers and trees of the two syntaxes |
//! | [`lower`] | trees to bytecode |
//! | [`values`] | the information model: operators, conversions, types |
//! | `evaluation`, `semantics`, `argument_gate` | evaluation whose errors are diagnostics beside a value |
//! | [`builtins`] | the functions |
//! | `compile`, [`Expression`] | the entrance: templates and expressions |
//! | [`body`], [`decode`], [`typeexpr`] | configurations by a schema, by a specification, and type expressions |
//! | [`check`] | errors that do not depend on data |
//! | `variables` | defaults, types and validation of `variable` blocks |
//! | [`edit`], [`format`](mod@format) | changing and formatting sources |

mod argument_gate;
#[cfg(feature = "compile")]
pub mod body;
#[doc(hidden)]
pub mod builtins;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod check;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
mod data_file;
#[cfg(feature = "compile")]
pub mod decode;
#[cfg(feature = "compile")]
pub mod edit;
mod evaluation;
#[cfg(feature = "compile")]
mod expression;
#[cfg(feature = "compile")]
pub mod format;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod json;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod lower;
#[cfg(feature = "compile")]
mod marks;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod name_suggestion;
mod semantics;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod syntax;
#[cfg(test)]
mod test_support;
#[cfg(feature = "compile")]
pub mod typeexpr;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod value_notes;
pub mod values;
#[cfg(feature = "compile")]
mod variables;

#[doc(hidden)]
pub use argument_gate::invoke;
#[doc(hidden)]
pub use builtins::registry;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use compile::compile;
#[cfg(feature = "compile")]
pub use data_file::{find_data, read_data};
#[cfg(feature = "compile")]
pub use expression::Expression;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use marks::{config_marks, marks};
#[doc(hidden)]
pub use semantics::Rules;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use variables::Variables;
