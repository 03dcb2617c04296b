//! Errors of a source before its file is known, and the grammar's errors in words, with the likely fix. A
//! [`SyntaxError`] becomes a [`Diagnostic`] when the parser reports it.

use std::sync::Arc;

use lalrpop_util::ParseError;

use super::lexer::{End, Token};
use crate::hints;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span, unclosed_tag};

/// An error in one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub code: Code,
    pub span: Span,
    pub message: String,
    /// The likely fix; may be empty.
    pub help: String,
    /// Another span that explains the error, and its label.
    pub related: Option<(Span, String)>,
}

impl SyntaxError {
    /// Returns an error of `code` at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Box::new(Self { code, span, message: message.into(), help: help.into(), related: None })
    }

    /// Returns the error of an unexpected token.
    pub fn unexpected(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::UnexpectedToken, span, message, help)
    }

    /// Returns the error of a file that ends inside a construct.
    pub fn unterminated(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::Unterminated, span, message, help)
    }

    /// Returns the error of a character that starts no token.
    pub fn character(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::UnknownCharacter, span, message, help)
    }

    /// Returns the error of a misplaced tag.
    pub fn misplaced(span: Span, message: impl Into<String>, help: impl Into<String>) -> Box<Self> {
        Self::new(Code::MisplacedTag, span, message, help)
    }

    /// Returns the error of excessive nesting. Nothing after `span` is read.
    pub fn too_deep(span: Span) -> Box<Self> {
        Self::new(Code::LimitDepth, span, "", "")
    }

    /// Adds a label at `span`.
    pub fn related(mut self: Box<Self>, span: Span, text: impl Into<String>) -> Box<Self> {
        self.related = Some((span, text.into()));
        self
    }

    /// Converts the error to a diagnostic.
    pub fn into_diagnostic(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let mut diagnostic = Diagnostic::new(self.code, self.message).at(source, self.span, "");
        if let Some((span, text)) = self.related {
            diagnostic = diagnostic.at(source, span, text);
        }
        let help = hints::syntax(source.text(), self.span.range().start).unwrap_or(self.help);
        if help.is_empty() { diagnostic } else { diagnostic.with_help(help) }
    }
}

/// The grammar's own error.
pub type Unexpected<'a> = ParseError<u32, Token<'a>, Box<SyntaxError>>;

/// Describes the error of a tag in words.
pub fn explain(error: Unexpected<'_>, source: &str, end: End) -> Box<SyntaxError> {
    let (span, token, expected) = match error {
        ParseError::User { error } => return error,
        ParseError::UnrecognizedToken { token: (start, Token::End(_), _), expected } => return early(start, &expected),
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            (Span::new(start, end), token, expected)
        }
        ParseError::ExtraToken { token: (start, token, end) } => (Span::new(start, end), token, Vec::new()),
        ParseError::UnrecognizedEof { location, expected } => return early(location, &expected),
        ParseError::InvalidToken { location } => return early(location, &[]),
    };
    let words = describe(&expected, end.mark());
    let name = if matches!(token, Token::Str(_)) { "text".to_owned() } else { format!("`{}`", &source[span.range()]) };
    SyntaxError::unexpected(span, format!("unexpected {name}: expected {words}"), fix(token, &expected))
}

/// Returns the error of a tag that is not closed, if `error` stands on a later line of one: the parser finds it where the text
/// after the tag is no expression.
pub fn unclosed(source: &str, error: &SyntaxError) -> Option<Box<SyntaxError>> {
    let at = error.span.start as usize;
    let (open, mark) = unclosed_tag(source, at, &[("{{", "}}"), ("{%", "%}")])?;
    let end = if mark == "{{" { End::Value } else { End::Statement };
    let span = Span::of(open..open + mark.len());
    let found = SyntaxError::unterminated(span, format!("`{mark}` is not closed"), format!("add `{}`", end.mark()));
    Some(if at == source.len() { found } else { found.related(error.span, "read as a part of the tag") })
}

fn early(end: u32, expected: &[String]) -> Box<SyntaxError> {
    let words = describe(expected, "");
    let help = [")", "]"].iter().find(|token| has(expected, token)).map(|token| format!("add the closing `{token}`"));
    let message = format!("the tag ends too early: expected {words}");
    SyntaxError::unexpected(Span::new(end, end + 2), message, help.unwrap_or_default())
}

fn has(expected: &[String], token: &str) -> bool {
    expected.iter().any(|one| one.trim_matches('"') == token)
}

/// Names the expected tokens in groups, in a fixed order.
fn describe(expected: &[String], close: &str) -> String {
    let operators = ["+", "==", "or", "and", "~"];
    let operator = operators.iter().any(|token| has(expected, token));
    let value = has(expected, "path");
    let mut words: Vec<String> = Vec::new();
    let mut add = |wanted: bool, word: &str| {
        if wanted {
            words.push(word.to_owned());
        }
    };
    add(value, "a value");
    add(value && has(expected, "["), "a list");
    add(!value && has(expected, "text"), "text in quotes");
    add(has(expected, "name"), "a name");
    add(operator, "an operator");
    add(!operator && has(expected, "in"), "`in`");
    add(has(expected, "|"), "a filter");
    for token in ["=", "(", ",", ")", "]"] {
        add(has(expected, token), &format!("`{token}`"));
    }
    let inside = has(expected, ")") || has(expected, "]") || value || has(expected, "=");
    add(!close.is_empty() && !inside, &format!("`{close}`"));
    match words.as_slice() {
        [] => "nothing more".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}

fn fix(token: Token<'_>, expected: &[String]) -> &'static str {
    let arguments = has(expected, "=") || (has(expected, "name") && has(expected, ")"));
    match token {
        _ if arguments => "arguments are given by name: `f(name=value)`",
        Token::Less | Token::LessEq | Token::Greater | Token::GreaterEq | Token::Equal | Token::NotEqual => {
            "comparisons cannot be chained; join two with `and`"
        }
        Token::OpenList => "a list cannot be an operand; use `{% set %}` and name the variable",
        Token::Minus | Token::Plus => "a sign must touch a number; write `0 - x` to negate a variable",
        Token::Is => "only a variable can be tested with `is`",
        Token::In => "`in` takes one comparison value on its left",
        Token::Not => "`not` stands before a whole comparison; `x is not y` and `x not in y` exist too",
        Token::Name(_) | Token::Path(_) | Token::Str(_) if has(expected, "|") => "an operator or a quote is missing",
        _ => "",
    }
}
