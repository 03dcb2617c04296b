//! The errors of an expression, and their form in the reference.

use std::fmt::Write;

use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dialect::cel::syntax::tree::{ExprId, Tree};
use crate::text::Span;

/// The maximum number of errors.
const ERRORS: usize = 100;

/// The maximum length of a source line to show.
const LINE: usize = 16_384;

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
        self.errors.sort_by_key(|(span, _)| span.start);
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

/// Formats errors like the reference: the message, the source line, and a mark below the column.
///
/// ```
/// use dropforge::dialect::cel::{check::{Environment, check, excerpts}, syntax::{Options, parse}};
/// use dropforge::{function::Registry, text::Source};
/// let tree = parse(&Source::new("<input>", "true && x"), &Options::default()).unwrap();
/// let errors = check(&tree, &Environment::new(&Registry::default())).unwrap_err();
/// assert!(excerpts(&errors).ends_with(
///     "ERROR: <input>:1:9: undeclared reference to 'x' (in container '')\n | true && x\n | ........^"
/// ));
/// ```
pub fn excerpts(errors: &Diagnostics) -> String {
    let all: Vec<_> = errors.iter().map(excerpt).collect();
    all.join("\n")
}

fn excerpt(error: &Diagnostic) -> String {
    let Some(label) = error.primary() else { return format!("ERROR: {}", error.message) };
    let (at, name) = (label.position(), label.source.name());
    let mut text = format!("ERROR: {name}:{at}: {}", error.message);
    let line = label.source.line(at.line);
    if line.is_empty() || line.len() > LINE {
        return text;
    }
    let column = (at.column as usize).saturating_sub(1);
    let wide = |c: Option<char>| c.is_some_and(|c| c.len_utf8() > 1);
    let dots: String = line.chars().take(column).map(|c| if wide(Some(c)) { '．' } else { '.' }).collect();
    let mark = if wide(line.chars().nth(column)) { '＾' } else { '^' };
    // Writing to a string cannot fail.
    let _ = write!(text, "\n | {}\n | {dots}{mark}", line.replace('\t', " "));
    text
}
