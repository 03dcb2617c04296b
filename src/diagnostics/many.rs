//! All errors of a file at once.

use std::collections::HashSet;
use std::fmt;

use super::Diagnostic;
use crate::text::Span;

/// One or more diagnostics, in the order of the source.
#[derive(Debug, Clone)]
pub struct Diagnostics(Vec<Box<Diagnostic>>);

impl Diagnostics {
    /// The diagnostics.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// The first of them.
    pub fn first(&self) -> Option<&Diagnostic> {
        self.iter().next()
    }

    /// The diagnostics, owned.
    pub fn into_vec(self) -> Vec<Box<Diagnostic>> {
        self.0
    }
}

impl From<Box<Diagnostic>> for Diagnostics {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self(vec![diagnostic])
    }
}

impl From<Vec<Box<Diagnostic>>> for Diagnostics {
    fn from(diagnostics: Vec<Box<Diagnostic>>) -> Self {
        Self(diagnostics)
    }
}

impl fmt::Display for Diagnostics {
    /// A line for each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.iter().enumerate() {
            write!(f, "{}{diagnostic}", if at == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

/// Each of `errors` once: a fault in a file that many include is one fault.
pub(crate) fn once_each(errors: Vec<Box<Diagnostic>>) -> Vec<Box<Diagnostic>> {
    let mut seen = HashSet::new();
    let key = |error: &Diagnostic| {
        let place =
            error.primary().map_or((String::new(), Span::default()), |at| (at.source.name().to_owned(), at.span));
        (error.code, error.message.clone(), place)
    };
    errors.into_iter().filter(|error| seen.insert(key(error))).collect()
}
