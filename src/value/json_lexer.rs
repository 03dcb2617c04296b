//! The lexer of the readers of JSON, which word its errors. Functions that look into JSON text without building its values.

use super::{Data, DataMap};
use dropforge_base::stdlib::byte_search::{first_place, first_special};

/// Maximum nesting, as in `serde_json`.
pub(super) const LEVELS: u32 = 127;

/// Calls `each` with the key and the text of each entry of the JSON object `text`, of any depth. Returns `None` if it is
/// none, or if one of its own keys has an escape.
pub fn json_entries<'t>(text: &'t str, each: impl FnMut(&'t str, &'t str)) -> Option<()> {
    let end = entries(text, white(text.as_bytes()), u32::MAX, &mut AnyKeys, each)?;
    white(end).is_empty().then_some(())
}

/// Works like [`json_entries`] for the object that `rest`, the end of `text`, begins with. Its values have at most `levels`
/// levels. Returns the bytes after it, or `None` also if `keys` refuses one of its keys, or of those in it.
pub(super) fn entries<'t>(
    text: &'t str,
    rest: &'t [u8],
    levels: u32,
    keys: &mut impl Keys<'t>,
    mut each: impl FnMut(&'t str, &'t str),
) -> Option<&'t [u8]> {
    let from = |rest: &[u8]| text.get(text.len() - rest.len()..);
    let mut rest = white(rest.strip_prefix(b"{")?);
    if let Some(end) = rest.strip_prefix(b"}") {
        return Some(end);
    }
    keys.open();
    loop {
        let (written, after) = key(rest)?;
        let name = from(rest)?.get(1..=written.len())?;
        if name.contains('\\') {
            return None;
        }
        keys.see(written)?;
        let begun = from(white(after))?;
        rest = value_with(after, levels, keys)?;
        each(name, begun.get(..begun.len() - rest.len())?);
        match white(rest) {
            [b',', after @ ..] => rest = white(after),
            [b'}', after @ ..] => return keys.close().map(|()| after),
            _ => return None,
        }
    }
}

/// Maximum nesting of the maps that [`json_maps`] reads. The text is read once for each level.
const MAP_LEVELS: u32 = 16;

/// Reads the JSON object `text` with all lists empty. Returns `None` if it is not one, if its maps nest too deep, or if a key
/// has an escape.
pub fn json_maps(text: &str) -> Option<DataMap> {
    maps(text, MAP_LEVELS)
}

fn maps(text: &str, levels: u32) -> Option<DataMap> {
    let levels = levels.checked_sub(1)?;
    let (mut all, mut is_whole) = (DataMap::default(), true);
    json_entries(text, |key, value| {
        let value = match value.as_bytes().first() {
            Some(b'{') => maps(value, levels).map(Data::Map),
            Some(b'[') => Some(Data::List(Vec::new())),
            _ => Data::of_json(value).ok(),
        };
        is_whole &= value.map(|value| all.insert(key.to_owned(), value)).is_some();
    })?;
    is_whole.then_some(all)
}

/// A part of JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonPart<'t> {
    /// A key as it is written, which may have escapes, and the first byte of its value.
    Key(&'t str, u8),
    /// The start of a map.
    Map,
    /// The start of a list.
    List,
    /// The end of a map or list.
    End,
}

/// Calls `each` with the parts of a JSON text that is known to be valid.
pub fn json_parts<'t>(text: &'t str, mut each: impl FnMut(JsonPart<'t>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let start = at;
                at = end_of_string(bytes, start);
                let (end, mut rest) = (at, white(bytes.get(at + 1..).unwrap_or(&[])));
                if let [b':', after @ ..] = rest {
                    rest = white(after);
                    each(JsonPart::Key(text.get(start..end).unwrap_or(""), rest.first().copied().unwrap_or(0)));
                }
                at = bytes.len() - rest.len();
            }
            b'{' => each(JsonPart::Map),
            b'[' => each(JsonPart::List),
            b'}' | b']' => each(JsonPart::End),
            _ => {}
        }
    }
}

