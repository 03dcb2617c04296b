//! RE2 regular expressions: the library `regex` and the searches of Kubernetes, on a linear-time engine.

use ::regex::{Captures, Regex};

use super::standard::compiled;
use super::strings::at_most;
use crate::values::{bad_argument, empty_optional, optional_of};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::{Cx, Pattern};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// The library `regex`.
    pub static TABLE:
    "regex.replace", "Replaces matches, all or a number of them. In the replacement, `\\1` is the text of the first group."
        ["regex.replace('foo bar', '(fo)o (ba)r', r'\\2 \\1')" => "'ba fo'", "regex.replace('banana', 'a', 'x', 2)" => "'bxnxna'",
         "regex.replace('a', '(.)', r'\\2')" => "E0403", "regex.replace('a', '(', '')" => "E0403"]
        | "regex_replace_string_string_string" (String, String, String) -> String = replace;
        | "regex_replace_string_string_string_int" (String, String, String, Int) -> String = replace;
    "regex.extract", "Returns an optional of the first match, or of the text of its group."
        ["regex.extract('item-A, item-B', r'item-(\\w+)')" => "optional.of('A')", "regex.extract('a', 'b')" => "optional.none()",
         "regex.extract('ab', '(a)(b)')" => "E0403"]
        | "regex_extract_string_string" (String, String) -> (optional String) = extract;
    "regex.extractAll", "Returns all matches, or the texts of their group that are not empty."
        ["regex.extractAll('f_1 f_2', r'f_(\\d)')" => "['1', '2']", "regex.extractAll('val=a, val=', 'val=([^,]*)')" => "['a']"]
        | "regex_extractAll_string_string" (String, String) -> (list String) = extract_all;
}

/// Calls `each` with at most `most` matches in `text`, paying for the search.
pub(super) fn for_each<'t>(
    cx: &Cx<'_>,
    regex: &Regex,
    text: &'t str,
    most: usize,
    mut each: impl FnMut(&Captures<'t>) -> Result<()>,
) -> Result<()> {
    for captures in regex.captures_iter(text).take(most) {
        pay_for_rest(cx, text, captures.get(0).map_or(0, |whole| whole.end()))?;
        each(&captures)?;
    }
    Ok(())
}

/// Pays for the search after a match that ends at `end`: it may read the rest of the text again.
fn pay_for_rest(cx: &Cx<'_>, text: &str, end: usize) -> Result<()> {
    cx.spend(1 + (text.len() - end) as u64 / 256)
}

/// Compiles a pattern with at most one group.
fn of_one_group<'c>(cx: &'c Cx<'_>, pattern: &str, text: &str) -> Result<Pattern<'c>> {
    let regex = compiled(cx, pattern, text.len())?;
    if regex.captures_len() > 2 {
        return Err(bad_argument(format!("regular expression has more than one capturing group: {pattern:?}")));
    }
    Ok(regex)
}

fn replace<'v>(
    cx: &Cx<'v>,
    text: &'v str,
    pattern: &'v str,
    replacement: &'v str,
    most: Option<i64>,
) -> Result<Value<'v>> {
    if most == Some(0) {
        return cx.borrowed(text);
    }
    let regex = compiled(cx, pattern, text.len())?;
    let (mut replaced, mut last) = (String::new(), 0);
    for_each(cx, &regex, text, at_most(most), |captures| {
        let Some(found) = captures.get(0) else { return Ok(()) };
        push(cx, &mut replaced, text.get(last..found.start()).unwrap_or(""))?;
        expand(cx, captures, replacement, &mut replaced)?;
        last = found.end();
        Ok(())
    })?;
    push(cx, &mut replaced, text.get(last..).unwrap_or(""))?;
    cx.text(&replaced)
}

fn push(cx: &Cx<'_>, to: &mut String, piece: &str) -> Result<()> {
    cx.charge(piece.len())?;
    to.push_str(piece);
    Ok(())
}

/// Appends `replacement`, with the texts of groups in place of `\0` to `\9`.
fn expand(cx: &Cx<'_>, captures: &Captures<'_>, replacement: &str, to: &mut String) -> Result<()> {
    let mut rest = replacement;
    while let Some((front, after)) = rest.split_once('\\') {
        push(cx, to, front)?;
        let mut chars = after.chars();
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
fn bad_replacement(replacement: &str, why: &str) -> Box<Diagnostic> {
    let shown: String = replacement.chars().take(60).collect();
    bad_argument(format!("invalid replacement string: '{shown}' {why}"))
}

/// Returns the text of the only group, or of the whole match; `None` if the group is empty.
fn extracted<'t>(captures: &Captures<'t>) -> Option<&'t str> {
    let found = captures.iter().last().flatten().map_or("", |found| found.as_str());
    (captures.len() == 1 || !found.is_empty()).then_some(found)
}

fn extract<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str) -> Result<Value<'v>> {
    let regex = of_one_group(cx, pattern, text)?;
    match regex.captures(text).as_ref().and_then(extracted) {
        Some(found) => optional_of(cx, cx.borrowed(found)?),
        None => empty_optional(cx),
    }
}

fn extract_all<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str) -> Result<Vec<Value<'v>>> {
    let regex = of_one_group(cx, pattern, text)?;
    let mut all = Vec::new();
    for_each(cx, &regex, text, usize::MAX, |captures| {
        all.extend(extracted(captures).map(|found| cx.borrowed(found)).transpose()?);
        Ok(())
    })?;
    Ok(all)
}

functions! {
    /// The library `kubernetes.regex`.
    pub static KUBERNETES_REGEX:
    "find", "Returns the first match; the empty string if there is none." ["'abc 123'.find('[0-9]+')" => "'123'", "'abc'.find('x')" => "''"]
        | "string_find_string" member (String, String) -> String = find;
    "findAll", "Returns the matches, all or a number of them."
        ["'123 abc 456'.findAll('[0-9]+')" => "['123', '456']", "'123 abc 456'.findAll('[0-9]+', 1)" => "['123']", "'a'.findAll('[')" => "E0403"]
        | "string_find_all_string" member (String, String) -> (list String) = find_all;
        | "string_find_all_string_int" member (String, String, Int) -> (list String) = find_all;
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
