//! Pieces of literal text: escapes, `$` and `%` sequences, line ends, and the plain text between them.

use logos::Logos;

use crate::text::Span;

/// The pieces of text inside quotes. An escape need not be valid.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false)]
enum QuotedPiece {
    #[regex(b"\\\\u[0-9A-Fa-f]{0,4}")]
    #[regex(b"\\\\U[0-9A-Fa-f]{0,8}")]
    #[regex(b"\\\\[\x00-\x7F--[uU]]?")]
    #[regex(b"\\\\([\xC0-\xDF][\x80-\xBF]|[\xE0-\xEF][\x80-\xBF]{2}|[\xF0-\xF7][\x80-\xBF]{3})")]
    #[regex(b"\\$\\$?|%%?|\\$\\$\\{|%%\\{")]
    #[regex(b"\r\n?|\n")]
    #[regex(b"[^\\\\$%\r\n]+")]
    Piece,
}

/// The pieces of any other text: a backslash means nothing.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(utf8 = false)]
enum PlainPiece {
    #[regex(b"\\$\\$?|%%?|\\$\\$\\{|%%\\{")]
    #[regex(b"\r\n?|\n")]
    #[regex(b"[^$%\r\n]+")]
    Piece,
}

/// Splits the literal text of a token into escapes, `$${`-like pieces, line ends, and the plain text between them.
///
/// ```
/// use dropforge::dialect::hcl::syntax::lexer::scan_string_literal;
/// let text = r"a\n$${";
/// let pieces = |quoted| scan_string_literal(text, quoted).map(|span| &text[span.range()]).collect::<Vec<_>>();
/// assert_eq!(pieces(true), ["a", r"\n", "$${"]);
/// assert_eq!(pieces(false), [r"a\n", "$${"]);
/// ```
pub fn scan_string_literal(text: &str, quoted: bool) -> impl Iterator<Item = Span> {
    let bytes = text.as_bytes();
    let mut in_quotes = QuotedPiece::lexer(if quoted { bytes } else { &[] });
    let mut plain = PlainPiece::lexer(if quoted { &[] } else { bytes });
    std::iter::from_fn(move || match quoted {
        true => in_quotes.next().map(|_| Span::of(in_quotes.span())),
        false => plain.next().map(|_| Span::of(plain.span())),
    })
}
