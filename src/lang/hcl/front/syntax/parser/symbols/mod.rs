//! The symbols between the lexer and the grammar.
//!
//! [`Symbols`] drops comments and line ends that mean nothing, tells the words of `for` and of directives from names,
//! and counts nesting. All of this depends on the open constructs, a stack of levels.
//!
//! The grammar alone decides where an error is: the parser calls [`Symbols::refuse`] and reads the item again. When the
//! refused token comes up again, `repair/` reports what had to stand there, skips tokens as the reference
//! implementation does, and gives the grammar symbols that complete the open constructs. Faults that no grammar sees,
//! such as unknown escapes, are reported on the way.

mod repair;
mod tokens;

use std::collections::VecDeque;
use std::ops::ControlFlow;

use super::Reports;
use crate::syntax::{Token, TokenKind};
use dropforge_base::text::Span;
use tokens::{Inside, Item, ItemPart, Level};

/// The largest number of operators and steps in a row.
const LINKS: u32 = 10_000;

/// The number of tokens that may be read again after errors, beyond the number of tokens of the text.
const READ_AGAIN: usize = 1 << 20;

/// A symbol with its place.
type Placed = (u32, Symbol, u32);

/// A terminal of the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol {
    /// The beginning of a configuration.
    Config,
    /// The beginning of an expression that is a text of its own.
    Expression,
    /// The beginning of a template that is a text of its own.
    Template,
    /// The beginning of a traversal that is a text of its own, with `[*]` or without.
    Traversal { splats: bool },
    /// A token with the same meaning everywhere. The end of a configuration is a line end, too.
    Token(TokenKind),
    /// The word of a directive, or `for` or `if` of a `for` expression.
    Directive(Directive),
    /// `in` after the names of a `for`.
    In,
    /// A repair: something that had to stand before the token at this span.
    Missing(Span),
    /// A repair: the rest of the expression after this operand was skipped.
    GivenUp,
    /// A repair: a closing bracket after skipped contents.
    BadEnd,
}

/// The word of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Directive {
    If,
    For,
    Else,
    EndIf,
    EndFor,
}

impl Directive {
    /// All directives.
    const ALL: [Directive; 5] = [Directive::If, Directive::For, Directive::Else, Directive::EndIf, Directive::EndFor];

    /// The directive that begins with `word`.
    fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|directive| directive.name() == word)
    }

    /// The word in a source.
    fn name(self) -> &'static str {
        match self {
            Directive::If => "if",
            Directive::For => "for",
            Directive::Else => "else",
            Directive::EndIf => "endif",
            Directive::EndFor => "endfor",
        }
    }
}

/// The symbols of a text.
#[derive(Debug)]
pub struct Symbols<'t> {
    text: &'t str,
    tokens: &'t [Token],
    reports: &'t Reports<'t>,
    start: Symbol,
    bottom: Level,
    nesting: u32,
    /// The index of the next token.
    at: usize,
    /// The last token that was read or skipped.
    previous: Span,
    started: bool,
    /// `true` if the rest of the text stays unread.
    ended: bool,
    last: Symbol,
    /// The token that the last symbol stands for; none for a repair.
    last_at: Option<usize>,
    /// `true` if the last symbol ends an operand, and the end of the last operand.
    operand: bool,
    operand_end: u32,
    /// The last name, with its namespaces if it is `scoped`.
    callee: Span,
    scoped: bool,
    /// The star of the last `.*`.
    star: Span,
    levels: Vec<Level>,
    item: Item,
    /// The headers of the open blocks.
    blocks: Vec<Item>,
    /// The token, the number of diagnostics and `recovery` at the beginning of the current item.
    checkpoint: (usize, usize, bool),
    /// The refused tokens of the current item, and how many of them have come up again.
    refused: Vec<usize>,
    repaired: usize,
    repairs: VecDeque<Placed>,
    /// `true` if tokens were skipped. Most later errors may be consequences and are not reported.
    recovery: bool,
    read_again: usize,
    /// The place where something nests too deep or goes on for too long, and the limit that it breaks.
    pub too_deep: Option<(Span, u64)>,
}

