//! From trees to bytecode.
//!
//! An expression becomes a chunk that returns its value, a template file a chunk that writes. Operators are
//! instructions. Conditionals, splats, object constructors and the ends of loops are intrinsics
//! (`builtins::intrinsics`).

mod calls;
mod expressions;
mod json;
mod loops;
mod lowering;
mod templates;

pub(super) use json::lower_json;
pub use lowering::lower_expressions;
pub(super) use lowering::lower_template;
