//! `helm`: Go's text/template with the functions of Helm.
//!
//! [`syntax`] parses templates, `lower` turns a set of them into one program, `semantics` has the rules of the machine
//! that runs it, `values` the types of Go that values stand for, `print` their text, [`builtins`] the functions. [`chart`]
//! decides what comes before and after the templates of a chart.

pub mod builtins;
pub mod chart;
#[cfg(feature = "compile")]
mod compile;
mod error;
mod finish;
mod lookups;
#[cfg(feature = "compile")]
mod lower;
mod made;
#[cfg(feature = "compile")]
mod marks;
mod objects;
mod print;
mod semantics;
#[cfg(feature = "compile")]
mod set;
#[cfg(feature = "compile")]
pub mod syntax;
#[cfg(feature = "compile")]
mod trace;
pub(crate) mod values;

/// The input that is the data itself, where the data may be anything ([`Unit::any_data`](crate::compiler::Unit::any_data)).
pub const DATA: &str = ".";

pub use builtins::{plain, registry};
#[cfg(feature = "compile")]
pub use compile::{compile, compile_chart};
pub use finish::{finish, finish_all, with_no_values};
#[cfg(feature = "compile")]
pub use marks::marks;
pub use semantics::Rules;
#[cfg(feature = "compile")]
pub use trace::{explain, is_optional, merges_maps, parse_errors, values_read};
