//! The words of Go's messages.

use super::action::Context;
use super::token::{Spanned, Token};
pub(super) use crate::error::quoted;

/// Returns a token as messages show it. Long ones are cut.
pub(crate) fn token_text(token: Token<'_>, text: &str) -> String {
    if token.is_keyword() {
        return format!("<{text}>");
    }
    match text.char_indices().nth(10) {
        Some((end, _)) if text.len() > 10 => format!("{}...", quoted(text.get(..end).unwrap_or(text))),
        _ => quoted(text),
    }
}

/// Returns the message of the first token that the grammar does not expect, `tokens[at]`. `text` is its text, or `None`
/// at the end of the action.
pub fn unexpected(tokens: &[Spanned<'_>], at: usize, text: Option<&str>, end: &str) -> String {
    let found = match (tokens.get(at), text) {
        (Some((token, _)), Some(text)) => token_text(*token, text),
        _ => quoted(end),
    };
    let before = tokens.get(..at).unwrap_or(tokens);
    format!("unexpected {found} in {}", place(before))
}

/// Returns the part of an action behind these tokens.
fn place(before: &[Spanned<'_>]) -> &'static str {
    let mut open = 0_usize;
    for (token, _) in before {
        match token {
            Token::Open => open += 1,
            Token::Close => open = open.saturating_sub(1),
            _ => {}
        }
    }
    let in_operands = before.iter().rev().find(|(token, _)| *token != Token::Space);
    let in_operands = in_operands.is_some_and(|(token, _)| token.ends_operand());
    match before {
        _ if open > 0 => return if in_operands { "operand" } else { Context::Parentheses.name() },
        [(Token::End, _), ..] => return "end",
        [(Token::Break, _), ..] => return "{{break}}",
        [(Token::Continue, _), ..] => return "{{continue}}",
        [(Token::Define, _), ..] => return "define clause",
        [(Token::Else, _)] => return "else",
        [(Token::Template, _)] => return Context::Template.name(),
        [(Token::Block, _)] => return Context::Block.name(),
        [(Token::Template, _), _] => return Context::Template.name(),
        [(Token::Block, _), _] => return Context::Block.name(),
        _ => {}
    }
    if in_operands { "operand" } else { clause(before).name() }
}

/// Returns the clause that an action begins with.
fn clause(tokens: &[Spanned<'_>]) -> Context {
    match tokens {
        [(Token::If, _), ..] | [(Token::Else, _), (Token::If, _), ..] => Context::If,
        [(Token::With, _), ..] | [(Token::Else, _), (Token::With, _), ..] => Context::With,
        [(Token::Range, _), ..] => Context::Range,
        [(Token::Template, _), ..] => Context::Template,
        [(Token::Block, _), ..] => Context::Block,
        _ => Context::Command,
    }
}
