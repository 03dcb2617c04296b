//! Partial evaluation: with some attributes unknown, an expression evaluates to its value if they do not matter, or else to
//! a residual expression.
//!
//! An attribute is a variable with fields and elements below it. [`Pattern`](crate::Pattern)s select the unknown ones.
//! Reading one raises an error of its own kind, which propagates like all errors: operators and functions do not run
//! without their operands; `&&`, `||`, `all` and `exists` absorb it if another operand or element decides. If one operand of
//! those fails and another is unknown, the whole is unknown. The machine evaluates the expression part by part, and
//! constants take the place of parts with a value.

mod constants;
mod context;
mod dependencies;
mod evaluate;
mod expand;
mod reduce;
mod runner;
mod unknowns;

pub use evaluate::{Partial, Residual};
pub use unknowns::UnknownAttribute;
