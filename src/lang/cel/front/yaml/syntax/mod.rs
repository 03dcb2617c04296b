//! The syntax of YAML templates: from YAML nodes to a tree of values, directives and expressions.

mod bare_expressions;
mod build;
mod conflicts;
mod directives;
mod expressions;
mod nodes;
pub mod tree;

pub use build::BuildOptions;
pub(super) use build::{Built, IncludePath, build};
pub(super) use expressions::Parsed;
