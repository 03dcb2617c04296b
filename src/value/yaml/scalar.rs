//! Classifies scalars by how they must be written so that every YAML 1.1 and 1.2 parser reads them back unchanged, and
//! resolves them by the core schema of YAML 1.2.
//!
//! To classify a text, one pass intersects table entries of all bytes, which decides most texts. Only texts that start
//! like a number or contain spaces and colons are scanned again.

use crate::Data;
use crate::borrowed::{Block, Text, all_bytes};
use crate::yaml::Kind;
use dropforge_base::stdlib::bignum::{self, BigNum};

/// Maximum length of an unquoted key or text: parsers look no further ahead for the end of a key.
pub(super) const LONGEST_PLAIN: usize = 1000;

/// A notation of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Unquoted.
    Plain,
    /// Double-quoted, without escapes.
    Clean,
    /// A literal block.
    Block,
    /// Double-quoted, with escapes.
    Escaped,
}

/// May occur in an unquoted text.
const WITHIN: u8 = 1;
/// May occur in an unquoted text, whatever its neighbors.
const CALM: u8 = 2;
/// May occur in a line of a literal block.
const LINE: u8 = 4;
/// May occur between double quotes without an escape.
const CLEAN: u8 = 8;
/// May start an unquoted text.
const OPENS: u8 = 16;
/// Not a space.
const UNSPACED: u8 = 32;
/// May occur in a text that some parser reads as a number.
const NUMBER: u8 = 64;

/// The flags of each byte. A non-ASCII byte is clean if no character that starts with it must be escaped.
const FLAGS: [u8; 256] = {
    let mut flags = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        let word = b.is_ascii_alphanumeric();
        let calm = word || in_set(b, b"_-./@+=()[]{}$%^;<>~!?*&,|'\"\\");
        let within = calm || in_set(b, b" :#");
        let printable = b >= b' ' && b < 0x7F;
        let unicode = b >= 0x80 && !in_set(b, &[0xC2, 0xD8, 0xE1, 0xE2, 0xE3, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4]);
        let clean = unicode || (printable && b != b'"' && b != b'\\');
        let line = unicode || printable || b == b'\n' || b == b'\t';
        let opens = word || in_set(b, b"/_.($^<");
        flags[byte] =
            flag(within, WITHIN) | flag(calm, CALM) | flag(line, LINE) | flag(clean, CLEAN) | flag(opens, OPENS);
        flags[byte] |= flag(b != b' ', UNSPACED) | flag(b.is_ascii_hexdigit() || in_set(b, b"xXoO_,.:+-"), NUMBER);
        byte += 1;
    }
    flags
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

/// Returns `true` for characters that parsers reject, fold or strip, or that are invisible: controls, line and paragraph
/// separators, no-break space, zero-width and direction marks, the byte order mark, noncharacters.
pub(super) fn must_escape(c: char) -> bool {
    let code = u32::from(c);
    matches!(code,
        0..=0x1F | 0x7F..=0xA0 | 0xAD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
        | 0xFDD0..=0xFDEF | 0xFEFF | 0xFFF0..=0xFFFB | 0xE0000..=0xE007F)
        || code & 0xFFFE == 0xFFFE
}

/// Returns `true` if `byte` needs no escape between double quotes, whatever follows.
pub(super) const fn is_clean(byte: u8) -> bool {
    FLAGS[byte as usize] & CLEAN != 0
}

/// Returns `true` if `text` is a word that every parser reads unquoted as text, as most keys and many texts are. This
/// test takes a few instructions. Other texts may be plain, too.
#[inline(always)]
pub fn is_word(text: &Text<'_>) -> bool {
    text.is_known_word() || is_found_word(text.as_str(), text.block())
}

