//! Tokens of the grammar.

use dropforge_base::text::Span;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `||`
    Or,
    /// `&&`
    And,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `in`
    In,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `!`
    Bang,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// An integer, by the offset of its digits. The token includes a sign before them.
    Int(u32),
    /// An unsigned integer.
    Uint,
    /// A number with a fraction or an exponent, by the offset of its digits. The token includes a sign before them.
    Double(u32),
    /// A string literal.
    String,
    /// A bytes literal.
    Bytes,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
    /// An identifier, possibly reserved.
    Ident,
    /// A name in backticks.
    Escaped,
    /// An invalid operand, whose error was reported.
    Invalid,
    /// An unknown character, whose error was reported.
    Bad,
}

impl Symbol {
    /// Returns `true` for the last token of an operand, after which a minus is an operator.
    pub fn ends_operand(self) -> bool {
        matches!(
            self,
            Self::CloseParen
                | Self::CloseBracket
                | Self::CloseBrace
                | Self::Int(_)
                | Self::Uint
                | Self::Double(_)
                | Self::String
                | Self::Bytes
                | Self::True
                | Self::False
                | Self::Null
                | Self::Ident
                | Self::Escaped
                | Self::Invalid
        )
    }

    /// Returns the closing bracket of an opening bracket.
    pub fn closer(self) -> Option<Symbol> {
        match self {
            Self::OpenParen => Some(Self::CloseParen),
            Self::OpenBracket => Some(Self::CloseBracket),
            Self::OpenBrace => Some(Self::CloseBrace),
            _ => None,
        }
    }

    /// Returns `true` for a closing bracket.
    pub fn closes(self) -> bool {
        matches!(self, Self::CloseParen | Self::CloseBracket | Self::CloseBrace)
    }
}

/// A token and its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub symbol: Symbol,
    /// Its span.
    pub span: Span,
}

/// Returns `true` for an identifier or a keyword.
pub fn is_identifier(text: &str) -> bool {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    plain && text.starts_with(|first: char| !first.is_ascii_digit())
}