impl<'t> Symbols<'t> {
    /// The symbols of `tokens` of `text`, which is of the kind `start`, at bracket depth `nesting` at most.
    pub fn new(text: &'t str, tokens: &'t [Token], reports: &'t Reports<'t>, start: Symbol, nesting: usize) -> Self {
        let inside = match start {
            Symbol::Config => Inside::Item,
            Symbol::Template => Inside::Text,
            Symbol::Traversal { splats } => Inside::Traversal { splats },
            _ => Inside::Whole,
        };
        let bottom = Level { inside, ..Level::default() };
        Self {
            text,
            tokens,
            reports,
            start,
            levels: vec![bottom.clone()],
            bottom,
            nesting: u32::try_from(nesting).unwrap_or(u32::MAX),
            at: 0,
            previous: Span::default(),
            started: false,
            ended: false,
            last: start,
            last_at: None,
            operand: false,
            operand_end: 0,
            callee: Span::default(),
            scoped: false,
            star: Span::default(),
            item: Item::default(),
            blocks: Vec::new(),
            checkpoint: (0, reports.len(), false),
            refused: Vec::new(),
            repaired: 0,
            repairs: VecDeque::new(),
            recovery: false,
            read_again: tokens.len() + READ_AGAIN,
            too_deep: None,
        }
    }

    // Items

    /// Goes back to the beginning of the current item because the grammar refuses the last symbol, or the end after
    /// it. When that token comes up again, it is repaired. Returns `false` if reading has to end.
    pub fn refuse(&mut self) -> bool {
        let (start, reports, recovery) = self.checkpoint;
        let Some(at) = self.last_at.filter(|_| !self.ended) else { return false };
        let Some(left) = self.read_again.checked_sub(at + 1 - start) else { return false };
        self.read_again = left;
        self.refused.push(at);
        self.reports.truncate(reports);
        (self.at, self.recovery, self.started) = (start, recovery, false);
        self.repairs.clear();
        self.begin_item();
        true
    }

    /// Completes the item before the line end that was read last.
    fn end_item(&mut self) {
        match self.item.part {
            ItemPart::Open => self.blocks.push(self.item),
            ItemPart::EndBlock => drop(self.blocks.pop()),
            _ => {}
        }
        if self.blocks.len() > self.nesting as usize {
            self.too_deep = Some((self.item.open, u64::from(self.nesting)));
        }
        self.checkpoint = (self.at, self.reports.len(), self.recovery);
        self.refused.clear();
        self.begin_item();
        self.ended |= self.reports.is_full();
    }

    fn begin_item(&mut self) {
        self.levels.clear();
        self.levels.push(self.bottom.clone());
        (self.item, self.repaired) = (Item::default(), 0);
        (self.operand, self.last) = (false, self.start);
    }

    /// Returns `true` where a line end ends the item.
    fn ends_item(&self) -> bool {
        matches!(self.level().inside, Inside::Item | Inside::Value) && self.item.part != ItemPart::Start
    }

    // Levels

    fn level(&self) -> &Level {
        self.levels.last().unwrap_or(&self.bottom)
    }

    fn level_mut(&mut self) -> &mut Level {
        self.levels.last_mut().unwrap_or(&mut self.bottom)
    }

    /// The level around the innermost one.
    fn around(&mut self) -> &mut Level {
        let around = self.levels.len().saturating_sub(2);
        self.levels.get_mut(around).unwrap_or(&mut self.bottom)
    }

    fn push(&mut self, inside: Inside, close: TokenKind, open: Span) {
        let around = self.level();
        let deeper = !matches!(inside, Inside::Text | Inside::Label | Inside::Value);
        let depth = around.depth + around.branches + around.run + u32::from(deeper);
        let from = if inside == Inside::Call { self.callee } else { open };
        self.levels.push(Level { inside, close, open, from, depth, ..Level::default() });
    }

    /// Closes the innermost level. An error in it is one of the operand that it ends.
    fn pop(&mut self) {
        if self.levels.len() > 1
            && let Some(level) = self.levels.pop()
            && !matches!(level.inside, Inside::Label | Inside::Value)
        {
            self.level_mut().wrong_operand |= level.is_wrong();
        }
    }

    // Tokens

    fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The next token that means something, from index `from` on, and its index.
    #[inline]
    fn look(&self, from: usize) -> (Token, usize) {
        match self.tokens.get(from) {
            Some(&token) if !matches!(token.kind, TokenKind::Comment | TokenKind::Newline) => (token, from),
            _ => self.look_further(from),
        }
    }

    fn look_further(&self, from: usize) -> (Token, usize) {
        for (at, &token) in self.tokens.iter().enumerate().skip(from) {
            match token.kind {
                TokenKind::Comment | TokenKind::Newline => {
                    if self.is_line_end(token) && self.keeps_lines() {
                        return (Token { kind: TokenKind::Newline, ..token }, at);
                    }
                }
                _ => return (token, at),
            }
        }
        (Token { kind: TokenKind::End, span: self.previous }, self.tokens.len())
    }

