//! Traversals that are texts of their own. They end at the first error.

use super::super::{Symbol, Symbols};
use super::wording;
use crate::dialect::hcl::syntax::token::{Token, TokenKind};

impl Symbols<'_> {
    pub(super) fn repair_traversal(&mut self, token: Token) {
        use TokenKind::{CloseBracket, Dot, Identifier, OpenBracket, Star};
        let root = self.level().first.map(|root| root.to(token.span));
        let (context, wording) = match self.last {
            Symbol::Traversal { .. } => (None, wording::NO_ROOT),
            Symbol::Token(Dot | OpenBracket) if token.kind == Star => (root, wording::NO_SPLAT),
            Symbol::Token(Dot) => (root, wording::NO_STEP),
            Symbol::Token(OpenBracket) => (root, wording::NO_KEY),
            Symbol::Token(Identifier | CloseBracket) => (root, wording::STEP),
            _ => (Some(self.level().open.to(token.span)), wording::UNCLOSED_KEY),
        };
        self.report(token.span, context, wording);
        self.insert(Symbol::Missing(token.span));
        self.ended = true;
    }
}
