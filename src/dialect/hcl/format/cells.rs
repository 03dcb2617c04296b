//! Lines and their cells: the start, the value from `=` on, and the comment at the end.

use std::ops::Range;

use super::{Placed, TokenKind, nesting};

/// A line, as ranges of tokens. A heredoc or a comment of several lines belongs to its first line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The tokens in neither of the other cells. It is empty only at the end of a file.
    pub(super) lead: Range<usize>,
    /// The tokens from `=` on, if their brackets are balanced.
    pub(super) value: Range<usize>,
    /// The comment at the end, unless it is the whole line.
    pub(super) comment: Range<usize>,
}

/// Splits tokens into lines, without the end of the file.
pub(super) fn split(source: &str, tokens: &[Placed]) -> Vec<Line> {
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
