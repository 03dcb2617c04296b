//! Helm's own messages for the errors of charts.

use crate::bytecode::Program;
use crate::dialect::helm::error::GO_MESSAGE;
use crate::diagnostics::{Diagnostic, Diagnostics};

/// Adds Helm's message to the syntax errors of templates.
pub fn parse_errors(errors: Vec<Box<Diagnostic>>) -> Diagnostics {
    let told = |error: Box<Diagnostic>| {
        let message = error.fields.get(GO_MESSAGE).unwrap_or(&error.message).clone();
        let go = match error.labels.first() {
            Some(label) => format!("parse error at ({}:{}): {message}", label.source.name(), label.position().line),
            None => message,
        };
        error.with_field(GO_MESSAGE, go).with_field("stage", "render")
    };
    errors.into_iter().map(told).collect::<Vec<_>>().into()
}

/// Adds Helm's message to the error of a render.
pub fn explain(program: &Program, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    if let Some(main) = program.sources().first() {
        error.labels.retain(|label| !std::sync::Arc::ptr_eq(&label.source, main));
    }
    error.with_field("stage", "render")
}
