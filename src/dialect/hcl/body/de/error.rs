//! Errors of deserialization.

use std::fmt;

use serde::de;

use crate::diagnostics::{Diagnostic, Diagnostics, Label};
use crate::dialect::hcl::body::errors::{mistyped, structure};
use crate::dialect::hcl::body::{DiagnosticList, Location};
use crate::value::{Misfit, Path, Step};

/// The errors of a body that does not deserialize.
#[derive(Debug)]
pub(super) struct Error {
    diagnostics: DiagnosticList,
    /// The path in the value of an argument, until the error gets the location of the argument.
    path: Path,
}

impl Error {
    pub fn of(diagnostics: DiagnosticList) -> Self {
        Self { diagnostics, path: Path::default() }
    }

    pub fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics.into()
    }

    /// Adds a location to diagnostics without one.
    pub fn at(mut self, location: Option<Location<'_>>) -> Self {
        let path = std::mem::take(&mut self.path);
        for diagnostic in self.diagnostics.iter_mut().filter(|diagnostic| diagnostic.labels.is_empty()) {
            if !path.is_empty() {
                diagnostic.notes.push(format!("the error is at `{path}` in the value"));
            }
            let label = |Location { source, span }| Label { source: Clone::clone(source), span, text: String::new() };
            diagnostic.labels.extend(location.map(label));
        }
        self
    }
}

impl From<Box<Diagnostic>> for Error {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::of(vec![diagnostic])
    }
}

impl Misfit for Error {
    fn within(mut self, step: Step) -> Self {
        self.path.begin_with(step);
        self
    }

    /// Limits contain no values.
    fn withheld(self) -> Self {
        if self.diagnostics.iter().all(|diagnostic| diagnostic.code.is_limit()) {
            return self;
        }
        de::Error::custom("the value is marked and does not fit")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Diagnostics::from(self.diagnostics.clone()).fmt(f)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        mistyped("Unsuitable value", format!("{message}.")).into()
    }

    fn missing_field(field: &'static str) -> Self {
        structure("Missing required argument", format!("`{field}` is required, but not set.")).into()
    }
}
