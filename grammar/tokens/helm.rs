/// A raw token. Strings, characters and numbers are not checked yet.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raw {
    /// `:=`
    #[token(":=")]
    Declare,
    /// `=`
    #[token("=")]
    Assign,
    /// `,`
    #[token(",")]
    Comma,
    /// `|`
    #[token("|")]
    Pipe,
    /// `(`
    #[token("(")]
    Open,
    /// `)`
    #[token(")")]
    Close,
    /// `"…"`
    #[token("\"", |lexer| closed(lexer, b'"'))]
    Quoted,
    /// A string in backquotes.
    #[token("`", verbatim)]
    Verbatim,
    /// `'…'`
    #[token("'", |lexer| closed(lexer, b'\''))]
    Character,
    /// `.`
    #[token(".")]
    Dot,
    /// The start of `.name`.
    #[regex(r"\.[A-Za-z_][A-Za-z0-9_]*")]
    Field,
    /// The start of `$name`.
    #[regex(r"\$[A-Za-z0-9_]*")]
    Variable,
    /// The start of a word.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    /// A number.
    #[regex(r"[+-][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9_]*)?i?")]
    #[regex(r"[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9_]*)?i?")]
    #[regex(r"\.[0-9][0-9_]*([eE][+-]?[0-9_]*)?i?")]
    #[regex(r"[+-]?0[xX][0-9a-fA-F_]*(\.[0-9a-fA-F_]*)?([pP][+-]?[0-9_]*)?i?", priority = 20)]
    #[regex(r"[+-]?0[oO][0-7_]*(\.[0-7_]*)?i?", priority = 20)]
    #[regex(r"[+-]?0[bB][01_]*(\.[01_]*)?i?", priority = 20)]
    Number,
}
