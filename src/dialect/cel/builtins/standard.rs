//! Sizes, and questions about texts.

use std::sync::Arc;

use regex::Regex;

use super::{arguments, text};
use crate::diagnostics::Result;
use crate::dialect::cel::values::{access, errors};
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::pattern::search_steps;
use crate::stdlib::re2;
use crate::value::Value;

overloads! {
    /// Sizes, and questions about texts, of the standard library.
    pub static TABLE:
    "size": "How many characters, bytes, elements or entries there are."
        ["size('πέντε')" => "5", "b'abc'.size()" => "3", "[1, 2].size()" => "2", "size({'a': 1})" => "1"] {
        "size_bytes" (Bytes) -> Int = size;
        "bytes_size" member (Bytes) -> Int = size;
        "size_list" ((list A)) -> Int = size;
        "list_size" member ((list A)) -> Int = size;
        "size_map" ((map A B)) -> Int = size;
        "map_size" member ((map A B)) -> Int = size;
        "size_string" (String) -> Int = size;
        "string_size" member (String) -> Int = size;
    }
    "contains": "Whether a text is part of another." ["'hello'.contains('ell')" => "true"] {
        "contains_string" member (String, String) -> Bool = contains;
    }
    "startsWith": "Whether a text begins with another." ["'hello'.startsWith('he')" => "true"] {
        "starts_with_string" member (String, String) -> Bool = starts_with;
    }
    "endsWith": "Whether a text ends with another." ["'hello'.endsWith('he')" => "false"] {
        "ends_with_string" member (String, String) -> Bool = ends_with;
    }
    "matches": "Whether a pattern in RE2's syntax matches somewhere in a text."
        ["'hello'.matches('l+')" => "true", "matches('hello', '^l')" => "false", "'a'.matches('(')" => "E0403"] {
        "matches" (String, String) -> Bool = matches;
        "matches_string" member (String, String) -> Bool = matches;
    }
}

fn size<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    access::size(cx, value)
}

/// Two texts, of which the first is looked through.
fn texts<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<[&'v str; 2]> {
    let [a, b] = arguments(cx, given)?;
    cx.spend((text(a).len() / 64) as u64)?;
    Ok([text(a), text(b)])
}

fn contains<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [haystack, needle] = texts(cx, given)?;
    Ok(Value::Bool(haystack.contains(needle)))
}

fn starts_with<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [whole, prefix] = texts(cx, given)?;
    Ok(Value::Bool(whole.starts_with(prefix)))
}

fn ends_with<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [whole, suffix] = texts(cx, given)?;
    Ok(Value::Bool(whole.ends_with(suffix)))
}

fn matches<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [searched, pattern] = texts(cx, given)?;
    Ok(Value::Bool(compiled(cx, pattern, searched.len())?.is_match(searched)))
}

/// A pattern in RE2's syntax, to be searched for in a text of so many bytes; that is paid for.
///
/// # Errors
/// It is no pattern, or a limit of the render.
pub(super) fn compiled(cx: &Cx<'_>, pattern: &str, bytes: usize) -> Result<Arc<Regex>> {
    let wrong = |why: String| {
        let shown: String = pattern.chars().take(60).collect();
        errors::bad_argument(format!("`{shown}` is not a regular expression")).with_help(why)
    };
    cx.charge(pattern.len())?;
    let translated = re2::translated(pattern).map_err(|why| wrong(why.to_string()))?;
    cx.spend(search_steps(&translated, bytes))?;
    cx.regex(&translated).map_err(|error| if error.code.is_limit() { error } else { wrong(error.message) })
}
