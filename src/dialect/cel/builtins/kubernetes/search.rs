//! Searching with regular expressions.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::regex::{for_each, most};
use crate::dialect::cel::builtins::standard::compiled;
use crate::dialect::cel::builtins::{arguments, number, text};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `kubernetes.regex`.
    pub static TABLE:
    "find": "The first match of a pattern; empty where there is none." ["'abc 123'.find('[0-9]+')" => "'123'", "'abc'.find('x')" => "''"] {
        "string_find_string" member (String, String) -> String = find;
    }
    "findAll": "All matches of a pattern, or so many of them."
        ["'123 abc 456'.findAll('[0-9]+')" => "['123', '456']", "'123 abc 456'.findAll('[0-9]+', 1)" => "['123']", "'a'.findAll('[')" => "E0403"] {
        "string_find_all_string" member (String, String) -> (list String) = find_all;
        "string_find_all_string_int" member (String, String, Int) -> (list String) = find_all;
    }
}

fn find<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [target, pattern] = arguments(cx, given)?.map(text);
    let regex = compiled(cx, pattern, target.len())?;
    cx.borrowed(regex.find(target).map_or("", |found| found.as_str()))
}

fn find_all<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (target, pattern, count) = match *given {
        [target, pattern, count] => (text(target), text(pattern), number(count)),
        _ => arguments(cx, given).map(|[target, pattern]| (text(target), text(pattern), -1))?,
    };
    let mut all = Vec::new();
    for_each(cx, &*compiled(cx, pattern, target.len())?, target, most(count), |captures| {
        all.push(cx.borrowed(captures.get(0).map_or("", |found| found.as_str()))?);
        Ok(())
    })?;
    cx.list(&all)
}