#[inline(never)]
fn is_found_word(text: &str, block: Option<&Block>) -> bool {
    let is_letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 26;
    // `-`, `.`, `/` and the digits are consecutive.
    if !all_bytes(text, block, |byte| is_letter(byte) | (byte.wrapping_sub(b'-') < 13) | (byte == b'_')) {
        return false;
    }
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else { return false };
    let opening = OPENING[usize::from(first)];
    (opening == 0 || is_word_after(opening, bytes)) && bytes.len() <= LONGEST_PLAIN
}

/// For each first byte of a word, the set of lengths of reserved words that start with it. Other bytes are `NO_LETTER`.
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

/// Starts no word.
const NO_LETTER: u16 = 1 << 15;
/// Starts a number unless a letter follows: `e3`, `e-`.
const EXPONENT: u16 = 1 << 14;

/// Returns `true` if `bytes`, which may all occur in a word, form one that has this opening.
fn is_word_after(opening: u16, bytes: &[u8]) -> bool {
    match opening {
        NO_LETTER => false,
        EXPONENT => bytes.get(1).is_some_and(u8::is_ascii_alphabetic),
        lengths => !(bytes.len() <= 8 && lengths >> bytes.len() & 1 != 0 && is_reserved_word(bytes)),
    }
}

/// Returns the notation of `text` where a literal block is possible.
pub(super) fn class(text: &str) -> Class {
    let flags = common_flags(text);
    match class_of(text, flags) {
        Class::Escaped if is_block_safe(text, flags) => Class::Block,
        class => class,
    }
}

/// Returns the notation of `text` on one line.
pub(super) fn class_in_line(text: &str) -> Class {
    class_of(text, common_flags(text))
}

fn class_of(text: &str, flags: u8) -> Class {
    if flags & WITHIN != 0 && is_plain(text.as_bytes(), flags) {
        Class::Plain
    } else if flags & CLEAN != 0 {
        Class::Clean
    } else {
        Class::Escaped
    }
}

/// Returns the flags that all bytes have in common.
fn common_flags(text: &str) -> u8 {
    text.bytes().fold(u8::MAX, |flags, byte| flags & FLAGS[usize::from(byte)])
}

/// Returns `true` if every parser reads this text unquoted as itself. All bytes have the flag [`WITHIN`].
fn is_plain(bytes: &[u8], flags: u8) -> bool {
    let (Some(&first), Some(&last)) = (bytes.first(), bytes.last()) else { return false };
    if FLAGS[usize::from(first)] & OPENS == 0 || bytes.len() > LONGEST_PLAIN {
        return false;
    }
    // Colons and hashes are special next to a space.
    let marked = || flags & UNSPACED == 0 && bytes.windows(2).any(is_mark);
    if flags & CALM == 0 && (matches!(last, b' ' | b':') || marked()) {
        return false;
    }
    // Among texts that start with a letter only those like `e3` are numbers.
    if first.is_ascii_alphabetic() && !matches!(first, b'e' | b'E') {
        return !is_reserved_word(bytes);
    }
    // `...` at the start of a line ends a document.
    !bytes.starts_with(b"...") && !is_reserved_word(bytes) && !looks_like_number(bytes, flags)
}

/// Returns `true` for the end of a key, the start of a comment, and spaces that folding would change.
fn is_mark(pair: &[u8]) -> bool {
    matches!(pair, b": " | b" #" | b"  ")
}

/// Returns `true` for words that some parser reads as null, a boolean, a number, or a merge or value key.
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

/// Returns a word of at most eight bytes, packed into an integer.
const fn packed(word: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < word.len() {
        number = number << 8 | word[at] as u64;
        at += 1;
    }
    number
}

/// Returns a packed lower-case word, and the bits that convert upper-case letters in it to lower case.
const fn reserved(word: &[u8]) -> (u64, u64) {
    let (mut letters, mut at) = (0, 0);
    while at < word.len() {
        letters = letters << 8 | if word[at].is_ascii_alphabetic() { 0x20 } else { 0 };
        at += 1;
    }
    (packed(word), letters)
}

