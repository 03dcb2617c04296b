//! Functions, by library. Operators are functions too, under the names that checked expressions use for them; compiled
//! programs have instructions for operators that share the same operations on values.
//!
//! | library | tables |
//! |---|---|
//! | standard | [`operators`], [`relations`], [`conversions`], [`predicates`], [`timestamps`] |
//! | optional | [`optionals`] |
//! | strings, math, lists, sets, encoders | [`strings`] and [`format`](mod@format), [`math`], [`lists`], [`sets`], [`encoders`] |
//! | comprehensions | [`comprehensions`] |
//! | regex, network | [`regex`](mod@regex), [`network`] |
//! | Kubernetes | [`kubernetes`] |
//! | manifests | [`manifests`] |

pub mod comprehensions;
pub mod conversions;
mod core;
mod documents;
pub mod encoders;
pub mod format;
mod included_yaml;
mod intrinsics;
pub mod kubernetes;
pub mod libraries;
pub mod lists;
pub mod manifests;
pub mod math;
pub mod network;
pub mod operators;
pub mod optionals;
pub mod predicates;
pub mod regex;
pub mod relations;
pub mod sets;
pub mod strings;
pub mod timestamps;

#[cfg(test)]
mod tests;

pub use libraries::{EXTENSIONS, STANDARD};
