//! Tokens: the raw ones that logos cuts, and the ones the grammar reads.

use logos::Logos;

/// What logos cuts inside a tag. Which word is an operator is decided one step later (see [`super::tag`]).
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raw {
    #[regex("[ \t\r\n]+")]
    Space,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex("0|[1-9][0-9]*")]
    Int,
    #[regex(r"(0|[1-9][0-9]*)\.[0-9]+")]
    Float,
    #[regex("\"[^\"]*\"")]
    #[regex("'[^']*'")]
    #[regex("`[^`]*`")]
    Str,
    #[token("%}")]
    #[token("-%}")]
    TagEnd,
    #[token("}}")]
    #[token("-}}")]
    ValueEnd,
    #[token("<=")]
    LessEq,
    #[token(">=")]
    GreaterEq,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("=")]
    Assign,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Times,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("~")]
    Tilde,
    #[token("|")]
    Pipe,
    #[token(",")]
    Comma,
    #[token("::")]
    Colons,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenList,
    #[token("]")]
    CloseList,
}

/// What the grammar reads. The first token of a tag says which tag it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Token<'s> {
    /// `{{`
    Emit,
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
    /// `as`, of an import
    As,
    /// `ignore missing`, of an include
    IgnoreMissing,
    /// A name that is only a name: of a filter, an argument, a block, a set variable.
    Name(&'s str),
    /// A variable with the way into it, or the name of a function.
    Path(&'s str),
    /// Text, without its quotes.
    Str(&'s str),
    /// Digits.
    Int(&'s str),
    /// Digits with a point.
    Float(&'s str),
    /// `true`, `True`, `false` or `False`
    Bool(bool),
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `-` that touches the digit behind it: a sign where a value may stand, else an operator.
    Sign,
    /// `*`
    Times,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `~`
    Tilde,
    /// `<`
    Less,
    /// `<=`
    LessEq,
    /// `>`
    Greater,
    /// `>=`
    GreaterEq,
    /// `==`
    Equal,
    /// `!=`
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
    Pipe,
    /// `=`
    Assign,
    /// `,`
    Comma,
    /// `::`
    Colons,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `[`
    OpenList,
    /// `]`
    CloseList,
    /// `}}` or `%}`
    End,
}

/// A token between its first byte and the byte behind its last.
pub type Spanned<'s> = (u32, Token<'s>, u32);
