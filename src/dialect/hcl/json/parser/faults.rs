//! What can be wrong with JSON text.

use std::sync::Arc;

use super::super::keyword_suggestion;
use super::super::scan::{Token, TokenKind};
use crate::diagnostics::{Code, Diagnostic};
use crate::text::{Source, Span};

type Fault = Box<Diagnostic>;

const STARTS: &str = "A JSON value begins with a brace, a bracket, a digit, a quote, or is a keyword.";

fn fault(code: Code, source: &Arc<Source>, span: Span, summary: &str, detail: impl Into<String>) -> Fault {
    Diagnostic::new(code, summary).at(source, span, "").with_detail(detail)
}

fn unexpected(source: &Arc<Source>, span: Span, summary: &str, detail: impl Into<String>) -> Fault {
    fault(Code::UnexpectedToken, source, span, summary, detail)
}

/// The root is no body.
pub fn root(source: &Arc<Source>, span: Span) -> Fault {
    let detail = "A configuration in JSON is an object, or an array of objects.";
    unexpected(source, span, "Root value must be object", detail)
}

/// Something stands behind the value.
pub fn extraneous(source: &Arc<Source>, span: Span) -> Fault {
    unexpected(source, span, "Extraneous data after value", "Nothing may stand behind the JSON value.")
}

/// No value begins here.
pub fn start(source: &Arc<Source>, token: Token) -> Fault {
    let span = token.span;
    match token.kind {
        TokenKind::CloseBrace => unexpected(source, span, "Missing JSON value", STARTS),
        TokenKind::CloseBracket => unexpected(source, span, "Missing array element value", STARTS),
        TokenKind::End => {
            fault(Code::Unterminated, source, span, "Missing value", "The JSON text ends where a value is wanted.")
        }
        _ if span.start == 0 && source.text().starts_with('\u{feff}') => {
            let detail = "A byte order mark must not stand before JSON.";
            fault(Code::UnknownCharacter, source, span, "Invalid start of value", detail)
        }
        TokenKind::Invalid => fault(Code::UnknownCharacter, source, span, "Invalid start of value", STARTS),
        _ => unexpected(source, span, "Invalid start of value", STARTS),
    }
}

/// A property's name is no string.
pub fn name(source: &Arc<Source>, span: Span) -> Fault {
    unexpected(source, span, "Invalid object property name", "The name of a JSON property is a string in quotes.")
}

/// Something else stands where the colon belongs.
pub fn colon(source: &Arc<Source>, found: Token) -> Fault {
    let (summary, detail) = match found.kind {
        TokenKind::CloseBrace | TokenKind::Comma => {
            ("Missing object value", "A JSON property has a value, behind a colon.")
        }
        TokenKind::Equals => {
            ("Missing property value colon", "In JSON a colon stands between name and value, not an equals sign.")
        }
        _ => ("Missing property value colon", "A colon stands between the name of a JSON property and its value."),
    };
    unexpected(source, found.span, summary, detail)
}

/// A comma stands before the closing bracket of an object or array.
pub fn trailing_comma(source: &Arc<Source>, span: Span, of: &str) -> Fault {
    let detail = format!("In JSON no comma stands behind the last entry of an {of}.");
    unexpected(source, span, &format!("Trailing comma in {of}"), detail)
}

/// The text ends in an object or array.
pub fn unclosed(source: &Arc<Source>, span: Span, of: &str) -> Fault {
    let detail = format!("The bracket that closes this JSON {of} is missing.");
    fault(Code::Unterminated, source, span, &format!("Unclosed {of}"), detail)
}

/// An object or array is closed by the bracket of the other one.
pub fn mismatched(source: &Arc<Source>, span: Span, of: &str) -> Fault {
    let (summary, detail) = match of {
        "array" => ("Mismatched brackets", "A JSON array is closed by a bracket, not by a brace."),
        _ => ("Mismatched braces", "A JSON object is closed by a brace, not by a bracket."),
    };
    unexpected(source, span, summary, detail)
}

/// No comma stands between two entries.
pub fn comma(source: &Arc<Source>, span: Span, between: &str) -> Fault {
    unexpected(source, span, "Missing separator comma", format!("A comma stands between the {between}."))
}

/// A colon stands behind a value of an array.
pub fn colon_in_array(source: &Arc<Source>, span: Span) -> Fault {
    unexpected(source, span, "Invalid array value", "The values of a JSON array have no names.")
}

/// Letters that are no keyword.
pub fn keyword(source: &Arc<Source>, span: Span) -> Fault {
    let word = source.slice(span);
    let detail = match word {
        "undefined" | "NaN" | "Infinity" => format!("`{word}` is JavaScript and no JSON."),
        _ => format!("`{word}` is no keyword of JSON."),
    };
    let fault = unexpected(source, span, "Invalid JSON keyword", detail);
    match keyword_suggestion(word) {
        Some(meant) => fault.with_help(format!("did you mean `{meant}`?")),
        None => fault,
    }
}

/// A number that is none, or is beyond all bounds.
pub fn number(source: &Arc<Source>, span: Span) -> Fault {
    unexpected(source, span, "Invalid JSON number", "This is not written as a JSON number is.")
}

/// A string with a wrong escape, or without its end; `behind` is the offset behind what is wrong.
pub fn string(source: &Arc<Source>, span: Span, behind: usize) -> Fault {
    let at = span.start + Span::of(0..behind).end;
    let detail = if at == span.end {
        "The string is not closed by a quote before its line ends."
    } else {
        "This is no escape of JSON."
    };
    let code = if at == span.end { Code::Unterminated } else { Code::UnexpectedToken };
    fault(code, source, Span::new(at, at + 1), "Invalid JSON string", detail).with_context(span)
}
