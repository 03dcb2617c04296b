//! Functions of regular expressions in RE2 syntax. Patterns find bytes that are not UTF-8 as invalid characters, and results have
//! these bytes.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::failed;
use crate::values::{NIL_STRINGS, nil_of_type, strings};
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

/// A text for a search: each byte that is not UTF-8 is an invalid character in it.
struct Searched<'v> {
    bytes: &'v [u8],
    text: Cow<'v, str>,
    /// Where the invalid characters are in `text`. They are longer than their bytes.
    invalid: Vec<usize>,
}

/// Bytes by which an invalid character is longer than its byte.
const LONGER: usize = char::REPLACEMENT_CHARACTER.len_utf8() - 1;

impl<'v> Searched<'v> {
    fn new(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<Self> {
        cx.spend(bytes.len() as u64 / 64)?;
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Ok(Self { bytes, text: Cow::Borrowed(text), invalid: Vec::new() });
        }
        let count = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
        cx.charge(bytes.len() + count * (LONGER + size_of::<usize>()))?;
        let (mut text, mut invalid) = (String::new(), Vec::new());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for _ in chunk.invalid() {
                invalid.push(text.len());
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        Ok(Self { bytes, text: Cow::Owned(text), invalid })
    }

    /// Returns the bytes of a range of the text.
    fn part(&self, range: Range<usize>) -> &'v [u8] {
        let at = |place: usize| place - LONGER * self.invalid.partition_point(|invalid| *invalid < place);
        self.bytes.get(at(range.start)..at(range.end)).unwrap_or_default()
    }
}

/// Returns the text of a pattern.
fn pattern<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<&'v str> {
    cx.spend(bytes.len() as u64 / 64)?;
    std::str::from_utf8(bytes).map_err(|error| {
        let rest = String::from_utf8_lossy(bytes.get(error.valid_up_to()..).unwrap_or_default());
        failed(format!("error parsing regexp: invalid UTF-8: {}", in_backquotes(&rest)))
    })
}

fn matches<'v>(cx: &Cx<'v>, by: &'v [u8], of: &'v [u8]) -> Result<bool> {
    must_match(cx, by, of).or_else(|error| if error.code.is_limit() { Err(error) } else { Ok(false) })
}

fn must_match<'v>(cx: &Cx<'v>, by: &'v [u8], of: &'v [u8]) -> Result<bool> {
    let (by, of) = (pattern(cx, by)?, Searched::new(cx, of)?);
    let regex = compiled(cx, by, true)?;
    regex.charge_search(cx, &of.text)?;
    Ok(regex.is_match(&of.text))
}

/// Returns a body that returns the first match.
fn find<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8]) -> Result<Value<'v>> {
    move |cx, by, of| {
        let (by, of) = (pattern(cx, by)?, Searched::new(cx, of)?);
        let regex = compiled(cx, by, must)?;
        regex.charge_search(cx, &of.text)?;
        cx.string(regex.find(&of.text).map_or(&[], |found| of.part(found.range())))
    }
}

/// Returns a `[]string`, which is nil if there are no items.
fn list<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Result<Value<'v>> {
    if items.is_empty() {
        return nil_of_type(cx, NIL_STRINGS);
    }
    strings(cx, items)
}

/// Returns the ranges of at most `most` matches, of all if it is negative.
fn ranges(cx: &Cx<'_>, regex: &Pattern<'_>, text: &str, most: i64) -> Result<Vec<Range<usize>>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    regex.charge_search(cx, text)?;
    let mut all = Vec::new();
    for found in regex.find_iter(text).take(most) {
        cx.charge(size_of::<Range<usize>>() + size_of::<Value<'_>>())?;
        // The search after a match may read the rest of the text again.
        cx.spend(1 + (text.len() - found.end()) as u64 / 256)?;
        all.push(found.range());
    }
    Ok(all)
}

/// Returns a body that returns all matches.
fn find_all<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], i64) -> Result<Value<'v>> {
    move |cx, by, of, most| {
        let (by, of) = (pattern(cx, by)?, Searched::new(cx, of)?);
        let regex = compiled(cx, by, must)?;
        let found = ranges(cx, &regex, &of.text, most)?;
        list(cx, &found.into_iter().map(|range| cx.string(of.part(range))).collect::<Result<Vec<_>>>()?)
    }
}

/// Returns a body that replaces all matches.
fn replace<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], &'v [u8]) -> Result<Value<'v>> {
    move |cx, source, of, template| {
        let (by, of) = (pattern(cx, source)?, Searched::new(cx, of)?);
        let regex = compiled(cx, by, must)?;
        cx.string(&regex.replaced_parts(cx, &of.text, template, &|range| of.part(range))?)
    }
}

/// Returns a body that replaces all matches by a text without references to groups.
fn replace_literally<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], &'v [u8]) -> Result<Value<'v>> {
    move |cx, source, of, literal| {
        let (by, of) = (pattern(cx, source)?, Searched::new(cx, of)?);
        let regex = compiled(cx, by, must)?;
        cx.charge(of.bytes.len())?;
        regex.charge_search(cx, &of.text)?;
        let (mut out, mut done) = (Vec::new(), 0);
        for found in regex.find_iter(&of.text) {
            cx.charge(literal.len())?;
            out.extend_from_slice(of.part(done..found.start()));
            out.extend_from_slice(literal);
            done = found.end();
        }
        out.extend_from_slice(of.part(done..of.text.len()));
        cx.string(&out)
    }
}

/// Returns a body that returns the parts between matches.
fn split<'v>(must: bool) -> impl Fn(&Cx<'v>, &'v [u8], &'v [u8], i64) -> Result<Value<'v>> {
    move |cx, by, of, most| {
        let (by, of) = (pattern(cx, by)?, Searched::new(cx, of)?);
        let regex = compiled(cx, by, must)?;
        if most == 0 {
            return list(cx, &[]);
        }
        if of.bytes.is_empty() && !by.is_empty() {
            return strings(cx, &[cx.borrowed("")?]);
        }
        let matches = ranges(cx, &regex, &of.text, most)?;
        let parts = between(of.text.len(), &matches, usize::try_from(most).unwrap_or(usize::MAX));
        list(cx, &parts.into_iter().map(|part| cx.string(of.part(part))).collect::<Result<Vec<_>>>()?)
    }
}

/// Returns the parts of a text between matches, at most `most`. An empty match at the start or end splits nothing.
fn between(length: usize, matches: &[Range<usize>], most: usize) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut last) = (Vec::new(), 0, 0);
    for found in matches {
        if parts.len() + 1 == most {
            break;
        }
        last = found.start;
        if found.end != 0 {
            parts.push(start..last);
        }
        start = found.end;
    }
    if last != length {
        parts.push(start..length);
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
    cx.string(&out)
}
