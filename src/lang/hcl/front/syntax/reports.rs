//! The diagnostics of one parse, shared by the symbols and the actions of the grammar.

use std::cell::RefCell;
use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// Diagnostics in the order of reading, up to a limit.
#[derive(Debug)]
pub(super) struct Reports<'t> {
    source: &'t Arc<Source>,
    /// The offset in the source of the text that is parsed.
    start: u32,
    most: usize,
    found: RefCell<Vec<Box<Diagnostic>>>,
}

impl<'t> Reports<'t> {
    /// Further diagnostics behind those in `found`, `most` of them in all.
    pub fn new(source: &'t Arc<Source>, start: u32, found: Vec<Box<Diagnostic>>, most: usize) -> Self {
        Self { source, start, most, found: RefCell::new(found) }
    }

    /// The number of diagnostics.
    pub fn len(&self) -> usize {
        self.found.borrow().len()
    }

    /// Returns `true` if the limit is reached.
    pub fn is_full(&self) -> bool {
        self.len() >= self.most
    }

    /// Removes all but the first `len` diagnostics.
    pub fn truncate(&self, len: usize) {
        self.found.borrow_mut().truncate(len);
    }

    /// Adds a diagnostic, unless the limit is reached.
    pub fn push(&self, diagnostic: Box<Diagnostic>) {
        if !self.is_full() {
            self.found.borrow_mut().push(diagnostic);
        }
    }

    /// Adds a diagnostic about a span of the text.
    pub fn report(&self, code: Code, span: Span, context: Option<Span>, summary: &str, detail: impl Into<String>) {
        let place = |span: Span| Span::new(span.start + self.start, span.end + self.start);
        let mut diagnostic = Diagnostic::new(code, summary).at(self.source, place(span), "").with_detail(detail);
        diagnostic.context = context.map(place);
        self.push(diagnostic);
    }

    /// Moves the diagnostics from `from` on in front of those from `to` on.
    pub(crate) fn bring_forward(&self, from: usize, to: usize) {
        let mut found = self.found.borrow_mut();
        let len = found.len();
        if let Some(moved) = found.get_mut(to..) {
            moved.rotate_right(len.saturating_sub(from));
        }
    }

    /// All diagnostics.
    pub fn take(&self) -> Vec<Box<Diagnostic>> {
        self.found.take()
    }
}
