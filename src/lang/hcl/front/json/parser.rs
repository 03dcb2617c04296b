//! The parser, with the errors of the reference, in its words, and its recovery.
//!
//! Open arrays and objects are on a stack of their own, so nesting costs memory instead of calls. A limit bounds it.

use std::sync::Arc;

use logos::Logos;

use super::document::{JsonContent, JsonDocument, JsonId, Property};
use super::scan::{JsonToken, TokenKind, decode, scan};
use crate::name_suggestion;
use crate::syntax::{Run, Str};
use dropforge_base::diagnostics::{Code, Diagnostic, at_most};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::stdlib::bignum::BigNum;
use dropforge_base::text::{Source, Span};

/// A document and its syntax errors.
#[derive(Debug, Clone)]
pub struct ParsedJson {
    /// The document, with [`JsonContent::Invalid`] at syntax errors.
    pub document: JsonDocument,
    /// The syntax errors.
    pub diagnostics: Vec<Box<Diagnostic>>,
}

/// Parses a file, whose root is an object or an array of objects. Any other root is an error, and the document is an
/// empty object.
///
/// ```
/// use dropforge::{dialect::hcl::json::parse_file, limits::Limits, text::Source};
/// let parsed = parse_file(&Source::new("a.tf.json", r#"{"a": flase}"#), &Limits::default());
/// assert_eq!(parsed.diagnostics[0].help.as_deref(), Some("did you mean `false`?"));
/// ```
pub fn parse_file(source: &Arc<Source>, limits: &Limits) -> ParsedJson {
    let mut parsed = parse_expression(source, limits);
    let root = parsed.document.node(parsed.document.root());
    if !matches!(root.json, JsonContent::Object(_) | JsonContent::Array(_)) {
        parsed.document = JsonDocument::new(source);
        parsed.document.root = parsed.document.add(JsonContent::Object(Run::default()), Span::default());
        if !parsed.diagnostics.iter().any(|diagnostic| diagnostic.code.is_limit()) {
            let detail = "A JSON configuration must be an object or an array of objects.";
            parsed.diagnostics.push(unexpected(source, root.start(), "Root value must be object", detail));
        }
    }
    parsed
}

/// Parses a file that is a single JSON value.
pub fn parse_expression(source: &Arc<Source>, limits: &Limits) -> ParsedJson {
    let too_long = source.text().len() > limits.source_bytes;
    let tokens = if too_long { scan("") } else { scan(source.text()) };
    let mut parser = JsonParser {
        source,
        tokens,
        at: 0,
        open: Vec::new(),
        items: Vec::new(),
        properties: Vec::new(),
        document: JsonDocument::new(source),
        diagnostics: Vec::new(),
        more: 0,
        limits,
    };
    parser.document.root = if too_long {
        let limit = Limit::SourceBytes.error(limits.source_bytes as u64);
        parser.diagnostics.push(limit.at_if_nowhere(source, Span::default()));
        parser.document.add(JsonContent::Invalid, Span::default())
    } else {
        parser.root()
    };
    ParsedJson { document: parser.document, diagnostics: at_most(parser.diagnostics, limits.diagnostics, parser.more) }
}

/// The part that an open array or object expects next.
#[derive(Debug, Clone, Copy)]
enum Expects {
    Item,
    Name,
    Value { name: Str, name_span: Span, key: JsonId },
}

/// An open array or object: its bracket, and the index of its first item or property.
#[derive(Debug, Clone, Copy)]
struct Open {
    bracket: Span,
    first: usize,
    expects: Expects,
}

struct JsonParser<'s> {
    source: &'s Arc<Source>,
    tokens: Vec<JsonToken>,
    at: usize,
    open: Vec<Open>,
    /// The items and properties of open arrays and objects.
    items: Vec<JsonId>,
    properties: Vec<Property>,
    document: JsonDocument,
    diagnostics: Vec<Box<Diagnostic>>,
    /// The number of errors beyond the limit.
    more: usize,
    limits: &'s Limits,
}

/// The state of an array or object after one of its parts.
enum Next {
    /// It expects another value.
    More,
    /// It is closed, or abandoned after an error.
    Done(JsonId),
}

