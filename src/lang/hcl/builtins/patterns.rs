//! Functions of regular expressions in RE2 syntax.

use regex::Captures;

use super::strings::replaced;
use super::{functions, string};
use dropforge_machine::function::{Cx, Fault, Outcome, Pattern};
use dropforge_value::{Attribute, Type, Value};

functions! {
    /// Regular expression functions of the standard library and OpenTofu.
    pub(super) static PATTERNS:
    "regex" (pattern: String, string: String) -> {match_type} = first_match,
        "Returns the first match of a regular expression: a string, a tuple of its groups, or an object of its named groups."
        ["regex(\"[a-z]+\", \"53abc345\")" => "\"abc\"", "regex(\"(\\\\d)(\\\\d)\", \"a12\")" => "[\"1\", \"2\"]"];
    "regexall" (pattern: String, string: String) -> {matches_type} = all_matches,
        "Returns all matches of a regular expression, each in the form of `regex`."
        ["regexall(\"[a-z]+\", \"1ab2c\")" => "[\"ab\", \"c\"]"];
}

functions! {
    /// Regular expression functions of the standard library.
    pub(super) static STANDARD_PATTERNS:
    "regexreplace" (str: String, pattern: String, replace: String) -> String = matches_replaced,
        "Replaces all matches of a regular expression. `$1` or `${name}` in the replacement stands for a group."
        ["regexreplace(\"-ab-\", \"a(b)\", \"<$1>\")" => "\"-<b>-\""];
}

functions! {
    /// Regular expression functions of OpenTofu.
    pub(super) static OPENTOFU_PATTERNS:
    "replace" (str: String, substr: String, replace: String) -> String = text_or_matches_replaced,
        "Replaces all occurrences of a string, or all matches of a regular expression between slashes."
        ["replace(\"hello\", \"l\", \"L\")" => "\"heLLo\"", "replace(\"helo\", \"/(l)/\", \"$1$1\")" => "\"hello\""];
}

/// Compiles a pattern that is the first argument.
fn first_pattern<'c>(cx: &'c Cx<'_>, pattern: &str) -> Outcome<Pattern<'c>> {
    cx.pattern(pattern).map_err(|fault| fault.of_argument(0))
}

fn match_type<'v>(cx: &Cx<'v>, pattern: Value<'v>, _: Value<'v>) -> Outcome<Type<'v>> {
    pattern.as_str().map_or(Ok(Type::Dynamic), |pattern| type_of_match(cx, &first_pattern(cx, pattern)?))
}

fn matches_type<'v>(cx: &Cx<'v>, pattern: Value<'v>, text: Value<'v>) -> Outcome<Type<'v>> {
    Ok(cx.arena().list_type(match_type(cx, pattern, text)?))
}

/// Returns the type of a match, which depends on the groups of the pattern.
fn type_of_match<'v>(cx: &Cx<'v>, pattern: &Pattern<'_>) -> Outcome<Type<'v>> {
    let groups = pattern.names().len();
    let names: Vec<&str> = pattern.names().flatten().collect();
    if !names.is_empty() && names.len() != groups {
        return Err(Fault::argument(0, "either all groups must have names or none"));
    }
    cx.charge(groups * size_of::<Attribute>())?;
    let attribute = |name: &&str| Attribute { name: cx.arena().copy_str(name), ty: Type::String, optional: false };
    Ok(match (groups, names.is_empty()) {
        (0, _) => Type::String,
        (_, true) => cx.arena().tuple_type(&vec![Type::String; groups]),
        (_, false) => cx.arena().object_type(&names.iter().map(attribute).collect::<Vec<_>>()),
    })
}

/// Converts a match to a value. Of groups with one name, the last one counts.
fn value_of<'v>(cx: &Cx<'v>, pattern: &Pattern<'_>, captures: &Captures<'_>) -> Outcome<Value<'v>> {
    let group = |at: usize| match captures.get(at) {
        Some(group) => string(cx, group.as_str()),
        None => Ok(cx.arena().null(Type::String)),
    };
    if captures.len() == 1 {
        return group(0);
    }
    let groups: Vec<_> = (1..captures.len()).map(group).collect::<Outcome<_>>()?;
    if pattern.names().next().flatten().is_none() {
        return Ok(cx.list(&groups)?);
    }
    let entries = pattern.names().flatten().zip(groups).map(|(name, group)| {
        cx.charge(name.len())?;
        Ok((cx.arena().copy_str(name), group))
    });
    Ok(cx.map(&entries.collect::<Outcome<Vec<_>>>()?)?)
}

fn first_match<'v>(cx: &Cx<'v>, pattern: &str, text: &str) -> Outcome<Value<'v>> {
    let compiled = first_pattern(cx, pattern)?;
    type_of_match(cx, &compiled)?;
    compiled.charge_search(cx, text)?;
    let captures = compiled.captures(text);
    value_of(cx, &compiled, &captures.ok_or_else(|| Fault::wrong("the pattern does not match the string"))?)
}

fn all_matches<'v>(cx: &Cx<'v>, pattern: &str, text: &str) -> Outcome<Value<'v>> {
    let compiled = first_pattern(cx, pattern)?;
    compiled.charge_search(cx, text)?;
    let matches = compiled.captures_iter(text).map(|captures| value_of(cx, &compiled, &captures));
    let list = cx.list(&matches.collect::<Outcome<Vec<_>>>()?)?;
    Ok(cx.arena().typed(cx.arena().list_type(type_of_match(cx, &compiled)?), list))
}

fn text_or_matches_replaced<'v>(cx: &Cx<'v>, text: &str, from: &str, to: &str) -> Outcome<Value<'v>> {
    match from.strip_prefix('/').and_then(|from| from.strip_suffix('/')) {
        Some(pattern) => matches_replaced(cx, text, pattern, to),
        None => replaced(cx, text, from, to),
    }
}

fn matches_replaced<'v>(cx: &Cx<'v>, text: &str, pattern: &str, template: &str) -> Outcome<Value<'v>> {
    string(cx, &cx.pattern(pattern)?.replaced(cx, text, template)?)
}
