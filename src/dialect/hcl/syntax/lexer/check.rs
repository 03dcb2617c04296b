//! Tokens that no source may have, reported once for all the grammar's rules.

use std::sync::Arc;

use super::super::token::{Token, TokenKind};
use crate::diagnostics::{Code, Diagnostic};
use crate::text::Source;

/// How many bitwise operators are reported.
const MOST_BITWISE: usize = 4;

/// A diagnostic for each token of `tokens` that no source may have, up to `most` of them. What is usually repeated is
/// reported once; of quotes that are not quotes, every other one.
pub fn check(source: &Arc<Source>, tokens: &[Token], most: usize) -> Vec<Box<Diagnostic>> {
    let mut told = Told::default();
    let wrong = tokens.iter().filter(|token| told.is_news(token.kind));
    wrong.filter_map(|token| diagnostic(source, *token)).take(most).collect()
}

/// What has been reported.
#[derive(Default)]
struct Told {
    bitwise: usize,
    exponent: bool,
    backticks: usize,
    apostrophes: usize,
    semicolon: bool,
    tabs: bool,
    bad_utf8: bool,
}

impl Told {
    fn is_news(&mut self, kind: TokenKind) -> bool {
        match kind {
            TokenKind::BitAnd | TokenKind::BitOr | TokenKind::BitXor | TokenKind::BitNot => {
                self.bitwise += 1;
                self.bitwise <= MOST_BITWISE
            }
            TokenKind::StarStar => !std::mem::replace(&mut self.exponent, true),
            TokenKind::Backtick => opens(&mut self.backticks),
            TokenKind::Apostrophe => opens(&mut self.apostrophes),
            TokenKind::Semicolon => !std::mem::replace(&mut self.semicolon, true),
            TokenKind::Tabs => !std::mem::replace(&mut self.tabs, true),
            TokenKind::BadUtf8 => !std::mem::replace(&mut self.bad_utf8, true),
            TokenKind::QuotedNewline | TokenKind::Invalid => true,
            _ => false,
        }
    }
}

/// Whether this mark is reported: the first and the third one (each opens a pair); behind the third the reference
/// has stopped counting, at an odd number, and reports no more.
fn opens(marks: &mut usize) -> bool {
    *marks += 1;
    matches!(*marks, 1 | 3)
}

fn diagnostic(source: &Arc<Source>, token: Token) -> Option<Box<Diagnostic>> {
    let (code, summary, detail) = words(token.kind, source.slice(token.span))?;
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

fn words(kind: TokenKind, text: &str) -> Option<(Code, &'static str, &'static str)> {
    let operator = "unsupported operator";
    let character = "invalid character";
    Some(match kind {
        TokenKind::BitAnd | TokenKind::BitOr | TokenKind::BitXor | TokenKind::BitNot => {
            (Code::UnknownCharacter, operator, "There are no bitwise operators.")
        }
        TokenKind::StarStar => (Code::UnknownCharacter, operator, "There is no operator for powers."),
        TokenKind::Backtick => {
            (Code::UnknownCharacter, character, "A backtick quotes nothing; for text of several lines use a heredoc.")
        }
        TokenKind::Apostrophe => {
            (Code::UnknownCharacter, character, "Single quotes do not quote; text stands in double quotes.")
        }
        TokenKind::Semicolon => (
            Code::UnknownCharacter,
            character,
            "Line ends separate arguments and blocks, commas separate elements; there is no `;`.",
        ),
        TokenKind::Tabs => (Code::UnknownCharacter, character, "Indent with spaces, not with tabs."),
        TokenKind::BadUtf8 => (Code::NotUtf8, "invalid character encoding", "A source must be UTF-8."),
        TokenKind::QuotedNewline => (
            Code::UnexpectedToken,
            "invalid multi-line string",
            "Text in quotes ends on its line; write `\\n`, or use a heredoc.",
        ),
        TokenKind::Invalid if matches!(text, "“" | "”") => (
            Code::UnknownCharacter,
            character,
            "A curly quote quotes nothing (word processors put them in); write a straight `\"`.",
        ),
        TokenKind::Invalid => (Code::UnknownCharacter, character, "Nothing begins with this character."),
        _ => return None,
    })
}
