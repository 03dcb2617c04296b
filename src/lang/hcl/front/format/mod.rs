//! The canonical layout of the native syntax, byte for byte that of the reference's formatter.
//!
//! Only the blanks between tokens change. Three passes over the lines indent them, separate the tokens of a cell, and
//! align the cells behind `=` and the comments of consecutive lines. The text of heredocs and quotes is a token, and
//! stays as it is.

mod spacing;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::syntax::{Token, TokenKind, lex_config};
use spacing::Blanks;

/// A token and the number of blanks before it.
#[derive(Debug, Clone, Copy)]
struct Placed {
    token: Token,
    blanks: usize,
}

impl Placed {
    fn kind(self) -> TokenKind {
        self.token.kind
    }
}

/// Formats a configuration. Only blanks change, even if the syntax is invalid.
///
/// ```
/// use dropforge::dialect::hcl::format::format;
/// assert_eq!(format("a{\nb=[1,2]#c\nlong  =d\n}\n"), "a {\n  b    = [1, 2] #c\n  long = d\n}\n");
/// ```
pub fn format(source: &str) -> String {
    let mut tokens = placed(&lex_config(source.as_bytes()));
    let lines = split(source, &tokens);
    let mut blanks = Blanks::new();
    spacing::indent(&lines, &mut tokens, &mut blanks);
    spacing::separate(source, &lines, &mut tokens);
    spacing::align(source, &lines, &mut tokens, &mut blanks);
    write(source, &tokens)
}

/// Returns the tokens with the blanks of the source. A byte order mark counts as blanks.
fn placed(tokens: &[Token]) -> Vec<Placed> {
    let mut end = 0;
    let place = |token: &Token| {
        let blanks = token.span.start.saturating_sub(end) as usize;
        end = token.span.end;
        Placed { token: *token, blanks }
    };
    tokens.iter().map(place).collect()
}

fn write(source: &str, tokens: &[Placed]) -> String {
    let len = tokens.iter().map(|placed| placed.blanks + placed.token.span.range().len()).sum();
    let mut text = String::with_capacity(len);
    for placed in tokens {
        text.extend(std::iter::repeat_n(' ', placed.blanks));
        text.push_str(source.get(placed.token.span.range()).unwrap_or(""));
    }
    text
}

/// Returns by how many levels a token changes the nesting.
fn nesting(kind: TokenKind) -> isize {
    match kind {
        TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => 1,
        TokenKind::OpenInterpolation | TokenKind::OpenDirective => 1,
        TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen | TokenKind::CloseSequence => -1,
        _ => 0,
    }
}

/// A line, as ranges of tokens. A heredoc or a comment of several lines belongs to its first line.
#[derive(Debug, Clone)]
struct Line {
    /// The tokens in neither of the other cells. It is empty only at the end of a file.
    pub(super) lead: Range<usize>,
    /// The tokens from `=` on, if their brackets are balanced.
    pub(super) value: Range<usize>,
    /// The comment at the end, unless it is the whole line.
    pub(super) comment: Range<usize>,
}

/// Splits tokens into lines, without the end of the file.
fn split(source: &str, tokens: &[Placed]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    for (at, placed) in tokens.iter().enumerate() {
        let ends = match placed.kind() {
            TokenKind::Newline => true,
            TokenKind::Comment => source.get(placed.token.span.range()).is_some_and(|text| text.ends_with('\n')),
            TokenKind::End => {
                lines.push(cells(tokens, start..at));
                break;
            }
            _ => false,
        };
        if ends {
            lines.push(cells(tokens, start..at + 1));
            start = at + 1;
        }
    }
    lines
}

fn cells(tokens: &[Placed], line: Range<usize>) -> Line {
    let of = |range: Range<usize>| tokens.get(range).unwrap_or(&[]);
    let ends_in_comment = of(line.clone()).last().is_some_and(|last| last.kind() == TokenKind::Comment);
    let comment = if line.len() > 1 && ends_in_comment { line.end - 1 } else { line.end };
    let equals = of(line.start..comment).iter().skip(1).position(|placed| placed.kind() == TokenKind::Equal);
    let is_whole = |at: &usize| of(*at..comment).iter().map(|placed| nesting(placed.kind())).sum::<isize>() == 0;
    let value = equals.map(|at| line.start + 1 + at).filter(is_whole).unwrap_or(comment);
    Line { lead: line.start..value, value: value..comment, comment: comment..line.end }
}
