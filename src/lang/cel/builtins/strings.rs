//! Functions of strings, and base64. Indexes count characters.

use std::str::Chars;

use super::standard::pay;
use crate::values;
use crate::values::{as_bytes, bad_argument, no_such_overload};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::encodings;
use dropforge_base::stdlib::strings::prefix;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// The library `strings`, except `format`.
    pub static TABLE:
    "charAt", "Returns the character at an index; the empty string at the end."
        ["'abc'.charAt(1)" => "'b'", "'abc'.charAt(3)" => "''", "'abc'.charAt(4)" => "E0403"]
        | "string_char_at_int" member (String, Int) -> String = char_at;
    "indexOf", "Returns the index of the first occurrence of a string, from an index on; -1 if there is none."
        ["'tacocat'.indexOf('a')" => "1", "'tacocat'.indexOf('a', 2)" => "5", "'tacocat'.indexOf('x')" => "-1"]
        | "string_index_of_string" member (String, String) -> Int = index_of;
        | "string_index_of_string_int" member (String, String, Int) -> Int = index_of;
    "lastIndexOf", "Returns the index of the last occurrence of a string, not after an index; -1 if there is none."
        ["'tacocat'.lastIndexOf('a')" => "5", "'tacocat'.lastIndexOf('a', 4)" => "1", "'tacocat'.lastIndexOf('t', 7)" => "-1"]
        | "string_last_index_of_string" member (String, String) -> Int = last_index_of;
        | "string_last_index_of_string_int" member (String, String, Int) -> Int = last_index_of;
    "join", "Concatenates the strings of a list, with an optional separator."
        ["['a', 'b'].join()" => "'ab'", "['a', 'b'].join('-')" => "'a-b'"]
        | "list_join" member ((list String)) -> String = join;
        | "list_join_string" member ((list String), String) -> String = join;
    "lowerAscii", "Converts ASCII letters to lower case." ["'TacoCÆt'.lowerAscii()" => "'tacocÆt'"]
        | "string_lower_ascii" member (String) -> String = mapped(|letters| letters.map(|letter| letter.to_ascii_lowercase()));
    "upperAscii", "Converts ASCII letters to upper case." ["'tacoCæt'.upperAscii()" => "'TACOCæT'"]
        | "string_upper_ascii" member (String) -> String = mapped(|letters| letters.map(|letter| letter.to_ascii_uppercase()));
    "replace", "Replaces occurrences of a string, all or a number of them."
        ["'hello'.replace('l', 'L')" => "'heLLo'", "'hello'.replace('l', 'L', 1)" => "'heLlo'", "'ab'.replace('', '_')" => "'_a_b_'"]
        | "string_replace_string_string" member (String, String, String) -> String = replace;
        | "string_replace_string_string_int" member (String, String, String, Int) -> String = replace;
    "split", "Splits at a separator, into all parts or a number of them. An empty separator splits into characters."
        ["'a b c'.split(' ')" => "['a', 'b', 'c']", "'a b c'.split(' ', 2)" => "['a', 'b c']", "'ab'.split('')" => "['a', 'b']"]
        | "string_split_string" member (String, String) -> (list String) = split;
        | "string_split_string_int" member (String, String, Int) -> (list String) = split;
    "substring", "Returns the characters from a start index up to, but not including, an end index."
        ["'tacocat'.substring(4)" => "'cat'", "'tacocat'.substring(0, 4)" => "'taco'", "'tacocat'.substring(4, 3)" => "E0403"]
        | "string_substring_int" member (String, Int) -> String = substring;
        | "string_substring_int_int" member (String, Int, Int) -> String = substring;
    "trim", "Removes white space from both ends." ["' \\ta b '.trim()" => "'a b'"]
        | "string_trim" member (String) -> String = trim;
    "reverse", "Reverses the characters." ["'abc'.reverse()" => "'cba'"]
        | "string_reverse" member (String) -> String = mapped(Iterator::rev);
    "strings.quote", "Quotes a string, escaping special characters."
        ["strings.quote('a\"b')" => "'\"a\\\\\"b\"'"]
        | "strings_quote" (String) -> String = quote;
}

#[cold]
fn out_of_range(index: i64) -> Box<Diagnostic> {
    bad_argument(format!("index out of range: {index}"))
}

