//! Tokens: what the grammar reads.

use crate::text::Span;

/// What a token is to the grammar.
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
    /// A whole number: where its digits begin. A sign before them belongs to the token.
    Int(u32),
    /// A whole number with `u`.
    Uint,
    /// A number with a fraction or an exponent: where its digits begin. A sign before them belongs to the token.
    Double(u32),
    /// Text in quotes.
    String,
    /// Bytes in quotes.
    Bytes,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    Null,
    /// A name, or a word that is reserved.
    Ident,
    /// A name in backticks.
    Escaped,
    /// What stands for an operand that could not be read; its error is known.
    Invalid,
    /// A character that begins no token; its error is known.
    Bad,
}

impl Symbol {
    /// Whether it ends an operand, so that a minus behind it is an operator.
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

    /// What closes it, if it opens something.
    pub fn closer(self) -> Option<Symbol> {
        match self {
            Self::OpenParen => Some(Self::CloseParen),
            Self::OpenBracket => Some(Self::CloseBracket),
            Self::OpenBrace => Some(Self::CloseBrace),
            _ => None,
        }
    }

    /// Whether it closes something.
    pub fn closes(self) -> bool {
        matches!(self, Self::CloseParen | Self::CloseBracket | Self::CloseBrace)
    }
}

/// A token and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub symbol: Symbol,
    /// Where it stands.
    pub span: Span,
}
