//! Letter case. Lengths are in bytes.

use std::sync::LazyLock;

use regex::Regex;

/// Converts to upper case letter by letter. A letter with a multi-letter upper case, such as `ß`, is kept.
pub fn upper(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { text.chars().map(upper_letter).collect() }
}

/// Converts to lower case letter by letter.
pub fn lower(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(lower_letter).collect() }
}

/// Returns the small letter of a letter.
pub(crate) fn lower_letter(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Returns the capital of a letter. A letter with a multi-letter upper case is kept.
pub(crate) fn upper_letter(c: char) -> char {
    let mut capitals = c.to_uppercase();
    match (capitals.next(), capitals.next()) {
        (Some(capital), None) => capital,
        _ => with_iota(c),
    }
}

/// Returns the single-letter capital of a Greek letter with iota subscript.
fn with_iota(c: char) -> char {
    let step = match c {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => 0,
    };
    char::from_u32(u32::from(c) + step).unwrap_or(c)
}

/// Converts the first letter of each word to title case and keeps the others. Words consist of letters, digits, `_` and
/// non-ASCII characters except white space.
///
/// `title_words("it's MY dog")` is `It'S MY Dog`.
pub fn title_words(text: &str) -> String {
    let mut inside = false;
    let mut letter = |c: char| {
        let shown = if inside { c } else { title_letter(c) };
        inside = if c.is_ascii() { c.is_ascii_alphanumeric() || c == '_' } else { !c.is_whitespace() };
        shown
    };
    text.chars().map(&mut letter).collect()
}

/// Returns the title case of a letter: that of the first letter of a word.
pub(crate) fn title_letter(c: char) -> char {
    match c {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        '\u{10d0}'..='\u{10ff}' => c,
        _ => upper_letter(c),
    }
}

/// Returns the length of `text` in upper case.
pub(crate) fn uppercase_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().flat_map(char::to_uppercase).map(char::len_utf8).sum() }
}

/// Returns the length of `text` in lower case.
pub fn lowercase_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().flat_map(char::to_lowercase).map(char::len_utf8).sum() }
}

/// Returns the maximum length of `text` after any change of case.
pub fn any_case_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { uppercase_len(text).max(text.len().saturating_mul(3) / 2 + 3) }
}

/// Appends a copy of `text` that `change` changes in place.
pub fn push_changed(text: &str, out: &mut String, change: impl FnOnce(&mut str)) {
    let start = out.len();
    out.push_str(text);
    out.get_mut(start..).map(change);
}

/// Appends `text` in upper case.
pub fn push_uppercase(text: &str, out: &mut String) {
    if text.is_ascii() {
        push_changed(text, out, str::make_ascii_uppercase);
    } else {
        by_letter(text, out, str::make_ascii_uppercase, push_upper_letter);
    }
}

/// Appends `text` in lower case.
pub fn push_lowercase(text: &str, out: &mut String) {
    // The small sigma at the end of a word is another one.
    if text.is_ascii() {
        push_changed(text, out, str::make_ascii_lowercase);
    } else if text.contains('Σ') {
        out.push_str(&text.to_lowercase());
    } else {
        by_letter(text, out, str::make_ascii_lowercase, push_lower_letter);
    }
}

/// Appends `text` with each run of ASCII changed by `ascii` and each other letter by `letter`.
#[inline]
fn by_letter(text: &str, out: &mut String, ascii: impl Fn(&mut str), letter: impl Fn(char, &mut String)) {
    let mut rest = text;
    while !rest.is_empty() {
        let (run, behind) = rest.split_at(ascii_len(rest));
        if !run.is_empty() {
            push_changed(run, out, &ascii);
        }
        let mut letters = behind.chars();
        if let Some(c) = letters.next() {
            letter(c, out);
        }
        rest = letters.as_str();
    }
}

/// Returns the number of ASCII bytes at the beginning.
#[inline]
fn ascii_len(text: &str) -> usize {
    let (bytes, mut len) = (text.as_bytes(), 0);
    while len < bytes.len() && bytes[len].is_ascii() {
        len += 1;
    }
    len
}

