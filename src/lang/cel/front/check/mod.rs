//! The type checker: resolves names, finds the overloads of calls, and infers the type of every expression.
//!
//! [`check`] walks the expanded tree once, with the declarations of an [`Environment`], and reports all errors. An
//! expression whose type cannot be inferred is `dyn`, which is assignable to every type: its type shows at runtime.

mod calls;
mod checked;
mod checker;
mod constructors;
pub mod cost;
mod environment;
mod literals;
mod report;
mod schema_types;
#[cfg(test)]
mod tests;
mod type_text;
mod types;
mod unify;

pub use checked::{Checked, Reference};
pub(super) use checker::check_one_of_many;
pub use checker::{Options, check, check_with};
pub use environment::{Declared, Environment};
pub use types::{Kind, Object, TypeId, Types};
