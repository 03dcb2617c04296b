//! Lists of diagnostics.

use std::collections::HashSet;
use std::error::Error;
use std::fmt;

use super::{Diagnostic, counted};
use crate::text::Span;

/// One or more diagnostics in source order.
#[derive(Debug, Clone)]
pub struct Diagnostics(Vec<Box<Diagnostic>>);

impl Diagnostics {
    /// Returns the diagnostics.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Returns the first diagnostic.
    pub fn first(&self) -> Option<&Diagnostic> {
        self.iter().next()
    }

    /// Returns the owned diagnostics.
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
    /// One line per diagnostic.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, diagnostic) in self.iter().enumerate() {
            write!(f, "{}{diagnostic}", if at == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl Error for Diagnostics {
    /// The underlying error of the first diagnostic.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.first().and_then(Error::source)
    }
}

/// Keeps the first `most` diagnostics. The last of them tells how many more there are.
pub fn first(mut diagnostics: Vec<Box<Diagnostic>>, most: usize) -> Vec<Box<Diagnostic>> {
    let more = diagnostics.len().saturating_sub(most.max(1));
    diagnostics.truncate(most.max(1));
    with_more(diagnostics, more)
}

/// Notes at the last diagnostic that there are `more`.
pub fn with_more(mut diagnostics: Vec<Box<Diagnostic>>, more: usize) -> Vec<Box<Diagnostic>> {
    if let Some(last) = diagnostics.last_mut().filter(|_| more > 0) {
        last.notes.push(format!("{} not shown", counted(more, "more error")));
    }
    diagnostics
}

/// Removes duplicates: an error in a file that is included several times is reported once.
pub fn without_duplicates(errors: Vec<Box<Diagnostic>>) -> Vec<Box<Diagnostic>> {
    let mut seen = HashSet::new();
    let key = |error: &Diagnostic| {
        let location =
            error.primary().map_or((String::new(), Span::default()), |at| (at.source.name().to_owned(), at.span));
        (error.code, error.message.clone(), location)
    };
    errors.into_iter().filter(|error| seen.insert(key(error))).collect()
}
