//! Checks a well-formed field for likely mistakes, and for expressions that shell quoting does not protect.

mod lint;
mod shell;

pub use lint::Lint;
pub use lint::lint;
pub use shell::{Hazard, hazards};
