//! Violations and the error that reports them.

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::error::CatalogError;

/// A schema rule that parameters violate.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Violation {
    /// JSON pointer to the value. Empty for the root.
    pub pointer: String,
    /// The violated keyword.
    pub keyword: String,
    /// The value of the keyword: bound, names, pattern.
    pub limit: Json,
    /// The violating value, shortened if long and redacted if secret.
    pub value: Json,
    /// Human-readable message.
    pub message: String,
}

/// The violations of parameters.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Violations {
    /// Reported violations, in the order of property names.
    pub reported: Vec<Violation>,
    /// Number of violations beyond those reported.
    pub omitted: usize,
}

impl Violation {
    /// The line of Brokkr's error: the pointer, if any, and the message.
    fn line(&self) -> String {
        match &*self.pointer {
            "" => self.message.clone(),
            pointer => format!("{pointer}: {}", self.message),
        }
    }
}

impl Violations {
    /// Returns `true` if there are no violations.
    pub fn is_empty(&self) -> bool {
        self.reported.is_empty()
    }

    /// The error for these violations.
    pub fn error(&self) -> CatalogError {
        let mut lines: Vec<String> = self.reported.iter().map(Violation::line).collect();
        if self.omitted > 0 {
            lines.push(format!("and {} more", self.omitted));
        }
        invalid_parameters(&lines, &self.reported)
    }
}

/// The error `invalid_parameters`.
pub(super) fn invalid_parameters(lines: &[String], violations: &[Violation]) -> CatalogError {
    CatalogError::invalid("invalid_parameters", "invalid parameters")
        .with_details(json!({ "validation_errors": lines, "violations": violations }))
}
