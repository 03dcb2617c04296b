//! Functions of text. Places in a text are counted in characters.

use std::str::Chars;

use super::{arguments, items, number, text};
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::cel::values::errors::{bad_argument, no_such_overload};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `strings`, but for `format`.
    pub static TABLE:
    "charAt": "The character at a place; nothing where the place is the text's end."
        ["'abc'.charAt(1)" => "'b'", "'abc'.charAt(3)" => "''", "'abc'.charAt(4)" => "E0403"] {
        "string_char_at_int" member (String, Int) -> String = char_at;
    }
    "indexOf": "The first place of a text in another, from a place on; -1 where there is none."
        ["'tacocat'.indexOf('a')" => "1", "'tacocat'.indexOf('a', 2)" => "5", "'tacocat'.indexOf('x')" => "-1"] {
        "string_index_of_string" member (String, String) -> Int = index_of;
        "string_index_of_string_int" member (String, String, Int) -> Int = index_of;
    }
    "lastIndexOf": "The last place of a text in another, not behind a place; -1 where there is none."
        ["'tacocat'.lastIndexOf('a')" => "5", "'tacocat'.lastIndexOf('a', 4)" => "1"] {
        "string_last_index_of_string" member (String, String) -> Int = last_index_of;
        "string_last_index_of_string_int" member (String, String, Int) -> Int = last_index_of;
    }
    "join": "The texts of a list, one behind the other, with another between them."
        ["['a', 'b'].join()" => "'ab'", "['a', 'b'].join('-')" => "'a-b'"] {
        "list_join" member ((list String)) -> String = join;
        "list_join_string" member ((list String), String) -> String = join;
    }
    "lowerAscii": "The letters of ASCII in lower case." ["'TacoCÆt'.lowerAscii()" => "'tacocÆt'"] {
        "string_lower_ascii" member (String) -> String = lower;
    }
    "upperAscii": "The letters of ASCII in upper case." ["'tacoCæt'.upperAscii()" => "'TACOCæT'"] {
        "string_upper_ascii" member (String) -> String = upper;
    }
    "replace": "A text with one part of it replaced by another wherever it is, or so many times."
        ["'hello'.replace('l', 'L')" => "'heLLo'", "'hello'.replace('l', 'L', 1)" => "'heLlo'", "'ab'.replace('', '_')" => "'_a_b_'"] {
        "string_replace_string_string" member (String, String, String) -> String = replace;
        "string_replace_string_string_int" member (String, String, String, Int) -> String = replace;
    }
    "split": "The parts of a text between another, all or so many; between nothing its characters."
        ["'a b c'.split(' ')" => "['a', 'b', 'c']", "'a b c'.split(' ', 2)" => "['a', 'b c']", "'ab'.split('')" => "['a', 'b']"] {
        "string_split_string" member (String, String) -> (list String) = split;
        "string_split_string_int" member (String, String, Int) -> (list String) = split;
    }
    "substring": "The part of a text from a place on, up to another."
        ["'tacocat'.substring(4)" => "'cat'", "'tacocat'.substring(0, 4)" => "'taco'", "'tacocat'.substring(4, 3)" => "E0403"] {
        "string_substring_int" member (String, Int) -> String = substring;
        "string_substring_int_int" member (String, Int, Int) -> String = substring;
    }
    "trim": "A text without the white space at its ends." ["' \\ta b '.trim()" => "'a b'"] {
        "string_trim" member (String) -> String = trim;
    }
    "reverse": "A text's characters from the last to the first." ["'abc'.reverse()" => "'cba'"] {
        "string_reverse" member (String) -> String = reverse;
    }
    "strings.quote": "A text between quotation marks, with what is not readable there escaped."
        ["strings.quote('a\"b')" => "'\"a\\\\\"b\"'"] {
        "strings_quote" (String) -> String = quote;
    }
}

#[cold]
fn out_of_range(place: i64) -> Box<Diagnostic> {
    bad_argument(format!("index out of range: {place}"))
}

