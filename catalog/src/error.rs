//! Errors of a catalog: a kind, which decides the HTTP status and the exit code, a stable code, a message and details.
//! Errors and findings become diagnostics.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::store::StoreError;
use dropforge::diagnostics::{Code, Diagnostic, Severity};
use dropforge::text::{Position, Source, Span};

/// The code of errors if the store cannot be used now.
pub(crate) const STORE_UNAVAILABLE: &str = "store_unavailable";

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is invalid.
    Invalid,
    /// The key is missing or unknown.
    Unauthorized,
    /// The caller lacks permission.
    Forbidden,
    /// The resource does not exist.
    NotFound,
    /// The resource already exists.
    Conflict,
    /// The resource was changed by another request.
    PreconditionFailed,
    /// The request is well formed but cannot be carried out.
    Unprocessable,
    /// The service is overloaded.
    Busy,
    /// The service failed.
    Internal,
}

impl ErrorKind {
    /// The kind with this status, or `Internal`.
    pub fn from_status(status: u16) -> Self {
        let all = [
            ErrorKind::Invalid,
            ErrorKind::Unauthorized,
            ErrorKind::Forbidden,
            ErrorKind::NotFound,
            ErrorKind::Conflict,
            ErrorKind::PreconditionFailed,
            ErrorKind::Unprocessable,
            ErrorKind::Busy,
        ];
        all.into_iter().find(|kind| kind.status() == status).unwrap_or(ErrorKind::Internal)
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            ErrorKind::Invalid => 400,
            ErrorKind::Unauthorized => 401,
            ErrorKind::Forbidden => 403,
            ErrorKind::NotFound => 404,
            ErrorKind::Conflict => 409,
            ErrorKind::PreconditionFailed => 412,
            ErrorKind::Unprocessable => 422,
            ErrorKind::Busy => 503,
            ErrorKind::Internal => 500,
        }
    }
}

/// An error of a catalog and the body of error responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ErrorResponse)]
pub struct CatalogError {
    /// Stable, machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// Further details.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Json>,
    /// The kind.
    #[serde(skip, default = "internal")]
    pub kind: ErrorKind,
    /// The underlying store or system error. Logged, never sent to clients.
    #[serde(skip)]
    pub cause: Option<Box<str>>,
}

fn internal() -> ErrorKind {
    ErrorKind::Internal
}

/// The result of an operation.
pub type Result<T, E = CatalogError> = std::result::Result<T, E>;

impl std::fmt::Display for CatalogError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for CatalogError {}

impl CatalogError {
    /// Creates an error without details.
    pub fn new(kind: ErrorKind, code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), details: None, kind, cause: None }
    }

    /// Adds details.
    #[must_use]
    pub fn with_details(self, details: Json) -> Self {
        Self { details: Some(details), ..self }
    }

    /// Creates an error for an invalid request.
    pub fn invalid(code: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, code, message)
    }

    /// Creates an error for a cursor that no page of the list ended with.
    pub(super) fn bad_cursor() -> Self {
        Self::invalid("invalid_query", "`cursor` is not one of this list: use `X-Next-Cursor` of the previous page")
    }

    /// Creates an error for a missing permission.
    pub fn forbidden(code: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Forbidden, code, message)
    }

    /// Creates an error for a missing resource, such as `template_not_found`, "template not found".
    pub fn not_found(code: &str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, code, message)
    }

    /// Converts a store error, with a code and message for missing rows.
    pub fn or_not_found(code: &'static str, message: &'static str) -> impl Fn(StoreError) -> Self {
        move |error| match error {
            StoreError::NotFound => Self::not_found(code, message),
            error => error.into(),
        }
    }
}

/// Converts a store error. Missing rows get a generic code: use [`CatalogError::or_not_found`] for a specific one.
impl From<StoreError> for CatalogError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::not_found("not_found", "not found"),
            StoreError::UniqueViolation(constraint) => {
                Self::new(ErrorKind::Conflict, "unique_violation", format!("violates unique constraint `{constraint}`"))
                    .with_details(json!({ "constraint": constraint }))
            }
            StoreError::ForeignKeyViolation(constraint) => {
                let message = format!("violates foreign-key constraint `{constraint}`");
                Self::new(ErrorKind::Unprocessable, "foreign_key_violation", message)
                    .with_details(json!({ "constraint": constraint }))
            }
            StoreError::Stale => Self::new(
                ErrorKind::PreconditionFailed,
                "precondition_failed",
                "the resource has changed: read it again, then retry",
            ),
            StoreError::LastAdminKey => Self::new(
                ErrorKind::Conflict,
                "last_admin_key",
                "this is the last live administrator key: create another one first, or use `?force=true`",
            ),
            StoreError::TokenReused => Self::new(
                ErrorKind::Unprocessable,
                "idempotency_key_reused",
                "the idempotency key was used for a different request",
            ),
            StoreError::Replayed(_) => Self::new(ErrorKind::Conflict, "repeated", "the request was carried out before"),
            StoreError::Unavailable(outage, cause) => {
                let message = format!("the store {}: retry later", outage.phrase());
                Self { cause: Some(cause.into()), ..Self::new(ErrorKind::Busy, STORE_UNAVAILABLE, message) }
            }
            StoreError::Failed(cause) => {
                let error = Self::new(ErrorKind::Internal, "internal_error", "the store failed");
                Self { cause: Some(cause.into()), ..error }
            }
        }
    }
}

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
    let rest = source.text().get(start as usize..)?;
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
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
