/// A token of the grammar. The first token of a tag names the tag, and its span begins with the tag.
///
/// Inside a tag logos produces raw tokens: every word is a [`Token::Name`] and every `-` a [`Token::Minus`] until the
/// tag's lexer classifies it.
#[derive(Logos, Debug, Clone, Copy, PartialEq)]
pub enum Token<'s> {
    /// Text between tags or in a raw block, trimmed.
    Text(&'s str),
    /// `{{ super() }}` in a block.
    Super,
    /// `{% else %}`
    Else,
    /// `{% endif %}`
    EndIf,
    /// `{% endfor %}`
    EndFor,
    /// `{% endfilter %}`
    EndFilter,
    /// `{% endblock %}`, with any name.
    EndBlock,
    /// `{% endmacro %}`, with any name.
    EndMacro,
    /// `{% break %}`
    Break,
    /// `{% continue %}`
    Continue,
    /// `{{`
    Emit,
    /// The path in a `{{ path }}` that contains nothing else.
    EmitPath(&'s str),
    /// `{% if`
    If,
    /// `{% elif`
    Elif,
    /// `{% for`
    For,
    /// `{% set`
    Set,
    /// `{% set_global`
    SetGlobal,
    /// `{% filter`
    Filter,
    /// `{% block`
    Block,
    /// `{% macro`
    Macro,
    /// `{% include`
    Include,
    /// `{% extends`
    Extends,
    /// `{% import`
    Import,
    /// `as` of an import.
    As,
    /// `ignore missing` of an include.
    IgnoreMissing,
    /// The name of a filter, an argument, a block or an assigned variable.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Name(&'s str),
    /// A path to a value, or the name of a function.
    Path(&'s str),
    /// A string without its quotes.
    #[regex("\"[^\"]*\"", unquoted)]
    #[regex("'[^']*'", unquoted)]
    #[regex("`[^`]*`", unquoted)]
    Str(&'s str),
    /// Digits.
    #[regex("0|[1-9][0-9]*")]
    Int(&'s str),
    /// Digits with a point.
    #[regex(r"(0|[1-9][0-9]*)\.[0-9]+")]
    Float(&'s str),
    /// `true`, `True`, `false` or `False`
    Bool(bool),
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `-` directly before a digit: a sign where a value is allowed, else an operator.
    Sign,
    /// `*`
    #[token("*")]
    Times,
    /// `/`
    #[token("/")]
    Slash,
    /// `%`
    #[token("%")]
    Percent,
    /// `~`
    #[token("~")]
    Tilde,
    /// `<`
    #[token("<")]
    Less,
    /// `<=`
    #[token("<=")]
    LessEq,
    /// `>`
    #[token(">")]
    Greater,
    /// `>=`
    #[token(">=")]
    GreaterEq,
    /// `==`
    #[token("==")]
    Equal,
    /// `!=`
    #[token("!=")]
    NotEqual,
    /// `or`
    Or,
    /// `and`
    And,
    /// `not`
    Not,
    /// `in`
    In,
    /// `is`
    Is,
    /// `|`
    #[token("|")]
    Pipe,
    /// `=`
    #[token("=")]
    Assign,
    /// `,`
    #[token(",")]
    Comma,
    /// `::`
    #[token("::")]
    Colons,
    /// `(`
    #[token("(")]
    Open,
    /// `)`
    #[token(")")]
    Close,
    /// `[`
    #[token("[")]
    OpenList,
    /// `]`
    #[token("]")]
    CloseList,
    /// `}}` or `%}`
    #[token("%}", |_| End::Statement)]
    #[token("-%}", |_| End::Statement)]
    #[token("}}", |_| End::Value)]
    #[token("-}}", |_| End::Value)]
    End(End),
    /// The end of a tag that the lexer gave up. No production accepts it.
    Broken(End),
}
