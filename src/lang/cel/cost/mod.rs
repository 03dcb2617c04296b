//! The cost of evaluation, by the constants of the reference. The static estimate and metered programs share them.
//!
//! A name, a selection or a call costs 1, a literal 0, a list constructor 10, a map constructor 30. A [`Price`] is the cost
//! of a call, and a [`Rule`] the part of it that depends on sizes.

mod price;
mod range;
mod rule;

pub use price::Price;
pub use range::Range;
pub use rule::{Rule, measure};

/// The cost of a name, a selection or a call.
pub const STEP: u64 = 1;
/// The cost of a list constructor.
pub const LIST: u64 = 10;
/// The cost of a map constructor.
pub const MAP: u64 = 30;
/// The cost of a message constructor.
pub const MESSAGE: u64 = 40;
/// The cost of reading one character.
pub const CHARACTER: f64 = 0.1;
/// The cost of one character of a regular expression.
pub const PATTERN: f64 = 0.25;
