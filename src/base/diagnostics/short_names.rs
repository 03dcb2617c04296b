//! Bounds on the names and texts that diagnostics print.

use crate::stdlib::strings;

/// Maximum number of bytes between quotes, or without white space.
const PIECE: usize = 200;
/// Number of bytes that are kept of a longer one.
const KEPT: usize = 160;
/// Maximum number of bytes in all.
const TEXT: usize = 4_000;

/// Shortens the names in a text, and the text itself if it is still long.
pub(super) fn short_names(text: String) -> String {
    if text.len() <= PIECE {
        return text;
    }
    let mut short = String::new();
    for part in text.split_inclusive(['`', '\'', '"']) {
        match part.len() > PIECE && !part.split_whitespace().all(|word| word.len() <= PIECE) {
            true => push_words(part, &mut short),
            false => short.push_str(part),
        }
    }
    strings::abridged(&short, TEXT).into_owned()
}

/// Appends a text with long words shortened. A quote at its end stays.
fn push_words(part: &str, short: &mut String) {
    for word in part.split_inclusive(char::is_whitespace) {
        if word.len() <= PIECE {
            short.push_str(word);
            continue;
        }
        short.push_str(&strings::abridged(word, KEPT));
        short.extend(word.chars().next_back().filter(|last| matches!(last, '`' | '\'' | '"') || last.is_whitespace()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_sentences_are_not() {
        let name = "é".repeat(5_000);
        let short = short_names(format!("the key `{name}` is given twice"));
        assert_eq!(short, format!("the key `{}…` is given twice", "é".repeat(80)));
        let sentence = "some words of a sentence ".repeat(20);
        assert_eq!(short_names(sentence.clone()), sentence);
        assert_eq!(short_names("a".repeat(1_000)), format!("{}…", "a".repeat(160)));
        assert!(short_names("a b ".repeat(100_000)).len() < 5_000);
    }
}
