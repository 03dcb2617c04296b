//! Malformed expressions and their diagnostics.

use std::sync::Arc;

use super::tree::is_identifier;
use crate::Scope;
use crate::error::abridged;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// A kind of error in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// Empty, or with white space, operators, brackets or an empty segment.
    Syntax,
    /// No `}` follows.
    Unterminated,
    /// Another `${` before the first `}`.
    Nested,
    /// A segment that is not an identifier.
    Identifier,
    /// The first segment is not one of the scopes.
    Scope,
    /// The path is too short or, for `steps`, not `steps.<id>.outputs.<name>`.
    Shape,
}

/// A malformed expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// The kind of error.
    pub kind: SyntaxErrorKind,
    /// The whole expression, from `${` to its end.
    pub span: Span,
}

impl SyntaxError {
    /// Returns the diagnostic of this error in the field `text`. `place` is the span of the expression in `source`.
    pub fn diagnostic(self, text: &str, source: &Arc<Source>, place: Span) -> Box<Diagnostic> {
        let expression = text.get(self.span.range()).unwrap_or("");
        let body = expression.strip_prefix("${").unwrap_or(expression);
        let body = body.strip_suffix('}').unwrap_or(body);
        let shown = abridged(expression);
        let first = body.split('.').next().unwrap_or("");
        let invalid = |message: String| Diagnostic::new(Code::TemplateInvalidSyntax, message);
        let error = match self.kind {
            SyntaxErrorKind::Syntax => {
                let reason = syntax_reason(body);
                invalid(format!("'{shown}' is not a template expression: {reason}")).with_help(syntax_help(body))
            }
            SyntaxErrorKind::Unterminated => invalid(format!("'{shown}' has no closing '}}'"))
                .with_help("close it; a literal '${' cannot be written, use `$name` or a script file instead"),
            SyntaxErrorKind::Nested => {
                Diagnostic::new(Code::TemplateNestedExpression, format!("'{shown}' has an expression inside"))
                    .with_help("expressions cannot be nested; put the wanted name into a parameter of its own")
            }
            SyntaxErrorKind::Identifier => identifier_error(&shown, body),
            SyntaxErrorKind::Scope => scope_error(first),
            SyntaxErrorKind::Shape => shape_error(&shown, first),
        };
        let has_scope = error.code == Code::TemplateInvalidIdentifier && Scope::from_name(first).is_some();
        let error = if has_scope { error.with_field("scope", first) } else { error };
        error.with_field("expression", expression).at(source, place, "")
    }
}

fn identifier_error(shown: &str, body: &str) -> Box<Diagnostic> {
    let bad = body.split('.').find(|segment| !is_identifier(segment)).unwrap_or(body);
    let message = format!("'{}' in '{shown}' is not an identifier ([a-z_][a-z0-9_]*)", abridged(bad));
    let error = Diagnostic::new(Code::TemplateInvalidIdentifier, message);
    let near = bad.to_lowercase().replace('-', "_");
    if bad.to_uppercase() == bad && Scope::from_name(body.split('.').next().unwrap_or("")).is_none() {
        return error.with_help("environment variables are not read; write `$NAME` for the shell's own variable");
    }
    if near != bad && is_identifier(&near) { error.with_help(format!("name it `{near}`")) } else { error }
}

fn scope_error(first: &str) -> Box<Diagnostic> {
    let names = Scope::ALL.map(Scope::name);
    let message = format!("'{}' is not a scope; there are params, context, steps and facts", abridged(first));
    Diagnostic::new(Code::TemplateInvalidIdentifier, message)
        .with_field("scope", first)
        .with_available(names)
        .with_help(format!("a parameter is written ${{params.{}}}", abridged(first)))
        .with_suggestion(first, names)
}

fn shape_error(shown: &str, scope: &str) -> Box<Diagnostic> {
    let wanted = if scope == "steps" { "steps.<id>.outputs.<name>".to_owned() } else { format!("{scope}.<name>") };
    let message = format!("'{shown}' is not a path of the {scope} scope");
    Diagnostic::new(Code::TemplateInvalidIdentifier, message).with_help(format!("write ${{{wanted}}}"))
}

fn syntax_reason(body: &str) -> &'static str {
    if body.is_empty() {
        "it is empty"
    } else if body.split('.').any(str::is_empty) {
        "a part of the path is empty"
    } else if body.chars().any(char::is_whitespace) && body.split_whitespace().count() == 1 {
        "white space is not allowed in it"
    } else {
        "only names with dots between them are allowed"
    }
}

fn syntax_help(body: &str) -> &'static str {
    if body.contains(":-") || body.contains(":=") || body.ends_with('?') {
        "give the parameter a `default` in spec.parameters; expressions have none"
    } else if body.contains(['(', '|', '+', '?']) {
        "there are no functions, filters, conditions or operators; write expressions side by side to join them"
    } else {
        "write ${scope.name}; a literal '${' cannot be written, use `$name` or a script file instead"
    }
}