/// Returns the byte offset of the character at `index`, or of the end of the text.
fn byte_of(text: &str, index: i64) -> Result<usize> {
    let count = usize::try_from(index).map_err(|_| out_of_range(index))?;
    let byte = if text.is_ascii() {
        (count <= text.len()).then_some(count)
    } else {
        text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(count)
    };
    byte.ok_or_else(|| out_of_range(index))
}

/// Returns the index of the character at a byte offset; -1 without one.
fn index_at(text: &str, byte: Option<usize>) -> i64 {
    let front = byte.map(|byte| text.get(..byte).unwrap_or(text));
    front.and_then(|front| i64::try_from(front.chars().count()).ok()).unwrap_or(-1)
}

fn char_at<'v>(cx: &Cx<'v>, text: &'v str, index: i64) -> Result<&'v str> {
    pay(cx, text)?;
    let rest = text.get(byte_of(text, index)?..).unwrap_or("");
    Ok(rest.get(..rest.chars().next().map_or(0, char::len_utf8)).unwrap_or(""))
}

/// Returns the byte offset of the optional `index` of a search. An index after the end is an error, except when searching
/// for the empty string.
fn search_offset(cx: &Cx<'_>, text: &str, needle: &str, index: Option<i64>) -> Result<Option<usize>> {
    pay(cx, text)?;
    match index.map(|index| (index, byte_of(text, index))) {
        None => Ok(None),
        Some((0.., Err(_))) if needle.is_empty() => Ok(Some(text.len())),
        Some((_, offset)) => offset.map(Some),
    }
}

fn index_of<'v>(cx: &Cx<'v>, text: &'v str, needle: &'v str, from: Option<i64>) -> Result<i64> {
    let from = search_offset(cx, text, needle, from)?.unwrap_or(0);
    let found = text.get(from..).and_then(|rest| rest.find(needle));
    Ok(index_at(text, found.map(|at| from + at)))
}

fn last_index_of<'v>(cx: &Cx<'v>, text: &'v str, needle: &'v str, last: Option<i64>) -> Result<i64> {
    let given = search_offset(cx, text, needle, last)?;
    if !needle.is_empty() && given.is_some_and(|last| last >= text.len()) {
        return Ok(-1); // as in the reference
    }
    let last = given.unwrap_or(text.len());
    // A match may start at `last` and end after it.
    let front = prefix(text, last.saturating_add(needle.len()));
    Ok(index_at(text, front.rfind(needle).filter(|at| *at <= last)))
}

/// Searches as cel-go does: after an index at or after the end nothing is found.
pub(crate) fn index_in<'v>(cx: &Cx<'v>, text: &'v str, needle: &'v str, from: i64) -> Result<i64> {
    if is_at_end(text, needle, from) { Ok(-1) } else { index_of(cx, text, needle, Some(from)) }
}

/// Searches backwards as cel-go does: before an index at or after the end nothing is found.
pub(crate) fn last_index_in<'v>(cx: &Cx<'v>, text: &'v str, needle: &'v str, last: i64) -> Result<i64> {
    if is_at_end(text, needle, last) { Ok(-1) } else { last_index_of(cx, text, needle, Some(last)) }
}

fn is_at_end(text: &str, needle: &str, index: i64) -> bool {
    !needle.is_empty() && i64::try_from(text.chars().count()).is_ok_and(|count| index >= count)
}

fn join<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], separator: Option<&'v str>) -> Result<Value<'v>> {
    let separator = separator.unwrap_or("");
    cx.spend(list.len() as u64)?;
    let mut len = separator.len() * list.len().saturating_sub(1);
    for item in list {
        let text = item.as_str().ok_or_else(|| no_such_overload("join", true, &[*item]))?;
        len = len.saturating_add(text.len());
    }
    cx.charge(len.saturating_add(size_of::<Value>()))?;
    Ok(cx.arena().text_with(len, |joined| {
        for (at, item) in list.iter().enumerate() {
            joined.push_str(if at == 0 { "" } else { separator });
            joined.push_str(item.as_str().unwrap_or(""));
        }
    }))
}

/// Returns the function that maps the characters of a string to a string of the same length in bytes.
fn mapped<'v, I: Iterator<Item = char>>(map: fn(Chars<'v>) -> I) -> impl Fn(&Cx<'v>, &'v str) -> Result<Value<'v>> {
    move |cx, text| {
        pay(cx, text)?;
        cx.charge(text.len())?;
        Ok(cx.arena().text_with(text.len(), |mapped| mapped.extend(map(text.chars()))))
    }
}

