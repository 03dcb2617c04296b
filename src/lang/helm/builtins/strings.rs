//! Parts of strings, comparisons with them, and their letters: case, notations of names, order.

use super::{copied, made, part, string_of};
use crate::error::failed;
use crate::values::{STRING_MAP, strings, text_bytes};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::{byte_texts, letter_case, letter_words, strings as texts};
use dropforge_machine::function::{ANY, Cut, Cx, LETTERS, WHOLE, WORDS};
use dropforge_machine::functions;
use dropforge_value::{Extended, Value};

functions! {
    /// Parts of strings.
    pub(super) static STRINGS:
    "hello" [] = hello, "Returns `Hello!`." [r#"{{ hello }}"# => "Hello!"];
    "abbrev" [Int, Str] = abbrev, "Shortens a text to a number of bytes, with an ellipsis at its end."
        [r#"{{ abbrev 5 "hello world" }}"# => "he...", r#"{{ abbrev 3 "hello" }}"# => "hello"];
    "abbrevboth" [Int, Int, Str] = abbrev_both,
        "Leaves out the text before an offset and shortens the rest to a number of bytes, with ellipses."
        [r#"{{ abbrevboth 5 10 "1234 5678 9123" }}"# => "...5678..."];
    "trunc" [Int, Str] = trunc, "Returns the first bytes of a text, or the last ones if the number is negative."
        [r#"{{ trunc 3 "hello" }} {{ trunc -2 "hello" }}"# => "hel lo"];
    "substr" [Int, Int, Str] = substr, "Returns the text between two positions in bytes. A negative one is an end of the text."
        [r#"{{ substr 0 3 "hello" }}"# => "hel", r#"{{ substr 4 -1 "ab" }}"# => "E0404"];
    "trim" [Str] = trim, "Removes white space from both ends." [r#"[{{ trim "  a " }}]"# => "[a]"];
    "trimAll" [Str, Str] = trim_all, "Removes some characters from both ends." [r#"{{ trimAll "$" "$5.00$" }}"# => "5.00"];
    "trimall" [Str, Str] = trim_all, "Removes some characters from both ends, like `trimAll`."
        [r#"{{ trimall "-" "--a-" }}"# => "a"];
    "trimSuffix" [Str, Str] = trim_suffix, "Removes a suffix." [r#"{{ trimSuffix "-" "a-" }}"# => "a"];
    "trimPrefix" [Str, Str] = trim_prefix, "Removes a prefix." [r#"{{ trimPrefix "v" "v1" }}"# => "1"];
    "contains" [Str, Str] = contains, "Returns `true` if the second text contains the first."
        [r#"{{ contains "ell" "hello" }}"# => "true"];
    "hasPrefix" [Str, Str] = has_prefix, "Returns `true` if the second text begins with the first."
        [r#"{{ hasPrefix "he" "hello" }}"# => "true"];
    "hasSuffix" [Str, Str] = has_suffix, "Returns `true` if the second text ends with the first."
        [r#"{{ hasSuffix "he" "hello" }}"# => "false"];
    "replace" [Str, Str, Str] = replace, "Replaces every occurrence of the first text by the second."
        [r#"{{ replace "." "-" "a.b.c" }}"# => "a-b-c"];
    "repeat" [Int, Str] = repeat, "Repeats a text." [r#"{{ repeat 3 "ab" }}"# => "ababab", r#"{{ repeat -1 "a" }}"# => "E0404"];
    "splitList" [Str, Str] = split_list, "Returns the parts of a text between separators, as a list."
        [r#"{{ splitList "," "a,b" }}"# => "[a b]"];
    "split" [Str, Str] = split, "Returns the parts of a text between separators, as a map with the keys `_0`, `_1` and so on."
        [r#"{{ (split ":" "host:80")._1 }}"# => "80"];
    "splitn" [Str, Int, Str] = split_n, "Returns at most a number of parts, like `split`."
        [r#"{{ splitn "," 2 "a,b,c" }}"# => "map[_0:a _1:b,c]"];
    "plural" [Str, Str, Int] = plural, "Returns the first text for the number 1, otherwise the second."
        [r#"{{ plural "one" "many" 2 }}"# => "many"];
    "toString" [Any] = string_of, "Returns the text of a value." [r#"{{ toString 1.5 }}"# => "1.5"];
}

fn hello<'v>() -> &'v str {
    "Hello!"
}

fn abbrev<'v>(cx: &Cx<'v>, width: i64, text: Value<'v>) -> Result<Value<'v>> {
    abbreviated(cx, 0, width, text)
}

fn abbrev_both<'v>(cx: &Cx<'v>, offset: i64, width: i64, text: Value<'v>) -> Result<Value<'v>> {
    // Ellipses on both sides take six bytes.
    if offset > 0 && width < 7 { Ok(text) } else { abbreviated(cx, offset, width, text) }
}

fn abbreviated<'v>(cx: &Cx<'v>, offset: i64, width: i64, text: Value<'v>) -> Result<Value<'v>> {
    match usize::try_from(width) {
        Ok(width @ 4..) => copied(cx, &byte_texts::abbreviated(text_bytes(text).unwrap_or(b""), offset, width)),
        _ => Ok(text),
    }
}

fn trunc<'v>(cx: &Cx<'v>, len: i64, text: &'v [u8]) -> Result<Value<'v>> {
    part(cx, byte_texts::truncated(text, len))
}

fn substr<'v>(cx: &Cx<'v>, start: i64, end: i64, text: &'v [u8]) -> Result<Value<'v>> {
    let found = byte_texts::between(text, start, end);
    let outside = |range: String| failed(format!("runtime error: slice bounds out of range {range}"));
    part(cx, found.map_err(outside)?)
}

fn trim<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    part(cx, byte_texts::without_outer_space(text))
}

fn trim_all<'v>(cx: &Cx<'v>, cutset: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    cx.spend((text.len() as u64).saturating_mul(cutset.len() as u64 / 64 + 1) / 64)?;
    part(cx, byte_texts::trimmed(text, cutset))
}

fn trim_suffix<'v>(cx: &Cx<'v>, suffix: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    part(cx, text.strip_suffix(suffix).unwrap_or(text))
}

fn trim_prefix<'v>(cx: &Cx<'v>, prefix: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    part(cx, text.strip_prefix(prefix).unwrap_or(text))
}

fn contains<'v>(cx: &Cx<'v>, wanted: &'v [u8], text: &'v [u8]) -> Result<bool> {
    cx.spend(text.len() as u64 / 64)?;
    Ok(memchr::memmem::find(text, wanted).is_some())
}

fn has_prefix(prefix: &[u8], text: &[u8]) -> bool {
    text.starts_with(prefix)
}

fn has_suffix(suffix: &[u8], text: &[u8]) -> bool {
    text.ends_with(suffix)
}

fn replace<'v>(cx: &Cx<'v>, from: Value<'v>, to: Value<'v>, text: Value<'v>) -> Result<Value<'v>> {
    if let (Value::Str(from), Value::Str(to), Value::Str(source)) = (from, to, text) {
        let (from, to, source) = (from.as_str(), to.as_str(), source.as_str());
        cx.spend(source.len() as u64 / 64)?;
        let found = texts::occurrences(source, from);
        if found == 0 {
            return Ok(text);
        }
        let len = texts::replaced_len(source, from, to, found);
        return made(cx, len, |push| texts::replace_into(source, from, to, |piece| push(piece.as_bytes())));
    }
    let [from, to, text] = [from, to, text].map(|text| text_bytes(text).unwrap_or(b""));
    // Without a text to replace, the other one stands around every byte at most.
    let found = memchr::memmem::find_iter(text, from).count() + 1;
    let len = found.checked_mul(to.len()).and_then(|len| len.checked_add(text.len()));
    made(cx, len, |push| byte_texts::replaced(text, from, to, &mut |piece| push(piece)))
}

fn repeat<'v>(cx: &Cx<'v>, count: i64, text: &'v [u8]) -> Result<Value<'v>> {
    let count = repetitions(count)?;
    made(cx, text.len().checked_mul(count), |push| {
        if !text.is_empty() {
            (0..count).for_each(|_| push(text));
        }
    })
}

/// Returns a number of repetitions.
pub(super) fn repetitions(count: i64) -> Result<usize> {
    usize::try_from(count).map_err(|_| failed("strings: negative Repeat count"))
}

fn split_list<'v>(cx: &Cx<'v>, separator: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    strings(cx, &parts(cx, text, separator, usize::MAX)?)
}

fn split<'v>(cx: &Cx<'v>, separator: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    numbered(cx, &parts(cx, text, separator, usize::MAX)?)
}

fn split_n<'v>(cx: &Cx<'v>, separator: &'v [u8], most: i64, text: &'v [u8]) -> Result<Value<'v>> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    numbered(cx, &parts(cx, text, separator, most)?)
}

/// Returns the parts of a text as strings.
fn parts<'v>(cx: &Cx<'v>, text: &'v [u8], separator: &'v [u8], most: usize) -> Result<Vec<Value<'v>>> {
    cx.spend(text.len() as u64 / 64)?;
    byte_texts::split(text, separator, most)
        .map(|piece| {
            cx.charge(size_of::<Value>())?;
            part(cx, piece)
        })
        .collect()
}

/// Returns a map of these strings under `_0`, `_1` and so on.
fn numbered<'v>(cx: &Cx<'v>, parts: &[Value<'v>]) -> Result<Value<'v>> {
    cx.charge(parts.len().saturating_mul(4 * size_of::<Value>()))?;
    let keyed = |(at, part): (usize, &Value<'v>)| (cx.arena().copy_str(&format!("_{at}")), *part);
    let map = cx.map(&parts.iter().enumerate().map(keyed).collect::<Vec<_>>())?;
    cx.extended(Extended::Typed(STRING_MAP, map))
}

fn plural<'v>(one: Value<'v>, many: Value<'v>, count: i64) -> Value<'v> {
    if count == 1 { one } else { many }
}

functions! {
    /// Letter case.
    pub(super) static CASES:
    "upper" [Str] = converted(letter_case::upper, LETTERS),
        "Converts to upper case." [r#"{{ upper "straße" }}"# => "STRAßE"];
    "lower" [Str] = converted(letter_case::lower, LETTERS),
        "Converts to lower case." [r#"{{ lower "Web-API" }}"# => "web-api"];
    "title" [Str] = converted(letter_case::title_words, WORDS),
        "Capitalizes the first letter of each word." [r#"{{ title "hello world" }}"# => "Hello World"];
    "untitle" [Str] = converted(byte_texts::uncapitalized, WORDS),
        "Converts the first letter of each word to a small letter."
        [r#"{{ untitle "First Try" }}"# => "first try"];
    "swapcase" [Str] = converted(byte_texts::swapped_case, WORDS),
        "Swaps small letters and capitals." [r#"{{ swapcase "This Is" }}"# => "tHIS iS"];
    "camelcase" [Str] = converted(letter_words::pascal, WHOLE),
        "Converts a name to capitalized words." [r#"{{ camelcase "http_server" }}"# => "HttpServer"];
    "snakecase" [Str] = converted(|text| letter_words::connected(text, '_'), WHOLE),
        "Converts a name to words with `_` between them."
        [r#"{{ snakecase "FirstName" }}"# => "first_name"];
    "kebabcase" [Str] = converted(|text| letter_words::connected(text, '-'), WHOLE),
        "Converts a name to words with `-` between them."
        [r#"{{ kebabcase "FirstName" }}"# => "first-name"];
    "initials" [Str] = initials, "Returns the first byte of each word." [r#"{{ initials "First Try" }}"# => "FT"];
    "nospace" [Str] = no_space, "Removes white space." [r#"{{ nospace " a b " }}"# => "ab"];
    "shuffle" [Str] = converted(shuffled, WHOLE), needs RANDOM, "Returns the characters of a text in random order."
        [r#"{{ shuffle "abc" }}"# => "E0405"];
}

/// Returns a body that converts the pieces of a text. Bytes that are not UTF-8 become U+FFFD.
fn converted<'v>(convert: impl Fn(&str) -> String, cut: Cut) -> impl Fn(&Cx<'v>, &'v [u8]) -> Result<String> {
    move |cx, text| {
        cx.charge(text.len().saturating_mul(2))?;
        cx.pieces(&byte_texts::repaired(text), cut).map(|piece| Ok(convert(piece?))).collect()
    }
}

fn initials<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<String> {
    cx.charge(text.len())?;
    Ok(byte_texts::initials(text))
}

fn no_space<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    if text.is_ascii() && !text.iter().any(|byte| char::from(*byte).is_whitespace()) {
        return part(cx, text);
    }
    cx.text(&converted(|text| text.chars().filter(|c| !c.is_whitespace()).collect(), ANY)(cx, text)?)
}

fn shuffled(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    fastrand::shuffle(&mut letters);
    letters.into_iter().collect()
}
