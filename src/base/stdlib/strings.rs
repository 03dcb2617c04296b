//! Words, truncation, replacement, indentation, slugs. Lengths are in bytes unless noted otherwise.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

use super::byte_search::{self, places};
pub use super::letter_case::*;

/// Maximum growth of a slug per byte of text, for the longest transliteration. A test checks it.
const SLUG_GROWTH: usize = 16;

/// Returns the longest prefix of at most `len` bytes that ends at a character boundary.
pub fn prefix(text: &str, len: usize) -> &str {
    let end = (0..=len.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.get(..end).unwrap_or("")
}

/// Returns `text`, or its first `most` bytes and an ellipsis if it is longer.
pub fn abridged(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most { Cow::Borrowed(text) } else { Cow::Owned(format!("{}…", prefix(text, most))) }
}

/// Returns the Unicode normalization form C of a text.
pub fn nfc(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

/// Returns the first `length` grapheme clusters of `text`. `None` if the text is not longer.
pub fn truncated(text: &str, length: usize) -> Option<&str> {
    // Each of these bytes is a cluster, also the last one: a mark that joined it would not be ASCII.
    let first = text.as_bytes().get(..=length)?;
    if first.iter().fold(true, |plain, byte| plain & byte.is_ascii() & (*byte != b'\r')) {
        return text.get(..length);
    }
    // The next letter decides if the word continues.
    if text.chars().take(length.saturating_add(1)).all(is_cluster) {
        return text.char_indices().nth(length).and_then(|(at, _)| text.get(..at));
    }
    let (at, _) = text.grapheme_indices(true).nth(length)?;
    text.get(..at)
}

/// Returns `true` for letters and signs that are grapheme clusters by themselves beside others of them: those without a
/// property that forbids a break. There are more.
fn is_cluster(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a1}'..='\u{a8}' | '\u{aa}'..='\u{ac}' | '\u{af}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{2010}'..='\u{2027}')
}

/// Counts the non-overlapping occurrences of `from`. The empty text occurs before each character and at the end.
pub fn occurrences(text: &str, from: &str) -> usize {
    match from.as_bytes() {
        [byte] => byte_search::count(text.as_bytes(), *byte),
        _ => text.matches(from).count(),
    }
}

/// Returns `true` if `text` contains `part`. Faster for short texts than a search that prepares itself.
pub fn contains(text: &str, part: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}

/// Returns the length of `text` with `found` occurrences of `from` replaced. `None` on overflow.
pub fn replaced_len(text: &str, from: &str, to: &str, found: usize) -> Option<usize> {
    (text.len() - found * from.len()).checked_add(found.checked_mul(to.len())?)
}

/// Replaces `from` by `to`, passing the result to `push` in pieces.
pub fn replace_into(text: &str, from: &str, to: &str, mut push: impl FnMut(&str)) {
    let mut rest = 0;
    let mut cut = |at: usize| {
        push(text.get(rest..at).unwrap_or(""));
        push(to);
        rest = at + from.len();
    };
    match from.as_bytes() {
        [byte] => places(text.as_bytes(), *byte).for_each(&mut cut),
        _ => text.match_indices(from).for_each(|(at, _)| cut(at)),
    }
    push(text.get(rest..).unwrap_or(""));
}

/// Maximum number of bytes that are replaced at a time.
const PART: usize = 64;

/// Bytes of the longest replacement of a byte, which one move copies.
const WIDE: usize = 8;

/// Appends `text` with `found` occurrences of `from` replaced by `to`.
pub fn push_replaced(text: &str, from: &str, to: &str, found: usize, out: &mut String) {
    match from.as_bytes() {
        // Where every other word has one, a look at each byte costs less than a search for each.
        [byte] if to.len() <= WIDE && found > text.len() / PART * 4 => push_replaced_bytes(text, *byte, to, out),
        _ => replace_into(text, from, to, |piece| out.push_str(piece)),
    }
}

/// Appends `text` with an ASCII byte replaced by at most [`WIDE`] bytes.
fn push_replaced_bytes(text: &str, from: u8, to: &str, out: &mut String) {
    match to.as_bytes() {
        [] => in_parts(text, [0; PART], out, |part, left| part_without(part, from, left)),
        [to] => in_parts(text, [0; PART], out, |part, replaced| same_len_part(part, from, *to, replaced)),
        bytes => {
            let mut wide = [0; WIDE];
            wide.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
            let to = (u64::from_le_bytes(wide), bytes.len());
            in_parts(text, [0; PARTS + WIDE], out, |part, replaced| wide_part(part, from, to, replaced));
        }
    }
}

/// Appends each part of `text` as `replace` writes it into the space. It returns the length.
#[inline(always)]
fn in_parts<const N: usize>(
    text: &str,
    mut space: [u8; N],
    out: &mut String,
    replace: impl Fn(&str, &mut [u8; N]) -> usize,
) {
    let mut rest = text;
    while !rest.is_empty() {
        let (part, behind) = rest.split_at(prefix(rest, PART).len());
        let len = replace(part, &mut space);
        out.push_str(space.get(..len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or(part));
        rest = behind;
    }
}

/// Bytes of the longest text that replaces a part.
const PARTS: usize = PART * WIDE;

/// Copies `part` without a byte. Returns the length.
#[inline(always)]
fn part_without(part: &str, byte: u8, left: &mut [u8; PART]) -> usize {
    part.bytes().fold(0, |len, other| {
        // The remainder changes nothing, and shows that the place exists.
        left[len % PART] = other;
        len + usize::from(other != byte)
    })
}

/// Copies `part` with a byte replaced by another one. Returns the length. Compiles to vector instructions.
#[inline(always)]
fn same_len_part(part: &str, from: u8, to: u8, replaced: &mut [u8; PART]) -> usize {
    let bytes = replaced.iter_mut().zip(part.bytes());
    bytes.for_each(|(place, byte)| *place = if byte == from { to } else { byte });
    part.len()
}

/// Copies `part` with a byte replaced by the first bytes of a number. Returns the length.
fn wide_part(part: &str, from: u8, to: (u64, usize), replaced: &mut [u8; PARTS + WIDE]) -> usize {
    part.bytes().fold(0, |len, byte| {
        let is = byte == from;
        // Moving the whole array costs less than a loop over the replacement.
        if let Some(place) = replaced.get_mut(len..).and_then(<[u8]>::first_chunk_mut) {
            *place = if is { to.0 } else { byte.into() }.to_le_bytes();
        }
        len + if is { to.1 } else { 1 }
    })
}

/// Replaces the escapes `\n` and `\t` by a newline and a tab.
pub fn control_escapes(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t")
}

/// Appends `text` with line breaks as `<br>`.
pub fn line_breaks_to_br(text: &str, out: &mut String) {
    let mut start = 0;
    for end in places(text.as_bytes(), b'\n') {
        out.push_str(line(text, start, end));
        out.push_str("<br>");
        start = end + 1;
    }
    out.push_str(text.get(start..).unwrap_or(""));
}

/// Returns the line from `start` to the newline at `end`.
fn line(text: &str, start: usize, end: usize) -> &str {
    let carriage_return = start < end && text.as_bytes().get(end - 1) == Some(&b'\r');
    text.get(start..end - usize::from(carriage_return)).unwrap_or("")
}

/// Returns the lines of `text`, without their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let (mut ends, mut start) = (places(text.as_bytes(), b'\n'), 0);
    std::iter::from_fn(move || {
        let line = match ends.next() {
            Some(end) => Some((line(text, start, end), end + 1)),
            None => text.get(start..).filter(|last| !last.is_empty()).map(|last| (last, text.len())),
        };
        line.map(|(line, behind)| {
            start = behind;
            line
        })
    })
}

/// Bytes whose words are counted in a byte.
const WORDS: usize = 128;

/// Counts the words between white space.
pub fn word_count(text: &str) -> usize {
    if !text.is_ascii() {
        return text.split_whitespace().count();
    }
    let Some((first, rest)) = text.as_bytes().split_first() else { return 0 };
    let mut words = usize::from(!is_space(*first));
    for (before, behind) in text.as_bytes().chunks(WORDS).zip(rest.chunks(WORDS)) {
        words += usize::from(words_begun(before, behind));
    }
    words
}

/// Counts the places where a word begins in `after`, whose bytes follow those of `before`. Counting in bytes compiles to
/// vector instructions.
fn words_begun(before: &[u8], after: &[u8]) -> u8 {
    let len = before.len().min(after.len());
    let (Some(before), Some(after)) = (before.get(..len), after.get(..len)) else { return 0 };
    let mut words = 0;
    for at in 0..len {
        words += u8::from(is_space(before[at]) & !is_space(after[at]));
    }
    words
}

/// Returns `true` for the ASCII bytes that count as white space.
#[inline(always)]
const fn is_space(byte: u8) -> bool {
    (byte.wrapping_sub(b'\t') <= b'\r' - b'\t') | (byte == b' ')
}

/// Returns an upper bound of the length of the result of [`line_breaks_to_br`].
pub fn line_breaks_to_br_len(text: &str) -> Option<usize> {
    replaced_len(text, "\n", "<br>", occurrences(text, "\n"))
}

/// Appends the characters, not the grapheme clusters, from last to first.
pub fn push_reversed(text: &str, out: &mut String) {
    if !text.is_ascii() {
        return out.extend(text.chars().rev());
    }
    let mut reversed = [0; PART];
    for part in text.as_bytes().rchunks(PART) {
        reversed.iter_mut().zip(part.iter().rev()).for_each(|(to, byte)| *to = *byte);
        out.push_str(reversed.get(..part.len()).and_then(|part| std::str::from_utf8(part).ok()).unwrap_or(""));
    }
}

/// Appends a slug of lower-case ASCII letters, digits and single hyphens: `Héllo, World!` becomes `hello-world`.
pub fn slug(text: &str, out: &mut String) {
    if !text.is_ascii() {
        out.push_str(&slug::slugify(text));
        return;
    }
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.next().into_iter().for_each(|first| push_lowercase(first, out));
    for word in words {
        out.push('-');
        push_lowercase(word, out);
    }
}

/// Returns an upper bound of the length of the result of [`slug`]. `None` on overflow.
pub fn slug_len(text: &str) -> Option<usize> {
    if text.is_ascii() { Some(text.len()) } else { text.len().checked_mul(SLUG_GROWTH) }
}

/// Returns the first `length` characters; the last ones if `length` is negative.
pub fn first_or_last(text: &str, length: i64) -> &str {
    let count = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    let at = |(at, _): (usize, char)| at;
    match length {
        0.. => text.get(..text.char_indices().nth(count).map_or(text.len(), at)).unwrap_or(text),
        _ => text.get(text.char_indices().rev().nth(count - 1).map_or(0, at)..).unwrap_or(text),
    }
}

/// Maximum length of a DNS label.
pub const DNS_LABEL: usize = 63;

/// Returns a DNS label: lower-case ASCII letters, digits, and hyphens for other characters, but none at the ends. Empty
/// if `text` has no letter or digit.
pub fn dns_label(text: &str) -> String {
    let character = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let label: String = text.chars().map(character).skip_while(|c| *c == '-').take(DNS_LABEL).collect();
    label.trim_end_matches('-').to_owned()
}

/// Indentation of lines.
#[derive(Debug, Clone, Copy)]
pub struct Indent<'p> {
    /// The text inserted before a line.
    pub prefix: &'p str,
    /// `true` to indent the first line.
    pub first: bool,
    /// `true` to indent blank lines.
    pub blank: bool,
}

