//! Operations on text as bytes: positions and lengths count bytes, so that a character may be cut in two. Text that is not
//! UTF-8 is taken as it is.

use std::borrow::Cow;

use super::characters::{is_capital, is_small};
use super::letter_case::{lower_letter, title_letter, upper_letter};

/// The mark of what an abbreviation leaves out.
const ELLIPSIS: &[u8] = b"...";

/// Returns the text with every byte that is not UTF-8 replaced by U+FFFD.
pub fn repaired(text: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(text) {
        return Cow::Borrowed(text);
    }
    let mut repaired = String::new();
    for chunk in text.utf8_chunks() {
        repaired.push_str(chunk.valid());
        repaired.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(repaired)
}

/// Returns the length of the first character, or 1 if it is not UTF-8. 0 for empty text.
pub(crate) fn first_len(text: &[u8]) -> usize {
    let start = text.get(..4).unwrap_or(text);
    match start.utf8_chunks().next() {
        Some(chunk) => chunk.valid().chars().next().map_or(1, char::len_utf8),
        None => 0,
    }
}

/// Returns the beginning of `len` bytes, or the end of `-len` bytes if it is negative.
///
/// `truncated(b"abc", -2)` is `bc`.
pub fn truncated(text: &[u8], len: i64) -> &[u8] {
    let count = usize::try_from(len.unsigned_abs()).unwrap_or(usize::MAX);
    let kept = if len < 0 { text.len().checked_sub(count).and_then(|at| text.get(at..)) } else { text.get(..count) };
    kept.unwrap_or(text)
}

/// Returns the text between two positions. A negative start stands for the beginning; an end that is negative or beyond
/// the text, for its end.
///
/// # Errors
/// The range, if it is not one of the text.
pub fn between(text: &[u8], start: i64, end: i64) -> Result<&[u8], String> {
    let len = text.len() as i128;
    let outside = |from: Option<i64>, to: Option<i64>| match (from, to) {
        (None, Some(end)) if end < 0 => format!("[:{end}]"),
        (None, Some(end)) => format!("[:{end}] with length {len}"),
        (from, None) => format!("[{}:{len}]", from.unwrap_or(0)),
        (Some(from), Some(to)) => format!("[{from}:{to}]"),
    };
    let (from, to) = match (start, end) {
        (..0, end) => (None, Some(end)),
        (start, end) if end < 0 || i128::from(end) > len => (Some(start), None),
        (start, end) => (Some(start), Some(end)),
    };
    let at = |position: Option<i64>, default: usize| position.map_or(Some(default), |n| usize::try_from(n).ok());
    let range = at(from, 0).zip(at(to, text.len()));
    range.and_then(|(from, to)| text.get(from..to)).ok_or_else(|| outside(from, to))
}

/// Returns the pieces of the text shortened to `width` bytes with an ellipsis after them, and before them too if more
/// than a few bytes before `offset` are left out. The whole text if it is not longer.
///
/// `abbreviated(b"1234 5678 9123", 5, 10)` is `...5678...`.
pub fn abbreviated(text: &[u8], offset: i64, width: usize) -> [&[u8]; 3] {
    let (len, room) = (text.len(), width.saturating_sub(ELLIPSIS.len()));
    if len <= width {
        return [b"", text, b""];
    }
    let offset = usize::try_from(offset).unwrap_or(0).min(len).min(len.saturating_sub(room));
    if offset <= 4 {
        return [b"", text.get(..room).unwrap_or(text), ELLIPSIS];
    }
    if offset + room < len {
        let rest = text.get(offset..).unwrap_or(b"");
        let [_, part, mark] = abbreviated_end(rest, room);
        return [ELLIPSIS, part, mark];
    }
    [ELLIPSIS, text.get(len - room..).unwrap_or(text), b""]
}

/// Returns the pieces of the text shortened to `width` bytes with an ellipsis after them.
fn abbreviated_end(text: &[u8], width: usize) -> [&[u8]; 3] {
    if text.len() <= width || width <= ELLIPSIS.len() {
        return [b"", text, b""];
    }
    [b"", text.get(..width - ELLIPSIS.len()).unwrap_or(text), ELLIPSIS]
}

/// Passes the lines of the text wrapped at `width` bytes to `push`, with `separator` between them. Lines break at spaces,
/// which are dropped; longer words are broken if `breaks_words`.
///
/// `wrapped(b"Hello World", 5, b"\n", false)` is `Hello` and `World`.
pub fn wrapped(text: &[u8], width: i64, separator: &[u8], breaks_words: bool, push: &mut impl FnMut(&[u8])) {
    let width = usize::try_from(width).unwrap_or(0).max(1);
    let mut rest = text;
    while rest.len() > width {
        if let Some(behind) = rest.strip_prefix(b" ") {
            rest = behind;
            continue;
        }
        let line = rest.get(..=width).unwrap_or(rest);
        let (end, next) = match (memchr::memrchr(b' ', line), breaks_words) {
            (Some(space), _) => (space, space + 1),
            (None, true) => (width, width),
            (None, false) => match memchr::memchr(b' ', rest.get(width..).unwrap_or(b"")) {
                Some(space) => (width + space, width + space + 1),
                None => break,
            },
        };
        push(rest.get(..end).unwrap_or(rest));
        push(separator);
        rest = rest.get(next..).unwrap_or(b"");
    }
    push(rest);
}

/// Returns the first byte of each word as a character. Words end at white space of Latin-1.
///
/// `initials(b"First Try")` is `FT`.
pub fn initials(text: &[u8]) -> String {
    let is_space = |byte: u8| char::from(byte).is_whitespace();
    let before = [b' '].into_iter().chain(text.iter().copied());
    let firsts = before.zip(text).filter(|(before, byte)| is_space(*before) && !is_space(**byte));
    firsts.map(|(_, byte)| char::from(*byte)).collect()
}

/// Converts the first letter of each word to a small letter. Words end at white space.
///
/// `uncapitalized("First Try")` is `first try`.
pub fn uncapitalized(text: &str) -> String {
    let mut first = true;
    let letter = |c: char| {
        let shown = if first { lower_letter(c) } else { c };
        first = c.is_whitespace();
        shown
    };
    text.chars().map(letter).collect()
}

/// Swaps small letters and capitals. A small letter after white space gets title case.
///
/// `swapped_case("This Is")` is `tHIS iS`.
pub fn swapped_case(text: &str) -> String {
    let mut behind_space = true;
    let letter = |c: char| {
        let shown = match c {
            c if is_capital(c) => lower_letter(c),
            c if is_small(c) && behind_space => title_letter(c),
            c if is_small(c) => upper_letter(c),
            c => c,
        };
        behind_space = c.is_whitespace();
        shown
    };
    text.chars().map(letter).collect()
}

/// Returns the text without its trailing and leading characters that occur in `cutset`.
///
/// `trimmed(b"$5.00$", b"$")` is `5.00`.
pub fn trimmed<'t>(text: &'t [u8], cutset: &[u8]) -> &'t [u8] {
    let cutset = repaired(cutset);
    trimmed_by(text, |c| cutset.contains(c))
}