/// Returns the position of the quotation mark that ends a string.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += plain(bytes.get(at..).unwrap_or(&[]));
        match bytes.get(at) {
            None | Some(b'"') => return at,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// Looks at the keys of maps.
pub(super) trait Keys<'t> {
    /// Begins a map.
    fn open(&mut self);
    /// Sees a key as it is written. `None` refuses it.
    fn see(&mut self, key: &'t [u8]) -> Option<()>;
    /// Ends the innermost map. `None` refuses it.
    fn close(&mut self) -> Option<()>;
}

/// Accepts all keys.
pub(super) struct AnyKeys;

impl<'t> Keys<'t> for AnyKeys {
    fn open(&mut self) {}

    fn see(&mut self, _: &'t [u8]) -> Option<()> {
        Some(())
    }

    fn close(&mut self) -> Option<()> {
        Some(())
    }
}

/// Skips white space, and a value of at most `levels` levels. Returns the bytes after it, or `None` if there is no value,
/// or one with a number that is too large.
pub(super) fn value(rest: &[u8], levels: u32) -> Option<&[u8]> {
    value_with(rest, levels, &mut AnyKeys)
}

/// Works like [`value`]. Returns `None` also if `keys` refuses a key.
pub(super) fn value_with<'t>(mut rest: &'t [u8], levels: u32, keys: &mut impl Keys<'t>) -> Option<&'t [u8]> {
    let mut open = Nesting { maps: 0, outer: Vec::new(), depth: 0, levels };
    loop {
        rest = match white(rest) {
            [b'{', after @ ..] => {
                open.enter(true)?;
                keys.open();
                match white(after) {
                    after @ [b'}', ..] => after,
                    after => {
                        rest = seen_key(after, keys)?;
                        continue;
                    }
                }
            }
            [b'[', after @ ..] => {
                open.enter(false)?;
                match white(after) {
                    after @ [b']', ..] => after,
                    after => {
                        rest = after;
                        continue;
                    }
                }
            }
            at => scalar(at)?,
        };
        loop {
            if open.depth == 0 {
                return Some(rest);
            }
            match (white(rest), open.is_map()) {
                ([b',', after @ ..], is_map) => {
                    rest = if is_map { seen_key(white(after), keys)? } else { after };
                    break;
                }
                ([b'}', after @ ..], true) => {
                    open.leave();
                    keys.close()?;
                    rest = after;
                }
                ([b']', after @ ..], false) => {
                    open.leave();
                    rest = after;
                }
                _ => return None,
            }
        }
    }
}

/// The containers around a value.
struct Nesting {
    /// A bit for each of them, the innermost lowest: set for a map.
    maps: u128,
    /// The bits of those for which there is no more room.
    outer: Vec<u128>,
    depth: u32,
    levels: u32,
}

impl Nesting {
    fn enter(&mut self, is_map: bool) -> Option<()> {
        if self.depth.is_multiple_of(u128::BITS) {
            self.outer.push(self.maps);
        }
        self.maps = self.maps << 1 | u128::from(is_map);
        self.depth += 1;
        (self.depth <= self.levels).then_some(())
    }

    fn is_map(&self) -> bool {
        self.maps & 1 == 1
    }

    fn leave(&mut self) {
        self.maps >>= 1;
        self.depth -= 1;
        if self.depth.is_multiple_of(u128::BITS) {
            self.maps = self.outer.pop().unwrap_or(0);
        }
    }
}

/// The number of digits that every float keeps.
const FLOAT: usize = 15;

/// Skips a string, a number or a word.
#[inline(always)]
pub(super) fn scalar(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [b'"', after @ ..] => string(after),
        [b'-' | b'0'..=b'9', ..] => number(rest),
        [b't', b'r', b'u', b'e', after @ ..]
        | [b'f', b'a', b'l', b's', b'e', after @ ..]
        | [b'n', b'u', b'l', b'l', after @ ..] => Some(after),
        _ => None,
    }
}

/// Skips white space.
#[inline(always)]
pub(super) fn white(mut rest: &[u8]) -> &[u8] {
    // Most tokens follow at once or after one space.
    while let [byte, after @ ..] = rest
        && *byte <= b' '
        && WHITE >> byte & 1 == 1
    {
        rest = after;
    }
    rest
}

/// The bytes of white space, as bits.
pub(super) const WHITE: u64 = 1 << b' ' | 1 << b'\n' | 1 << b'\t' | 1 << b'\r';

/// Skips a key and its colon. Returns the key as it is written, and the bytes after the colon.
#[inline(always)]
pub(super) fn key(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let [b'"', begun @ ..] = rest else { return None };
    let end = string(begun)?;
    let [b':', after @ ..] = white(end) else { return None };
    Some((begun.get(..begun.len() - end.len() - 1)?, after))
}