/// The byte that the character at `place` begins with, of all places the last is behind the text.
fn byte_of(text: &str, place: i64) -> Result<usize> {
    let count = usize::try_from(place).map_err(|_| out_of_range(place))?;
    let byte = if text.is_ascii() {
        (count <= text.len()).then_some(count)
    } else {
        text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(count)
    };
    byte.ok_or_else(|| out_of_range(place))
}

/// The place of the character that begins with `byte`.
fn place_of(text: &str, byte: usize) -> Value<'static> {
    let count = text.get(..byte).unwrap_or(text).chars().count();
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Spends what it takes to look through a text.
fn look(cx: &Cx<'_>, text: &str) -> Result<()> {
    cx.spend((text.len() / 64) as u64)
}

fn char_at<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [whole, place] = arguments(cx, given)?;
    look(cx, text(whole))?;
    let from = byte_of(text(whole), number(place))?;
    let rest = text(whole).get(from..).unwrap_or("");
    let end = rest.chars().next().map_or(0, char::len_utf8);
    cx.borrowed(rest.get(..end).unwrap_or(""))
}

/// A text, one that is looked for in it, and a place where one is given.
fn search<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<(&'v str, &'v str, Option<i64>)> {
    let (whole, needle, place) = match *given {
        [whole, needle, place] => (whole, needle, Some(number(place))),
        _ => {
            let [whole, needle] = arguments(cx, given)?;
            (whole, needle, None)
        }
    };
    look(cx, text(whole))?;
    match place {
        Some(place) if place < 0 => Err(out_of_range(place)),
        place => Ok((text(whole), text(needle), place)),
    }
}

fn index_of<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (whole, needle, place) = search(cx, given)?;
    let from = match byte_of(whole, place.unwrap_or(0)) {
        Ok(from) => from,
        // Nothing is also behind the end.
        Err(_) if needle.is_empty() => whole.len(),
        Err(error) => return Err(error),
    };
    let found = whole.get(from..).and_then(|rest| rest.find(needle));
    Ok(found.map_or(Value::Int(-1), |at| place_of(whole, from + at)))
}

fn last_index_of<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (whole, needle, place) = search(cx, given)?;
    let last = match place.map(|place| byte_of(whole, place)) {
        None => whole.len(),
        Some(Ok(last)) => last,
        Some(Err(_)) if needle.is_empty() => whole.len(),
        Some(Err(error)) => return Err(error),
    };
    // What is found begins at `last` at the latest.
    let end = last.saturating_add(needle.len()).min(whole.len());
    let end = (0..=end).rev().find(|end| whole.is_char_boundary(*end)).unwrap_or(0);
    let found = whole.get(..end).and_then(|front| front.rfind(needle)).filter(|at| *at <= last);
    Ok(found.map_or(Value::Int(-1), |at| place_of(whole, at)))
}

fn join<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (list, separator) = match *given {
        [list, separator] => (items(list), text(separator)),
        _ => (items(arguments::<1>(cx, given)?[0]), ""),
    };
    cx.spend(list.len() as u64)?;
    let mut len = separator.len() * list.len().saturating_sub(1);
    for item in list {
        let item_text = item.as_str().ok_or_else(|| no_such_overload("join", true, &[*item]))?;
        len = len.saturating_add(item_text.len());
    }
    cx.charge(len.saturating_add(size_of::<Value>()))?;
    Ok(cx.arena().text_with(len, |joined| {
        for (at, item) in list.iter().enumerate() {
            joined.push_str(if at == 0 { "" } else { separator });
            joined.push_str(text(*item));
        }
    }))
}

/// A text of the length of the argument.
fn mapped<'v, I: Iterator<Item = char>>(
    cx: &Cx<'v>,
    given: &[Value<'v>],
    map: impl FnOnce(Chars<'v>) -> I,
) -> Result<Value<'v>> {
    let [whole] = arguments(cx, given)?;
    let whole = text(whole);
    look(cx, whole)?;
    cx.charge(whole.len())?;
    Ok(cx.arena().text_with(whole.len(), |mapped| mapped.extend(map(whole.chars()))))
}

fn lower<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    mapped(cx, given, |letters| letters.map(|letter| letter.to_ascii_lowercase()))
}

