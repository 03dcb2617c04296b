//! What stands between the lexer and the grammar: comments are dropped, line ends are kept where they mean something,
//! names become words of `for` and of directives where they stand for them, and nesting is counted.
//!
//! A line's end means something in bodies and object constructors, and nothing in parentheses, brackets, sequences and
//! `for`. Which of them a token stands in is a matter of brackets alone, so that a stack of open ones is enough.

use super::symbol::Symbol;
use crate::dialect::hcl::syntax::token::{Token, TokenKind};
use crate::text::Span;

/// How many operators and steps an expression may have in a row.
const LINKS: u32 = 10_000;

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// A configuration, outside of values.
    Body,
    /// A value that a line's end ends.
    Value,
    /// An expression that is a text of its own.
    Whole,
    /// Literal text.
    Text,
    /// `(`, or `[` of an index.
    Brackets,
    /// `[` of a tuple.
    Tuple,
    /// `{` of an object constructor.
    Object,
    /// `${`
    Interpolation,
    /// `%{`, before its word.
    Directive,
    /// `[for`, `{for` or `%{for`
    For(Intro),
}

/// How far the introduction of a `for` was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Intro {
    /// `for`
    Begun,
    /// A name.
    Name,
    /// The comma behind it.
    Comma,
    /// A second name.
    Second,
    /// `in`
    Over,
}

/// An open bracket (or what else has contents of its own).
#[derive(Debug, Clone, Copy)]
struct Level {
    inside: Inside,
    /// How deep it is.
    depth: u32,
    /// How many conditionals its current element has, and how many directives are open in a text.
    branches: u32,
    /// How many prefix operators and `[*]` the current operand has.
    run: u32,
    /// How many operators and steps the current element has.
    links: u32,
}

/// The symbols of a text.
#[derive(Debug)]
pub(super) struct Feed<'t> {
    text: &'t [u8],
    tokens: &'t [Token],
    at: usize,
    start: Option<Symbol>,
    levels: Vec<Level>,
    last: Symbol,
    /// Whether the last symbol ends an operand.
    operand: bool,
    nesting: u32,
    /// Where something nests too deep or goes on for too long, and which of both.
    pub too_deep: Option<(Span, u64)>,
}

impl<'t> Feed<'t> {
    /// The symbols of `tokens` of `text`, which is what `start` says, at bracket depth `nesting` at most.
    pub fn new(text: &'t str, tokens: &'t [Token], start: Symbol, nesting: usize) -> Self {
        let inside = match start {
            Symbol::Config => Inside::Body,
            Symbol::Template => Inside::Text,
            _ => Inside::Whole,
        };
        Self {
            text: text.as_bytes(),
            tokens,
            at: 0,
            start: Some(start),
            levels: vec![Level { inside, depth: 0, branches: 0, run: 0, links: 0 }],
            last: Symbol::Line,
            operand: false,
            nesting: u32::try_from(nesting).unwrap_or(u32::MAX),
            too_deep: None,
        }
    }

    fn inside(&self) -> Inside {
        self.levels.last().map_or(Inside::Whole, |level| level.inside)
    }

    fn set_inside(&mut self, inside: Inside) {
        if let Some(level) = self.levels.last_mut() {
            level.inside = inside;
        }
    }

    fn push(&mut self, inside: Inside) {
        let around = self.levels.last().map_or(0, |level| level.depth + level.branches + level.run);
        let depth = around + u32::from(inside != Inside::Text);
        self.levels.push(Level { inside, depth, branches: 0, run: 0, links: 0 });
    }

    fn pop(&mut self, which: impl Fn(Inside) -> bool) {
        if self.levels.len() > 1 && which(self.inside()) {
            self.levels.pop();
        }
    }

    /// What a line's end is here: `None` where it is nothing.
    fn line(&mut self) -> Option<Symbol> {
        let kept = match self.inside() {
            Inside::Value => true,
            Inside::Body => self.last != Symbol::Line,
            Inside::Object => !matches!(self.last, Symbol::Line | Symbol::Comma | Symbol::OpenBrace),
            _ => false,
        };
        kept.then_some(Symbol::Line)
    }

