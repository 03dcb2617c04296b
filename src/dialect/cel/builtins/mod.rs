//! The functions of the language, by library. Operators are functions too, under the names that checked expressions
//! have for them; the machine runs them as instructions of its own, which call the same operations on values.
//!
//! | library | tables |
//! |---|---|
//! | standard | [`operators`], [`relations`], [`conversions`], [`standard`], [`times`] |
//! | optional | [`optionals`] |
//! | strings, math, lists, sets, encoders | [`strings`] and [`format`](mod@format), [`math`], [`lists`], [`sets`], [`encoders`] |
//! | comprehensions | [`maps`] |
//! | regex, network | [`regex`](mod@regex), [`network`] |
//! | those of Kubernetes | [`kubernetes`] |
//! | for those who write manifests | [`manifests`] |

pub mod capsules;
pub mod conversions;
pub(super) mod core;
pub(super) mod documents;
pub mod encoders;
pub mod format;
pub mod kubernetes;
pub mod libraries;
pub mod lists;
pub mod manifests;
pub mod maps;
pub mod math;
pub mod network;
pub mod operators;
pub mod optionals;
pub mod regex;
pub mod relations;
pub mod sets;
pub mod standard;
pub mod strings;
pub(super) mod texts;
pub mod times;

use crate::diagnostics::Result;
use crate::function::{Builtin, Cx};
use crate::value::Value;

/// The functions that are always there.
pub static STANDARD: &[&[Builtin]] =
    &[operators::TABLE, relations::TABLE, conversions::TABLE, standard::TABLE, times::TABLE];

/// Those of the libraries beyond it that are written here.
pub static EXTENSIONS: &[&[Builtin]] = &[
    optionals::TABLE,
    strings::TABLE,
    format::TABLE,
    math::TABLE,
    lists::TABLE,
    sets::TABLE,
    encoders::TABLE,
    maps::TABLE,
];

/// The arguments of a body, which the gate has counted.
fn arguments<'v, const N: usize>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<[Value<'v>; N]> {
    given.first_chunk::<N>().copied().filter(|_| given.len() == N).ok_or_else(|| cx.arity())
}

/// The text that the gate has found to be one.
fn text(value: Value<'_>) -> &str {
    value.as_str().unwrap_or("")
}

/// The elements that the gate has found to be some.
fn items<'v>(value: Value<'v>) -> &'v [Value<'v>] {
    value.as_list().unwrap_or(&[])
}

/// The number that the gate has found to be one.
fn number(value: Value<'_>) -> i64 {
    if let Value::Int(n) = value { n } else { 0 }
}

#[cfg(test)]
mod tests;
