//! Searching with regular expressions.

use crate::builtins::predicates::compiled;
use crate::builtins::regex::pay_for_rest;
use crate::builtins::strings::at_most;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library `kubernetes.regex`.
    pub static TABLE:
    "find": "Returns the first match; the empty string if there is none." ["'abc 123'.find('[0-9]+')" => "'123'", "'abc'.find('x')" => "''"]
        fn "string_find_string" member (String, String) -> String = find;
    "findAll": "Returns the matches, all or a number of them."
        ["'123 abc 456'.findAll('[0-9]+')" => "['123', '456']", "'123 abc 456'.findAll('[0-9]+', 1)" => "['123']", "'a'.findAll('[')" => "E0403"]
        fn "string_find_all_string" member (String, String) -> (list String) = find_all;
        fn "string_find_all_string_int" member (String, String, Int) -> (list String) = find_all;
}

fn find<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str) -> Result<&'v str> {
    let regex = compiled(cx, pattern, text.len())?;
    Ok(regex.find(text).map_or("", |found| found.as_str()))
}

fn find_all<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str, most: Option<i64>) -> Result<Vec<Value<'v>>> {
    let regex = compiled(cx, pattern, text.len())?;
    let found = regex.find_iter(text).take(at_most(most)).map(|found| {
        pay_for_rest(cx, text, found.end())?;
        cx.borrowed(found.as_str())
    });
    found.collect()
}
