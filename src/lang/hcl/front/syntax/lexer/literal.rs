//! Pieces of literal text: escapes, `$` and `%` sequences, line ends, and the plain text between them.

use logos::Logos;

use dropforge_base::text::Span;

// `QuotedPiece` and `PlainPiece`, from `grammar/tokens/hcl-literal.rs`.
include!("literal.generated");

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

/// The meaning of a piece of literal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::syntax) enum LiteralPiece {
    /// Itself.
    Plain,
    /// A character.
    Char(char),
    /// This character and a brace.
    Template(char),
    /// Nothing: the escape is not valid.
    Wrong(Wrong),
}

/// The fault of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::syntax) enum Wrong {
    /// The text ends after the backslash.
    Cut,
    /// `\u` without four hexadecimal digits.
    Short,
    /// `\U` without eight.
    Long,
    /// An invalid code point.
    NoCharacter,
    /// An unknown character after the backslash.
    Unknown,
}

/// The meaning of a piece of literal text from the lexer.
pub(in crate::front::syntax) fn escape_of(text: &str, quoted: bool) -> LiteralPiece {
    match text.as_bytes() {
        b"$${" => LiteralPiece::Template('$'),
        b"%%{" => LiteralPiece::Template('%'),
        [b'\\', escape @ ..] if quoted => match escape {
            [] => LiteralPiece::Wrong(Wrong::Cut),
            b"n" => LiteralPiece::Char('\n'),
            b"r" => LiteralPiece::Char('\r'),
            b"t" => LiteralPiece::Char('\t'),
            b"\"" => LiteralPiece::Char('"'),
            b"\\" => LiteralPiece::Char('\\'),
            [b'u', ..] if text.len() != 6 => LiteralPiece::Wrong(Wrong::Short),
            [b'U', ..] if text.len() != 10 => LiteralPiece::Wrong(Wrong::Long),
            [b'u' | b'U', ..] => {
                let code = text.get(2..).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                code.and_then(char::from_u32).map_or(LiteralPiece::Wrong(Wrong::NoCharacter), LiteralPiece::Char)
            }
            _ => LiteralPiece::Wrong(Wrong::Unknown),
        },
        _ => LiteralPiece::Plain,
    }
}
