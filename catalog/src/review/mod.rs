//! Checks of a template against its schema, when a version is created.

mod check;
mod declared;
mod finding;
#[cfg(test)]
mod tests;

pub(super) use check::{PARAMETERS_ONLY, review};
pub use finding::{Finding, Review};
pub(super) use finding::{MAX_MESSAGE, shortened};
