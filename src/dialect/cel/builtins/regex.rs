//! Regular expressions: RE2's, on an engine that is linear.

use std::sync::Arc;

use ::regex::{Captures, Regex};

use super::standard::compiled;
use super::{arguments, number, text};
use crate::diagnostics::Result;
use crate::dialect::cel::values::errors::bad_argument;
use crate::dialect::cel::values::optional;
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `regex`.
    pub static TABLE:
    "regex.replace": "Each match of a pattern, or so many of them, replaced by a text in which `\\1` is what the first group matched."
        ["regex.replace('foo bar', '(fo)o (ba)r', r'\\2 \\1')" => "'ba fo'", "regex.replace('banana', 'a', 'x', 2)" => "'bxnxna'",
         "regex.replace('a', '(.)', r'\\2')" => "E0403", "regex.replace('a', '(', '')" => "E0403"] {
        "regex_replace_string_string_string" (String, String, String) -> String = replace;
        "regex_replace_string_string_string_int" (String, String, String, Int) -> String = replace;
    }
    "regex.extract": "An optional of the first match of a pattern, or of what its group matched."
        ["regex.extract('item-A, item-B', r'item-(\\w+)')" => "optional.of('A')", "regex.extract('a', 'b')" => "optional.none()",
         "regex.extract('ab', '(a)(b)')" => "E0403"] {
        "regex_extract_string_string" (String, String) -> (optional String) = extract;
    }
    "regex.extractAll": "All matches of a pattern, or what its group matched each time where that is something."
        ["regex.extractAll('f_1 f_2', r'f_(\\d)')" => "['1', '2']", "regex.extractAll('val=a, val=', 'val=([^,]*)')" => "['a']"] {
        "regex_extractAll_string_string" (String, String) -> (list String) = extract_all;
    }
}

/// Calls `each` with the matches in `text`, of which the search is paid, at most so many of them.
pub(super) fn for_each<'t>(
    cx: &Cx<'_>,
    regex: &Regex,
    text: &'t str,
    most: usize,
    mut each: impl FnMut(&Captures<'t>) -> Result<()>,
) -> Result<()> {
    for captures in regex.captures_iter(text).take(most) {
        // What is behind a match may be looked at once more for the next one.
        let behind = text.len() - captures.get(0).map_or(0, |whole| whole.end());
        cx.spend(1 + behind as u64 / 256)?;
        each(&captures)?;
    }
    Ok(())
}

/// A pattern with one group at most, to be searched for in a text.
fn of_one_group(cx: &Cx<'_>, pattern: &str, text: &str) -> Result<Arc<Regex>> {
    let regex = compiled(cx, pattern, text.len())?;
    if regex.captures_len() > 2 {
        return Err(bad_argument(format!("regular expression has more than one capturing group: {pattern:?}")));
    }
    Ok(regex)
}

/// What a number of matches means: all where it is negative.
pub(super) fn most(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn replace<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (whole, pattern, replacement, count) = match *given {
        [whole, pattern, replacement, count] => (whole, text(pattern), text(replacement), number(count)),
        _ => arguments(cx, given).map(|[whole, pattern, replacement]| (whole, text(pattern), text(replacement), -1))?,
    };
    if count == 0 {
        return Ok(whole);
    }
    let target = text(whole);
    let regex = compiled(cx, pattern, target.len())?;
    let (mut replaced, mut last) = (String::new(), 0);
    for_each(cx, &regex, target, most(count), |captures| {
        let Some(found) = captures.get(0) else { return Ok(()) };
        push(cx, &mut replaced, target.get(last..found.start()).unwrap_or(""))?;
        expand(cx, captures, replacement, &mut replaced)?;
        last = found.end();
        Ok(())
    })?;
    push(cx, &mut replaced, target.get(last..).unwrap_or(""))?;
    cx.text(&replaced)
}

fn push(cx: &Cx<'_>, to: &mut String, piece: &str) -> Result<()> {
    cx.charge(piece.len())?;
    to.push_str(piece);
    Ok(())
}

/// Puts `replacement` down with what the groups matched in the places of `\0` to `\9`.
fn expand(cx: &Cx<'_>, captures: &Captures<'_>, replacement: &str, to: &mut String) -> Result<()> {
    let mut rest = replacement;
    while let Some((front, behind)) = rest.split_once('\\') {
        push(cx, to, front)?;
        let mut chars = behind.chars();
        match chars.next() {
            Some('\\') => push(cx, to, "\\")?,
            Some(digit @ '0'..='9') => push(cx, to, group(captures, digit as usize - '0' as usize)?)?,
            Some(_) => return Err(bad_replacement(replacement, "\\ must be followed by a digit or \\")),
            None => return Err(bad_replacement(replacement, "\\ not allowed at end")),
        }
        rest = chars.as_str();
    }
    push(cx, to, rest)
}

fn group<'t>(captures: &Captures<'t>, at: usize) -> Result<&'t str> {
    let groups = captures.len() - 1;
    if at > groups {
        let message = format!("replacement string references group {at} but regex has only {groups} group(s)");
        return Err(bad_argument(message));
    }
    Ok(captures.get(at).map_or("", |found| found.as_str()))
}

#[cold]
fn bad_replacement(replacement: &str, why: &str) -> Box<crate::diagnostics::Diagnostic> {
    let shown: String = replacement.chars().take(60).collect();
    bad_argument(format!("invalid replacement string: '{shown}' {why}"))
}

fn extract<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [target, pattern] = arguments(cx, given)?.map(text);
    let regex = of_one_group(cx, pattern, target)?;
    let Some(captures) = regex.captures(target) else { return optional::none(cx) };
    let found = captures.iter().last().flatten().map_or("", |found| found.as_str());
    match (captures.len(), found) {
        (2, "") => optional::none(cx),
        _ => optional::of(cx, cx.borrowed(found)?),
    }
}

fn extract_all<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [target, pattern] = arguments(cx, given)?.map(text);
    let regex = of_one_group(cx, pattern, target)?;
    let mut all = Vec::new();
    for_each(cx, &regex, target, usize::MAX, |captures| {
        let found = captures.iter().last().flatten().map_or("", |found| found.as_str());
        if captures.len() == 1 || !found.is_empty() {
            all.push(cx.borrowed(found)?);
        }
        Ok(())
    })?;
    cx.list(&all)
}
