//! `cel`: the Common Expression Language, without protobuf messages; and [`yaml`]: YAML templates with CEL expressions.
//!
//! | module | contents |
//! |---|---|
//! | [`syntax`] | lexer, parser, tree, macros, unparser |
//! | [`check`] | types, overloads, cost estimates |
//! | `lower` | bytecode |
//! | `partial`, `attributes` | partial evaluation with unknown attributes |
//! | [`builtins`], [`dispatch`] | functions, and the choice of their overloads |
//! | [`values`], [`cost`], `semantics` | operations on values, their costs, the rules of the machine |
//!
//! [`Expression`] compiles and evaluates expressions; [`compile()`] compiles a template that is one expression.

#[cfg(feature = "compile")]
mod attributes;
#[doc(hidden)]
pub mod builtins;
#[cfg(feature = "compile")]
pub mod check;
#[cfg(feature = "compile")]
mod compile;
#[cfg(feature = "compile")]
mod constant;
pub mod cost;
#[doc(hidden)]
pub mod dispatch;
#[cfg(feature = "compile")]
mod expression;
#[cfg(feature = "compile")]
mod lower;
#[cfg(feature = "compile")]
mod marks;
#[cfg(feature = "compile")]
mod partial;
#[cfg(feature = "compile")]
mod resolution;
mod semantics;
#[cfg(feature = "compile")]
mod settings;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub mod syntax;
#[doc(hidden)]
pub mod values;
#[cfg(all(feature = "compile", feature = "yaml"))]
#[doc(hidden)]
pub mod yaml;

#[cfg(feature = "compile")]
pub use attributes::Pattern;
#[doc(hidden)]
pub use builtins::libraries::kubernetes as registry;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use compile::compile;
#[cfg(feature = "compile")]
pub use expression::Expression;
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use marks::marks;
#[cfg(feature = "compile")]
pub use partial::{Partial, Residual, UnknownAttribute};
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use resolution::Names;
#[doc(hidden)]
pub use semantics::Rules;
#[cfg(feature = "compile")]
pub use settings::{Declarations, Settings};
