//! `hcl`: the native syntax, the JSON syntax and the information model of HCL, as the reference implementation has
//! them.

#[cfg(feature = "compile")]
mod apart;
#[cfg(feature = "compile")]
pub mod body;
pub mod builtins;
mod call;
#[cfg(feature = "compile")]
pub mod check;
#[cfg(feature = "compile")]
mod data;
#[cfg(feature = "compile")]
pub mod decode;
#[cfg(feature = "compile")]
pub mod edit;
#[cfg(feature = "compile")]
pub mod explain;
#[cfg(feature = "compile")]
mod expression;
#[cfg(feature = "compile")]
mod fold;
#[cfg(feature = "compile")]
pub mod format;
#[cfg(feature = "compile")]
pub mod json;
#[cfg(feature = "compile")]
pub mod lower;
mod semantics;
#[cfg(feature = "compile")]
pub mod suggest;
#[cfg(feature = "compile")]
pub mod syntax;
#[cfg(test)]
mod testing;
#[cfg(feature = "compile")]
pub mod typeexpr;
pub mod values;

pub use builtins::registry;
pub use call::invoke;
#[cfg(feature = "compile")]
pub use data::read_data;
#[cfg(feature = "compile")]
pub use expression::Expression;
#[cfg(feature = "compile")]
pub use lower::compile;
pub use semantics::Rules;
