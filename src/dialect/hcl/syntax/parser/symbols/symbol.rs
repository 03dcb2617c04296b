//! The terminals of the grammar.

use crate::dialect::hcl::syntax::TokenKind;
use crate::text::Span;

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
