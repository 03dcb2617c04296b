//! Scopes: the names that are visible at the current position of a file.

use std::sync::Arc;

use hashbrown::HashMap;

use super::tree::Binding;
use dropforge_base::text::Span;

/// The visible names.
#[derive(Debug, Default)]
pub(super) struct VisibleNames {
    /// The meanings of each name, the innermost last.
    meanings: HashMap<Arc<str>, Vec<Binding>>,
    /// The names in order of definition.
    order: Vec<Arc<str>>,
    /// The definitions that follow in surrounding maps, the innermost last.
    later: HashMap<Arc<str>, Vec<Span>>,
}

impl VisibleNames {
    /// Returns the number of names, to return to.
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// Defines a name.
    pub fn define(&mut self, name: &Arc<str>, binding: Binding) {
        self.order.push(name.clone());
        self.meanings.entry(name.clone()).or_default().push(binding);
    }

    /// Removes all names after a mark.
    pub fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark.min(self.order.len())..) {
            if let Some(meanings) = self.meanings.get_mut(&name) {
                meanings.pop();
            }
        }
    }

    /// Returns the current meaning of a name.
    pub fn get(&self, name: &str) -> Option<Binding> {
        self.meanings.get(name)?.last().copied()
    }

    /// Announces a definition that follows, at `span`.
    pub(crate) fn announce(&mut self, name: &Arc<str>, span: Span) {
        self.later.entry(name.clone()).or_default().push(span);
    }

    /// Removes the announcement of a definition that is reached.
    pub fn reach(&mut self, name: &str) {
        if let Some(spans) = self.later.get_mut(name) {
            spans.pop();
        }
    }

    /// Returns the span of a definition that follows.
    pub fn later(&self, name: &str) -> Option<Span> {
        self.later.get(name)?.last().copied()
    }
}
