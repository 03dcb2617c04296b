//! Names in other notations: `FirstName`, `first_name`, `first-name`.
//!
//! A text falls into words of one kind: connectors, punctuation, a word with capitals, small letters, digits, others. The
//! kinds of neighbours decide whether a connector stands between them.

use std::iter;

use super::characters::{is_capital, is_letter, is_punctuation};
use super::letter_case::{lower_letter, upper_letter};

/// The kind of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `-`, `_`, white space.
    Connector,
    /// Other punctuation.
    Punctuation,
    /// Capitals, or a capital and small letters.
    Capitals,
    /// Letters without capitals.
    Letters,
    /// Digits.
    Digits,
    /// Other characters, and letters of scripts without words.
    Other,
}

/// A word and its kind.
type Word<'t> = (Kind, &'t str);

/// Converts a name to capitalized words without connectors between them. Connectors at the beginning, doubled ones and
/// one at the end stay.
///
/// `pascal("http_server")` is `HttpServer`.
pub fn pascal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let leading = text.find(|c| !is_connector(c)).unwrap_or(text.len());
    let (connectors, rest) = text.split_at(leading);
    out.push_str(connectors);
    let mut letters = rest.chars();
    let Some(first) = letters.next() else {
        // A text of connectors only gets its last one twice.
        out.extend(connectors.chars().next_back());
        return out;
    };
    let (mut before, mut capitals) = (upper_letter(first), is_capital(first));
    for letter in letters {
        let shown = if is_connector(before) && !is_connector(letter) {
            capitals = is_capital(letter);
            upper_letter(letter)
        } else {
            out.push(before);
            if is_connector(before) {
                letter
            } else {
                capitals &= is_capital(letter);
                if capitals { lower_letter(letter) } else { letter }
            }
        };
        before = shown;
    }
    out.push(before);
    out
}

/// Converts a name to words in small letters with `connector` between them.
///
/// `connected("HTTPServer2xx", '_')` is `http_server_2xx`.
pub fn connected(text: &str, connector: char) -> String {
    let words: Vec<Word<'_>> = words(text).collect();
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(&word) = words.get(at) {
        push_word(word, connector, &mut out);
        at += 1;
        let rest = words.get(at..).unwrap_or(&[]);
        let joined = match word.0 {
            Kind::Connector | Kind::Punctuation => continue,
            Kind::Digits => joined_len(rest),
            _ => match rest {
                // Digits belong to the word before them, unless small letters follow.
                [(Kind::Digits, _)] => continue,
                [(Kind::Digits, _), (Kind::Letters, _), ..] => {
                    out.push(connector);
                    1 + joined_len(rest.get(1..).unwrap_or(&[]))
                }
                [(Kind::Digits, _), ..] => 1,
                _ => 0,
            },
        };
        rest.iter().take(joined).for_each(|word| push_word(*word, connector, &mut out));
        at += joined;
        if words.get(at).is_some_and(|(kind, _)| !matches!(kind, Kind::Connector | Kind::Punctuation)) {
            out.push(connector);
        }
    }
    out
}

/// Returns the number of words that belong to the digits before them: small letters and digits.
fn joined_len(words: &[Word<'_>]) -> usize {
    words.iter().take_while(|(kind, _)| matches!(kind, Kind::Letters | Kind::Digits)).count()
}

fn push_word((kind, word): Word<'_>, connector: char, out: &mut String) {
    match kind {
        Kind::Connector => out.extend(word.chars().map(|_| connector)),
        Kind::Capitals => out.extend(word.chars().map(|c| if is_capital(c) { lower_letter(c) } else { c })),
        _ => out.push_str(word),
    }
}

/// Returns the words of a text.
fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    let mut rest = text;
    iter::from_fn(move || {
        let (kind, len) = first_word(rest)?;
        let (word, behind) = rest.split_at(len);
        rest = behind;
        Some((kind, word))
    })
}

/// Returns the kind and length of the first word.
fn first_word(text: &str) -> Option<(Kind, usize)> {
    let first = text.chars().next()?;
    let kind = kind_of(first);
    let len = match kind {
        Kind::Capitals => capitals_len(text),
        // Connectors after other punctuation are part of it.
        Kind::Punctuation => run(text, |c| !is_punctuation(c)),
        _ => run(text, |c| kind_of(c) != kind),
    };
    Some((kind, len))
}

/// Returns the length of a word that begins with a capital: all capitals but the last one if a small letter follows it, or
/// a capital and small letters.
fn capitals_len(text: &str) -> usize {
    let capitals = run(text, |c| !is_capital(c));
    let last = text.get(..capitals).and_then(|run| run.char_indices().next_back()).map_or(0, |(at, _)| at);
    let small = text.get(capitals..).unwrap_or("");
    if !small.starts_with(is_worded) {
        return capitals;
    }
    if last > 0 { last } else { capitals + run(small, |c| !is_worded(c) || is_capital(c)) }
}

/// Returns the length of the text before the first character that `ends` it.
fn run(text: &str, ends: impl Fn(char) -> bool) -> usize {
    text.find(ends).unwrap_or(text.len())
}

fn kind_of(c: char) -> Kind {
    match c {
        c if is_connector(c) => Kind::Connector,
        c if is_punctuation(c) => Kind::Punctuation,
        c if is_capital(c) => Kind::Capitals,
        c if is_worded(c) => Kind::Letters,
        c if c.is_numeric() => Kind::Digits,
        _ => Kind::Other,
    }
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// Returns `true` for letters of scripts with words: all but the ideographs.
fn is_worded(c: char) -> bool {
    let ideograph = matches!(c, '\u{3400}'..='\u{4d85}' | '\u{4e00}'..='\u{9fcc}' | '\u{20000}'..='\u{2b81d}');
    is_letter(c) && !ideograph
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_capitalized() {
        for (text, wanted) in [
            ("http_server", "HttpServer"),
            ("_camel_case", "_CamelCase"),
            ("_complex__case_", "_Complex_Case_"),
            ("GOLANG_IS_GREAT", "GolangIsGreat"),
            ("some words", "SomeWords"),
            ("fooBar", "FooBar"),
            ("foo_BAR", "FooBar"),
            ("FOO", "Foo"),
            ("FoO", "FoO"),
            ("x-y z", "XYZ"),
            ("a-", "A-"),
            ("__", "___"),
            ("é_ü", "ÉÜ"),
            ("a", "A"),
            ("", ""),
        ] {
            assert_eq!(pascal(text), wanted, "{text}");
        }
    }

    #[test]
    fn words_are_connected() {
        for (text, wanted) in [
            ("FirstName", "first_name"),
            ("HTTPServer", "http_server"),
            ("NoHTTPS", "no_https"),
            ("GO_PATH", "go_path"),
            ("GO PATH", "go_path"),
            ("GO-PATH", "go_path"),
            ("http2xx", "http_2xx"),
            ("HTTP20xOK", "http_20x_ok"),
            ("Duration2m3s", "duration_2m3s"),
            ("Bld4Floor3rd", "bld4_floor_3rd"),
            ("already_snake", "already_snake"),
            ("A", "a"),
            ("aB", "a_b"),
            ("a.b", "a.b"),
            ("a1", "a1"),
            ("1a", "1a"),
            ("1A", "1_a"),
            ("a__B", "a__b"),
            ("a._B", "a._b"),
            ("AB-.c", "ab_.c"),
            ("HTTPé", "htt_pé"),
            ("世界Hello", "世界_hello"),
            ("", ""),
        ] {
            assert_eq!(connected(text, '_'), wanted, "{text}");
        }
    }
}
