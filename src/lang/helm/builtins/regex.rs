//! Functions of regular expressions in RE2 syntax. Bytes of a text that are not UTF-8 become invalid characters.

use std::borrow::Cow;

use crate::error::failed;
use crate::values::{nil_list, strings};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::{Cx, Pattern, Refusal};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// Functions of regular expressions.
    pub(super) static REGEX:
    "regexMatch" [Str, Str] = matches,
        "Returns `true` if a text contains a match of a regular expression, `false` also for an invalid one."
        [r#"{{ regexMatch "^h.*d$" "hello world" }}"# => "true"];
    "mustRegexMatch" [Str, Str] = must_match, "Returns `true` if a text contains a match of a regular expression."
        [r#"{{ mustRegexMatch "\\d" "a1" }}"# => "true", r#"{{ mustRegexMatch "[" "a" }}"# => "E0404"];
    "regexFind" [Str, Str] = find(false), "Returns the first match, or an empty text."
        [r#"{{ regexFind "[a-z][1-9]" "abcd1234" }}"# => "d1"];
    "mustRegexFind" [Str, Str] = find(true), "Returns the first match, or an empty text."
        [r#"{{ mustRegexFind "o." "foot" }}"# => "oo"];
    "regexFindAll" [Str, Str, Int] = find_all(false),
        "Returns at most a number of matches, or all if the number is negative."
        [r#"{{ regexFindAll "[2468]" "123456789" -1 }}"# => "[2 4 6 8]"];
    "mustRegexFindAll" [Str, Str, Int] = find_all(true),
        "Returns at most a number of matches, or all if the number is negative."
        [r#"{{ mustRegexFindAll "l+" "hello world" 1 }}"# => "[ll]"];
    "regexReplaceAll" [Str, Str, Str] = replace(false),
        "Replaces all matches in the second text by the third. `${1}` or `${name}` in it stands for a group."
        [r#"{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }}"# => "-W-xxW-"];
    "mustRegexReplaceAll" [Str, Str, Str] = replace(true), "Replaces all matches, like `regexReplaceAll`."
        [r#"{{ mustRegexReplaceAll "o" "foo" "0" }}"# => "f00"];
    "regexReplaceAllLiteral" [Str, Str, Str] = replace_literally(false),
        "Replaces all matches in the second text by the third."
        [r#"{{ regexReplaceAllLiteral "o" "foo" "${1}" }}"# => "f${1}${1}"];
    "mustRegexReplaceAllLiteral" [Str, Str, Str] = replace_literally(true),
        "Replaces all matches in the second text by the third." [r#"{{ mustRegexReplaceAllLiteral "o" "foo" "$0" }}"# => "f$0$0"];
    "regexSplit" [Str, Str, Int] = split(false),
        "Returns the parts of a text between matches, at most a number of parts unless the number is negative."
        [r#"{{ regexSplit "z+" "pizza" -1 }}"# => "[pi a]"];
    "mustRegexSplit" [Str, Str, Int] = split(true), "Returns the parts of a text, like `regexSplit`."
        [r#"{{ mustRegexSplit "l+" "hello world" 2 }}"# => "[he o world]"];
    "regexQuoteMeta" [Str] = quote, "Escapes a text so that a regular expression matches exactly this text."
        [r#"{{ regexQuoteMeta "1.2.3" }}"# => "1\\.2\\.3"];
}

/// Compiles a pattern. The functions without `must` panic in the original, which says more.
fn compiled<'c>(cx: &'c Cx<'_>, pattern: &str, must: bool) -> Result<Pattern<'c>> {
    let invalid = |refused: Refusal<'_>| -> Box<Diagnostic> {
        let why = match refused {
            Refusal::Syntax(why) => why.reference_message(pattern),
            Refusal::Engine(why) => format!("error parsing regexp: {}", why.lines().last().unwrap_or("")),
        };
        failed(if must { why } else { format!("regexp: Compile({}): {why}", in_backquotes(pattern)) })
    };
    cx.charge(pattern.len().saturating_mul(2))?;
    cx.re2(pattern, invalid)
}

/// Quotes a pattern for a message, in backquotes if possible.
fn in_backquotes(pattern: &str) -> String {
    let is_raw = |c: char| c != '`' && (c == '\t' || !c.is_control()) && c != '\u{feff}';
    if pattern.chars().all(is_raw) { format!("`{pattern}`") } else { crate::error::quoted(pattern) }
}

/// Returns the text of a string.
fn text<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<Cow<'v, str>> {
    cx.spend(bytes.len() as u64 / 64)?;
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Owned(owned) = &text {
        cx.charge(owned.len())?;
    }
    Ok(text)
}

fn matches<'v>(cx: &Cx<'v>, pattern: &'v [u8], of: &'v [u8]) -> Result<bool> {
    must_match(cx, pattern, of).or_else(|error| if error.code.is_limit() { Err(error) } else { Ok(false) })
}

fn must_match<'v>(cx: &Cx<'v>, pattern: &'v [u8], of: &'v [u8]) -> Result<bool> {
    let (pattern, of) = (text(cx, pattern)?, text(cx, of)?);
    let regex = compiled(cx, &pattern, true)?;
    regex.charge_search(cx, &of)?;
    Ok(regex.is_match(&of))
}

/// Returns a body that returns the first match.
fn find<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8]) -> Result<Value<'v>> {
    move |cx, pattern, of| {
        let (pattern, of) = (text(cx, pattern)?, text(cx, of)?);
        let regex = compiled(cx, &pattern, must)?;
        regex.charge_search(cx, &of)?;
        cx.text(regex.find(&of).map_or("", |found| found.as_str()))
    }
}

/// Returns a `[]string`, which is nil if there are no items.
fn list<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Result<Value<'v>> {
    if items.is_empty() {
        return nil_list(cx);
    }
    strings(cx, items)
}

/// Returns the ranges of at most `most` matches, of all if it is negative.
fn ranges(cx: &Cx<'_>, regex: &Pattern<'_>, text: &str, most: i64) -> Result<Vec<std::ops::Range<usize>>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    regex.charge_search(cx, text)?;
    let mut all = Vec::new();
    for found in regex.find_iter(text).take(most) {
        cx.charge(size_of::<std::ops::Range<usize>>() + size_of::<Value<'_>>())?;
        // The search after a match may read the rest of the text again.
        cx.spend(1 + (text.len() - found.end()) as u64 / 256)?;
        all.push(found.range());
    }
    Ok(all)
}

/// Returns a body that returns all matches.
fn find_all<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], i64) -> Result<Value<'v>> {
    move |cx, pattern, of, most| {
        let (pattern, of) = (text(cx, pattern)?, text(cx, of)?);
        let regex = compiled(cx, &pattern, must)?;
        let found = ranges(cx, &regex, &of, most)?;
        let item = |range: std::ops::Range<usize>| cx.text(of.get(range).unwrap_or(""));
        list(cx, &found.into_iter().map(item).collect::<Result<Vec<_>>>()?)
    }
}

/// Returns a body that replaces all matches.
fn replace<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], &'v [u8]) -> Result<Value<'v>> {
    move |cx, pattern, of, by| {
        let (pattern, of, by) = (text(cx, pattern)?, text(cx, of)?, text(cx, by)?);
        let regex = compiled(cx, &pattern, must)?;
        cx.text(&regex.replaced(cx, &of, &by)?)
    }
}