/// Skips a key and its colon. `keys` sees the key.
#[inline(always)]
fn seen_key<'t>(rest: &'t [u8], keys: &mut impl Keys<'t>) -> Option<&'t [u8]> {
    let (written, after) = key(rest)?;
    keys.see(written).map(|()| after)
}

/// Returns the number of bytes before the next quotation mark, backslash or control character.
#[inline(always)]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((eight, after)) = rest.split_first_chunk() {
        let eight = u64::from_le_bytes(*eight);
        let found = first_special(eight, b'"', b'\\');
        if found != 0 {
            return bytes.len() - rest.len() + first_place(found);
        }
        rest = after;
    }
    let special = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
    bytes.len() - rest.len() + special.unwrap_or(rest.len())
}

/// Skips a string after its quotation mark.
#[inline(always)]
fn string(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        rest = match rest.get(plain(rest)..)? {
            [b'"', after @ ..] => return Some(after),
            [b'\\', after @ ..] => escape(after)?.1,
            _ => return None,
        };
    }
}

/// Reads an escape after its backslash. Returns the character and the bytes after it.
#[cold]
pub(super) fn escape(rest: &[u8]) -> Option<(char, &[u8])> {
    let (escape, after) = rest.split_first()?;
    let escaped = match escape {
        b'"' | b'\\' | b'/' => char::from(*escape),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(after),
        _ => return None,
    };
    Some((escaped, after))
}

fn unicode_escape(rest: &[u8]) -> Option<(char, &[u8])> {
    let (first, after) = unit(rest)?;
    if !(0xD800..0xDC00).contains(&first) {
        return Some((char::from_u32(first)?, after));
    }
    let (second, after) = unit(after.strip_prefix(b"\\u")?)?;
    let second = (0xDC00..0xE000).contains(&second).then_some(second)?;
    Some((char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))?, after))
}

/// Reads four hexadecimal digits.
fn unit(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, after) = rest.split_first_chunk::<4>()?;
    let unit = digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))?;
    Some((unit, after))
}

/// The largest number of digits of a number that is certainly finite.
const FINITE: usize = 300;

/// Skips a number. Returns the bytes after it, or `None` if it is not a number or is too large.
#[inline(always)]
pub(super) fn number(text: &[u8]) -> Option<&[u8]> {
    let whole = digits(if let [b'-', after @ ..] = text { after } else { text })?;
    match whole {
        [b'.' | b'e' | b'E', ..] => float(text, whole),
        _ if text.len() - whole.len() > FINITE => is_finite(text, whole).then_some(whole),
        _ => Some(whole),
    }
}

/// Returns `true` for a number of any size.
pub(super) fn is_number(text: &str) -> bool {
    let whole = digits(text.strip_prefix('-').unwrap_or(text).as_bytes());
    whole.and_then(fraction).is_some_and(<[u8]>::is_empty)
}

/// Returns `true` if a run of digits and points is so long that a float may not keep it. Also in a string.
pub(super) fn has_long_numbers(text: &str) -> bool {
    let runs = text.as_bytes().split(|byte| !matches!(byte, b'0'..=b'9' | b'.'));
    runs.max_by_key(|run| run.len()).is_some_and(|run| run.len() > FLOAT)
}

/// Skips what follows the integral digits of `text`.
#[inline(never)]
fn float<'t>(text: &[u8], rest: &'t [u8]) -> Option<&'t [u8]> {
    fraction(rest).filter(|rest| is_finite(text, rest))
}

/// Skips a fraction and an exponent, where there are any.
fn fraction(mut rest: &[u8]) -> Option<&[u8]> {
    if let Some(after) = rest.strip_prefix(b".") {
        rest = some_digits(after)?;
    }
    if let [b'e' | b'E', after @ ..] = rest {
        rest = some_digits(after.strip_prefix(b"+").or_else(|| after.strip_prefix(b"-")).unwrap_or(after))?;
    }
    Some(rest)
}

/// Returns `true` if the number between `text` and its end is finite. Most numbers are too short to be anything else.
fn is_finite(text: &[u8], rest: &[u8]) -> bool {
    let number = text.get(..text.len() - rest.len()).unwrap_or(&[]);
    let is_short = number.len() <= FINITE && !number.iter().any(|byte| matches!(byte, b'e' | b'E'));
    is_short || str::from_utf8(number).is_ok_and(|number| number.parse().is_ok_and(f64::is_finite))
}

/// Skips digits without a leading zero.
#[inline(always)]
fn digits(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [b'0', b'0'..=b'9', ..] => None,
        _ => some_digits(rest),
    }
}

