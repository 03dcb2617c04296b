//! Tokens of the native syntax.

use dropforge_base::text::Span;

/// The kind of a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `"` that begins a quoted template.
    OpenQuote,
    /// `"` that ends one.
    CloseQuote,
    /// `<<EOT` or `<<-EOT` with the line's end.
    OpenHeredoc,
    /// The closing marker with the blanks before it.
    CloseHeredoc,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `%`
    Percent,
    /// `=`
    Equal,
    /// `==`
    EqualEqual,
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
    /// `&&`
    And,
    /// `||`
    Or,
    /// `!`
    Bang,
    /// `.`
    Dot,
    /// `,`
    Comma,
    /// `::`
    DoubleColon,
    /// `...`
    Ellipsis,
    /// `=>`
    FatArrow,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `${` or `${~`
    OpenInterpolation,
    /// `%{` or `%{~`
    OpenDirective,
    /// `}` or `~}` that ends one of those.
    CloseSequence,
    /// Literal text inside quotes, escapes as written.
    QuotedText,
    /// Literal text of a heredoc or of a template that is a file; ends at every line's end.
    Text,
    /// Digits, with fraction and exponent.
    Number,
    /// A name; keywords are names.
    Identifier,
    /// `# …`, `// …` (with the line's end) or `/* … */`.
    Comment,
    /// The end of a line.
    Newline,
    /// The end of the file; empty.
    #[default]
    End,
    /// `&` alone.
    BitAnd,
    /// `|` alone.
    BitOr,
    /// `~`
    BitNot,
    /// `^`
    BitXor,
    /// `'`
    Apostrophe,
    /// A backtick.
    Backtick,
    /// `;`
    Semicolon,
    /// A character that begins no token.
    Invalid,
    /// A byte that is not UTF-8.
    BadUtf8,
    /// A line's end inside quotes.
    QuotedNewline,
}

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// The kind.
    pub kind: TokenKind,
    /// The place in bytes.
    pub span: Span,
}
