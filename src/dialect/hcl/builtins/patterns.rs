//! Functions of regular expressions, in the syntax of RE2.

use std::sync::Arc;

use regex::{Captures, Regex};

use super::arguments::{answer, limited, text};
use super::strings::replaced;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::pattern::search_steps;
use crate::stdlib::re2::translated;
use crate::stdlib::strings::nfc;
use crate::value::{Attribute, Type, Value};

positional! {
    /// Functions of regular expressions.
    pub(super) static PATTERNS:
    "regex" (pattern: String, string: String) -> {match_type} = first_match,
        "The first match of a regular expression: the text, or its groups as a tuple, or its named groups as an object."
        ["regex(\"[a-z]+\", \"53abc345\")" => "\"abc\"", "regex(\"(\\\\d)(\\\\d)\", \"a12\")" => "[\"1\", \"2\"]"];
    "regexall" (pattern: String, string: String) -> {matches_type} = all_matches,
        "Every match of a regular expression, each as `regex` gives it."
        ["regexall(\"[a-z]+\", \"1ab2c\")" => "[\"ab\", \"c\"]"];
}

positional! {
    /// Functions of regular expressions under the names of the standard library.
    pub(super) static STANDARD_PATTERNS:
    "regexreplace" (str: String, pattern: String, replace: String) -> String = replace_matches,
        "Each match of a regular expression replaced by a text with `$1` or `${name}` for its groups."
        ["regexreplace(\"-ab-\", \"a(b)\", \"<$1>\")" => "\"-<b>-\""];
}

positional! {
    /// Functions of regular expressions that OpenTofu has otherwise.
    pub(super) static OPENTOFU_PATTERNS:
    "replace" (str: String, substr: String, replace: String) -> String = replace_text_or_matches,
        "Each occurrence of a text, or between slashes of a regular expression, replaced."
        ["replace(\"hello\", \"l\", \"L\")" => "\"heLLo\"", "replace(\"helo\", \"/(l)/\", \"$1$1\")" => "\"hello\""];
}

/// The compiled form of a pattern.
fn compiled(cx: &Cx<'_>, pattern: &str) -> Outcome<Arc<Regex>> {
    let translated = translated(pattern).map_err(|why| Fault::wrong(format!("`{pattern}`: {why}")))?;
    limited(cx.regex(&translated))
}

/// The same of the first argument.
fn first_pattern(cx: &Cx<'_>, pattern: &str) -> Outcome<Arc<Regex>> {
    compiled(cx, pattern).map_err(|fault| match fault {
        Fault::Wrong(wrong) => Fault::argument(0, wrong.message),
        limit => limit,
    })
}

/// Pays for a search through `text`.
fn search(cx: &Cx<'_>, pattern: &str, text: &str) -> Outcome<()> {
    Ok(cx.spend(search_steps(pattern, text.len()) / 8)?)
}

fn match_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    match args.first().and_then(Value::as_str) {
        Some(pattern) => type_of_match(cx, &*first_pattern(cx, pattern)?),
        None => Ok(Type::Dynamic),
    }
}

fn matches_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    Ok(cx.arena().list_type(match_type(cx, args)?))
}

/// The type of a match: what groups the pattern has decides.
fn type_of_match<'v>(cx: &Cx<'v>, regex: &Regex) -> Outcome<Type<'v>> {
    let (groups, names) = (regex.captures_len() - 1, group_names(regex));
    if !names.is_empty() && names.len() != groups {
        return Err(Fault::argument(0, "either all groups have names or none"));
    }
    cx.charge(groups * size_of::<Attribute>())?;
    let attribute =
        |name: &&str| Attribute { name: cx.arena().copy_str(&nfc(name)), ty: Type::String, optional: false };
    Ok(match (groups, names.is_empty()) {
        (0, _) => Type::String,
        (_, true) => cx.arena().tuple_type(&vec![Type::String; groups]),
        (_, false) => cx.arena().object_type(&names.iter().map(attribute).collect::<Vec<_>>()),
    })
}

fn group_names(regex: &Regex) -> Vec<&str> {
    regex.capture_names().flatten().collect()
}