/// Appends a letter in upper case. Common letters need no look at the tables of Unicode.
#[inline]
fn push_upper_letter(c: char, out: &mut String) {
    match c {
        'à'..='ö' | 'ø'..='þ' => out.push(char::from_u32(u32::from(c) - 0x20).unwrap_or(c)),
        'ß' => out.push_str("SS"),
        c if is_caseless(c) => out.push(c),
        c => out.extend(c.to_uppercase()),
    }
}

/// Appends a letter in lower case, like [`push_upper_letter`].
#[inline]
fn push_lower_letter(c: char, out: &mut String) {
    match c {
        'À'..='Ö' | 'Ø'..='Þ' => out.push(char::from_u32(u32::from(c) + 0x20).unwrap_or(c)),
        'ß'..='ÿ' => out.push(c),
        c if is_caseless(c) => out.push(c),
        c => out.extend(c.to_lowercase()),
    }
}

/// Returns `true` for characters of blocks without letter case: punctuation, and the scripts of East Asia. There are more.
#[inline]
const fn is_caseless(c: char) -> bool {
    matches!(c, '\u{2000}'..='\u{20ff}' | '\u{2e80}'..='\u{a63f}' | '\u{ac00}'..='\u{d7a3}')
}

/// Appends `text` with the first letter in upper case and all others in lower case: `hELLO World` becomes `Hello world`.
pub fn capitalize(text: &str, out: &mut String) {
    let mut letters = text.chars();
    if let Some(first) = letters.next() {
        out.extend(first.to_uppercase());
        push_lowercase(letters.as_str(), out);
    }
}

/// The words of [`title`]: letters, digits, marks and connectors, with inner apostrophes.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\w(?:[\w']*\w)?").ok());

/// Appends `text` with every word capitalized. Inner apostrophes do not end a word.
///
/// `it's MY dog` becomes `It's My Dog`.
pub fn title(text: &str, out: &mut String) {
    if text.is_ascii() {
        return ascii_title(text, out);
    }
    let mut done = 0;
    for word in WORD.iter().flat_map(|word| word.find_iter(text)) {
        out.push_str(&text[done..word.start()]);
        capitalize(word.as_str(), out);
        done = word.end();
    }
    out.push_str(&text[done..]);
}

/// Bytes that are capitalized together.
const PART: usize = 64;

/// The bit of bytes that belong to words, and the bit of apostrophes, which belong to a word that began before them.
const WORD_BYTE: u8 = 1;
const APOSTROPHE: u8 = 2;
/// The bit of letters, in which small letters differ from capitals.
const SMALL: u8 = 0x20;

/// The bits of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0;
    while at < classes.len() {
        let byte = at as u8;
        classes[at] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => WORD_BYTE | SMALL,
            b'0'..=b'9' | b'_' => WORD_BYTE,
            b'\'' => APOSTROPHE,
            _ => 0,
        };
        at += 1;
    }
    classes
};

/// Appends ASCII text with every word capitalized.
fn ascii_title(text: &str, out: &mut String) {
    // `SMALL` after a byte that the word of the next one goes on from.
    let mut inside = 0;
    let mut titled = [0; PART];
    for part in text.as_bytes().chunks(PART) {
        for at in 0..part.len().min(PART) {
            let (byte, class) = (part[at], CLASSES[usize::from(part[at])]);
            titled[at] = (byte & !(class & SMALL)) | (class & inside);
            let goes_on = (class & APOSTROPHE) * (SMALL / APOSTROPHE);
            inside = ((class & WORD_BYTE) * SMALL) | (inside & goes_on);
        }
        out.push_str(titled.get(..part.len()).and_then(|part| std::str::from_utf8(part).ok()).unwrap_or(""));
    }
}

#[cfg(test)]
mod tests {
    use super::super::strings::tests::{all_texts, made};
    use super::*;

    fn capitalize(text: &str) -> String {
        made(|out| super::capitalize(text, out))
    }