    /// The symbol of a token, with what it opens or closes.
    fn symbol(&mut self, token: Token) -> Option<Symbol> {
        match token.kind {
            TokenKind::Identifier => return Some(self.word(token)),
            TokenKind::Newline => return self.line(),
            TokenKind::Comment => {
                let ends_line = self.text.get((token.span.end as usize).wrapping_sub(1)) == Some(&b'\n');
                return if ends_line { self.line() } else { None };
            }
            TokenKind::OpenBracket => self.open_bracket(),
            TokenKind::OpenBrace if self.inside() != Inside::Body => self.open_brace(),
            TokenKind::OpenParen => self.push(Inside::Brackets),
            TokenKind::OpenQuote | TokenKind::OpenHeredoc => self.push(Inside::Text),
            TokenKind::OpenInterpolation => self.push(Inside::Interpolation),
            TokenKind::OpenDirective => self.push(Inside::Directive),
            TokenKind::CloseParen => self.pop(|inside| inside == Inside::Brackets),
            TokenKind::CloseBracket => {
                self.pop(|inside| matches!(inside, Inside::Brackets | Inside::Tuple | Inside::For(_)));
            }
            TokenKind::CloseBrace if self.inside() == Inside::Value => self.set_inside(Inside::Body),
            TokenKind::CloseBrace => self.pop(|inside| matches!(inside, Inside::Object | Inside::For(_))),
            TokenKind::CloseQuote | TokenKind::CloseHeredoc => self.pop(|inside| inside == Inside::Text),
            TokenKind::CloseSequence => self.close_sequence(),
            TokenKind::Equal if self.inside() == Inside::Body => self.set_inside(Inside::Value),
            TokenKind::Comma if self.inside() == Inside::For(Intro::Name) => {
                self.set_inside(Inside::For(Intro::Comma));
            }
            _ => {}
        }
        Some(token.kind.into())
    }

    fn open_bracket(&mut self) {
        self.push(if self.operand { Inside::Brackets } else { Inside::Tuple });
    }

