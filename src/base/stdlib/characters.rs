//! The general categories of characters.

use std::sync::LazyLock;

use regex::Regex;

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
}
