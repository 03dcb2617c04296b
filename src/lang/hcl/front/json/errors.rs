//! Errors of JSON text. The summaries are the reference's.

use std::sync::Arc;

use super::scan::{JsonToken, TokenKind};
use crate::name_suggestion;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

const MISSING_COMMA: &str = "Missing separator comma";

fn error(
    code: Code,
    source: &Arc<Source>,
    span: Span,
    summary: impl Into<String>,
    detail: impl Into<String>,
) -> Box<Diagnostic> {
    Diagnostic::new(code, summary).at(source, span, "").with_detail(detail)
}

/// An error at a token that the grammar does not allow.
pub fn unexpected(
    source: &Arc<Source>,
    span: Span,
    summary: impl Into<String>,
    detail: impl Into<String>,
) -> Box<Diagnostic> {
    error(Code::UnexpectedToken, source, span, summary, detail)
}

/// No value starts at a token.
pub(crate) fn not_a_value(source: &Arc<Source>, JsonToken { kind, span }: JsonToken) -> Box<Diagnostic> {
    const STARTS: &str = "A JSON value starts with a brace, a bracket, a quote, a digit or a keyword.";
    match kind {
        TokenKind::CloseBrace => unexpected(source, span, "Missing JSON value", STARTS),
        TokenKind::CloseBracket => unexpected(source, span, "Missing array element value", STARTS),
        TokenKind::End => {
            error(Code::Unterminated, source, span, "Missing value", "The JSON text ends where a value is expected.")
        }
        _ if span.start == 0 && source.text().starts_with('\u{feff}') => {
            let detail = "JSON must not start with a byte order mark.";
            error(Code::UnknownCharacter, source, span, "Invalid start of value", detail)
        }
        TokenKind::Invalid => error(Code::UnknownCharacter, source, span, "Invalid start of value", STARTS),
        _ => unexpected(source, span, "Invalid start of value", STARTS),
    }
}

/// A token in place of the colon after a property name.
pub(crate) fn missing_colon(source: &Arc<Source>, found: JsonToken) -> Box<Diagnostic> {
    let (summary, detail) = match found.kind {
        TokenKind::CloseBrace | TokenKind::Comma => {
            ("Missing object value", "A JSON property has a value, separated from its name by a colon.")
        }
        TokenKind::Equals => (
            "Missing property value colon",
            "JSON separates the name of a property from its value with a colon, not `=`.",
        ),
        _ => ("Missing property value colon", "JSON separates the name of a property from its value with a colon."),
    };
    unexpected(source, found.span, summary, detail)
}

/// The text ends in an object or array.
pub fn unclosed(source: &Arc<Source>, span: Span, of: &str) -> Box<Diagnostic> {
    let detail = format!("The closing bracket of this JSON {of} is missing.");
    error(Code::Unterminated, source, span, format!("Unclosed {of}"), detail)
}

/// A comma before the closing bracket of an object or array.
pub(crate) fn trailing_comma(source: &Arc<Source>, span: Span, of: &str) -> Box<Diagnostic> {
    let detail = format!("JSON does not allow a comma after the last entry of an {of}.");
    unexpected(source, span, format!("Trailing comma in {of}"), detail)
}

/// A token other than a comma or the closing bracket after a property or an item.
pub(crate) fn wrong_separator(source: &Arc<Source>, span: Span, found: TokenKind, is_array: bool) -> Box<Diagnostic> {
    let (summary, detail) = match (found, is_array) {
        (TokenKind::Colon, true) => ("Invalid array value", "The values of a JSON array have no names."),
        (TokenKind::CloseBrace, true) => ("Mismatched brackets", "A bracket must close a JSON array, not a brace."),
        (TokenKind::CloseBracket, false) => ("Mismatched braces", "A brace must close a JSON object, not a bracket."),
        (_, true) => (MISSING_COMMA, "A comma must separate the values of an array."),
        (_, false) => (MISSING_COMMA, "A comma must separate the properties of an object."),
    };
    unexpected(source, span, summary, detail)
}

/// A word that is not a keyword.
pub fn keyword(source: &Arc<Source>, span: Span) -> Box<Diagnostic> {
    let word = source.slice(span);
    let detail = match word {
        "undefined" | "NaN" | "Infinity" => format!("`{word}` is a JavaScript keyword, but not valid JSON."),
        _ => format!("`{word}` is not a JSON keyword."),
    };
    let error = unexpected(source, span, "Invalid JSON keyword", detail);
    match keyword_suggestion(word) {
        Some(meant) => error.with_help(format!("did you mean `{meant}`?")),
        None => error,
    }
}

/// Returns the JSON keyword that `given` may be a misspelling of.
///
/// ```
/// use dropforge::dialect::hcl::json::keyword_suggestion;
/// assert_eq!(keyword_suggestion("flase"), Some("false"));
/// assert_eq!(keyword_suggestion("NaN"), None);
/// ```
pub fn keyword_suggestion(given: &str) -> Option<&'static str> {
    name_suggestion(given, ["false", "true", "null"])
}

/// A string with an invalid escape or without a closing quote. `after` is the offset after the error.
pub fn string(source: &Arc<Source>, span: Span, after: usize) -> Box<Diagnostic> {
    let at = span.start + Span::of(0..after).end;
    let (code, detail) = if at == span.end {
        (Code::Unterminated, "The string has no closing quote on its line.")
    } else {
        (Code::UnexpectedToken, "This is not a JSON escape sequence.")
    };
    error(code, source, Span::new(at, at + 1), "Invalid JSON string", detail).with_context(span)
}
