//! From source to program: parsers, checks, lowering.

pub(crate) mod attributes;
pub mod check;
pub(crate) mod compile;
pub(crate) mod constant;
pub(crate) mod expression;
pub(crate) mod lower;
pub(crate) mod marks;
pub(crate) mod partial;
pub(crate) mod resolution;
pub(crate) mod settings;
#[doc(hidden)]
pub mod syntax;
#[doc(hidden)]
pub mod yaml;

pub use attributes::Pattern;
pub use compile::compile;
pub use expression::Expression;
pub use marks::marks;
pub use partial::{Partial, Residual, UnknownAttribute};
pub use resolution::Names;
pub use settings::{Declarations, Settings};
