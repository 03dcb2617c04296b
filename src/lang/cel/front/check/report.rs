//! The errors of an expression, and their form in the reference.

use super::types::{TypeId, Types};
use crate::syntax::tree::{ExprId, Tree};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Span;

/// The maximum number of errors.
const ERRORS: usize = 100;

/// The errors of an expression.
#[derive(Debug, Default)]
pub(super) struct Report {
    errors: Vec<(Span, Box<Diagnostic>)>,
}

impl Report {
    /// Adds an error about an expression.
    pub fn at(&mut self, tree: &Tree, id: ExprId, code: Code, message: impl Into<String>) {
        self.add(tree, tree.place(id), Diagnostic::new(code, message));
    }

    /// Adds an error at a span of the source.
    pub fn add(&mut self, tree: &Tree, span: Span, error: Box<Diagnostic>) {
        self.errors.push((span, error.at(tree.source(), span, "")));
    }

    /// Returns `true` if no more errors are reported.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= ERRORS
    }

    /// Returns the errors in source order.
    pub fn finish(mut self) -> Result<(), Diagnostics> {
        if self.errors.is_empty() {
            return Ok(());
        }
        self.errors.small_sort_by_key(|(span, _)| span.start);
        self.errors.truncate(ERRORS);
        Err(self.errors.into_iter().map(|(_, error)| error).collect::<Vec<_>>().into())
    }
}

/// Formats the types of arguments: `(int, string)`, or `int.(string)` with a receiver.
pub(super) fn applied_to(types: &Types, args: &[TypeId], member: bool) -> String {
    let (receiver, args) = match args.split_first() {
        Some((receiver, args)) if member => (format!("{}.", types.text(*receiver)), args),
        _ => (String::new(), args),
    };
    let args: Vec<_> = args.iter().map(|&of| types.text(of)).collect();
    format!("{receiver}({})", args.join(", "))
}