/// Returns the text without white space at its ends.
pub fn without_outer_space(text: &[u8]) -> &[u8] {
    match std::str::from_utf8(text) {
        Ok(text) => text.trim().as_bytes(),
        Err(_) => trimmed_by(text, char::is_whitespace),
    }
}

/// Returns the text without the characters at its ends that are `cut`. A byte that is not UTF-8 counts as U+FFFD.
fn trimmed_by(text: &[u8], cut: impl Fn(char) -> bool) -> &[u8] {
    let keeps_broken = !cut(char::REPLACEMENT_CHARACTER);
    let mut rest = text;
    while let Some(first) = rest.get(..first_len(rest)).filter(|first| !first.is_empty()) {
        match std::str::from_utf8(first).ok().and_then(|first| first.chars().next()) {
            Some(c) if cut(c) => {}
            None if !keeps_broken => {}
            _ => break,
        }
        rest = rest.get(first.len()..).unwrap_or(b"");
    }
    while let Some(last) = rest.get(rest.len() - last_len(rest)..).filter(|last| !last.is_empty()) {
        match std::str::from_utf8(last).ok().and_then(|last| last.chars().next()) {
            Some(c) if cut(c) => {}
            None if !keeps_broken => {}
            _ => break,
        }
        rest = rest.get(..rest.len() - last.len()).unwrap_or(b"");
    }
    rest
}

/// Returns the length of the last character, or 1 if it is not UTF-8. 0 for empty text.
fn last_len(text: &[u8]) -> usize {
    let is_char = |len: &usize| {
        let end = text.len().checked_sub(*len).and_then(|at| text.get(at..));
        end.and_then(|end| std::str::from_utf8(end).ok()).is_some_and(|end| end.chars().count() == 1)
    };
    (1..=4).find(is_char).unwrap_or(text.len().min(1))
}

/// Returns the parts between each `separator`, at most `most` of them. Without a separator, the characters.
pub fn split<'t>(text: &'t [u8], separator: &'t [u8], most: usize) -> impl Iterator<Item = &'t [u8]> {
    let finder = memchr::memmem::Finder::new(separator);
    let (mut rest, mut left) = (Some(text).filter(|text| !(separator.is_empty() && text.is_empty())), most);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        left = left.checked_sub(1)?;
        if left == 0 {
            return Some(text);
        }
        if separator.is_empty() {
            let (first, behind) = text.split_at(first_len(text));
            rest = Some(behind).filter(|behind| !behind.is_empty());
            return Some(first);
        }
        match finder.find(text) {
            Some(at) => {
                rest = text.get(at + separator.len()..);
                text.get(..at)
            }
            None => Some(text),
        }
    })
}

