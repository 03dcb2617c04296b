//! Escapes of literal text: `\n` and its like inside quotes, `$${` and `%%{` everywhere.

/// The meaning of a piece of literal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
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
pub(super) enum Wrong {
    /// The text ends behind the backslash.
    Cut,
    /// `\u` without four hexadecimal digits.
    Short,
    /// `\U` without eight.
    Long,
    /// An invalid code point.
    NoCharacter,
    /// An unknown character behind the backslash.
    Unknown,
}

/// The meaning of a piece of literal text from the lexer.
pub(super) fn piece(text: &str, quoted: bool) -> Piece {
    match text.as_bytes() {
        b"$${" => Piece::Template('$'),
        b"%%{" => Piece::Template('%'),
        [b'\\', escape @ ..] if quoted => match escape {
            [] => Piece::Wrong(Wrong::Cut),
            b"n" => Piece::Char('\n'),
            b"r" => Piece::Char('\r'),
            b"t" => Piece::Char('\t'),
            b"\"" => Piece::Char('"'),
            b"\\" => Piece::Char('\\'),
            [b'u', ..] if text.len() != 6 => Piece::Wrong(Wrong::Short),
            [b'U', ..] if text.len() != 10 => Piece::Wrong(Wrong::Long),
            [b'u' | b'U', ..] => {
                let code = text.get(2..).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                code.and_then(char::from_u32).map_or(Piece::Wrong(Wrong::NoCharacter), Piece::Char)
            }
            _ => Piece::Wrong(Wrong::Unknown),
        },
        _ => Piece::Plain,
    }
}
