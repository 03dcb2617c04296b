//! Functions, by library. Operators are functions too, under the names that checked expressions use for them; compiled
//! programs have instructions for operators that share the same operations on values.
//!
//! | library | tables |
//! |---|---|
//! | standard | `standard` |
//! | optional | `optionals` |
//! | strings, encoders | `strings` and `format` |
//! | math | `math` |
//! | lists, sets, comprehensions | `lists` |
//! | regex, network | `regex`, `network` |
//! | Kubernetes | `kubernetes`, and in `lists` and `regex` |
//! | manifests | `manifests` |

pub(crate) mod format;
mod intrinsics;
pub(crate) mod kubernetes;
pub mod libraries;
pub(crate) mod lists;
pub(crate) mod manifests;
pub(crate) mod math;
pub(crate) mod network;
pub(crate) mod optionals;
pub(crate) mod regex;
pub(crate) mod standard;
pub(crate) mod strings;

pub use libraries::{EXTENSIONS, STANDARD};

/// The function that reads a file.
pub(crate) const RAW_FILE: &str = "raw_file";

#[cfg(test)]
mod tests;
