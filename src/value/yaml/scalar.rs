//! How a scalar has to be written so that every reader of YAML 1.1 and 1.2 reads it back as what it is.
//!
//! A text is looked at once, a table's row for each byte: what holds of all its bytes decides most texts, and only
//! those that begin like a number, or have blanks and colons, are looked at again.

use super::quoted::must_escape;
use crate::value::{Block, Text, all_bytes};

/// A key or text longer than this is never written plain: readers look no further for the end of a key.
pub(super) const LONGEST_PLAIN: usize = 1000;

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Without quotes.
    Plain,
    /// Between double quotes, as it is.
    Clean,
    /// As a literal block.
    Block,
    /// Between double quotes, with escapes.
    Escaped,
}

/// May stand in a text without quotes.
const WITHIN: u8 = 1;
/// The same, and means nothing whatever stands beside it.
const CALM: u8 = 2;
/// May stand in a line of a literal block.
const LINE: u8 = 4;
/// May stand between double quotes.
const CLEAN: u8 = 8;
/// May begin a text without quotes.
const OPENS: u8 = 16;
/// Is no blank.
const UNSPACED: u8 = 32;
/// May stand in what some reader takes for a number.
const NUMBER: u8 = 64;

/// What holds of each byte. Of bytes beyond ASCII those are clean that begin no character which must be escaped.
const OF: [u8; 256] = {
    let mut of = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        let word = b.is_ascii_alphanumeric();
        let calm = word || in_set(b, b"_-./@+=()[]{}$%^;<>~!?*&,|'\"\\");
        let within = calm || in_set(b, b" :#");
        let printable = b >= b' ' && b < 0x7F;
        let far = b >= 0x80 && !in_set(b, &[0xC2, 0xD8, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4]);
        let clean = far || (printable && b != b'"' && b != b'\\');
        let line = far || printable || b == b'\n' || b == b'\t';
        let opens = word || in_set(b, b"/_.($^<");
        of[byte] = flag(within, WITHIN) | flag(calm, CALM) | flag(line, LINE) | flag(clean, CLEAN) | flag(opens, OPENS);
        of[byte] |= flag(b != b' ', UNSPACED) | flag(b.is_ascii_hexdigit() || in_set(b, b"xXoO_,.:+-"), NUMBER);
        byte += 1;
    }
    of
};

const fn flag(holds: bool, flag: u8) -> u8 {
    if holds { flag } else { 0 }
}

