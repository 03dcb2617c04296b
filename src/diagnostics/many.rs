//! All errors of a file at once.

use std::fmt;

use super::Diagnostic;

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