fn upper<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    mapped(cx, given, |letters| letters.map(|letter| letter.to_ascii_uppercase()))
}

fn reverse<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    mapped(cx, given, Iterator::rev)
}

fn trim<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [whole] = arguments(cx, given)?;
    look(cx, text(whole))?;
    cx.borrowed(text(whole).trim())
}

/// Where `part` stands in `whole`, from the front on. Most often a single byte is looked for, which takes no searcher.
fn places(whole: &str, part: &str) -> impl Iterator<Item = usize> {
    let one = if let [byte] = part.as_bytes() { Some(memchr::memchr_iter(*byte, whole.as_bytes())) } else { None };
    let more = one.is_none().then(|| whole.match_indices(part).map(|(at, _)| at));
    one.into_iter().flatten().chain(more.into_iter().flatten())
}

fn replace<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (whole, old, new, most) = match *given {
        [whole, old, new, most] => (text(whole), text(old), text(new), usize::try_from(number(most)).ok()),
        _ => {
            let [whole, old, new] = arguments(cx, given)?;
            (text(whole), text(old), text(new), None)
        }
    };
    look(cx, whole)?;
    // A negative number means all.
    let most = most.unwrap_or(usize::MAX);
    let count = places(whole, old).take(most).count();
    let len = (whole.len() - count * old.len()).saturating_add(count.saturating_mul(new.len()));
    cx.charge(len)?;
    Ok(cx.arena().text_with(len, |replaced| {
        let mut rest = 0;
        for at in places(whole, old).take(most) {
            replaced.push_str(whole.get(rest..at).unwrap_or(""));
            replaced.push_str(new);
            rest = at + old.len();
        }
        replaced.push_str(whole.get(rest..).unwrap_or(""));
    }))
}

fn split<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (whole, separator, most) = match *given {
        [whole, separator, most] => (text(whole), text(separator), usize::try_from(number(most)).unwrap_or(usize::MAX)),
        _ => {
            let [whole, separator] = arguments(cx, given)?;
            (text(whole), text(separator), usize::MAX)
        }
    };
    look(cx, whole)?;
    // Of each part there is a value and what it refers to.
    let each = |count: usize| cx.charge(count.saturating_mul(4 * size_of::<Value>()));
    let parts: Vec<&'v str> = if separator.is_empty() {
        each(whole.chars().count().min(most))?;
        characters(whole, most)
    } else {
        each(whole.matches(separator).take(most).count())?;
        whole.splitn(most, separator).collect()
    };
    let parts = parts.into_iter().map(|part| cx.borrowed(part)).collect::<Result<Vec<_>>>()?;
    cx.list(&parts)
}

/// The characters of a text; the last of so many parts has the rest.
fn characters(whole: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = whole;
    while let Some(first) = rest.chars().next() {
        if most <= parts.len() + 1 {
            break;
        }
        let (part, behind) = rest.split_at(first.len_utf8());
        parts.push(part);
        rest = behind;
    }
    if !rest.is_empty() && most > 0 {
        parts.push(rest);
    }
    parts
}

fn substring<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (whole, start, end) = match *given {
        [whole, start, end] => (text(whole), number(start), Some(number(end))),
        _ => {
            let [whole, start] = arguments(cx, given)?;
            (text(whole), number(start), None)
        }
    };
    look(cx, whole)?;
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(bad_argument(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let from = byte_of(whole, start)?;
    let to = end.map_or(Ok(whole.len()), |end| byte_of(whole, end))?;
    cx.borrowed(whole.get(from..to).unwrap_or(""))
}

fn quote<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [whole] = arguments(cx, given)?;
    let whole = text(whole);
    cx.charge(whole.len().saturating_mul(2))?;
    let mut quoted = String::with_capacity(whole.len() + 2);
    quoted.push('"');
    for c in whole.chars() {
        match escape_of(c) {
            Some(letter) => quoted.extend(['\\', letter]),
            None => quoted.push(c),
        }
    }
    quoted.push('"');
    cx.text(&quoted)
}

/// The letter that stands behind a backslash for a character.
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