    /// `for` counts as one at once, so that line ends behind it mean nothing.
    fn open_brace(&mut self) {
        let mut rest = self.tokens.get(self.at..).unwrap_or(&[]).iter();
        let next = rest.find(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Newline));
        let is_for = next.is_some_and(|next| next.kind == TokenKind::Identifier && self.slice(next.span) == b"for");
        self.push(if is_for { Inside::Tuple } else { Inside::Object });
    }

    fn close_sequence(&mut self) {
        let directive = self.last;
        self.pop(|inside| matches!(inside, Inside::Interpolation | Inside::Directive | Inside::For(_)));
        // What `if` and `for` hold is deeper than what is around them, up to their end.
        if let Some(level) = self.levels.last_mut()
            && matches!(directive, Symbol::EndIf | Symbol::EndFor)
        {
            level.branches = level.branches.saturating_sub(1);
        }
    }

    fn slice(&self, span: Span) -> &'t [u8] {
        self.text.get(span.range()).unwrap_or(&[])
    }

    /// A name, or a word that means more than a name here.
    fn word(&mut self, token: Token) -> Symbol {
        let inside = self.inside();
        let intro = match inside {
            Inside::Directive if self.last == Symbol::OpenDirective => return self.directive(token.span),
            Inside::Tuple if matches!(self.last, Symbol::OpenBracket | Symbol::OpenBrace) => {
                if self.slice(token.span) == b"for" {
                    self.set_inside(Inside::For(Intro::Begun));
                    return Symbol::For;
                }
                return Symbol::Name;
            }
            Inside::For(intro) => intro,
            _ => return Symbol::Name,
        };
        let (next, symbol) = match intro {
            Intro::Begun => (Intro::Name, Symbol::Name),
            Intro::Comma => (Intro::Second, Symbol::Name),
            Intro::Name | Intro::Second if self.slice(token.span) == b"in" => (Intro::Over, Symbol::In),
            Intro::Name | Intro::Second => (intro, Symbol::Name),
            Intro::Over => {
                let behind_value = self.operand || self.last == Symbol::Ellipsis;
                let is_if = behind_value && self.slice(token.span) == b"if";
                (intro, if is_if { Symbol::If } else { Symbol::Name })
            }
        };
        self.set_inside(Inside::For(next));
        symbol
    }

    fn directive(&mut self, word: Span) -> Symbol {
        match self.slice(word) {
            b"if" => self.opens_directive(Symbol::If),
            b"else" => Symbol::Else,
            b"endif" => Symbol::EndIf,
            b"for" => {
                self.set_inside(Inside::For(Intro::Begun));
                self.opens_directive(Symbol::For)
            }
            b"endfor" => Symbol::EndFor,
            _ => Symbol::Bad,
        }
    }

    fn opens_directive(&mut self, word: Symbol) -> Symbol {
        let around = self.levels.len().wrapping_sub(2);
        if let Some(text) = self.levels.get_mut(around) {
            text.branches += 1;
        }
        word
    }

    /// Counts what makes an expression deep or long.
    fn count(&mut self, symbol: Symbol, span: Span) {
        let prefix = !self.operand && matches!(symbol, Symbol::Minus | Symbol::Bang);
        let splat = symbol == Symbol::Star && self.last == Symbol::OpenBracket;
        let Some(level) = self.levels.last_mut() else { return };
        match symbol {
            Symbol::Minus | Symbol::Bang if prefix => level.run += 1,
            Symbol::Star if splat => {
                // The brackets are a level of their own, which is about to close.
                let around = self.levels.len().wrapping_sub(2);
                if let Some(around) = self.levels.get_mut(around) {
                    around.run += 1;
                }
            }
            Symbol::Question => {
                level.branches += 1;
                (level.run, level.links) = (0, 0);
            }
            Symbol::Comma | Symbol::Line if level.inside != Inside::Text => {
                (level.branches, level.run, level.links) = (0, 0, 0);
            }
            Symbol::Dot | Symbol::CloseBracket => level.links += 1,
            _ if self.operand && is_operator(symbol) => {
                level.run = 0;
                level.links += 1;
            }
            _ => {}
        }
        let Some(level) = self.levels.last() else { return };
        if level.depth + level.branches + level.run > self.nesting {
            self.too_deep = Some((span, u64::from(self.nesting)));
        } else if level.links > LINKS {
            self.too_deep = Some((span, u64::from(LINKS)));
        }
    }

    fn is_operand(&self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Name | Symbol::Number | Symbol::CloseQuote | Symbol::CloseHeredoc => true,
            Symbol::CloseParen | Symbol::CloseBracket | Symbol::CloseBrace => true,
            Symbol::Star => self.last == Symbol::Dot,
            _ => false,
        }
    }

    /// Remembers a symbol and gives it to the grammar.
    fn feed(&mut self, symbol: Symbol, span: Span) -> Option<(u32, Symbol, u32)> {
        self.count(symbol, span);
        if self.too_deep.is_some() {
            return None;
        }
        if symbol == Symbol::Line && self.inside() == Inside::Value {
            self.set_inside(Inside::Body);
        }
        self.operand = self.is_operand(symbol);
        self.last = symbol;
        Some((span.start, symbol, span.end))
    }
}

impl Iterator for Feed<'_> {
    type Item = (u32, Symbol, u32);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(start) = self.start.take() {
            let at = self.tokens.first().map_or(0, |token| token.span.start);
            return Some((at, start, at));
        }
        while let Some(&token) = self.tokens.get(self.at) {
            if token.kind == TokenKind::End {
                let line = matches!(self.inside(), Inside::Body | Inside::Value) && self.last != Symbol::Line;
                return if line { self.feed(Symbol::Line, token.span) } else { None };
            }
            self.at += 1;
            if let Some(symbol) = self.symbol(token) {
                return self.feed(symbol, token.span);
            }
        }
        None
    }
}

fn is_operator(symbol: Symbol) -> bool {
    use Symbol::*;
    matches!(
        symbol,
        Or | And
            | EqualEqual
            | NotEqual
            | Greater
            | GreaterEqual
            | Less
            | LessEqual
            | Plus
            | Minus
            | Star
            | Slash
            | Percent
    )
}
