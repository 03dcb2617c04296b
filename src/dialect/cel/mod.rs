//! `cel`: the Common Expression Language, complete but for protobuf messages.

pub mod builtins;
pub mod call;
#[cfg(feature = "compile")]
pub mod check;
#[cfg(feature = "compile")]
mod expression;
#[cfg(feature = "compile")]
mod fold;
#[cfg(feature = "compile")]
pub mod lower;
mod semantics;
#[cfg(feature = "compile")]
pub mod syntax;
pub mod values;

pub use builtins::libraries::kubernetes as registry;
#[cfg(feature = "compile")]
pub use expression::Expression;
#[cfg(feature = "compile")]
pub use lower::{Names, compile};
pub use semantics::Rules;