    fn title(text: &str) -> String {
        made(|out| super::title(text, out))
    }

    #[test]
    fn letter_case() {
        assert_eq!(capitalize("hELLO wORLD"), "Hello world");
        assert_eq!(capitalize("ßa"), "SSa");
        assert_eq!(capitalize(""), "");
        assert_eq!(title("it's MY dog's 'tail' x_y 1st"), "It's My Dog's 'Tail' X_y 1st");
        assert_eq!(title("éCOLE d'été"), "École D'été");
        assert_eq!(title("''a''B''"), "''A''b''");
        for text in ["", "plain", "ßŉΐ", "İİ", "ὈΔΥΣΣΕΎΣ"] {
            assert_eq!(made(|out| push_uppercase(text, out)), text.to_uppercase());
            assert_eq!(made(|out| push_lowercase(text, out)), text.to_lowercase());
            assert_eq!(uppercase_len(text), text.to_uppercase().len());
            assert_eq!(lowercase_len(text), text.to_lowercase().len());
            assert!(capitalize(text).len() <= any_case_len(text) && title(text).len() <= any_case_len(text));
        }
    }

    #[test]
    fn no_letter_outgrows_the_bound_on_letter_case() {
        // The others stay as they are.
        let changes = |letter: &char| !letter.to_uppercase().chain(letter.to_lowercase()).all(|cased| cased == *letter);
        for letter in (0..=0x0010_ffff).filter_map(char::from_u32).filter(changes) {
            let text = letter.to_string().repeat(4);
            for cased in [text.to_uppercase(), text.to_lowercase(), capitalize(&text), title(&text)] {
                assert!(cased.len() <= any_case_len(&text), "{letter:?}");
            }
        }
    }

    #[test]
    fn titles_go_as_the_pattern_says() {
        let pattern = Regex::new(r"\b(?P<first>[\w'])(?P<rest>[\w']*)\b").unwrap();
        let alphabet = ["a", "B", "'", " ", "-", "é", "\u{301}"];
        for text in all_texts(&alphabet, 6).chain(all_texts(&alphabet[..5], 7)) {
            let wanted = pattern.replace_all(&text, |found: &regex::Captures| {
                format!("{}{}", found["first"].to_uppercase(), found["rest"].to_lowercase())
            });
            assert_eq!(title(&text), wanted, "{text:?}");
        }
    }

    #[test]
    fn every_letter_changes_as_in_the_standard_library() {
        for letter in (0..=0x0010_ffff).filter_map(char::from_u32) {
            let text = format!("é{letter}");
            assert_eq!(made(|out| push_uppercase(&text, out)), text.to_uppercase(), "{text:?}");
            assert_eq!(made(|out| push_lowercase(&text, out)), text.to_lowercase(), "{text:?}");
        }
    }

    #[test]
    fn parts_of_a_long_title_join() {
        for start in 0..PART {
            let text = format!("{}it's'MY dOG' 1ST {}", "x".repeat(start), "Ab'C d".repeat(20));
            let wanted = WORD.as_ref().unwrap().replace_all(&text, |word: &regex::Captures| capitalize(&word[0]));
            assert_eq!(title(&text), wanted, "{text:?}");
        }
    }

    #[test]
    fn changes_of_case_are_those_of_the_standard_library() {
        for text in all_texts(&["a", "B", "ß", "Σ", "İ", "ŉ", " "], 4) {
            assert_eq!(made(|out| push_uppercase(&text, out)), text.to_uppercase(), "{text:?}");
            assert_eq!(made(|out| push_lowercase(&text, out)), text.to_lowercase(), "{text:?}");
        }
    }

    #[test]
    fn letters_change_one_by_one() {
        assert_eq!(upper("straße baﬄe ᾳ é"), "STRAßE BAﬄE ᾼ É");
        assert_eq!(lower("İΣ É"), "iσ é");
        assert_eq!(title_words("it's a_b ǆ x\u{3000}y ე"), "It'S A_b ǅ X\u{3000}Y ე");
    }
}