/// Returns `true` if some parser could read `bytes` as a number, a time or a date. Errs on the safe side.
fn looks_like_number(bytes: &[u8], flags: u8) -> bool {
    (flags & NUMBER != 0 && is_number_of_its_bytes(bytes)) || is_date(bytes)
}

/// Returns `true` if some parser could read `bytes`, which all have the flag [`NUMBER`], as a number.
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

/// Returns `true` if `text` has several lines and every parser reads them back from a literal block.
fn is_block_safe(text: &str, flags: u8) -> bool {
    let lines_end = memchr::memchr(b'\n', text.as_bytes()).is_some();
    let may_stand = |c: char| matches!(c, '\n' | '\t') || !must_escape(c);
    lines_end
        && !text.starts_with([' ', '\t', '\n'])
        && (flags & LINE != 0 || text.chars().all(may_stand))
        && text.split('\n').all(|line| !line.starts_with('\t') && (line.is_empty() || !line.trim().is_empty()))
}

/// Returns `true` if every YAML and JSON parser reads `text` as the same number: `1.10` and `1.5e+3`, but not `012`, `1e3`
/// or `.5`. Other numbers are written in their canonical form. Of more digits than a parser holds it reads the nearest number.
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
    let digits = |part: &str| !part.is_empty() && are_digits(part);
    if !digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
        return false;
    }
    match (fraction, exponent) {
        // Some parsers read `-0` as 0.
        (None, None) => text != "-0",
        (None, Some(_)) => false,
        (Some(fraction), exponent) => {
            let signed = |text: &str| text.starts_with(['+', '-']) && digits(text.get(1..).unwrap_or(""));
            digits(fraction) && exponent.is_none_or(signed) && is_in_range(text, mantissa)
        }
    }
}

/// Returns `true` if `text` is a valid tag: `!` or `!!` and a name, or a whole one in `!<>`.
pub fn is_tag(text: &str) -> bool {
    let Some(name) = text.strip_prefix('!') else { return false };
    if let Some(whole) = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')) {
        return whole.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~*'():;/?@&=+$#%,".contains(&byte))
            && !whole.is_empty();
    }
    let within = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~*'():;/?@&=+$#%".contains(&byte);
    let name = name.strip_prefix('!').unwrap_or(name);
    !name.is_empty() && name.bytes().all(within)
}

/// Returns `true` if the float is finite, and is zero only if its digits are. Parsers disagree on other floats.
fn is_in_range(text: &str, mantissa: &str) -> bool {
    let is_zero = mantissa.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    text.parse::<f64>().is_ok_and(|n| n.is_finite() && (is_zero || n.is_normal()))
}

/// Resolves a plain scalar by the core schema.
pub(super) fn plain(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Kind::Float(f64::NAN),
        _ => number(text).unwrap_or(Kind::Str),
    }
}

/// Returns the number that `text` spells, if any.
fn number(text: &str) -> Option<Kind> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if first == b'-' => return Some(Kind::Float(f64::NEG_INFINITY)),
        ".inf" | ".Inf" | ".INF" => return Some(Kind::Float(f64::INFINITY)),
        _ => {}
    }
    if !unsigned.is_empty() && are_digits(unsigned) {
        return decimal(text);
    }
    is_float(text).then(|| text.parse().ok().map(Kind::Float)).flatten()
}

/// Returns a decimal integer. Beyond 64 bits it becomes the nearest float, as in JSON.
fn decimal(text: &str) -> Option<Kind> {
    let integer = text.parse().map(Kind::Int).or_else(|_| text.parse().map(Kind::Uint));
    integer.ok().or_else(|| text.parse().map(Kind::Float).ok())
}

fn radix(digits: &str, radix: u32) -> Option<Kind> {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    match u64::from_str_radix(digits, radix) {
        Ok(n) => Some(i64::try_from(n).map_or(Kind::Uint(n), Kind::Int)),
        Err(_) => Some(Kind::Float(nearest(digits, radix))),
    }
}

