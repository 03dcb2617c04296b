//! Static cost estimates: the minimum and maximum cost of an expression, by the constants of the reference.
//!
//! A comprehension costs as much as its body for each element. The sizes of values come from literals and constructors,
//! and from [`Hints`] about variables. Other sizes are unknown.

mod calls;
mod estimator;
mod hints;
mod result_size;
#[cfg(test)]
mod tests;

pub use crate::cost::Range;
pub use estimator::estimate;
pub use hints::Hints;
