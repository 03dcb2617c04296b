//! The information model: types, values, and the operations on them.
//!
//! | module | contents |
//! |---|---|
//! | [`types`], [`convert`], [`unify`], [`mismatch`], [`generality`] | types, conversion, and common types |
//! | [`operators`], [`numbers`], [`logic`], [`equality`] | the operators |
//! | [`traverse`] | `value[key]` and `value.name`; [`access`] and [`path`] do not convert keys |
//! | [`elements`], [`sets`] | making and walking collections |
//! | [`refine`] | refinements of unknown values |
//! | [`marks`] | marks that a host puts on values |
//! | [`defaults`] | defaults of optional attributes |
//! | [`json`] | values as JSON |

pub mod access;
pub mod convert;
pub mod copy;
pub mod defaults;
pub mod elements;
pub mod equality;
pub mod generality;
pub mod json;
pub mod logic;
pub mod marks;
pub mod mismatch;
pub mod numbers;
pub mod operators;
pub mod path;
pub(super) mod quote;
mod ranges;
pub mod refine;
pub mod sets;
#[cfg(test)]
mod tests;
pub mod traverse;
pub mod types;
pub mod unify;

pub use crate::function::{Fault, Outcome, PathStep, Wrong};
pub(crate) use elements::is_wholly_known;
pub(crate) use numbers::number_of;
pub(crate) use sets::set_of;
