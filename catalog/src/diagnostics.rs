//! Diagnostics for errors and findings of a catalog.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{CatalogError, ErrorKind};
use dropforge::diagnostics::{Code, Diagnostic, Severity};
use dropforge::text::{Position, Source, Span};

impl CatalogError {
    /// The error and those reported with it. Problems in the template point to their place if `template` is known.
    /// Other details become notes.
    ///
    /// ```
    /// use dropforge_catalog::CatalogError;
    /// let errors = CatalogError::not_found("stack_not_found", "stack not found").diagnostics(None);
    /// assert_eq!(errors[0].message, "stack not found (stack_not_found)");
    /// ```
    pub fn diagnostics(&self, template: Option<&Arc<Source>>) -> Vec<Box<Diagnostic>> {
        let others = self.details.as_ref().and_then(|details| details["also"].as_array()).into_iter().flatten();
        let others = others.filter_map(|other| serde_json::from_value::<CatalogError>(other.clone()).ok());
        let others = others.map(|other| CatalogError { kind: self.kind, ..other });
        let all: Vec<CatalogError> = std::iter::once(self.clone()).chain(others).collect();
        all.iter()
            .flat_map(|error| error.in_template(template).unwrap_or_else(|| vec![error.diagnostic(template)]))
            .collect()
    }

    /// Diagnostics of the template, if the error is about its text.
    fn in_template(&self, template: Option<&Arc<Source>>) -> Option<Vec<Box<Diagnostic>>> {
        let (template, details) = (template?, self.details.as_ref()?);
        let found = ["diagnostics", "findings"].iter().find_map(|key| details[*key].as_array())?;
        if found.is_empty() {
            return None;
        }
        let convert = |one| diagnostic(one, template, Severity::Error).with_field("refusal", self.code.clone());
        Some(found.iter().map(convert).collect())
    }

    fn diagnostic(&self, template: Option<&Arc<Source>>) -> Box<Diagnostic> {
        let code = match self.kind {
            ErrorKind::Busy | ErrorKind::Internal => Code::CatalogUnreachable,
            _ => Code::CatalogRefused,
        };
        let mut error = Diagnostic::new(code, self.to_string());
        error.template = template.map(|template| template.name().to_owned());
        let notes = self.cause.iter().map(|cause| cause.to_string()).chain(notes(self.details.as_ref()));
        notes.fold(error, |error, note| error.with_note(note))
    }
}

fn notes(details: Option<&Json>) -> Vec<String> {
    let mut notes = Vec::new();
    for (key, value) in details.and_then(Json::as_object).into_iter().flatten() {
        match (key.as_str(), value) {
            // Violations repeat the validation errors. Further errors have diagnostics of their own.
            ("violations" | "also", _) => {}
            ("diagnostics" | "findings", Json::Array(found)) => notes.extend(found.iter().map(finding_line)),
            (key, Json::Array(items)) => {
                let key = key.replace('_', " ");
                notes.extend(items.iter().map(|item| format!("{key}: {}", text_of(item))));
            }
            (key, value) => notes.push(format!("{}: {}", key.replace('_', " "), text_of(value))),
        }
    }
    notes
}

/// Converts a finding or diagnostic from JSON. Its span refers to `source`.
pub fn diagnostic(found: &Json, source: &Arc<Source>, severity: Severity) -> Box<Diagnostic> {
    let (code, message) = (text_of(&found["code"]), text_of(&found["message"]));
    let mut diagnostic = match Code::named(&code) {
        Some(code) => Diagnostic::new(code, message),
        None => Diagnostic::new(Code::CatalogFinding, format!("{message} ({code})")),
    };
    diagnostic.severity = severity;
    diagnostic.template = Some(source.name().to_owned());
    if let Some(span) = span_of(found, source) {
        diagnostic = diagnostic.at(source, span, "");
    }
    if let Some(names) = found["available"].as_array() {
        diagnostic = diagnostic.with_available(names.iter().map(text_of));
    }
    diagnostic.notes = found["notes"].as_array().into_iter().flatten().map(text_of).collect();
    diagnostic.help = found["help"].as_str().map(str::to_owned);
    diagnostic
}

/// The span of a finding: its byte range, or the word at its line and column.
fn span_of(found: &Json, source: &Source) -> Option<Span> {
    let number = |value: &Json| value.as_u64().and_then(|number| u32::try_from(number).ok());
    let span = &found["spans"][0];
    if let (Some(start), Some(end)) = (number(&span["start"]), number(&span["end"])) {
        // A service may report about another text.
        return source.text().get(start as usize..end as usize).map(|_| Span::new(start, end));
    }
    let start = source.offset(Position { line: number(&found["line"])?, column: number(&found["column"])? })?;
    let behind = source.text().get(start as usize..)?;
    let word = behind.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(behind.len());
    Some(Span::new(start, start + word as u32))
}

/// Formats a finding in one line: `template:3:7: message (code); help`. The template may be a file of a chart.
pub fn finding_line(found: &Json) -> String {
    let file = found["file"].as_str().unwrap_or("template");
    let place = match (found["line"].as_u64(), found["column"].as_u64()) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
        _ => String::new(),
    };
    let help = found["help"].as_str().map_or_else(String::new, |help| format!("; {help}"));
    format!("{place}{} ({}){help}", text_of(&found["message"]), text_of(&found["code"]))
}

fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("="),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_that_are_not_in_the_template_are_left_out() {
        let template = Source::new("t.tera", "é: {{ x }}\n");
        let diagnostic = |found: Json| {
            let diagnostic = diagnostic(&found, &template, Severity::Error);
            (diagnostic.position().map(|at| at.to_string()), diagnostic.render(false))
        };
        let at = |start: u64, end: u64| {
            diagnostic(json!({"code": "E0101", "message": "m", "spans": [{"start": start, "end": end}]}))
        };
        assert_eq!(at(7, 8).0.as_deref(), Some("1:7"));
        for (start, end) in [(8, 7), (1, 3), (7, 99), (99, 100), (u64::MAX, u64::MAX)] {
            let (position, text) = at(start, end);
            assert_eq!(position, None, "{start}..{end}");
            assert!(text.contains("template: t.tera"), "{text}");
        }
        for (line, column, expected) in [(1, 7, Some("1:7")), (1, 99, Some("1:11")), (9, 1, None), (0, 0, None)] {
            let position = diagnostic(json!({"code": "odd", "message": "m", "line": line, "column": column})).0;
            assert_eq!(position.as_deref(), expected, "{line}:{column}");
        }
        assert_eq!(diagnostic(Json::Null).0, None);
    }

    #[test]
    fn an_error_without_findings_is_still_reported() {
        let error = CatalogError::invalid("template_review_failed", "no").with_details(json!({"findings": []}));
        let template = Source::new("t.tera", "");
        assert_eq!(error.diagnostics(Some(&template))[0].message, "no (template_review_failed)");
    }
}
