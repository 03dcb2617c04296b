//! Refusals and findings as people are told them on a terminal.

use serde_json::Value as Json;

use super::{Class, Refusal};
use crate::diagnostics::{Code, Diagnostic};

impl Refusal {
    /// The refusal as a diagnostic, with everything that stands in its details.
    ///
    /// ```
    /// use dropforge::catalog::Refusal;
    /// let error = Refusal::missing("stack_not_found", "stack not found").diagnostic();
    /// assert_eq!(error.message, "stack not found (stack_not_found)");
    /// ```
    pub fn diagnostic(&self) -> Box<Diagnostic> {
        let code = match self.class {
            Class::Busy | Class::Internal => Code::CatalogUnreachable,
            _ => Code::CatalogRefused,
        };
        let error = Diagnostic::new(code, self.to_string());
        let notes = self.cause.iter().map(|cause| cause.to_string()).chain(notes(self.details.as_ref()));
        notes.fold(error, |error, note| error.with_note(note))
    }
}

fn notes(details: Option<&Json>) -> Vec<String> {
    let Some(details) = details.and_then(Json::as_object) else { return Vec::new() };
    let mut notes = Vec::new();
    for (key, value) in details {
        match (key.as_str(), value) {
            // The same as the violations, in words.
            ("violations", _) => {}
            ("also", Json::Array(others)) => {
                for other in others {
                    let (message, code) = (text_of(&other["message"]), text_of(&other["code"]));
                    notes.push(format!("also: {message} ({code})"));
                    notes.extend(notes_of_other(other));
                }
            }
            ("diagnostics" | "findings", Json::Array(found)) => notes.extend(found.iter().map(finding)),
            (key, Json::Array(items)) => {
                let key = key.replace('_', " ");
                notes.extend(items.iter().map(|item| format!("{key}: {}", text_of(item))));
            }
            (key, value) => notes.push(format!("{}: {}", key.replace('_', " "), text_of(value))),
        }
    }
    notes
}

fn notes_of_other(other: &Json) -> Vec<String> {
    notes(other.get("details"))
}

/// A finding, or a diagnostic, that came as JSON: `template:3:7: message (code); help`.
pub fn finding(found: &Json) -> String {
    let place = match (found["line"].as_u64(), found["column"].as_u64()) {
        (Some(line), Some(column)) => format!("template:{line}:{column}: "),
        _ => String::new(),
    };
    let help = match found["help"].as_str() {
        Some(help) => format!("; {help}"),
        None => found["help"]
            .as_array()
            .map(|all| all.iter().map(|one| format!("; {}", text_of(one))).collect())
            .unwrap_or_default(),
    };
    format!("{place}{} ({}){help}", text_of(&found["message"]), text_of(&found["code"]))
}

fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("="),
        other => other.to_string(),
    }
}
