//! What the grammar reads: tokens without comments and meaningless line ends, and with the words of `for` and of
//! directives told from names.

use crate::dialect::hcl::syntax::token::TokenKind;

/// A terminal of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Symbol {
    /// What follows is a configuration.
    Config,
    /// What follows is an expression.
    Expression,
    /// What follows is the text of a template.
    Template,
    /// The end of a line (or more), where it means something; the end of a configuration, too.
    Line,
    Name,
    Number,
    If,
    Else,
    EndIf,
    For,
    In,
    EndFor,
    OpenQuote,
    CloseQuote,
    OpenHeredoc,
    CloseHeredoc,
    QuotedText,
    Text,
    OpenInterpolation,
    OpenDirective,
    CloseSequence,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    Equal,
    FatArrow,
    Colon,
    DoubleColon,
    Question,
    Comma,
    Dot,
    Ellipsis,
    Bang,
    Or,
    And,
    EqualEqual,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    /// A token that is an error wherever it stands.
    Bad,
}

impl From<TokenKind> for Symbol {
    fn from(kind: TokenKind) -> Self {
        match kind {
            TokenKind::OpenBrace => Symbol::OpenBrace,
            TokenKind::CloseBrace => Symbol::CloseBrace,
            TokenKind::OpenBracket => Symbol::OpenBracket,
            TokenKind::CloseBracket => Symbol::CloseBracket,
            TokenKind::OpenParen => Symbol::OpenParen,
            TokenKind::CloseParen => Symbol::CloseParen,
            TokenKind::OpenQuote => Symbol::OpenQuote,
            TokenKind::CloseQuote => Symbol::CloseQuote,
            TokenKind::OpenHeredoc => Symbol::OpenHeredoc,
            TokenKind::CloseHeredoc => Symbol::CloseHeredoc,
            TokenKind::Star => Symbol::Star,
            TokenKind::Slash => Symbol::Slash,
            TokenKind::Plus => Symbol::Plus,
            TokenKind::Minus => Symbol::Minus,
            TokenKind::Percent => Symbol::Percent,
            TokenKind::Equal => Symbol::Equal,
            TokenKind::EqualEqual => Symbol::EqualEqual,
            TokenKind::NotEqual => Symbol::NotEqual,
            TokenKind::Less => Symbol::Less,
            TokenKind::LessEqual => Symbol::LessEqual,
            TokenKind::Greater => Symbol::Greater,
            TokenKind::GreaterEqual => Symbol::GreaterEqual,
            TokenKind::And => Symbol::And,
            TokenKind::Or => Symbol::Or,
            TokenKind::Bang => Symbol::Bang,
            TokenKind::Dot => Symbol::Dot,
            TokenKind::Comma => Symbol::Comma,
            TokenKind::DoubleColon => Symbol::DoubleColon,
            TokenKind::Ellipsis => Symbol::Ellipsis,
            TokenKind::FatArrow => Symbol::FatArrow,
            TokenKind::Question => Symbol::Question,
            TokenKind::Colon => Symbol::Colon,
            TokenKind::OpenInterpolation => Symbol::OpenInterpolation,
            TokenKind::OpenDirective => Symbol::OpenDirective,
            TokenKind::CloseSequence => Symbol::CloseSequence,
            TokenKind::QuotedText => Symbol::QuotedText,
            TokenKind::Text => Symbol::Text,
            TokenKind::Number => Symbol::Number,
            TokenKind::Identifier => Symbol::Name,
            TokenKind::Newline | TokenKind::End => Symbol::Line,
            TokenKind::Comment
            | TokenKind::BitAnd
            | TokenKind::BitOr
            | TokenKind::BitNot
            | TokenKind::BitXor
            | TokenKind::StarStar
            | TokenKind::Apostrophe
            | TokenKind::Backtick
            | TokenKind::Semicolon
            | TokenKind::Tabs
            | TokenKind::Invalid
            | TokenKind::BadUtf8
            | TokenKind::QuotedNewline => Symbol::Bad,
        }
    }
}