fn trim<'v>(cx: &Cx<'v>, text: &'v str) -> Result<&'v str> {
    pay(cx, text).map(|()| text.trim())
}

/// Converts a maximum number of results, where a negative one means all.
pub(super) fn at_most(count: Option<i64>) -> usize {
    count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX)
}

/// Returns the offsets of `part` in `text`. A single byte, the common case, is found without building a searcher.
fn offsets(text: &str, part: &str) -> impl Iterator<Item = usize> {
    let one = if let [byte] = part.as_bytes() { Some(memchr::memchr_iter(*byte, text.as_bytes())) } else { None };
    let more = one.is_none().then(|| text.match_indices(part).map(|(at, _)| at));
    one.into_iter().flatten().chain(more.into_iter().flatten())
}

fn replace<'v>(cx: &Cx<'v>, text: &'v str, old: &'v str, new: &'v str, most: Option<i64>) -> Result<Value<'v>> {
    pay(cx, text)?;
    let most = at_most(most);
    let count = offsets(text, old).take(most).count();
    let len = (text.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
    cx.charge(len)?;
    Ok(cx.arena().text_with(len, |replaced| {
        let mut rest = 0;
        for at in offsets(text, old).take(most) {
            replaced.push_str(text.get(rest..at).unwrap_or(""));
            replaced.push_str(new);
            rest = at + old.len();
        }
        replaced.push_str(text.get(rest..).unwrap_or(""));
    }))
}

fn split<'v>(cx: &Cx<'v>, text: &'v str, separator: &'v str, most: Option<i64>) -> Result<Vec<Value<'v>>> {
    pay(cx, text)?;
    let most = at_most(most);
    // Each part takes a value and the string that it refers to.
    let charge = |count: usize| cx.charge(count.saturating_mul(4 * size_of::<Value>()));
    let parts: Vec<&'v str> = if separator.is_empty() {
        charge(text.chars().count().min(most))?;
        characters(text, most)
    } else {
        charge(text.matches(separator).take(most).count())?;
        text.splitn(most, separator).collect()
    };
    parts.into_iter().map(|part| cx.borrowed(part)).collect()
}

/// Splits a text into characters; the last of `most` parts is the rest.
fn characters(text: &str, most: usize) -> Vec<&str> {
    let last = text.char_indices().nth(most.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let (front, rest) = text.split_at(last);
    let rest = Some(rest).filter(|rest| most > 0 && !rest.is_empty());
    front.split("").filter(|part| !part.is_empty()).chain(rest).collect()
}

fn substring<'v>(cx: &Cx<'v>, text: &'v str, start: i64, end: Option<i64>) -> Result<&'v str> {
    pay(cx, text)?;
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(bad_argument(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let from = byte_of(text, start)?;
    let to = end.map_or(Ok(text.len()), |end| byte_of(text, end))?;
    Ok(text.get(from..to).unwrap_or(""))
}

fn quote<'v>(cx: &Cx<'v>, text: &'v str) -> Result<String> {
    cx.charge(text.len().saturating_mul(2))?;
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match escape_of(c) {
            Some(letter) => quoted.extend(['\\', letter]),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

/// Returns the letter of a character's escape.
const fn escape_of(c: char) -> Option<char> {
    Some(match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\x0C' => 'f',
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\x0B' => 'v',
        '\\' => '\\',
        '"' => '"',
        _ => return None,
    })
}

functions! {
    /// The library `encoders`.
    pub static ENCODERS:
    "base64.encode", "Encodes bytes as base64." ["base64.encode(b'hello')" => "'aGVsbG8='"]
        | "base64_encode_bytes" (Bytes) -> String = encode;
    "base64.decode", "Decodes base64, with or without padding."
        ["base64.decode('aGVsbG8=')" => "b'hello'", "base64.decode('aGVsbG8')" => "b'hello'", "base64.decode('?')" => "E0403"]
        | "base64_decode_string" (String) -> Bytes = decode;
}

fn encode<'v>(cx: &Cx<'v>, bytes: Value<'v>) -> Result<String> {
    let bytes = as_bytes(bytes).unwrap_or(&[]);
    cx.charge(encodings::base64_len(bytes.len()))?;
    Ok(encodings::base64(bytes))
}

fn decode<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Value<'v>> {
    cx.charge(text.len())?;
    match encodings::octets_of_base64(text) {
        Some(bytes) => cx.bytes(&bytes),
        None => Err(values::bad_argument("illegal base64 data")),
    }
}
