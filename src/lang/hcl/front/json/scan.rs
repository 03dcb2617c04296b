//! The scanner, which cuts tokens as the reference does. It accepts malformed numbers, keywords and strings, so that
//! the parser can report them.

use std::borrow::Cow;

use logos::{Lexer, Logos};

use crate::syntax::token::PositionIndex;
use crate::values::json::unescape;
use dropforge_base::stdlib::characters::clusters;
use dropforge_base::text::Span;

// `TokenKind`, from `grammar/tokens/hcl-json.rs`.
include!("tokens.generated");

/// A token and its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonToken {
    /// The kind.
    pub kind: TokenKind,
    /// The span.
    pub span: Span,
}

/// Scans a text. The last token is [`TokenKind::End`].
///
/// ```
/// use dropforge::dialect::hcl::json::scan::{TokenKind::{self, *}, scan};
/// let kinds = |text: &str| scan(text).iter().map(|token| token.kind).collect::<Vec<TokenKind>>();
/// assert_eq!(kinds("[1, true]"), [OpenBracket, Number, Comma, Keyword, CloseBracket, End]);
/// assert_eq!(kinds("[&1]"), [OpenBracket, Invalid, End]);
/// ```
pub fn scan(text: &str) -> Vec<JsonToken> {
    let mut tokens = Vec::new();
    let mut end = text.len();
    for (kind, at) in TokenKind::lexer(text).spanned() {
        let Ok(kind) = kind else {
            end = at.start + 1;
            tokens.push(JsonToken { kind: TokenKind::Invalid, span: Span::of(at.start..end) });
            break;
        };
        tokens.push(JsonToken { kind, span: Span::of(at) });
    }
    tokens.push(JsonToken { kind: TokenKind::End, span: Span::of(end..end) });
    tokens
}

/// Counts the positions of a text as the reference does for JSON: a tab takes two columns, a carriage return none.
///
/// ```
/// let places = dropforge::dialect::hcl::json::scan::places("{\r\n\t\"a\": 1}");
/// assert_eq!((places.at(4).line, places.at(4).column), (2, 3));
/// ```
pub fn places(text: &str) -> PositionIndex {
    let mut places = PositionIndex::of_lines(text.as_bytes());
    let mut at = 0;
    for token in scan(text) {
        places.count_blanks(text.as_bytes(), Span::new(at, token.span.start));
        // A combining character after the opening quote takes its own column.
        let quote = u32::from(token.kind == TokenKind::String);
        places.count(text.as_bytes(), Span::new(token.span.start + quote, token.span.end));
        at = token.span.end;
    }
    places
}

/// Takes the text after an opening quote up to the closing quote or a control character. The parser decodes the
/// escapes. The reference steps by grapheme clusters, so a quote can be a part of one.
fn string(lexer: &mut Lexer<'_, TokenKind>) {
    let rest = lexer.remainder();
    let (mut at, mut escaping) = (0, false);
    while let Some(&byte) = rest.as_bytes().get(at) {
        match byte {
            b'"' if !escaping => {
                at += 1;
                break;
            }
            0..b' ' => break,
            b'"' | b'\\' => at += 1,
            _ => at += cluster(rest, at),
        }
        escaping = byte == b'\\' && !escaping;
    }
    lexer.bump(at);
}

/// Returns the length of the grapheme cluster at `at`.
fn cluster(text: &str, at: usize) -> usize {
    match text.as_bytes().get(at..at + 2) {
        Some(pair) if pair.is_ascii() => 1,
        _ => text.get(at..).and_then(|rest| clusters(rest).next()).map_or(1, str::len),
    }
}

