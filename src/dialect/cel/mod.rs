//! `cel`: the Common Expression Language, complete but for protobuf messages.

pub mod builtins;
pub mod call;
#[cfg(feature = "compile")]
pub mod check;
pub mod cost;
#[cfg(feature = "compile")]
mod expression;
#[cfg(feature = "compile")]
mod fold;
#[cfg(feature = "compile")]
pub mod lower;
#[cfg(feature = "compile")]
mod partial;
mod semantics;
#[cfg(feature = "compile")]
mod settings;
#[cfg(feature = "compile")]
pub mod syntax;
pub mod values;
#[cfg(feature = "compile")]
pub mod yaml;

pub use builtins::libraries::kubernetes as registry;
#[cfg(feature = "compile")]
pub use expression::Expression;
#[cfg(feature = "compile")]
pub use lower::{Names, compile};
#[cfg(feature = "compile")]
pub use partial::{Needed, Partial, Pattern, Residual};
pub use semantics::Rules;
#[cfg(feature = "compile")]
pub use settings::{Known, Settings};