impl JsonParser<'_> {
    fn root(&mut self) -> JsonId {
        let root = self.value();
        if self.diagnostics.is_empty() && self.peek().kind != TokenKind::End {
            let detail = "Only whitespace may follow the JSON value.";
            self.report(unexpected(self.source, self.peek().span, "Extraneous data after value", detail));
        }
        root
    }

    /// Parses a value and its parts, without a call for each level.
    fn value(&mut self) -> JsonId {
        loop {
            let token = self.peek();
            let mut whole = match token.kind {
                TokenKind::OpenBrace | TokenKind::OpenBracket if self.open.len() >= self.limits.nesting => {
                    return self.too_deep(token.span);
                }
                TokenKind::OpenBrace | TokenKind::OpenBracket => match self.open(token) {
                    Next::More => continue,
                    Next::Done(empty) => empty,
                },
                _ => self.scalar(token),
            };
            loop {
                let Some(open) = self.open.pop() else { return whole };
                match self.take(open, whole) {
                    Next::More => break,
                    Next::Done(done) => whole = done,
                }
            }
        }
    }

    fn open(&mut self, token: JsonToken) -> Next {
        self.read();
        let (first, expects) = match token.kind {
            TokenKind::OpenBrace => (self.properties.len(), Expects::Name),
            _ => (self.items.len(), Expects::Item),
        };
        let open = Open { bracket: token.span, first, expects };
        let close = if matches!(expects, Expects::Name) { TokenKind::CloseBrace } else { TokenKind::CloseBracket };
        if self.peek().kind == close {
            return Next::Done(self.close(open));
        }
        self.open.push(open);
        Next::More
    }

    /// Adds a value to an open array or object.
    fn take(&mut self, open: Open, value: JsonId) -> Next {
        match open.expects {
            Expects::Name => match self.name(value) {
                Ok(expects) => {
                    self.open.push(Open { expects, ..open });
                    Next::More
                }
                Err(error) => self.abandon(open, error),
            },
            Expects::Value { name, name_span, key } => {
                self.properties.push(Property { name, name_span, key, value });
                self.behind(open)
            }
            Expects::Item => {
                self.items.push(value);
                self.behind(open)
            }
        }
    }

    /// Takes a property name and the colon after it.
    fn name(&mut self, key: JsonId) -> Result<Expects, Box<Diagnostic>> {
        let node = self.document.node(key);
        let JsonContent::String(name) = node.json else {
            let detail = "The name of a JSON property must be a string in quotes.";
            return Err(unexpected(self.source, node.start(), "Invalid object property name", detail));
        };
        let colon = self.read();
        if colon.kind == TokenKind::Colon {
            return Ok(Expects::Value { name, name_span: node.span, key });
        }
        self.recover(colon, TokenKind::OpenBrace, TokenKind::CloseBrace);
        Err(missing_colon(self.source, colon))
    }

    /// Reads what follows a property or an item: a comma or the closing bracket.
    fn behind(&mut self, open: Open) -> Next {
        let is_array = matches!(open.expects, Expects::Item);
        let (of, opening, closing) = match is_array {
            true => ("array", TokenKind::OpenBracket, TokenKind::CloseBracket),
            false => ("object", TokenKind::OpenBrace, TokenKind::CloseBrace),
        };
        let token = self.peek();
        let error = match token.kind {
            TokenKind::Comma => {
                self.read();
                if self.peek().kind != closing {
                    let expects = if is_array { Expects::Item } else { Expects::Name };
                    self.open.push(Open { expects, ..open });
                    return Next::More;
                }
                trailing_comma(self.source, token.span, of)
            }
            kind if kind == closing => return Next::Done(self.close(open)),
            TokenKind::End => unclosed(self.source, open.bracket, of),
            kind => {
                self.read();
                if is_array || kind != TokenKind::CloseBracket {
                    self.recover(token, opening, closing);
                }
                wrong_separator(self.source, self.peek().span, kind, is_array)
            }
        };
        self.abandon(open, error)
    }

    /// Takes the closing bracket.
    fn close(&mut self, open: Open) -> JsonId {
        let span = open.bracket.to(self.read().span);
        let json = if matches!(open.expects, Expects::Item) {
            JsonContent::Array(moved(&mut self.items, open.first, &mut self.document.items))
        } else {
            JsonContent::Object(moved(&mut self.properties, open.first, &mut self.document.properties))
        };
        self.document.add(json, span)
    }

    fn abandon(&mut self, open: Open, error: Box<Diagnostic>) -> Next {
        self.report(error);
        match open.expects {
            Expects::Item => self.items.truncate(open.first),
            _ => self.properties.truncate(open.first),
        }
        Next::Done(self.document.add(JsonContent::Invalid, open.bracket))
    }

    /// Skips to the likely end of the array or object around `token`. It counts as the reference does: the first
    /// closing bracket ends it, or the match of a bracket opened before that.
    fn recover(&mut self, mut token: JsonToken, opening: TokenKind, closing: TokenKind) {
        let mut open = 1_usize;
        loop {
            if token.kind == opening {
                open += 1;
            } else if token.kind == closing {
                open = open.saturating_sub(1);
                if open <= 1 {
                    return;
                }
            } else if token.kind == TokenKind::End {
                return;
            }
            token = self.read();
        }
    }

    /// Reports a nesting beyond the limit, and parses no further.
    fn too_deep(&mut self, span: Span) -> JsonId {
        self.at = self.tokens.len().saturating_sub(1);
        let limit = Limit::Nesting.error(self.limits.nesting as u64);
        self.diagnostics.push(limit.at_if_nowhere(self.source, span));
        self.document.add(JsonContent::Invalid, span)
    }

    fn scalar(&mut self, token: JsonToken) -> JsonId {
        let text = self.source.slice(token.span);
        let read = match token.kind {
            TokenKind::Keyword => keyword(text).ok_or_else(|| keyword_error(self.source, token.span)),
            TokenKind::Number if is_number(text) => Ok(JsonContent::Number(Str::of(token.span))),
            TokenKind::Number => {
                let detail = "This is not a JSON number.";
                Err(unexpected(self.source, token.span, "Invalid JSON number", detail))
            }
            TokenKind::String => self.string(token.span),
            _ => {
                self.report(not_a_value(self.source, token));
                return self.document.add(JsonContent::Invalid, token.span);
            }
        };
        self.read();
        let json = read.unwrap_or_else(|error| {
            self.report(error);
            JsonContent::Invalid
        });
        self.document.add(json, token.span)
    }

    fn string(&mut self, span: Span) -> Result<JsonContent, Box<Diagnostic>> {
        let text = decode(self.source.slice(span)).map_err(|behind| string(self.source, span, behind))?;
        if text.len() + 2 == span.range().len() {
            return Ok(JsonContent::String(Str::of(Span::new(span.start + 1, span.end - 1))));
        }
        Ok(JsonContent::String(self.document.pooled(&text)))
    }

    fn peek(&self) -> JsonToken {
        let end = JsonToken { kind: TokenKind::End, span: Span::default() };
        self.tokens.get(self.at).copied().unwrap_or(end)
    }

    /// Takes the next token. The end token stays.
    fn read(&mut self) -> JsonToken {
        let token = self.peek();
        self.at += usize::from(token.kind != TokenKind::End);
        token
    }

    fn report(&mut self, error: Box<Diagnostic>) {
        if self.diagnostics.len() < self.limits.diagnostics {
            self.diagnostics.push(error);
        } else {
            self.more += 1;
        }
    }
}

