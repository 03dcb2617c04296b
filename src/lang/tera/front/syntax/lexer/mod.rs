//! Source text to tokens.
//!
//! The lexer is modal. Outside tags only `{{`, `{%` and `{#` are special. Inside a tag logos splits the characters and
//! `words` classifies each word by its position: `or` after a value is an operator, and a variable where a value is
//! expected, because the language reserves no words.
//!
//! ```text
//!   text ──{{──▶ value ──}}──▶ text        text ──{%──▶ tag ──%}──▶ text
//!   text ──{#──▶ comment ──#}──▶ text      text ──{% raw %}──▶ raw ──{% endraw %}──▶ text
//! ```
//!
//! | file | content |
//! |---|---|
//! | `scanner` | the loop over a source: text, comments, raw blocks, tags |
//! | `tag` | the inside of a tag: symbols, literals, brackets |
//! | `heads` | the parts of statements that are not expressions |
//! | `words` | operators, variables, literals and names |
//! | `blocks` | open blocks: missing and misplaced tags |
//! | `whitespace` | trimming by `{%-` and `-%}` |
//! | `bytes` | searches in bytes |
//! | `token` | logos' tokens and the grammar's tokens |
//! | `tags` | the names of tags |
//!
//! Invariant: every step consumes input, so lexing terminates. Brackets and blocks are counted here, and their number
//! never exceeds [`Limits::nesting`](dropforge_base::limits::Limits::nesting).

mod blocks;
mod bytes;
mod heads;
mod scanner;
mod tag;
mod tags;
mod token;
mod whitespace;
mod words;

pub(super) use bytes::word_end;
pub(super) use scanner::{LexedSource, lex};
pub use token::{End, Spanned, Token};
