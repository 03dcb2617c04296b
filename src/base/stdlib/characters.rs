//! Categories of characters, grapheme clusters of Unicode 15.0, and text as a literal in double quotes.

use std::sync::LazyLock;

use regex::Regex;
use smallvec::SmallVec;
use unicode_segmentation::UnicodeSegmentation;

/// Patterns of one character of a category.
static LETTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{L}").ok());
static CAPITAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\p{Lu}\p{Lt}]").ok());
static SMALL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{Ll}").ok());
static PUNCTUATION: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\p{P}").ok());
static UNPRINTABLE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[^\p{L}\p{M}\p{N}\p{P}\p{S}]").ok());

/// Returns `true` for letters.
pub fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { is_of(&LETTER, c) }
}

/// Returns `true` for capitals, in title case too.
pub(crate) fn is_capital(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_uppercase() } else { is_of(&CAPITAL, c) }
}

/// Returns `true` for small letters.
pub fn is_small(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_lowercase() } else { is_of(&SMALL, c) }
}

/// Returns `true` for punctuation. Symbols such as `$` and `+` are none.
pub(crate) fn is_punctuation(c: char) -> bool {
    let symbol = matches!(c, '$' | '+' | '<' | '=' | '>' | '^' | '`' | '|' | '~');
    if c.is_ascii() { c.is_ascii_punctuation() && !symbol } else { is_of(&PUNCTUATION, c) }
}

/// Returns `true` for letters, marks, digits, punctuation, symbols and the ASCII space.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() { matches!(c, ' '..='~') } else { !is_of(&UNPRINTABLE, c) }
}

fn is_of(category: &LazyLock<Option<Regex>>, c: char) -> bool {
    let mut buffer = [0; 4];
    category.as_ref().is_some_and(|category| category.is_match(c.encode_utf8(&mut buffer)))
}

// Grapheme clusters of Unicode 15.0.
//
// Since version 15.1 two Indic consonants joined by a virama are one cluster. The references of the languages follow
// version 15.0 and count two.

/// Minimum length in bytes of a text that the newer rule joins: consonant, virama, consonant.
const SHORTEST_CONJUNCT: usize = 9;

/// Returns the grapheme clusters of `text`.
pub fn clusters(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    indices(text).map(|(_, cluster)| cluster)
}

/// Returns the grapheme clusters of `text` with their byte offsets.
pub fn indices(text: &str) -> impl DoubleEndedIterator<Item = (usize, &str)> {
    text.grapheme_indices(true).flat_map(|(at, cluster)| split(at, cluster))
}

/// Returns the number of grapheme clusters in `text`.
pub fn count(text: &str) -> usize {
    match text.is_ascii() && !text.contains('\r') {
        true => text.len(),
        false => clusters(text).count(),
    }
}

/// Splits a cluster at offset `from` before the consonants that only the newer rule joins.
fn split(from: usize, cluster: &str) -> SmallVec<[(usize, &str); 1]> {
    let mut parts = SmallVec::new();
    let mut start = 0;
    if cluster.len() >= SHORTEST_CONJUNCT {
        let characters = cluster.char_indices().zip(cluster.char_indices().skip(1));
        for ((before, _), (at, character)) in characters {
            let pair = cluster.get(before..at + character.len_utf8()).unwrap_or("");
            if is_indic(character) && pair.graphemes(true).nth(1).is_some() {
                parts.push((from + start, cluster.get(start..at).unwrap_or("")));
                start = at;
            }
        }
    }
    parts.push((from + start, cluster.get(start..).unwrap_or("")));
    parts
}

/// Returns `true` for characters in blocks of Indic scripts.
fn is_indic(character: char) -> bool {
    matches!(character, '\u{900}'..='\u{1fff}' | '\u{a800}'..='\u{abff}' | '\u{11000}'..='\u{11fff}')
}

/// Appends text in double quotes. Quotes, backslashes and characters that cannot be printed are escaped; bytes that are
/// not UTF-8 become `\x` and two digits.
///
/// A tab and an `é` become `"\té"`.
pub fn push_quoted(text: &[u8], push: &mut impl FnMut(&str)) {
    push("\"");
    // Most texts need no escapes.
    if let Some(plain) = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(is_plain)) {
        push(plain);
        return push("\"");
    }
    for chunk in text.utf8_chunks() {
        push_escaped(chunk.valid(), push);
        chunk.invalid().iter().for_each(|byte| push(&format!("\\x{byte:02x}")));
    }
    push("\"");
}