    /// Returns `true` for line ends, and for comments that end with one.
    fn is_line_end(&self, token: Token) -> bool {
        token.kind == TokenKind::Newline || token.kind == TokenKind::Comment && self.slice(token.span).ends_with('\n')
    }

    /// Returns `true` if the next line end means something.
    fn keeps_lines(&self) -> bool {
        use TokenKind::{Comma, Newline, OpenBrace};
        let behind = !matches!(self.last, Symbol::Token(Newline | Comma | OpenBrace));
        match self.level().inside {
            Inside::Object { .. } => behind,
            Inside::Splat => self.lines_around(),
            _ => self.ends_item(),
        }
    }

    /// Returns `true` if line ends mean something around the innermost level.
    fn lines_around(&self) -> bool {
        let around = self.levels.len().checked_sub(2).and_then(|at| self.levels.get(at));
        around.is_some_and(|around| matches!(around.inside, Inside::Item | Inside::Value | Inside::Object { .. }))
    }

    /// Returns `true` if a line end that means something stands between the last symbol and the next one.
    fn breaks_line(&self) -> bool {
        let between = self.tokens.get(..self.at).unwrap_or(&[]).iter().rev();
        let mut between = between.take_while(|token| token.span.start >= self.previous.end);
        self.lines_around() && between.any(|token| self.is_line_end(*token))
    }

    /// Continues after the next token.
    fn take(&mut self, token: Token) {
        self.at += usize::from(token.kind != TokenKind::End);
        self.previous = token.span;
    }

    /// Remembers a symbol that goes to the grammar.
    fn remember(&mut self, symbol: Symbol, span: Span) {
        use TokenKind::{
            CloseBrace, CloseBracket, CloseHeredoc, CloseParen, CloseQuote, Dot, Identifier, Number, Star,
        };
        self.operand = match symbol {
            Symbol::Token(Identifier | Number | CloseQuote | CloseHeredoc) => true,
            Symbol::Token(CloseParen | CloseBracket | CloseBrace) => true,
            Symbol::Token(Star) => self.last == Symbol::Token(Dot),
            Symbol::Missing(_) | Symbol::BadEnd => true,
            _ => false,
        };
        if self.operand {
            self.operand_end = if let Symbol::Missing(found) = symbol { found.end } else { span.end };
        }
        self.last = symbol;
        let level = self.level();
        if level.depth + level.branches + level.run > self.nesting {
            self.too_deep = Some((span, u64::from(self.nesting)));
        } else if level.links > LINKS {
            self.too_deep = Some((span, u64::from(LINKS)));
        }
    }

    /// Reads the next token. Breaks with its symbol or the end; goes on where an error was repaired.
    fn read(&mut self) -> ControlFlow<Option<Placed>> {
        if let Some(repair) = self.repairs.pop_front() {
            self.last_at = None;
            return ControlFlow::Break(Some(repair));
        }
        if self.ended || self.too_deep.is_some() {
            return ControlFlow::Break(None);
        }
        let (token, at) = self.look(self.at);
        (self.at, self.last_at) = (at, Some(at));
        self.level_mut().first.get_or_insert(token.span);
        if self.operand && self.goes_on(token) {
            return ControlFlow::Continue(());
        }
        let refused = self.refused.get(self.repaired) == Some(&at);
        let at_end = token.kind == TokenKind::End && !self.ends_item();
        if refused || at_end && !self.blocks.is_empty() && self.level().inside == Inside::Item {
            self.repaired += usize::from(refused);
            self.repair(token);
            return ControlFlow::Continue(());
        }
        if at_end {
            if self.level().inside == Inside::Text && self.level().close == TokenKind::End {
                self.end_text(token.span);
                return ControlFlow::Continue(());
            }
            return ControlFlow::Break(None);
        }
        let symbol = self.symbol(token);
        self.take(token);
        self.remember(symbol, token.span);
        let placed = (token.span.start, symbol, token.span.end);
        ControlFlow::Break(Some(placed).filter(|_| self.too_deep.is_none()))
    }
}

impl Iterator for Symbols<'_> {
    type Item = Placed;

    fn next(&mut self) -> Option<Placed> {
        if !std::mem::replace(&mut self.started, true) {
            let at = self.tokens.get(self.at).map_or(0, |token| token.span.start);
            return Some((at, self.start, at));
        }
        if self.repairs.is_empty() && self.last == Symbol::Token(TokenKind::Newline) && self.ends_item() {
            self.end_item();
        }
        loop {
            if let ControlFlow::Break(placed) = self.read() {
                return placed;
            }
        }
    }
}
