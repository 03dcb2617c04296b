//! The terminals of the grammar, and the constructs around one.

use crate::syntax::TokenKind;
use dropforge_base::text::Span;

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
    /// `[ … ]` behind an operand.
    Index,
    /// `[*` behind an operand.
    Splat,
    /// `{ … }`, before or behind the `=` of an entry.
    Object { value: bool },
    /// `${ … }`
    Interpolation,
    /// `%{ … }`, before or behind its word.
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
    /// The first complete expression behind the colon of a `for`.
    pub value: Option<Span>,
    /// The `...` of a `for`.
    pub ellipsis: Option<Span>,
    /// `true` if the current operand ends with `.*` and steps behind it.
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
    pub(crate) fn expression_start(&self) -> u32 {
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
    pub(crate) fn end_branch(&mut self) {
        self.end_operand();
        (self.first, self.links) = (None, 0);
    }

    /// Ends the current expression.
    pub(crate) fn end_expression(&mut self) {
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
    /// `in` behind the names of a `for`.
    In,
    /// A repair: something that had to stand before the token at this span.
    Missing(Span),
    /// A repair: the rest of the expression behind this operand was skipped.
    GivenUp,
    /// A repair: a closing bracket behind skipped contents.
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
    pub(super) const ALL: [Directive; 5] =
        [Directive::If, Directive::For, Directive::Else, Directive::EndIf, Directive::EndFor];

    /// The directive that begins with `word`.
    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|directive| directive.name() == word)
    }

    /// The word in a source.
    pub(super) fn name(self) -> &'static str {
        match self {
            Directive::If => "if",
            Directive::For => "for",
            Directive::Else => "else",
            Directive::EndIf => "endif",
            Directive::EndFor => "endfor",
        }
    }
}
