/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Logos)]
#[logos(skip r"[ \t\r\n]+")]
pub enum TokenKind {
    /// `{`
    #[token("{")]
    OpenBrace,
    /// `}`
    #[token("}")]
    CloseBrace,
    /// `[`
    #[token("[")]
    OpenBracket,
    /// `]`
    #[token("]")]
    CloseBracket,
    /// `,`
    #[token(",")]
    Comma,
    /// `:`
    #[token(":")]
    Colon,
    /// `=`, which JSON does not have. Authors of the native syntax may write it.
    #[token("=")]
    Equals,
    /// A word, valid or not.
    #[regex("[A-Za-z][A-Za-z_]*")]
    Keyword,
    /// Digits, signs, dots and exponents in any order.
    #[regex(r"[-+.0-9][-+.0-9eE]*")]
    Number,
    /// A string with its quotes. The closing quote may be missing at the end of its line.
    #[token("\"", string)]
    String,
    /// A byte that starts no token. The scan ends here.
    Invalid,
    /// The end of the scanned text.
    End,
}