/// Skips at least one digit.
#[inline(always)]
pub(super) fn some_digits(mut rest: &[u8]) -> Option<&[u8]> {
    let all = rest;
    while let [b'0'..=b'9', after @ ..] = rest {
        rest = after;
    }
    (rest.len() < all.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;

    use super::*;

    fn random_json(random: &mut fastrand::Rng, levels: u32) -> String {
        let space = |random: &mut fastrand::Rng| " \n".repeat(random.usize(0..2));
        let count = if levels == 0 { 0 } else { random.usize(0..4) };
        let mut items = |of: &mut dyn FnMut(&mut fastrand::Rng) -> String| -> String {
            let items: Vec<_> =
                (0..count).map(|_| format!("{}{}{}", space(random), of(random), space(random))).collect();
            items.join(",")
        };
        let scalars =
            ["0", "-1.5e3", "12345678901234567890", "1e-400", "true", "null", "\"\"", "\"é\\n\\u00e9 long text\""];
        match levels {
            0 => scalars[random.usize(..scalars.len())].to_owned(),
            _ if count % 2 == 0 => format!("[{}]", items(&mut |random| random_json(random, levels - 1))),
            _ => {
                let entry = |random: &mut fastrand::Rng| {
                    let key = ["a", "bb", "a\\t", "a long key of a map"][random.usize(..4)];
                    format!("\"{key}\":{}", random_json(random, levels - 1))
                };
                format!("{{{}}}", items(&mut { entry }))
            }
        }
    }

    /// The entries by `serde_json`, without numbers that are too large, which it does not look at then.
    fn expected(text: &str) -> Option<BTreeMap<&str, &RawValue>> {
        serde_json::from_str::<serde_json::Value>(text).ok()?;
        serde_json::from_str(text).ok()
    }

    fn without_items(data: &Data) -> Data {
        match data {
            Data::List(_) => Data::List(Vec::new()),
            Data::Map(map) => Data::Map(map.iter().map(|(key, value)| (key.clone(), without_items(value))).collect()),
            other => other.clone(),
        }
    }

    fn check_maps(text: &str) {
        let expected = serde_json::from_str(text).ok().and_then(|data: Data| without_items(&data).try_into_map().ok());
        let found = json_maps(text);
        assert!(found == expected || found.is_none() && text.contains('\\'), "{text}: {found:?}, {expected:?}");
    }

    fn check(text: &str) {
        check_maps(text);
        let mut found = BTreeMap::new();
        let read = json_entries(text, |key, value| {
            found.insert(key, value);
        });
        let expected = expected(text).map(|all| all.into_iter().map(|(key, raw)| (key, raw.get())).collect());
        assert_eq!(read.map(|()| found), expected, "{text}");
    }

    #[test]
    fn entries_are_those_of_serde_json() {
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..4_000 {
            let text = format!("{{\"k\": {}, \"l\":{}}} ", random_json(&mut random, 3), random_json(&mut random, 2));
            check(&text);
            let mut damaged: Vec<char> = text.chars().collect();
            let with = ['"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', 'u', '\u{1}', ' '];
            damaged[random.usize(..text.chars().count())] = with[random.usize(..with.len())];
            check(&damaged.into_iter().collect::<String>());
        }
        let deep = |levels: usize| format!("{{\"k\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        for text in [
            "",
            "{",
            "[]",
            "{}",
            " {} x",
            "{\"a\":1,}",
            "{\"a\":1e999}",
            "{\"a\":\"\\ud83d\\ude00\",\"b\":\"\\ud83d\"}",
        ] {
            check(text);
        }
        [125, 126].into_iter().for_each(|levels| check(&deep(levels)));
        for levels in [127, 128, 129, 255, 256, 257, 100_000] {
            let text = deep(levels);
            let maps = text.replace('[', "{\"a\":").replace(']', "}").replace(":}", ":0}");
            for text in [text, maps] {
                let mut found = Vec::new();
                assert_eq!(json_entries(&text, |key, value| found.push((key, value.len()))), Some(()), "{levels}");
                assert_eq!(found, [("k", text.len() - 6)]);
                assert_eq!(json_entries(&text.replace("}}", "}]"), |_, _| ()).is_some(), !text.contains("}}"));
                assert!(
                    value(text.as_bytes(), LEVELS).is_none()
                        && json_entries(&text[..text.len() - 1], |_, _| ()).is_none()
                );
            }
        }
    }
}
