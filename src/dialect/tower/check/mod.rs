//! Checks of a well-formed field: likely mistakes, and expressions that shell quoting does not protect.

mod lint;
mod shell;

pub use lint::{Lint, lint};
pub use shell::{Hazard, hazards};