/// Passes the text with every `from` replaced by `to` to `push`. An empty `from` stands before and after each character.
pub fn replaced(text: &[u8], from: &[u8], to: &[u8], push: &mut impl FnMut(&[u8])) {
    if from.is_empty() {
        push(to);
        for part in split(text, from, usize::MAX) {
            push(part);
            push(to);
        }
        return;
    }
    let mut parts = split(text, from, usize::MAX);
    push(parts.next().unwrap_or(b""));
    for part in parts {
        push(to);
        push(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> String {
        let mut out = Vec::new();
        write(&mut |piece| out.extend_from_slice(piece));
        String::from_utf8(out).unwrap()
    }

    fn wrap(text: &str, width: i64, separator: &str, breaks_words: bool) -> String {
        let (text, separator) = (text.as_bytes(), separator.as_bytes());
        made(|push| wrapped(text, width, separator, breaks_words, &mut |piece| push(piece)))
    }

    fn abbreviate(text: &str, offset: i64, width: usize) -> String {
        String::from_utf8(abbreviated(text.as_bytes(), offset, width).concat()).unwrap()
    }

    #[test]
    fn texts_are_cut_at_bytes() {
        assert_eq!(truncated(b"hello", 2), b"he");
        assert_eq!(truncated(b"hello", -2), b"lo");
        assert_eq!(truncated(b"hello", -100), b"hello");
        assert_eq!(truncated("hé".as_bytes(), 2), b"h\xc3");
        assert_eq!(truncated(b"a", i64::MIN), b"a");
        assert_eq!(between(b"hello", -1, 3), Ok(&b"hel"[..]));
        assert_eq!(between(b"hello", 3, -1), Ok(&b"lo"[..]));
        assert_eq!(between(b"ab", 4, -1), Err("[4:2]".into()));
        assert_eq!(between(b"abc", 2, 1), Err("[2:1]".into()));
        assert_eq!(between(b"ab", -1, 9), Err("[:9] with length 2".into()));
        assert_eq!(between(b"ab", -1, -1), Err("[:-1]".into()));
        assert_eq!(repaired(b"a\xc3\xc3b"), "a\u{fffd}\u{fffd}b");
    }

    #[test]
    fn texts_are_abbreviated() {
        assert_eq!(abbreviate("1234 5678 9123", 5, 10), "...5678...");
        assert_eq!(abbreviate("1234 5678 9123", 5, 7), "...5...");
        assert_eq!(abbreviate("1234 5678 9123", 1, 8), "1234 ...");
        assert_eq!(abbreviate("hello world", 5, 10), "hello w...");
        assert_eq!(abbreviate("hello world", 0, 5), "he...");
        assert_eq!(abbreviate("hello", 0, 5), "hello");
        assert_eq!(abbreviate("abcdefghijkl", 9, 8), "...hijkl");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("Hello World", 5, "\n", false), "Hello\nWorld");
        assert_eq!(wrap("aaa bbb ccc ddd eee", 10, "\n", false), "aaa bbb\nccc ddd\neee");
        assert_eq!(wrap("abc def", 1, "\n", false), "abc\ndef");
        assert_eq!(wrap("averylongword", 5, "\n", true), "avery\nlongw\nord");
        assert_eq!(wrap("Hello World", -1, "\t", true), "H\te\tl\tl\to\tW\to\tr\tl\td");
        assert_eq!(wrap("a b c d", 3, "\n", true), "a b\nc d");
        assert_eq!(wrap("", 3, "\n", true), "");
    }

    #[test]
    fn letters_and_ends() {
        assert_eq!(initials("héllo éa".as_bytes()), "hÃ");
        assert_eq!(initials(b" First  Try"), "FT");
        assert_eq!(uncapitalized("First Try"), "first try");
        assert_eq!(swapped_case("This Is A.Test"), "tHIS iS a.tEST");
        assert_eq!(swapped_case("ǆ"), "ǅ");
        assert_eq!(trimmed(b"$5.00$", b"$"), b"5.00");
        assert_eq!(trimmed(b"abcab", b"ab"), b"c");
        assert_eq!(trimmed(b" a ", b""), b" a ");
        assert_eq!(trimmed("ééaé".as_bytes(), "é".as_bytes()), b"a");
        assert_eq!(trimmed(b"\xc3a\xc3", b"a"), b"\xc3a\xc3");
        assert_eq!(without_outer_space(b" \xc3 "), b"\xc3");
    }

    #[test]
    fn parts_and_replacements() {
        let parts = |text: &str, separator: &str, most| {
            let parts = split(text.as_bytes(), separator.as_bytes(), most);
            parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(parts("a,b,c", ",", 2), ["a", "b,c"]);
        assert_eq!(parts("a,b,", ",", usize::MAX), ["a", "b", ""]);
        assert_eq!(parts("abc", "", usize::MAX), ["a", "b", "c"]);
        assert_eq!(parts("abc", "", 2), ["a", "bc"]);
        assert_eq!(parts("", "x", usize::MAX), [""]);
        assert!(parts("", "", usize::MAX).is_empty() && parts("a", "b", 0).is_empty());
        let replace = |text: &str, from: &str, to: &str| {
            made(|push| replaced(text.as_bytes(), from.as_bytes(), to.as_bytes(), &mut |piece| push(piece)))
        };
        assert_eq!(replace("abc", "", "-"), "-a-b-c-");
        assert_eq!(replace("", "", "-"), "-");
        assert_eq!(replace("aaa", "a", "bb"), "bbbbbb");
        assert_eq!(replace("abc", "x", "y"), "abc");
    }
}