/// Returns the number that a scalar spells if its float may lack digits.
pub(super) fn in_full(text: &str) -> Option<Data> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let based = unsigned.strip_prefix("0x").map(|digits| (digits, 16));
    if let Some((digits, base)) = based.or_else(|| Some((unsigned.strip_prefix("0o")?, 8))) {
        let number = BigNum::parse_whole(digits, base)?;
        // More digits than a number has make none in the notation of JSON, so it is refused wherever it is read.
        let is_held = digits.len() * base.ilog2() as usize <= usize::from(bignum::FULL);
        return Some(Data::Number(if is_held { number.to_text().into() } else { text.into() }));
    }
    let (whole, rest) = unsigned.split_at(unsigned.find(['.', 'e', 'E']).unwrap_or(unsigned.len()));
    let whole = whole.trim_start_matches('0');
    let rest = if rest.starts_with(".e") || rest.starts_with(".E") || rest == "." { &rest[1..] } else { rest };
    let number = Data::number(&format!("{sign}{}{rest}", if whole.is_empty() { "0" } else { whole }));
    number.filter(|number| matches!(number, Data::Number(_)))
}

/// Returns the float nearest to an integer. The radix is a power of two.
fn nearest(digits: &str, radix: u32) -> f64 {
    let (mut head, mut shift, bits) = (0_u128, 0, radix.trailing_zeros());
    for digit in digits.chars().filter_map(|digit| digit.to_digit(radix)) {
        if head >> 120 == 0 {
            head = head << bits | u128::from(digit);
        } else {
            // Of the digits that a float cannot hold, only whether one is not zero counts for rounding.
            head |= u128::from(digit > 0);
            shift = (shift + bits).min(2_000);
        }
    }
    head as f64 * f64::powi(2.0, shift.cast_signed())
}

/// Returns `true` for a decimal float of any version of YAML: `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
pub(super) fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    are_digits(whole)
        && are_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|digits| !digits.is_empty() && are_digits(digits))
}

pub(super) fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Resolves a scalar with a tag of the core schema.
///
/// # Errors
/// A message that says why the tag does not fit.
#[cfg_attr(not(feature = "yaml"), allow(dead_code))]
pub(super) fn tagged(suffix: &str, text: &str) -> Result<Kind, String> {
    let resolved = plain(text);
    match (suffix, resolved) {
        ("str", _) => Ok(Kind::Str),
        ("null", Kind::Null) => Ok(Kind::Null),
        ("bool", Kind::Bool(b)) => Ok(Kind::Bool(b)),
        ("int", kind @ (Kind::Int(_) | Kind::Uint(_))) => Ok(kind),
        ("float", Kind::Float(n)) => Ok(Kind::Float(n)),
        #[allow(clippy::cast_precision_loss)]
        ("float", Kind::Int(n)) => Ok(Kind::Float(n as f64)),
        #[allow(clippy::cast_precision_loss)]
        ("float", Kind::Uint(n)) => Ok(Kind::Float(n as f64)),
        ("null" | "bool" | "int" | "float", _) => Err(format!("this is not of the type `!!{suffix}`")),
        _ => Err(format!("the tag `!!{suffix}` does not fit a scalar")),
    }
}

/// Returns `true` if the name of a plain key is its spelling, and it is not `<<`.
pub(crate) fn is_own_name(text: &str) -> bool {
    match plain(text) {
        Kind::Str => text != "<<",
        kind => key_name(&kind, text) == text,
    }
}

/// Returns the name of a key that is this scalar.
pub(super) fn key_name(kind: &Kind, text: &str) -> String {
    match kind {
        Kind::Null => "null".to_owned(),
        Kind::Bool(b) => b.to_string(),
        Kind::Int(n) => n.to_string(),
        Kind::Uint(n) => n.to_string(),
        Kind::Float(n) if n.is_finite() => zmij::Buffer::new().format_finite(*n).to_owned(),
        _ => text.to_owned(),
    }
}