/// Moves the entries of `from` from index `first` on to the end of `to`.
fn moved<T>(from: &mut Vec<T>, first: usize, to: &mut Vec<T>) -> Run {
    let start = to.len();
    to.extend(from.drain(first.min(from.len())..));
    let Span { start, end } = Span::of(start..to.len());
    Run { start, end }
}

fn keyword(text: &str) -> Option<JsonContent> {
    Some(match text {
        "null" => JsonContent::Null,
        "true" => JsonContent::Bool(true),
        "false" => JsonContent::Bool(false),
        _ => return None,
    })
}

// `Number`, from `grammar/tokens/hcl-json-number.rs`.
include!("number.generated");

/// Returns `true` if `text` is a JSON number with an exponent in range.
fn is_number(text: &str) -> bool {
    let mut lexer = Number::lexer(text);
    let first = lexer.next();
    lexer.remainder().is_empty()
        && match first {
            Some(Ok(Number::Plain)) => true,
            Some(Ok(Number::Scientific)) => BigNum::parse(text).is_some(),
            _ => false,
        }
}

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
fn not_a_value(source: &Arc<Source>, JsonToken { kind, span }: JsonToken) -> Box<Diagnostic> {
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
fn missing_colon(source: &Arc<Source>, found: JsonToken) -> Box<Diagnostic> {
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
fn trailing_comma(source: &Arc<Source>, span: Span, of: &str) -> Box<Diagnostic> {
    let detail = format!("JSON does not allow a comma after the last entry of an {of}.");
    unexpected(source, span, format!("Trailing comma in {of}"), detail)
}

/// A token other than a comma or the closing bracket after a property or an item.
fn wrong_separator(source: &Arc<Source>, span: Span, found: TokenKind, is_array: bool) -> Box<Diagnostic> {
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
pub fn keyword_error(source: &Arc<Source>, span: Span) -> Box<Diagnostic> {
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

#[cfg(test)]
mod tests;