/// Decodes a string token.
///
/// # Errors
/// The offset after the invalid byte, or the length of the token if it has no closing quote.
pub(super) fn decode(token: &str) -> Result<Cow<'_, str>, usize> {
    let (mut text, mut at) = (Cow::Borrowed(""), 1);
    loop {
        let rest = token.get(at..).unwrap_or("");
        let run = memchr::memchr2(b'"', b'\\', rest.as_bytes()).ok_or(token.len())?;
        let (run, behind) = rest.split_at(run);
        if text.is_empty() {
            text = Cow::Borrowed(run);
        } else {
            text.to_mut().push_str(run);
        }
        at += run.len();
        if behind.starts_with('"') {
            // The scanner cuts grapheme clusters, so combining characters can follow the quote.
            return if behind.len() == 1 { Ok(text) } else { Err(at + 2) };
        }
        let (escaped, len) = unescape(behind).map_err(|bad| (at + bad + 1).min(token.len()))?;
        text.to_mut().push(escaped);
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let tokens = scan(text);
        let show = |token: &JsonToken| format!("{:?} {}-{}", token.kind, token.span.start, token.span.end);
        tokens.iter().map(show).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn more_than_json_is_cut_into_tokens() {
        let cases = [
            ("", "End 0-0"),
            (" \r\n\t", "End 4-4"),
            ("-+.5eE1", "Number 0-7, End 7-7"),
            ("e5", "Keyword 0-1, Number 1-2, End 2-2"),
            ("Tr_ue_", "Keyword 0-6, End 6-6"),
            ("_a", "Invalid 0-1, End 1-1"),
            ("{\"a\"=1}", "OpenBrace 0-1, String 1-4, Equals 4-5, Number 5-6, CloseBrace 6-7, End 7-7"),
            ("\u{feff}{}", "Invalid 0-1, End 1-1"),
            ("\u{c}", "Invalid 0-1, End 1-1"),
        ];
        for (text, wanted) in cases {
            assert_eq!(shown(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn strings_end_at_their_quote_or_at_a_control_character() {
        let cases = [
            (r#""a\"b\\"c"#, "String 0-8, Keyword 8-9, End 9-9"),
            ("\"a\nb", "String 0-2, Keyword 3-4, End 4-4"),
            ("\"a\\", "String 0-3, End 3-3"),
            ("\"\\\u{1}\"", "String 0-2, Invalid 2-3, End 3-3"),
            ("\"e\u{301}\"", "String 0-5, End 5-5"),
            // U+0600 precedes the character it belongs to, here the quote.
            ("\"\u{600}\",1", "String 0-6, End 6-6"),
        ];
        for (text, wanted) in cases {
            assert_eq!(shown(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn columns_count_tabs_twice_and_clusters_once() {
        let text = "\t{\t\"e\u{301}\u{301}\":\t1,\r\n\r\t\"\u{301}\" : \"a\tb\"";
        let places = places(text);
        let at = |what: &str| {
            let place = places.at(Span::of(text.find(what).unwrap()..text.len()).start);
            (place.line, place.column)
        };
        assert_eq!([at("{"), at("\"e"), at(":"), at("1")], [(1, 3), (1, 6), (1, 9), (1, 12)]);
        assert_eq!([at("\"\u{301}\""), at("\"a")], [(2, 3), (2, 9)]);
    }
}

#[cfg(test)]
mod string_tests {
    use super::decode;

    #[test]
    fn strings_are_decoded_as_the_reference_decodes_them() {
        let cases = [
            (r#""""#, Ok("")),
            (r#""a\"\\\/\b\f\n\r\tz""#, Ok("a\"\\/\u{8}\u{c}\n\r\tz")),
            (r#""\u00e9é\ud83d\uDE00\ud83dx\ude00\uD800\uD800""#, Ok("éé😀\u{fffd}x\u{fffd}\u{fffd}\u{fffd}")),
            ("\"\u{7f}\u{85}\"", Ok("\u{7f}\u{85}")),
            (r#""he\llo""#, Err(5)),
            (r#""\u00g0""#, Err(6)),
            (r#""\u00"#, Err(5)),
            (r#""\ud800\u""#, Err(10)),
            (r#""é\é""#, Err(5)),
            ("\"abc", Err(4)),
            ("\"abc\\", Err(5)),
            ("\"abc\\\"", Err(6)),
            ("\"a\"b", Err(4)),
        ];
        for (token, wanted) in cases {
            assert_eq!(decode(token).as_deref(), wanted.as_ref().copied(), "{token}");
        }
    }
}
