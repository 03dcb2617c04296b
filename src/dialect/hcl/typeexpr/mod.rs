//! Type expressions: `list(string)`, `object({ name = string, size = optional(number, 3) })`.

mod builder;
mod object;
mod text;

pub use builder::{Evaluated, Mode, TypeExpr, read};
pub use text::text;
