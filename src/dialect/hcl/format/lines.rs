//! Lines, and the cells of a line: what it begins with, the value from `=` on, and the comment at its end.

use std::ops::Range;

use super::{Placed, TokenKind, nesting};

/// A line, as ranges of tokens. A heredoc, or a comment of several lines, is a part of the line it begins on.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// All that is in neither of the other cells; empty only at the end of a file.
    pub(super) lead: Range<usize>,
    /// From `=` on, where as many brackets are closed behind it as are opened.
    pub(super) value: Range<usize>,
    /// The comment that ends the line, where it is not all of it.
    pub(super) comment: Range<usize>,
}

/// The lines of `tokens`; the end of the file is in none of them.
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