/// A match as a value.
fn value_of<'v>(cx: &Cx<'v>, regex: &Regex, captures: &Captures<'_>) -> Outcome<Value<'v>> {
    let group = |at: usize| match captures.get(at) {
        Some(group) => answer(cx, group.as_str()),
        None => Ok(cx.arena().null(Type::String)),
    };
    if captures.len() == 1 {
        return group(0);
    }
    let groups: Vec<_> = (1..captures.len()).map(group).collect::<Outcome<_>>()?;
    let names = group_names(regex);
    if names.is_empty() {
        return Ok(cx.list(&groups)?);
    }
    let entries = names.iter().zip(groups).map(|(name, group)| {
        cx.charge(name.len())?;
        Ok((cx.arena().copy_str(&nfc(name)), group))
    });
    Ok(cx.map(&entries.collect::<Outcome<Vec<_>>>()?)?)
}

fn first_match<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (pattern, text) = (text(args, 0)?, text(args, 1)?);
    let regex = first_pattern(cx, pattern)?;
    type_of_match(cx, &regex)?;
    search(cx, pattern, text)?;
    let captures =
        regex.captures(text).ok_or_else(|| Fault::wrong("the pattern does not match any part of the text"))?;
    value_of(cx, &regex, &captures)
}

fn all_matches<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (pattern, text) = (text(args, 0)?, text(args, 1)?);
    let regex = first_pattern(cx, pattern)?;
    search(cx, pattern, text)?;
    let matches = regex.captures_iter(text).map(|captures| value_of(cx, &regex, &captures));
    let list = cx.list(&matches.collect::<Outcome<Vec<_>>>()?)?;
    Ok(cx.arena().typed(cx.arena().list_type(type_of_match(cx, &regex)?), list))
}

fn replace_matches<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    matches_replaced(cx, text(args, 0)?, text(args, 1)?, text(args, 2)?)
}

fn replace_text_or_matches<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (text, from, to) = (text(args, 0)?, text(args, 1)?, text(args, 2)?);
    match from.strip_prefix('/').and_then(|from| from.strip_suffix('/')) {
        Some(pattern) => matches_replaced(cx, text, pattern, to),
        None => replaced(cx, text, from, to),
    }
}

fn matches_replaced<'v>(cx: &Cx<'v>, text: &str, pattern: &str, template: &str) -> Outcome<Value<'v>> {
    let regex = compiled(cx, pattern)?;
    search(cx, pattern, text)?;
    cx.charge(text.len())?;
    let (mut out, mut done) = (String::new(), 0);
    for captures in regex.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        out.push_str(text.get(done..whole.start()).unwrap_or(""));
        expand(cx, template, &captures, &mut out)?;
        done = whole.end();
    }
    out.push_str(text.get(done..).unwrap_or(""));
    answer(cx, &out)
}

/// Appends `template` with a match's groups for `$name` and `${name}`, and `$` for `$$`. A group that there is not is
/// empty; a `$` that begins none of these stands for itself.
fn expand(cx: &Cx<'_>, template: &str, captures: &Captures<'_>, out: &mut String) -> Outcome<()> {
    let mut push = |piece: &str| -> Outcome<()> {
        cx.charge(piece.len())?;
        out.push_str(piece);
        Ok(())
    };
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('$') {
        push(before)?;
        cx.spend(1)?;
        rest = behind;
        if let Some(behind) = rest.strip_prefix('$') {
            push("$")?;
            rest = behind;
        } else if let Some((name, behind)) = group_reference(rest) {
            let group = match name.parse() {
                Ok(at) => captures.get(at),
                Err(_) => captures.name(name),
            };
            push(group.map_or("", |group| group.as_str()))?;
            rest = behind;
        } else {
            push("$")?;
        }
    }
    push(rest)
}

/// The name that a reference to a group has, and what is behind it.
fn group_reference(rest: &str) -> Option<(&str, &str)> {
    let (inside, close) = match rest.strip_prefix('{') {
        Some(inside) => (inside, "}"),
        None => (rest, ""),
    };
    let end = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
    let (name, behind) = inside.split_at(end);
    if name.is_empty() { None } else { behind.strip_prefix(close).map(|behind| (name, behind)) }
}
