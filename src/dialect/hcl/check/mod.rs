//! Checks without data: the errors of a template or a configuration that do not depend on its variables.
//!
//! A source is evaluated with variables of which only the types are known. Evaluation with unknown values drops the
//! errors of branches that may not be taken, and never enters a loop over an unknown collection. So branches, operands
//! of `&&` and `||`, and the bodies of loops with unknown variables are evaluated again on their own: an error there
//! occurs as soon as they are reached. The arguments of functions that handle errors (`try`, `can`) are not checked,
//! nor are operands next to one that decides.

mod checker;
mod config;
mod functions;
mod template;
#[cfg(test)]
mod tests;
mod variable_types;

pub use config::check_config;
pub use template::check_template;
pub use variable_types::VariableTypes;
