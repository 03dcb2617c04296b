//! The information model: what operators, conversions and comparisons do with values and types.
//!
//! | module | what it knows |
//! |---|---|
//! | [`types`], [`convert`], [`unify`], [`mismatch`], [`order`] | types, and values that become of another type |
//! | [`numbers`], [`logic`], [`equality`] | the operators |
//! | [`traverse`] | `value[key]` and `value.name`; [`access`] and [`path`] the same, strictly |
//! | [`elements`], [`sets`] | what collections consist of, and making them |
//! | [`refine`] | what is known of unknown values |
//! | [`marks`] | what the host says about values |
//! | [`json`] | values as JSON |

pub mod access;
pub mod convert;
pub mod copy;
pub mod defaults;
pub mod elements;
pub mod equality;
pub mod json;
pub mod logic;
pub mod marks;
pub mod mismatch;
pub mod numbers;
pub mod order;
pub mod path;
mod ranges;
pub mod refine;
pub mod sets;
#[cfg(test)]
mod tests;
pub mod traverse;
pub mod types;
pub mod unify;
pub mod within;

pub use crate::function::{Fault, Outcome, PathStep, Wrong};
pub(crate) use elements::is_wholly_known;
pub(crate) use numbers::number_of;
pub(crate) use sets::set_of;