const fn in_set(byte: u8, set: &[u8]) -> bool {
    let mut at = 0;
    while at < set.len() {
        if set[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

/// Whether `byte` stands between double quotes as it is, whatever follows.
pub(super) const fn is_clean(byte: u8) -> bool {
    OF[byte as usize] & CLEAN != 0
}

/// Whether `text` is a word that every reader reads as such without quotes: most keys and many texts are, and the
/// answer takes a few instructions. One that is not may still be plain.
#[inline(always)]
pub(in crate::value) fn is_word(text: &Text<'_>) -> bool {
    text.is_known_word() || is_found_word(text.as_str(), text.block())
}

/// Takes the text apart, as it is at hand in parts.
#[inline(never)]
fn is_found_word(text: &str, block: Option<&Block>) -> bool {
    let is_letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26;
    // `-`, `.`, `/` and the digits follow one another.
    if !all_bytes(text, block, |byte| is_letter(byte) | (byte.wrapping_sub(b'-') < 13) | (byte == b'_')) {
        return false;
    }
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else { return false };
    let opening = OPENING[usize::from(first)];
    (opening == 0 || is_word_after(opening, bytes)) && bytes.len() <= LONGEST_PLAIN
}

/// Of each byte that a word may begin with how many letters reserved words have that begin so, a bit for each; of
/// others that they begin none.
const OPENING: [u16; 256] = {
    let mut opening = [NO_LETTER; 256];
    let mut byte = 0;
    while byte < 256 {
        opening[byte] = match (byte as u8).to_ascii_lowercase() {
            b'n' => 0b1_1110,
            b't' => 1 << 4,
            b'f' => 1 << 5,
            b'y' => 1 << 1 | 1 << 3,
            b'o' => 1 << 2 | 1 << 3,
            b'i' => 1 << 3 | 1 << 8,
            b'e' => EXPONENT,
            b'a'..=b'z' => 0,
            _ => NO_LETTER,
        };
        byte += 1;
    }
    opening
};

/// Begins no word.
const NO_LETTER: u16 = 1 << 15;
/// Begins a number where no letter follows: `e3`, `e-`.
const EXPONENT: u16 = 1 << 14;

/// Whether `bytes`, which are some that a word may have, are one where they begin so.
fn is_word_after(opening: u16, bytes: &[u8]) -> bool {
    match opening {
        NO_LETTER => false,
        EXPONENT => bytes.get(1).is_some_and(u8::is_ascii_alphabetic),
        lengths => !(bytes.len() <= 8 && lengths >> bytes.len() & 1 != 0 && is_reserved_word(bytes)),
    }
}

/// How `text` is written where a literal block may stand.
pub(super) fn class(text: &str) -> Class {
    let facts = facts(text);
    if facts & WITHIN != 0 && is_plain(text.as_bytes(), facts) {
        Class::Plain
    } else if facts & CLEAN != 0 {
        Class::Clean
    } else if is_block_safe(text, facts) {
        Class::Block
    } else {
        Class::Escaped
    }
}

/// How `text` is written on one line.
pub(super) fn class_in_line(text: &str) -> Class {
    let facts = facts(text);
    if facts & WITHIN != 0 && is_plain(text.as_bytes(), facts) {
        Class::Plain
    } else if facts & CLEAN != 0 {
        Class::Clean
    } else {
        Class::Escaped
    }
}

/// What holds of every byte.
fn facts(text: &str) -> u8 {
    text.bytes().fold(u8::MAX, |facts, byte| facts & OF[usize::from(byte)])
}

/// Whether every reader reads this text, of bytes that may stand in one, without quotes as that text.
fn is_plain(bytes: &[u8], facts: u8) -> bool {
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    if OF[usize::from(first)] & OPENS == 0 || bytes.len() > LONGEST_PLAIN {
        return false;
    }
    // What means something beside another byte stands beside a blank.
    let marked = || facts & UNSPACED == 0 && bytes.windows(2).any(is_mark);
    if facts & CALM == 0 && (matches!(last, b' ' | b':') || marked()) {
        return false;
    }
    // A text that begins with a letter is a word, or a number only as `e3` is one.
    if first.is_ascii_alphabetic() && !matches!(first, b'e' | b'E') {
        return !is_reserved_word(bytes);
    }
    // At the beginning of a line three points end a document.
    !bytes.starts_with(b"...") && !is_reserved_word(bytes) && !looks_like_number(bytes, facts)
}

/// What ends a key, begins a comment, or is folded.
fn is_mark(pair: &[u8]) -> bool {
    matches!(pair, b": " | b" #" | b"  ")
}

/// Words that some reader takes for null, a boolean, a number, or a merge or value key.
fn is_reserved_word(bytes: &[u8]) -> bool {
    let words: &[(u64, u64)] = match (bytes.first().map(u8::to_ascii_lowercase), bytes.len()) {
        (Some(b'n'), 1..=4) => &const { [reserved(b"n"), reserved(b"no"), reserved(b"nan"), reserved(b"null")] },
        (Some(b't'), 4) => &const { [reserved(b"true")] },
        (Some(b'f'), 5) => &const { [reserved(b"false")] },
        (Some(b'y'), 1 | 3) => &const { [reserved(b"y"), reserved(b"yes")] },
        (Some(b'o'), 2 | 3) => &const { [reserved(b"on"), reserved(b"off")] },
        (Some(b'i'), 3 | 8) => &const { [reserved(b"inf"), reserved(b"infinity")] },
        (Some(b'.'), 1 | 4) => &const { [reserved(b"."), reserved(b".inf"), reserved(b".nan")] },
        (Some(b'+'), 5) => &const { [reserved(b"+.inf"), reserved(b"+.nan")] },
        (Some(b'-'), 1 | 5) => &const { [reserved(b"-"), reserved(b"-.inf"), reserved(b"-.nan")] },
        (Some(b'~' | b'=' | b'<'), 1 | 2) => &const { [reserved(b"~"), reserved(b"="), reserved(b"<<")] },
        _ => return false,
    };
    let number = packed(bytes);
    words.iter().any(|(word, letters)| number | letters == *word)
}

/// A word of at most eight bytes as a number.
const fn packed(word: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < word.len() {
        number = number << 8 | word[at] as u64;
        at += 1;
    }
    number
}

/// A word in lower case as a number, and the bits that make capital letters in it small.
const fn reserved(word: &[u8]) -> (u64, u64) {
    let (mut letters, mut at) = (0, 0);
    while at < word.len() {
        letters = letters << 8 | if word[at].is_ascii_alphabetic() { 0x20 } else { 0 };
        at += 1;
    }
    (packed(word), letters)
}

/// Whether some reader might take `bytes` for a number, a time or a date; on the safe side.
fn looks_like_number(bytes: &[u8], facts: u8) -> bool {
    (facts & NUMBER != 0 && is_number_of_its_bytes(bytes)) || is_date(bytes)
}

/// The same of a number whose bytes all may stand in one.
fn is_number_of_its_bytes(bytes: &[u8]) -> bool {
    let unsigned = bytes.iter().find(|byte| !matches!(byte, b'-' | b'+' | b'.'));
    let only_digits = || bytes.iter().all(|byte| byte.is_ascii_digit() || b"-+._".contains(byte));
    unsigned.is_some_and(u8::is_ascii_digit) || only_digits() || is_bare_exponent(bytes)
}

/// `\d{4}-\d{1,2}-\d{1,2}.*`
fn is_date(bytes: &[u8]) -> bool {
    if bytes.get(4) != Some(&b'-') {
        return false;
    }
    let mut parts = bytes.splitn(3, |&byte| byte == b'-');
    let (Some(year), Some(month), Some(day)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    year.len() == 4
        && digits(year)
        && matches!(month.len(), 1 | 2)
        && digits(month)
        && day.first().is_some_and(u8::is_ascii_digit)
}

/// `[-+]?[0-9_]*\.?[0-9_]*[eE][-+]?[0-9]+`
fn is_bare_exponent(bytes: &[u8]) -> bool {
    let unsigned = bytes.strip_prefix(b"-").or(bytes.strip_prefix(b"+")).unwrap_or(bytes);
    let Some(at) = unsigned.iter().position(|byte| matches!(byte, b'e' | b'E')) else { return false };
    let (mantissa, exponent) = unsigned.split_at(at);
    let exponent = exponent.get(1..).unwrap_or(&[]);
    let digits = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
    mantissa.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'_' | b'.'))
        && !digits.is_empty()
        && digits.iter().all(u8::is_ascii_digit)
}

/// Whether `text` has several lines and every reader reads them back from a literal block.
fn is_block_safe(text: &str, facts: u8) -> bool {
    let lines_end = memchr::memchr(b'\n', text.as_bytes()).is_some();
    let may_stand = |c: char| matches!(c, '\n' | '\t') || !must_escape(c);
    lines_end
        && !text.starts_with([' ', '\t', '\n'])
        && (facts & LINE != 0 || text.chars().all(may_stand))
        && text.split('\n').all(|line| !line.starts_with('\t') && (line.is_empty() || !line.trim().is_empty()))
}

/// Whether a number that is spelled so is read as the same number, and not as a text, by every reader of YAML and
/// JSON: `1.10` and `1.5e+3` are, `012`, `1e3` and `.5` are not. What is not is written in the canonical form.
///
/// ```
/// use dropforge::value::yaml::keeps_spelling;
/// assert!(keeps_spelling("1.10") && keeps_spelling("-7") && keeps_spelling("2.50e-03"));
/// assert!(!keeps_spelling("012") && !keeps_spelling("1e3") && !keeps_spelling("0x1F") && !keeps_spelling("1.0e+999"));
/// ```
pub fn keeps_spelling(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return false;
    }
    match (fraction, exponent) {
        // A whole number has one spelling; a longer one is not whole to every reader, and there is no `-0`.
        (None, None) => text != "-0" && text.parse::<i64>().is_ok(),
        (None, Some(_)) => false,
        (Some(fraction), exponent) => {
            let signed = |text: &str| text.starts_with(['+', '-']) && digits(text.get(1..).unwrap_or(""));
            digits(fraction) && exponent.is_none_or(signed) && is_in_range(text, mantissa)
        }
    }
}

/// Whether `text` is a tag that can stand before a value: `!` or `!!`, and characters that end no tag.
pub(in crate::value) fn is_tag(text: &str) -> bool {
    let Some(name) = text.strip_prefix('!') else { return false };
    let within = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~*'():;/?@&=+$#%".contains(&byte);
    let name = name.strip_prefix('!').unwrap_or(name);
    !name.is_empty() && name.bytes().all(within)
}

/// Whether the float has no more digits than it can hold, is finite, and is zero only where its digits are: readers do
/// not agree on the others.
fn is_in_range(text: &str, mantissa: &str) -> bool {
    let is_zero = mantissa.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    mantissa.len() <= 18 && text.parse::<f64>().is_ok_and(|n| n.is_finite() && (is_zero || n.is_normal()))
}