/// Returns an upper bound of the length of the literal. `None` on overflow.
pub fn quoted_len(text: &[u8]) -> Option<usize> {
    let plain = text.iter().filter(|byte| is_plain(**byte)).count();
    (text.len() - plain).checked_mul(6)?.checked_add(plain)?.checked_add(2)
}

/// Appends text without quotes around it.
fn push_escaped(text: &str, push: &mut impl FnMut(&str)) {
    let mut done = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| !(c.is_ascii() && is_plain(*c as u8))) {
        if c.is_ascii() || !is_printable(c) {
            push(text.get(done..at).unwrap_or(""));
            push_escape(c, push);
            done = at + c.len_utf8();
        }
    }
    push(text.get(done..).unwrap_or(""));
}

/// Returns `true` for bytes that stand for themselves.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

fn push_escape(c: char, push: &mut impl FnMut(&str)) {
    match c {
        '"' => push("\\\""),
        '\\' => push("\\\\"),
        '\u{7}' => push("\\a"),
        '\u{8}' => push("\\b"),
        '\u{c}' => push("\\f"),
        '\n' => push("\\n"),
        '\r' => push("\\r"),
        '\t' => push("\\t"),
        '\u{b}' => push("\\v"),
        c => push(&match u32::from(c) {
            code @ (0..=0x1f | 0x7f) => format!("\\x{code:02x}"),
            code @ 0..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_of_characters() {
        assert!(is_letter('é') && is_letter('世') && !is_letter('5') && !is_letter('\u{301}') && !is_letter('Ⅰ'));
        assert!(is_capital('É') && !is_capital('é') && !is_capital('Ⅰ') && is_small('ß') && !is_small('ª'));
        assert!(is_punctuation('…') && is_punctuation('_') && !is_punctuation('$') && !is_punctuation('€'));
        for c in ['a', ' ', 'é', '✓', '😀', '\u{301}'] {
            assert!(is_printable(c), "{c:?}");
        }
        for c in ['\n', '\u{7f}', '\u{a0}', '\u{200b}', '\u{feff}', '\u{e000}', '\u{10ffff}'] {
            assert!(!is_printable(c), "{c:?}");
        }
    }

    #[test]
    fn conjunct_consonants_are_separate_clusters() {
        let cases: [(&str, &[&str]); 8] = [
            ("क्ष", &["क्", "ष"]),
            ("क्ष्मी", &["क्", "ष्", "मी"]),
            ("ক্\u{200d}ষ", &["ক্\u{200d}", "ষ"]),
            ("कि", &["कि"]),
            ("\u{0d4e}ക", &["\u{0d4e}ക"]),
            ("👩🏿\u{200d}🚀🇩🇪", &["👩🏿\u{200d}🚀", "🇩🇪"]),
            ("각e\u{301}\r\n", &["각", "e\u{301}", "\r\n"]),
            ("", &[]),
        ];
        for (text, want) in cases {
            assert_eq!(clusters(text).collect::<Vec<_>>(), want);
            assert_eq!(clusters(text).rev().collect::<Vec<_>>(), want.iter().rev().copied().collect::<Vec<_>>());
            assert_eq!(count(text), want.len());
            assert!(indices(text).all(|(at, cluster)| text[at..].starts_with(cluster)));
        }
    }

    #[test]
    fn long_clusters_cost_linear_time() {
        let text = "क्".repeat(100_000);
        assert_eq!(count(&text), 100_000);
        assert_eq!(count(&format!("a{}", "\u{301}".repeat(100_000))), 1);
    }

    #[test]
    fn what_cannot_be_printed_is_escaped() {
        for (text, wanted) in [
            (&b"a b"[..], r#""a b""#),
            (b"a\"b\\c\nd", r#""a\"b\\c\nd""#),
            ("\t\0é\u{7f}".as_bytes(), r#""\t\x00é\x7f""#),
            ("\u{a0}\u{feff}\u{10ffff}😀".as_bytes(), r#""\u00a0\ufeff\U0010ffff😀""#),
            (b"h\xc3", r#""h\xc3""#),
            (b"", r#""""#),
        ] {
            let mut out = String::new();
            push_quoted(text, &mut |piece| out.push_str(piece));
            assert_eq!(out, wanted);
            assert!(quoted_len(text).unwrap() >= out.len(), "{wanted}");
        }
    }
}
