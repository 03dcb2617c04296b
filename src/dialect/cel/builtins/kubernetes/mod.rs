//! The functions that Kubernetes adds to the language.

pub mod format;
pub mod lists;
pub mod patch;
pub mod quantity;
pub mod search;
pub mod semver;
pub mod url;

use super::arguments;
use super::capsules::content;
use crate::diagnostics::Result;
use crate::function::{Builtin, Cx};
use crate::overloads;
use crate::value::Value;

overloads! {
    /// Texts of values of these libraries. Kubernetes has no such functions; in a template they are written.
    pub static TEXTS:
    "string": "The text of a quantity, a version or a URL." ["string(quantity('1024Ki'))" => "'1Mi'", "string(semver('v1', true))" => "'1.0.0'"] {
        "quantity_to_string" ("kubernetes.Quantity") -> String = string;
        "semver_to_string" ("kubernetes.Semver") -> String = string;
        "url_to_string" ("kubernetes.URL") -> String = string;
    }
}

/// The functions of these libraries.
pub static TABLES: &[&[Builtin]] =
    &[TEXTS, url::TABLE, search::TABLE, lists::TABLE, quantity::TABLE, semver::TABLE, format::TABLE, patch::TABLE];

fn string<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    cx.borrowed(content(value))
}
