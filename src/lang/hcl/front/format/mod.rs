//! The canonical layout of the native syntax, byte for byte that of the reference's formatter.
//!
//! Only the blanks between tokens change. Three passes over the lines indent them, separate the tokens of a cell, and
//! align the cells after `=` and the comments of consecutive lines. The text of heredocs and quotes is a token, and
//! stays as it is.

use std::ops::Range;

use crate::syntax::{Token, TokenKind, lex_config};
use dropforge_base::stdlib::characters;

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
/// use dropforge::hcl::format::format;
/// assert_eq!(format("a{\nb=[1,2]#c\nlong  =d\n}\n"), "a {\n  b    = [1, 2] #c\n  long = d\n}\n");
/// ```
pub fn format(source: &str) -> String {
    let mut tokens = placed(&lex_config(source.as_bytes()));
    let lines = split(source, &tokens);
    let mut blanks = Blanks::new();
    indent(&lines, &mut tokens, &mut blanks);
    separate(source, &lines, &mut tokens);
    align(source, &lines, &mut tokens, &mut blanks);
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
    comment: Range<usize>,
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

/// The blanks of a level.
const INDENT: usize = 2;

/// The maximum number of blanks that indentation and alignment add to a file.
const MOST_BLANKS: usize = 64 << 20;

/// The remainder of [`MOST_BLANKS`]. Without it, a file of a hundred thousand levels, or of as many lines aligned with
/// one as long, would exhaust the memory.
struct Blanks(usize);

impl Blanks {
    fn new() -> Self {
        Self(MOST_BLANKS)
    }

    /// Takes `count` blanks. Returns `false` if there are too few.
    fn take(&mut self, count: usize) -> bool {
        let left = self.0.checked_sub(count);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// The open brackets of lines, with an entry for each line: several brackets of one line indent once.
#[derive(Default)]
struct Levels(Vec<usize>);

impl Levels {
    /// Returns the level of a line that opens `net` more brackets than it closes. The levels that it closes end before
    /// it.
    fn of_line(&mut self, net: isize) -> usize {
        if net > 0 {
            self.0.push(net.unsigned_abs());
            return self.0.len() - 1;
        }
        let mut closed = net.unsigned_abs();
        while let Some(open) = self.0.last_mut().filter(|_| closed > 0) {
            if *open > closed {
                *open -= closed;
                break;
            }
            closed -= *open;
            self.0.pop();
        }
        self.0.len()
    }
}

/// Indents each line by the open brackets before it.
fn indent(lines: &[Line], tokens: &mut [Placed], blanks: &mut Blanks) {
    let mut levels = Levels::default();
    for line in lines {
        let first = line.lead.start;
        let Some(kind) = tokens.get(first).filter(|_| !line.lead.is_empty()).map(|first| first.kind()) else {
            continue;
        };
        let wanted = match kind {
            TokenKind::Newline => 0,
            _ => INDENT * levels.of_line(opened(tokens, line)),
        };
        place(tokens, first, if blanks.take(wanted) { wanted } else { 0 });
    }
}

/// Returns how many more brackets a line opens than it closes. Tokens after the start of a heredoc in the first cell
/// do not count.
fn opened(tokens: &[Placed], line: &Line) -> isize {
    let of = |range: &Range<usize>| tokens.get(range.clone()).unwrap_or(&[]);
    let lead = of(&line.lead).iter().take_while(|placed| placed.kind() != TokenKind::OpenHeredoc);
    lead.chain(of(&line.value)).map(|placed| nesting(placed.kind())).sum()
}

/// Sets the blanks between the tokens of each cell.
fn separate(source: &str, lines: &[Line], tokens: &mut [Placed]) {
    for cell in lines.iter().flat_map(|line| [&line.lead, &line.value]) {
        let mut before = None;
        for at in cell.start..cell.end.saturating_sub(1) {
            let Some([placed, after]) = tokens.get_mut(at..at + 2) else { break };
            let kind = placed.kind();
            let is_in = before == Some(TokenKind::Identifier)
                && kind == TokenKind::Identifier
                && source.get(placed.token.span.range()) == Some("in");
            after.blanks = usize::from(is_separated(before, kind, after.kind(), is_in));
            before = Some(kind);
        }
    }
}

/// Returns `true` if a blank separates `token` and `after`. `before` precedes `token` in the cell. Behind the `in` of a
/// `for` (`is_in`), a bracket starts a tuple, not an index.
fn is_separated(before: Option<TokenKind>, token: TokenKind, after: TokenKind, is_in: bool) -> bool {
    use TokenKind::*;
    match (token, after) {
        (_, Newline) => false,
        (Identifier, OpenParen | DoubleColon) | (DoubleColon, Identifier) => false,
        (Dot, _) | (_, Dot | Comma | Ellipsis) => false,
        (Comma, _) => true,
        (QuotedText | Text | OpenQuote | OpenHeredoc, _) | (_, QuotedText | Text | CloseQuote | CloseHeredoc) => false,
        _ if is_in => true,
        (Identifier | Number | CloseBrace | CloseBracket | CloseParen | CloseSequence, OpenBracket) => false,
        (Bang, _) => false,
        (Minus, _) => before.is_some_and(|before| !asks_for_operand(before)),
        (OpenBrace, CloseBrace) => false,
        (OpenBrace, _) | (_, CloseBrace) => true,
        (OpenInterpolation | OpenDirective, OpenBrace) | (CloseBrace, CloseSequence) => true,
        (CloseSequence, OpenInterpolation | OpenDirective) => false,
        _ => nesting(token) <= 0 && nesting(after) >= 0,
    }
}

/// Returns `true` if a `-` after `kind` is a sign.
fn asks_for_operand(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        OpenParen
            | OpenBrace
            | OpenBracket
            | Equal
            | Colon
            | Comma
            | Question
            | Plus
            | Star
            | Slash
            | Percent
            | Minus
            | EqualEqual
            | NotEqual
            | Greater
            | GreaterEqual
            | Less
            | LessEqual
            | And
            | Or
            | Bang
    )
}

/// Aligns the values, then the comments, of consecutive lines.
fn align(source: &str, lines: &[Line], tokens: &mut [Placed], blanks: &mut Blanks) {
    align_cells(source, lines, tokens, blanks, |line| (line.lead.clone(), line.value.clone()));
    align_cells(source, lines, tokens, blanks, |line| (line.lead.start..line.value.end, line.comment.clone()));
}

/// Aligns the second of two cells of each line.
fn align_cells(
    source: &str,
    lines: &[Line],
    tokens: &mut [Placed],
    blanks: &mut Blanks,
    cells: impl Fn(&Line) -> (Range<usize>, Range<usize>),
) {
    let has_cell = |line: &Line| !cells(line).1.is_empty();
    for chain in lines.chunk_by(|one, next| has_cell(one) && has_cell(next)).filter(|chain| chain.iter().all(has_cell))
    {
        let widths: Vec<_> = chain.iter().map(|line| columns(source, tokens, cells(line).0)).collect();
        let widest = widths.iter().copied().max().unwrap_or(0);
        let aligned = blanks.take(widths.iter().map(|width| widest - width).sum());
        for (line, width) in chain.iter().zip(widths) {
            place(tokens, cells(line).1.start, if aligned { widest - width + 1 } else { 1 });
        }
    }
}

/// Returns the columns that tokens and the blanks before them take.
fn columns(source: &str, tokens: &[Placed], range: Range<usize>) -> usize {
    let one = |placed: &Placed| placed.blanks + characters::count(source.get(placed.token.span.range()).unwrap_or(""));
    tokens.get(range).unwrap_or(&[]).iter().map(one).sum()
}

fn place(tokens: &mut [Placed], at: usize, blanks: usize) {
    if let Some(placed) = tokens.get_mut(at) {
        placed.blanks = blanks;
    }
}

#[cfg(test)]
mod tests;
