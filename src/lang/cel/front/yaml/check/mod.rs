//! The checks of templates: names, the types of all expressions, and whether they fit their positions; even in branches that
//! never run.
//!
//! The type of an input is that of its schema, or `dyn`. The type of a variable of `$let` is that of its value, of `$for`
//! that of an element. An included file sees only the variables of `$with`: it is checked for each combination of their
//! types, or with unknown types if its path is computed. All expressions share one environment, which gets the names of the
//! current expression; an expression whose names have the same types again is not checked again.

mod checker;
mod checks;
mod includes;
mod misfits;
mod positions;
#[cfg(test)]
mod tests;
mod value_types;

pub use checker::check;
pub(super) use checker::check_again;
pub(super) use checks::Checks;