/// Returns a body that replaces all matches by a text without references to groups.
fn replace_literally<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], &'v [u8]) -> Result<Value<'v>> {
    move |cx, pattern, of, by| {
        let (pattern, of, by) = (text(cx, pattern)?, text(cx, of)?, text(cx, by)?);
        let regex = compiled(cx, &pattern, must)?;
        cx.text(&regex.replaced_literally(cx, &of, &by)?)
    }
}

/// Returns a body that returns the parts between matches.
fn split<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], i64) -> Result<Value<'v>> {
    move |cx, pattern, of, most| {
        let (pattern, of) = (text(cx, pattern)?, text(cx, of)?);
        let regex = compiled(cx, &pattern, must)?;
        if most == 0 {
            return list(cx, &[]);
        }
        if of.is_empty() && !pattern.is_empty() {
            return strings(cx, &[cx.borrowed("")?]);
        }
        let parts = between(&of, &ranges(cx, &regex, &of, most)?, usize::try_from(most).unwrap_or(usize::MAX));
        list(cx, &parts.into_iter().map(|part| cx.text(part)).collect::<Result<Vec<_>>>()?)
    }
}

/// Returns the parts of a text between matches, at most `most`. An empty match at the start or end splits nothing.
fn between<'t>(text: &'t str, matches: &[std::ops::Range<usize>], most: usize) -> Vec<&'t str> {
    let (mut parts, mut start, mut last) = (Vec::new(), 0, 0);
    for found in matches {
        if parts.len() + 1 == most {
            break;
        }
        last = found.start;
        if found.end != 0 {
            parts.push(text.get(start..last).unwrap_or(""));
        }
        start = found.end;
    }
    if last != text.len() {
        parts.push(text.get(start..).unwrap_or(""));
    }
    parts
}

fn quote<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<Value<'v>> {
    cx.charge(bytes.len().saturating_mul(2))?;
    let mut out = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if b"\\.+*?()|[]{}^$".contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    crate::values::string(cx, &out)
}