impl Indent<'_> {
    /// Appends `text`, indented. Line breaks become newlines, and the last one is removed.
    ///
    /// With the prefix `"  "` the text `"a\nb\n"` becomes `"a\n  b"`.
    pub fn apply(&self, text: &str, out: &mut String) {
        for (at, line) in lines(text).enumerate() {
            if at > 0 {
                out.push('\n');
            }
            if self.prefixes(at, line) {
                out.push_str(self.prefix);
            }
            out.push_str(line);
        }
    }

    /// Returns an upper bound of the length of the indented text. `None` on overflow.
    pub fn len(&self, text: &str) -> Option<usize> {
        let lines = occurrences(text, "\n") + usize::from(self.first);
        lines.checked_mul(self.prefix.len())?.checked_add(text.len())
    }

    fn prefixes(&self, at: usize, line: &str) -> bool {
        match line.as_bytes() {
            _ if at == 0 => self.first,
            [b'!'..=b'~', ..] => true,
            _ => self.blank || !line.trim_start().is_empty(),
        }
    }
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len() * 2);
    push_hex(bytes, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

/// Returns `true` if a text has nothing but lower-case hexadecimal digits.
pub fn is_hex(text: &str) -> bool {
    // Without an early end, many digits are looked at together.
    text.bytes().fold(true, |all, b| all & ((b.wrapping_sub(b'0') < 10) | (b.wrapping_sub(b'a') < 6)))
}

/// Appends lower-case hexadecimal digits.
pub fn push_hex(bytes: &[u8], to: &mut Vec<u8>) {
    let digit = |half: u8| half + if half < 10 { b'0' } else { b'a' - 10 };
    for byte in bytes {
        to.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits() {
        assert!((0..=u8::MAX).all(|byte| hex(&[byte]) == format!("{byte:02x}")));
        assert_eq!((hex(&[]), hex(&[0, 0xaf, 9])), (String::new(), "00af09".to_owned()));
        assert!((0..=u8::MAX).all(|byte| is_hex(&hex(&[byte]))) && is_hex(""));
        assert!((0..128_u8).map(char::from).all(|c| is_hex(&c.to_string()) == "0123456789abcdef".contains(c)));
        assert!(!is_hex("0123456789é"));
    }

    #[test]
    fn beginnings_and_ends() {
        let cut = |length| first_or_last("aéb", length);
        assert_eq!([0, 2, 3, i64::MAX].map(cut), ["", "aé", "aéb", "aéb"]);
        assert_eq!([-1, -2, -3, i64::MIN].map(cut), ["b", "éb", "aéb", "aéb"]);
    }

    #[test]
    fn labels_are_valid_or_empty() {
        assert_eq!(dns_label("-_My.App_"), "my-app");
        assert_eq!(dns_label("Größe 9"), "gr--e-9");
        assert_eq!(dns_label(&format!("{}.b", "a".repeat(62))), "a".repeat(62));
        assert_eq!(dns_label(&"a".repeat(100)).len(), DNS_LABEL);
        assert_eq!((dns_label(""), dns_label("._-")), (String::new(), String::new()));
    }

    /// Returns what `write` appends to an output that is not empty.
    pub fn made(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::from(">");
        write(&mut out);
        out.split_off(1)
    }

    fn slug(text: &str) -> String {
        made(|out| super::slug(text, out))
    }

    /// All texts of `length` letters.
    pub(crate) fn all_texts(alphabet: &[&str], length: u32) -> impl Iterator<Item = String> {
        let letter = |number: usize, place| alphabet[number / alphabet.len().pow(place) % alphabet.len()];
        (0..alphabet.len().pow(length)).map(move |number| (0..length).map(|place| letter(number, place)).collect())
    }

    #[test]
    fn truncation_counts_grapheme_clusters() {
        assert_eq!(truncated("hello", 2), Some("he"));
        assert_eq!(truncated("hello", 5), None);
        assert_eq!(truncated("", 0), None);
        assert_eq!(truncated("e\u{301}e\u{301}e", 1), Some("e\u{301}"));
        assert_eq!(truncated("a\r\nb", 2), Some("a\r\n"));
        assert_eq!(truncated("🇩🇪🇫🇷", 1), Some("🇩🇪"));
        assert_eq!(truncated("a", usize::MAX), None);
        for text in all_texts(&["a", "\r", "\n", "é", "\u{301}"], 5) {
            for length in 0..6 {
                let cut = text.grapheme_indices(true).nth(length).map(|(at, _)| &text[..at]);
                assert_eq!(truncated(&text, length), cut, "{text:?} {length}");
            }
        }
    }

    #[test]
    fn both_ways_to_replace_agree() {
        for text in all_texts(&["a", ".", "é", "bcd"], 5).map(|text| text.repeat(9)) {
            for to in ["", "-", "é", "12345678", "123456789"] {
                let found = occurrences(&text, ".");
                let replaced = made(|out| push_replaced(&text, ".", to, found, out));
                assert_eq!(replaced, text.replace('.', to), "{text:?}");
                assert_eq!(Some(replaced.len()), replaced_len(&text, ".", to, found));
            }
        }
    }

    #[test]
    fn clusters_of_one_letter_never_join() {
        let alone: Vec<char> = ('\0'..='\u{3000}').filter(|c| is_cluster(*c)).collect();
        for first in &alone {
            for second in ['a', '\u{2ff}', '\u{482}', '\u{2010}', *first] {
                let pair: String = [*first, second].iter().collect();
                assert_eq!(pair.graphemes(true).count(), 2, "{pair:?}");
            }
        }
        for text in all_texts(&["ß", "–", "\u{301}", "\u{200d}", "©"], 4) {
            let cut = text.grapheme_indices(true).nth(2).map(|(at, _)| &text[..at]);
            assert_eq!(truncated(&text, 2), cut, "{text:?}");
        }
    }

    #[test]
    fn words_are_counted_as_they_split() {
        for text in all_texts(&["a", " ", "\n", "\u{1c}", "\u{b}", "\u{a0}"], 5) {
            assert_eq!(word_count(&text), text.split_whitespace().count(), "{text:?}");
        }
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in all_texts(&["a", "\r", "\n", "é"], 6) {
            assert_eq!(lines(&text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>(), "{text:?}");
            let wanted = text.replace("\r\n", "<br>").replace('\n', "<br>");
            assert_eq!(made(|out| line_breaks_to_br(&text, out)), wanted, "{text:?}");
        }
    }

    #[test]
    fn replacement_lengths() {
        for (text, from, to) in
            [("aXbX", "X", "yy"), ("ab", "", "-"), ("", "", "-"), ("aaa", "aa", ""), ("é", "é", "e")]
        {
            assert_eq!(
                replaced_len(text, from, to, occurrences(text, from)),
                Some(text.replace(from, to).len()),
                "{text} {from} {to}"
            );
        }
        assert_eq!(replaced_len("", "", "", 1), Some(0));
    }

    #[test]
    fn line_ends() {
        assert_eq!(line_breaks_to_br_len("a\nb"), Some(6));
        assert_eq!(control_escapes(r"a\nb\tc\r"), "a\nb\tc\\r");
    }

    #[test]
    fn indentation() {
        let indent = Indent { prefix: "> ", first: false, blank: false };
        let apply = |indent: Indent<'_>, text: &str| made(|out| indent.apply(text, out));
        assert_eq!(apply(indent, "a\nb\n\n \nc\n"), "a\n> b\n\n \n> c");
        assert_eq!(apply(Indent { first: true, ..indent }, "a\r\nb"), "> a\n> b");
        assert_eq!(apply(Indent { blank: true, ..indent }, "a\n\nb"), "a\n> \n> b");
        for text in ["", "a", "\n", "a\n\nb\r\n", "\n\n"] {
            for indent in [indent, Indent { first: true, blank: true, ..indent }] {
                assert!(indent.len(text) >= Some(apply(indent, text).len()));
            }
        }
    }

    #[test]
    fn slugs_and_their_bound() {
        assert_eq!(slug("Héllo,  World!"), "hello-world");
        assert_eq!(slug("--a--"), "a");
        for letter in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let text = format!("a{letter}a");
            let allowed = slug_len(&text).unwrap() - if text.is_ascii() { 0 } else { 2 * SLUG_GROWTH - 2 };
            assert!(slug(&text).len() <= allowed, "{letter:?} {}", slug(&text));
        }
    }

    #[test]
    fn reversal_is_by_character() {
        assert_eq!(made(|out| push_reversed("aé😀", out)), "😀éa");
        for length in 0..3 * PART {
            let text: String = ('a'..='z').cycle().take(length).collect();
            assert_eq!(made(|out| push_reversed(&text, out)), text.chars().rev().collect::<String>());
        }
    }
}
