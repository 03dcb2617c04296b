//! Escapes of literal text: `\n` and its like inside quotes, `$${` and `%%{` everywhere.

/// What a piece of literal text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// Itself.
    Plain,
    /// A character.
    Char(char),
    /// This character and a brace.
    Template(char),
    /// Nothing: it is an escape that there is not.
    Wrong(Wrong),
}

/// What is wrong with an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    /// Nothing stands behind the backslash.
    Cut,
    /// `\u` without four hexadecimal digits.
    Short,
    /// `\U` without eight.
    Long,
    /// A number that is no character.
    NoCharacter,
    /// A letter that means nothing.
    Unknown,
}

/// What a piece of literal text, as the lexer cuts it, stands for.
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
