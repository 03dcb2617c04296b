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
//! | [`edit`], [`format`](mod@format) | changing and formatting sources |

mod argument_gate;
#[cfg(feature = "compile")]
pub mod body;
pub mod builtins;
#[cfg(feature = "compile")]
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
pub mod json;
#[cfg(feature = "compile")]
pub mod lower;
#[cfg(feature = "compile")]
pub mod name_suggestion;
mod semantics;
#[cfg(feature = "compile")]
pub mod syntax;
#[cfg(test)]
mod test_support;
#[cfg(feature = "compile")]
pub mod typeexpr;
#[cfg(feature = "compile")]
pub mod value_notes;
pub mod values;

pub use argument_gate::invoke;
pub use builtins::registry;
#[cfg(feature = "compile")]
pub use compile::compile;
#[cfg(feature = "compile")]
pub use data_file::read_data;
#[cfg(feature = "compile")]
pub use expression::Expression;
pub use semantics::Rules;
