//! Parses the text of a field to its tree, a flat list of parts in the arena of the compilation, or to its leftmost error.

mod lexer;

use std::ops::Range;
use std::sync::Arc;

use bumpalo::Bump;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};
use lalrpop_util::ParseError;
use lexer::Lexer;

use crate::Scope;
use crate::error::abridged;
pub(crate) use lexer::first_expression;

/// A `${…}` expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'s> {
    /// The whole expression, including its braces.
    pub span: Span,
    /// The first segment.
    pub scope: Scope,
    /// The rest of the path as one flat key, including dots.
    pub name: &'s str,
}

impl<'s> Reference<'s> {
    /// Returns the step and the output that a reference into `steps` names.
    pub(crate) fn step_output(&self) -> Option<(&'s str, &'s str)> {
        let (step, rest) = self.name.split_once('.').filter(|_| self.scope == Scope::Steps)?;
        Some((step, rest.strip_prefix("outputs.")?))
    }
}

/// A part of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'s> {
    /// Text, unchanged.
    Text(Span),
    /// An expression.
    Expression(Reference<'s>),
}

/// A parsed field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedField<'a, 's> {
    /// The parts in order. No two texts are adjacent.
    pub parts: &'a [Part<'s>],
}

impl<'a, 's> ParsedField<'a, 's> {
    /// Returns the expressions in order.
    pub fn references(&self) -> impl Iterator<Item = &'a Reference<'s>> + use<'a, 's> {
        self.parts.iter().filter_map(|part| match part {
            Part::Expression(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }
}

/// Returns `true` if an expression can spell `text` as one segment.
pub fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

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

#[allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unused)]
#[rustfmt::skip]
mod grammar {
    include!("parser.generated");
}

/// Parses a field. The tree lives in `arena`.
///
/// # Errors
/// The leftmost malformed expression.
pub fn parse<'a, 's>(text: &'s str, arena: &'a Bump) -> Result<ParsedField<'a, 's>, SyntaxError> {
    if memchr::memchr(b'$', text.as_bytes()).is_none() && !text.is_empty() {
        let whole = Part::Text(Span::of(0..text.len()));
        return Ok(ParsedField { parts: arena.alloc_slice_copy(&[whole]) });
    }
    let mut lexer = Lexer::new(text);
    match grammar::FieldParser::new().parse(text, &mut lexer) {
        Ok(parts) => Ok(ParsedField { parts: arena.alloc_slice_copy(&coalesced(parts)) }),
        Err(ParseError::User { error }) => Err(error),
        // Valid tokens in a wrong order: an empty body or an empty segment.
        Err(_) => Err(lexer.error()),
    }
}

/// Joins adjacent text parts: the lexer splits text at every `$`.
fn coalesced(parts: Vec<Part<'_>>) -> Vec<Part<'_>> {
    let mut out: Vec<Part<'_>> = Vec::with_capacity(parts.len());
    for part in parts {
        match (out.last_mut(), part) {
            (Some(Part::Text(last)), Part::Text(span)) => *last = last.to(span),
            _ => out.push(part),
        }
    }
    out
}

/// Checks the scope and the shape of a path of identifiers. The grammar's action.
fn reference(source: &str, at: Range<usize>, segments: usize) -> Result<Reference<'_>, SyntaxError> {
    let span = Span::of(at.clone());
    let path = source.get(at.start + 2..at.end.saturating_sub(1)).unwrap_or("");
    let (scope, name) = path.split_once('.').unwrap_or((path, ""));
    let error = |kind| SyntaxError { kind, span };
    let scope = Scope::from_name(scope).ok_or(error(SyntaxErrorKind::Scope))?;
    let shape_ok = match scope {
        Scope::Steps => segments == 4 && path.split('.').nth(2) == Some("outputs"),
        _ => segments >= 2,
    };
    if shape_ok { Ok(Reference { span, scope, name }) } else { Err(error(SyntaxErrorKind::Shape)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Option<(SyntaxErrorKind, String)> {
        let arena = Bump::new();
        let error = parse(text, &arena).err()?;
        Some((error.kind, text[error.span.range()].to_owned()))
    }

    #[test]
    fn every_error_has_its_kind() {
        use SyntaxErrorKind::{Identifier, Nested, Scope, Shape, Syntax, Unterminated};
        let table = [
            ("a ${} b", Syntax, "${}"),
            ("${.a}", Syntax, "${.a}"),
            ("${params.}", Syntax, "${params.}"),
            ("${params..b}", Syntax, "${params..b}"),
            ("${Params..b}", Syntax, "${Params..b}"),
            ("${params.b }", Syntax, "${params.b }"),
            ("${params.b|c}", Syntax, "${params.b|c}"),
            ("${params.☃}", Syntax, "${params.☃}"),
            ("${{a}}", Syntax, "${{a}"),
            ("${params.b$}", Syntax, "${params.b$}"),
            ("x${params.b-c}", Identifier, "${params.b-c}"),
            ("${params.9a}", Identifier, "${params.9a}"),
            ("${params.é}", Identifier, "${params.é}"),
            ("${HOME}", Identifier, "${HOME}"),
            ("${home}", Scope, "${home}"),
            ("${parms.x}", Scope, "${parms.x}"),
            ("${facts}", Shape, "${facts}"),
            ("${steps.a.outputs}", Shape, "${steps.a.outputs}"),
            ("${steps.a.outputs.b.c}", Shape, "${steps.a.outputs.b.c}"),
            ("${steps.a.result.b}", Shape, "${steps.a.result.b}"),
            ("a ${params.b", Unterminated, "${params.b"),
            ("${", Unterminated, "${"),
            ("${a ${b", Nested, "${a ${b"),
            ("x ${${", Nested, "${${"),
            ("${a $ {", Unterminated, "${a $ {"),
            ("${a${b}c}d}", Nested, "${a${b}c}"),
            ("${a ${b} c", Nested, "${a ${b} c"),
            ("${ok} ${", Scope, "${ok}"),
            ("${a b} ${c ${d}}", Syntax, "${a b}"),
        ];
        for (text, kind, expression) in table {
            assert_eq!(error(text), Some((kind, expression.to_owned())), "{text}");
        }
    }

    #[test]
    fn text_without_expressions_is_kept() {
        for text in ["", "$", "$$", "${", "}", "{{x}}", "$x $(y) $1", "\\", "$ {params.a}", "$\u{0}{"] {
            let arena = Bump::new();
            match parse(text, &arena) {
                Ok(field) => assert!(field.references().next().is_none() && field.parts.len() <= 1, "{text}"),
                Err(error) => assert_eq!((text, error.kind), ("${", SyntaxErrorKind::Unterminated)),
            }
        }
        let arena = Bump::new();
        let field = parse("$${params.a.b}$\\${facts.c}", &arena).unwrap();
        let found: Vec<_> = field.references().map(|reference| (reference.scope, reference.name)).collect();
        assert_eq!(found, [(Scope::Params, "a.b"), (Scope::Facts, "c")]);
    }

    #[test]
    fn long_and_deep_fields_end() {
        let many = "${params.a}".repeat(100_000);
        assert_eq!(parse(&many, &Bump::new()).unwrap().parts.len(), 100_000);
        let path = format!("${{params{}}}", ".a".repeat(500_000));
        assert!(parse(&path, &Bump::new()).is_ok());
        assert_eq!(error(&"${".repeat(500_000)).map(|(kind, _)| kind), Some(SyntaxErrorKind::Nested));
        let nested = format!("{}{}", "${".repeat(300_000), "}".repeat(300_000));
        assert_eq!(error(&nested), Some((SyntaxErrorKind::Nested, nested.clone())));
        assert_eq!(error(&format!("${{{}}}", "a".repeat(1 << 20))).map(|(kind, _)| kind), Some(SyntaxErrorKind::Scope));
    }

    #[test]
    fn every_truncation_and_substitution_gives_an_answer() {
        let text = "a$ ${params.a_1}é${steps.b.outputs.c}$${facts.d}";
        for (end, _) in text.char_indices() {
            let _ = error(&text[..end]);
            for new in ["\0", "$", "{", "}", ".", " ", "é", "A", "${"] {
                if let Some((_, expression)) = error(&format!("{}{new}{}", &text[..end], &text[end..])) {
                    assert!(expression.starts_with("${"));
                }
            }
        }
    }
}
