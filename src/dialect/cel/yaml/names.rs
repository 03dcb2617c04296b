//! Which names can be seen while a file is read from its beginning to its end.

use std::collections::HashMap;
use std::sync::Arc;

use super::tree::{Binding, File, Scope, ScopeId};
use crate::text::Span;

/// The names that can be seen now.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// What each name means, the innermost last.
    known: HashMap<Arc<str>, Vec<Binding>>,
    /// The names in the order they came, with the scope that was before.
    order: Vec<(Arc<str>, Option<ScopeId>)>,
    /// Variables of the maps around that come later, the innermost last.
    later: HashMap<Arc<str>, Vec<Span>>,
    /// The scope that is now.
    pub scope: Option<ScopeId>,
}

impl Names {
    /// How many names there are, to come back to.
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// From now on `name` means `binding`.
    pub fn bind(&mut self, file: &mut File, name: &Arc<str>, binding: Binding) {
        self.order.push((name.clone(), self.scope));
        file.scopes.push(Scope { parent: self.scope, name: name.clone(), binding });
        self.scope = Some(ScopeId::of(file.scopes.len() - 1));
        self.known.entry(name.clone()).or_default().push(binding);
    }

    /// Forgets all names since there were `mark`.
    pub fn back_to(&mut self, mark: usize) {
        while self.order.len() > mark {
            let Some((name, before)) = self.order.pop() else { return };
            self.scope = before;
            if let Some(meanings) = self.known.get_mut(&name) {
                meanings.pop();
            }
        }
    }

    /// What `name` means now.
    pub fn get(&self, name: &str) -> Option<Binding> {
        self.known.get(name)?.last().copied()
    }

    /// `name` is defined later, at `span`.
    pub fn expect(&mut self, name: &Arc<str>, span: Span) {
        self.later.entry(name.clone()).or_default().push(span);
    }

    /// The definition of `name` that was expected is here.
    pub fn arrived(&mut self, name: &str) {
        if let Some(spans) = self.later.get_mut(name) {
            spans.pop();
        }
    }

    /// Where `name` is defined later.
    pub fn later(&self, name: &str) -> Option<Span> {
        self.later.get(name)?.last().copied()
    }
}
