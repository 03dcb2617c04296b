//! Functions, by library. Operators are functions too, under the names that checked expressions use for them; compiled
//! programs have instructions for operators that share the same operations on values.
//!
//! | library | tables |
//! |---|---|
//! | standard | `operators`, `relations`, `conversions`, `predicates`, `timestamps` |
//! | optional | `optionals` |
//! | strings, math, lists, sets, encoders | `strings` and `format`, `math`, `lists`, `sets`, `encoders` |
//! | comprehensions | `comprehensions` |
//! | regex, network | `regex`, `network` |
//! | Kubernetes | `kubernetes` |
//! | manifests | `manifests` |

pub(crate) mod comprehensions;
pub(crate) mod conversions;
mod core;
mod documents;
pub(crate) mod encoders;
pub(crate) mod format;
mod included_yaml;
mod intrinsics;
pub(crate) mod kubernetes;
pub mod libraries;
pub(crate) mod lists;
pub(crate) mod manifests;
pub(crate) mod math;
pub(crate) mod network;
pub(crate) mod operators;
pub(crate) mod optionals;
pub(crate) mod predicates;
pub(crate) mod regex;
pub(crate) mod relations;
pub(crate) mod sets;
pub(crate) mod strings;
pub(crate) mod timestamps;

#[cfg(test)]
mod tests;

pub use libraries::{EXTENSIONS, STANDARD};
