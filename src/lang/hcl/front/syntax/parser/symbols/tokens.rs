//! Open constructs, and the symbol of each token, which opens, continues or closes one.

use super::{Directive, Symbol, Symbols};
use crate::syntax::{Token, TokenKind};
use dropforge_base::text::Span;

const DOT: Symbol = Symbol::Token(TokenKind::Dot);
const NAME: Symbol = Symbol::Token(TokenKind::Identifier);

/// The kind of an open construct.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Inside {
    /// An expression that is a text of its own.
    #[default]
    Whole,
    /// A traversal that is a text of its own.
    Traversal { splats: bool },
    /// A configuration, outside of values.
    Item,
    /// The value of an argument.
    Value,
    /// A label in quotes, or a key of a traversal.
    Label,
    /// A template.
    Text,
    /// `( … )`
    Paren,
    /// `name( … )`
    Call,
    /// `[ … ]`
    Tuple,
    /// `[ … ]` after an operand.
    Index,
    /// `[*` after an operand.
    Splat,
    /// `{ … }`, before or after the `=` of an entry.
    Object { value: bool },
    /// `${ … }`
    Interpolation,
    /// `%{ … }`, before or after its word.
    Directive(Option<Directive>),
    /// `[for … ]`, `{for … }` or `%{for … }`
    For(ForPart),
}

/// The part of a `for` that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ForPart {
    /// Behind `for`.
    Names,
    /// Behind the first name.
    Name,
    /// Behind the comma.
    Comma,
    /// Behind the second name.
    SecondName,
    /// Behind `in`.
    Collection,
    /// Behind the colon: a value, or the key of an object.
    First,
    /// Behind `=>`.
    Value,
    /// Behind `if`.
    Condition,
}

/// An open construct.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    pub inside: Inside,
    /// The kind of the token that closes it.
    pub close: TokenKind,
    /// The token that opens it.
    pub open: Span,
    /// The name of a function, otherwise the token that opens the construct.
    pub from: Span,
    /// The first token of the current expression, or of a template.
    pub first: Option<Span>,
    /// The nesting depth.
    pub depth: u32,
    /// The number of conditionals in the current expression, and of directives that are open in a template.
    pub branches: u32,
    /// The number of prefix operators and `[*]` of the current operand.
    pub run: u32,
    /// The number of operators and steps in the current expression.
    pub links: u32,
    /// The conditionals of the current expression whose last part is not complete.
    pub conditionals: Vec<Conditional>,
    /// The directives of a template.
    pub directives: Vec<(Directive, Span)>,
    /// The expression before the `=>` of a `for`.
    pub key: Option<Span>,
    /// The first complete expression after the colon of a `for`.
    pub value: Option<Span>,
    /// The `...` of a `for`.
    pub ellipsis: Option<Span>,
    /// `true` if the current operand ends with `.*` and steps after it.
    pub attributes: bool,
    /// `true` if an error was reported in the current operand.
    pub wrong_operand: bool,
    /// `true` if an error was reported before the current operand.
    pub wrong: bool,
}

impl Level {
    /// Returns `true` if an error was reported in this construct.
    pub fn is_wrong(&self) -> bool {
        self.wrong || self.wrong_operand
    }

    /// Returns `true` for the levels of sequences.
    pub(crate) fn is_sequence(&self) -> bool {
        self.close == TokenKind::CloseSequence
    }

    /// Returns `true` if a conditional has no colon yet.
    pub(crate) fn expects_else(&self) -> bool {
        self.conditionals.iter().any(|conditional| !conditional.has_else)
    }

    /// The first token of the current expression with all its conditionals.
    fn expression_start(&self) -> u32 {
        let condition = self.conditionals.first().map(|conditional| conditional.first);
        condition.or(self.first).unwrap_or_default().start
    }

    /// Ends the current operand before an operator.
    pub(crate) fn end_operand(&mut self) {
        self.wrong |= std::mem::take(&mut self.wrong_operand);
        self.run = 0;
        self.links += 1;
    }

    /// Ends the current part of a conditional.
    fn end_branch(&mut self) {
        self.end_operand();
        (self.first, self.links) = (None, 0);
    }

    /// Ends the current expression.
    fn end_expression(&mut self) {
        self.end_branch();
        self.conditionals.clear();
        self.branches = 0;
    }
}

/// A conditional.
#[derive(Debug, Clone, Copy)]
pub(super) struct Conditional {
    /// The first token of its condition.
    pub first: Span,
    /// The end of its condition.
    pub condition_end: u32,
    /// `true` if its colon was read.
    pub has_else: bool,
}

/// An item of a body, as far as it was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Item {
    pub part: ItemPart,
    /// The name that begins it.
    pub name: Span,
    /// The opening brace of a block.
    pub open: Span,
    /// The name of the only argument of a block on one line.
    pub inner: Span,
    /// The number of diagnostics before that argument.
    pub inner_reports: usize,
}

/// The last part of an item that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ItemPart {
    /// Nothing.
    #[default]
    Start,
    /// A name.
    Name,
    /// A name with labels.
    Labels,
    /// The header of a block with its brace.
    Open,
    /// The name of the only argument of a block on one line.
    Inner,
    /// The closing brace of a block on one line.
    EndShort,
    /// The closing brace of the innermost block.
    EndBlock,
}

