//! The canonical layout of the native syntax, byte for byte that of the reference's formatter.
//!
//! Only the blanks between tokens change. Three passes over the lines indent them, separate the tokens of a cell, and
//! align the cells behind `=` and the comments of consecutive lines. The text of heredocs and quotes is a token, and
//! stays as it is.

mod cells;
mod spacing;
#[cfg(test)]
mod tests;

use super::syntax::lexer::lex_config;
use super::syntax::token::{Token, TokenKind};
use cells::Line;
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
    let lines = cells::split(source, &tokens);
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
