//! Grapheme clusters of Unicode 15.0.
//!
//! Since version 15.1 two Indic consonants joined by a virama are one cluster. The references of the languages follow
//! version 15.0 and count two.

use smallvec::SmallVec;
use unicode_segmentation::UnicodeSegmentation;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
