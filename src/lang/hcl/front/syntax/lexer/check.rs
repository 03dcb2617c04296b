//! Diagnostics for tokens that no source may have.

use std::sync::Arc;

use crate::syntax::{Token, TokenKind};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;

/// The largest number of bitwise operators that are reported.
const MOST_BITWISE: usize = 4;

/// Reports tokens that no source may have, up to `most` of them. Most kinds are reported once; of quotes that are not
/// quotes, every other one.
pub fn check(source: &Arc<Source>, tokens: impl IntoIterator<Item = Token>, most: usize) -> Vec<Box<Diagnostic>> {
    let mut seen = [0_usize; 5];
    let mut is_news = |token: &Token| {
        let (group, reported): (usize, fn(usize) -> bool) = match token.kind {
            TokenKind::BitAnd | TokenKind::BitOr | TokenKind::BitXor | TokenKind::BitNot => (0, |n| n <= MOST_BITWISE),
            // Each of these opens a pair. Behind the third, the reference has stopped counting, at an odd number.
            TokenKind::Backtick => (1, |n| matches!(n, 1 | 3)),
            TokenKind::Apostrophe => (2, |n| matches!(n, 1 | 3)),
            TokenKind::Semicolon => (3, |n| n == 1),
            TokenKind::BadUtf8 => (4, |n| n == 1),
            kind => return matches!(kind, TokenKind::QuotedNewline | TokenKind::Invalid),
        };
        let Some(count) = seen.get_mut(group) else { return false };
        *count += 1;
        reported(*count)
    };
    let wrong = tokens.into_iter().filter(|token| is_news(token));
    wrong.filter_map(|token| diagnostic(source, token)).take(most).collect()
}

fn diagnostic(source: &Arc<Source>, token: Token) -> Option<Box<Diagnostic>> {
    let (summary, detail) = words(token.kind, source.slice(token.span))?;
    let code = match token.kind {
        TokenKind::BadUtf8 => Code::NotUtf8,
        TokenKind::QuotedNewline => Code::UnexpectedToken,
        _ => Code::UnknownCharacter,
    };
    let diagnostic = Diagnostic::new(code, summary).at(source, token.span, "").with_detail(detail);
    Some(match instead(token.kind) {
        Some(operator) => diagnostic.with_help(format!("did you mean `{operator}`?")),
        None => diagnostic,
    })
}

/// The logical operator that a bitwise one is often written for.
fn instead(kind: TokenKind) -> Option<&'static str> {
    match kind {
        TokenKind::BitAnd => Some("&&"),
        TokenKind::BitOr => Some("||"),
        TokenKind::BitNot => Some("!"),
        _ => None,
    }
}

/// Returns the summary and the detail of a wrong token.
fn words(kind: TokenKind, text: &str) -> Option<(&'static str, &'static str)> {
    let operator = "Unsupported operator";
    let character = "Invalid character";
    Some(match kind {
        TokenKind::BitAnd | TokenKind::BitOr | TokenKind::BitXor | TokenKind::BitNot => {
            (operator, "HCL has no bitwise operators.")
        }
        TokenKind::Backtick => (character, "Backticks cannot quote strings. For a multi-line string, use a heredoc."),
        TokenKind::Apostrophe => (character, "Single quotes cannot quote strings. Use double quotes."),
        TokenKind::Semicolon => (
            character,
            "Semicolons separate nothing. Use new lines between arguments and blocks, and commas between elements.",
        ),
        TokenKind::BadUtf8 => ("Invalid character encoding", "The source must be UTF-8."),
        TokenKind::QuotedNewline => {
            ("Invalid multi-line string", "A quoted string cannot contain a line end. Write `\\n`, or use a heredoc.")
        }
        TokenKind::Invalid if matches!(text, "“" | "”") => {
            (character, "Curly quotes cannot quote strings. Use straight quotes: `\"`.")
        }
        TokenKind::Invalid => (character, "This character is not used in HCL."),
        _ => return None,
    })
}