impl Symbols<'_> {
    /// The symbol of the next token.
    pub(super) fn symbol(&mut self, token: Token) -> Symbol {
        use TokenKind::*;
        let (span, operand, inside) = (token.span, self.operand, self.level().inside);
        let in_traversal = matches!(inside, Inside::Traversal { .. });
        self.level_mut().attributes &= token.kind == Dot || self.last == DOT;
        match token.kind {
            Identifier => return self.word(span),
            Number => self.check_number(span),
            Newline | End => {
                self.end_entry();
                return Symbol::Token(Newline);
            }
            OpenBracket if in_traversal => self.level_mut().open = span,
            OpenBracket => self.push(if operand { Inside::Index } else { Inside::Tuple }, CloseBracket, span),
            OpenBrace => self.open_brace(span),
            OpenParen => self.push(if operand { Inside::Call } else { Inside::Paren }, CloseParen, span),
            OpenQuote => self.open_quote(span),
            OpenHeredoc => self.push(Inside::Text, CloseHeredoc, span),
            OpenInterpolation => self.push(Inside::Interpolation, CloseSequence, span),
            OpenDirective => self.push(Inside::Directive(None), CloseSequence, span),
            QuotedText => self.check_escapes(span),
            Text => {}
            // A traversal ends after a bad key.
            CloseBracket if in_traversal => self.ended = self.reports.len() > self.checkpoint.1,
            CloseBrace if matches!(inside, Inside::Item | Inside::Value) => return self.close_block(),
            kind if kind == self.level().close => return self.close(token),
            Equal if inside == Inside::Item => self.push(Inside::Value, Newline, span),
            Star => return self.star(span),
            kind => self.separator(kind, span),
        }
        Symbol::Token(token.kind)
    }

    // Brackets

    fn open_quote(&mut self, open: Span) {
        let label = matches!(self.level().inside, Inside::Item | Inside::Traversal { .. });
        if self.item.part == ItemPart::Name {
            self.item.part = ItemPart::Labels;
        }
        self.push(if label { Inside::Label } else { Inside::Text }, TokenKind::CloseQuote, open);
    }

    fn open_brace(&mut self, open: Span) {
        if self.level().inside == Inside::Item {
            (self.item.part, self.item.open, self.item.inner_reports) = (ItemPart::Open, open, self.reports.len());
            return;
        }
        // `for` counts as one at once, so that line ends after it mean nothing.
        let mut rest = self.tokens.get(self.at + 1..).unwrap_or(&[]).iter();
        let next = rest.find(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Newline));
        let is_for = next.is_some_and(|next| next.kind == TokenKind::Identifier && self.slice(next.span) == "for");
        let inside = if is_for { Inside::Tuple } else { Inside::Object { value: false } };
        self.push(inside, TokenKind::CloseBrace, open);
    }

    /// A brace outside of all brackets. One that closes nothing is refused.
    fn close_block(&mut self) -> Symbol {
        match self.item.part {
            ItemPart::Start if self.blocks.is_empty() => return Symbol::Token(TokenKind::Invalid),
            ItemPart::Start => self.item.part = ItemPart::EndBlock,
            _ => {
                if self.level().inside == Inside::Value {
                    self.pop();
                }
                self.item.part = ItemPart::EndShort;
            }
        }
        Symbol::Token(TokenKind::CloseBrace)
    }

    /// Closes the innermost level with the right token.
    fn close(&mut self, Token { kind, span }: Token) -> Symbol {
        let mut symbol = Symbol::Token(kind);
        match self.level().inside {
            Inside::Text => symbol = self.end_template(span),
            Inside::Directive(_) | Inside::For(_) if self.level().is_sequence() => self.end_directive(span),
            Inside::For(_) => self.end_for(span),
            Inside::Index | Inside::Splat => self.around().links += 1,
            _ => {}
        }
        self.pop();
        symbol
    }

    // Operators and separators

    fn star(&mut self, star: Span) -> Symbol {
        match self.level().inside {
            // Where line ends mean something, the star follows its bracket directly.
            Inside::Index if self.last == Symbol::Token(TokenKind::OpenBracket) && self.breaks_line() => {
                return Symbol::Token(TokenKind::Invalid);
            }
            Inside::Index if self.last == Symbol::Token(TokenKind::OpenBracket) => {
                self.level_mut().inside = Inside::Splat;
                self.around().run += 1;
            }
            Inside::Traversal { splats: false } => return Symbol::Token(TokenKind::Invalid),
            _ if self.last == DOT => {
                self.level_mut().attributes = true;
                self.star = star;
            }
            _ => self.level_mut().end_operand(),
        }
        Symbol::Token(TokenKind::Star)
    }

    fn separator(&mut self, kind: TokenKind, span: Span) {
        let (operand, operand_end) = (self.operand, self.operand_end);
        let level = self.level_mut();
        match (kind, level.inside) {
            (TokenKind::Dot, _) => level.links += 1,
            (TokenKind::Minus | TokenKind::Bang, _) if !operand => level.run += 1,
            (TokenKind::Question, _) => {
                let first = level.first.unwrap_or(span);
                level.conditionals.push(Conditional { first, condition_end: operand_end, has_else: false });
                level.branches += 1;
                level.end_branch();
            }
            (TokenKind::Colon, _) if level.expects_else() => {
                while level.conditionals.pop_if(|conditional| conditional.has_else).is_some() {}
                if let Some(conditional) = level.conditionals.last_mut() {
                    conditional.has_else = true;
                }
                level.end_branch();
            }
            (TokenKind::Equal | TokenKind::Colon, Inside::Object { .. }) => {
                level.inside = Inside::Object { value: true };
                level.end_expression();
            }
            (TokenKind::Colon, Inside::For(_)) => self.begin_part(ForPart::First),
            (TokenKind::FatArrow, Inside::For(_)) => {
                level.key = Some(Span::new(level.expression_start(), operand_end));
                self.begin_part(ForPart::Value);
            }
            (TokenKind::Ellipsis, Inside::For(part)) => {
                level.ellipsis = Some(span);
                self.end_for_value();
                self.begin_part(part);
            }
            (TokenKind::Comma, Inside::For(_)) => self.begin_part(ForPart::Comma),
            (TokenKind::Comma, Inside::Object { .. }) => self.end_entry(),
            (TokenKind::Comma | TokenKind::Ellipsis, _) => level.end_expression(),
            _ => level.end_operand(),
        }
    }

    fn end_entry(&mut self) {
        if let Inside::Object { value } = &mut self.level_mut().inside {
            *value = false;
            self.level_mut().end_expression();
        }
    }

    /// Goes on to another part of the innermost `for`.
    fn begin_part(&mut self, part: ForPart) {
        self.level_mut().inside = Inside::For(part);
        self.level_mut().end_expression();
    }

    /// Notes the place of the value of the innermost `for`, unless a part after it was read.
    pub(super) fn end_for_value(&mut self) {
        let end = self.operand_end;
        let level = self.level_mut();
        let value = Span::new(level.expression_start(), end);
        level.value.get_or_insert(value);
    }

    // Words

    /// A name, or a word that means more than a name here.
    fn word(&mut self, span: Span) -> Symbol {
        self.scoped = self.last == Symbol::Token(TokenKind::DoubleColon);
        self.callee = if self.scoped { self.callee.to(span) } else { span };
        let word = self.slice(span);
        let behind_value = self.operand || self.last == Symbol::Token(TokenKind::Ellipsis);
        let (part, symbol) = match self.level().inside {
            Inside::Item => {
                self.item_name(span);
                return NAME;
            }
            Inside::Directive(None) => return self.directive(word).unwrap_or(NAME),
            Inside::Tuple if word == "for" && self.last == Symbol::Token(self.opener()) => {
                (ForPart::Names, Symbol::Directive(Directive::For))
            }
            Inside::For(ForPart::Names) => (ForPart::Name, NAME),
            Inside::For(ForPart::Comma) => (ForPart::SecondName, NAME),
            Inside::For(ForPart::Name | ForPart::SecondName) if word == "in" => (ForPart::Collection, Symbol::In),
            Inside::For(ForPart::First | ForPart::Value) if word == "if" && behind_value => {
                self.end_for_value();
                (ForPart::Condition, Symbol::Directive(Directive::If))
            }
            _ => return NAME,
        };
        self.begin_part(part);
        symbol
    }

    /// The kind of token that opens the innermost tuple or `for`.
    fn opener(&self) -> TokenKind {
        let object = self.level().close == TokenKind::CloseBrace;
        if object { TokenKind::OpenBrace } else { TokenKind::OpenBracket }
    }

    fn item_name(&mut self, span: Span) {
        match self.item.part {
            ItemPart::Start => (self.item.part, self.item.name) = (ItemPart::Name, span),
            ItemPart::Name => self.item.part = ItemPart::Labels,
            ItemPart::Open => (self.item.part, self.item.inner) = (ItemPart::Inner, span),
            _ => {}
        }
    }

    /// The word of a directive, unless there is no such directive.
    fn directive(&mut self, word: &str) -> Option<Symbol> {
        let directive = Directive::named(word)?;
        self.level_mut().inside = Inside::Directive(Some(directive));
        self.level_mut().first = None;
        self.around().branches += u32::from(matches!(directive, Directive::If | Directive::For));
        if directive == Directive::For {
            self.begin_part(ForPart::Names);
        }
        Some(Symbol::Directive(directive))
    }

    /// Notes the directive that ends at `close`.
    pub(super) fn end_directive(&mut self, close: Span) {
        let directive = match self.level().inside {
            Inside::Directive(Some(directive)) => directive,
            _ => Directive::For,
        };
        let span = self.level().open.to(close);
        let text = self.around();
        text.directives.push((directive, span));
        // The content of `if` and `for` is one level deeper, up to their end.
        if matches!(directive, Directive::EndIf | Directive::EndFor) {
            text.branches = text.branches.saturating_sub(1);
        }
    }
}
