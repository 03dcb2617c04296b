//! From the text of a field to its tree, and from faults to diagnostics.
//!
//! A field is parsed in full before anything is looked up, and its leftmost fault is its error.

use std::ops::Range;
use std::sync::Arc;

use bumpalo::Bump;
use lalrpop_util::{ParseError, lalrpop_mod};

use super::ast::{Field, Part, Reference, Scope};
use super::error::abridged;
use super::lexer::{Fault, FaultKind, Lexer};
use crate::diagnostics::{Code, Diagnostic, nearest};
use crate::text::{Source, Span};

lalrpop_mod!(
    #[allow(missing_docs, unused, clippy::all, clippy::pedantic, clippy::restriction)]
    grammar,
    "/tower.rs"
);

/// Parses a field; the tree lives in `arena`.
///
/// # Errors
/// The leftmost malformed expression.
pub fn parse<'a, 's>(text: &'s str, arena: &'a Bump) -> Result<Field<'a, 's>, Fault> {
    if memchr::memchr(b'$', text.as_bytes()).is_none() && !text.is_empty() {
        let whole = Part::Text(Span::of(0..text.len()));
        return Ok(Field { parts: arena.alloc_slice_copy(&[whole]) });
    }
    let mut lexer = Lexer::new(text);
    match grammar::FieldParser::new().parse(text, &mut lexer) {
        Ok(parts) => Ok(Field { parts: arena.alloc_slice_copy(&coalesced(parts)) }),
        Err(ParseError::User { error }) => Err(error),
        // Tokens that are fine by themselves in an order that is not: an empty body or an empty segment.
        Err(_) => Err(lexer.fault()),
    }
}

/// The parts with neighbouring texts as one: the lexer cuts text at every `$`.
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

/// Checks scope and shape of a path of identifiers; the grammar's action.
pub(super) fn reference(source: &str, at: Range<usize>, segments: usize) -> Result<Reference<'_>, Fault> {
    let span = Span::of(at.clone());
    let path = source.get(at.start + 2..at.end.saturating_sub(1)).unwrap_or("");
    let (scope, name) = path.split_once('.').unwrap_or((path, ""));
    let fault = |kind| Fault { kind, span };
    let scope = Scope::from_name(scope).ok_or(fault(FaultKind::Scope))?;
    let shape_ok = match scope {
        Scope::Steps => segments == 4 && path.split('.').nth(2) == Some("outputs"),
        _ => segments >= 2,
    };
    if shape_ok { Ok(Reference { span, scope, name }) } else { Err(fault(FaultKind::Shape)) }
}

impl Fault {
    /// The diagnostic of this fault of the field `text`; `place` is where the expression stands in `source`.
    pub fn diagnostic(self, text: &str, source: &Arc<Source>, place: Span) -> Box<Diagnostic> {
        let expression = text.get(self.span.range()).unwrap_or("");
        let body = expression.strip_prefix("${").unwrap_or(expression);
        let body = body.strip_suffix('}').unwrap_or(body);
        let shown = abridged(expression);
        let first = body.split('.').next().unwrap_or("");
        let error = match self.kind {
            FaultKind::Syntax => Diagnostic::new(
                Code::TemplateInvalidSyntax,
                format!("'{shown}' is not a template expression: {}", syntax_reason(body)),
            )
            .with_help(syntax_help(body)),
            FaultKind::Unterminated => {
                Diagnostic::new(Code::TemplateInvalidSyntax, format!("'{shown}' has no closing '}}'"))
                    .with_help("close it; a literal '${' cannot be written, use `$name` or a script file instead")
            }
            FaultKind::Nested => {
                Diagnostic::new(Code::TemplateNestedExpression, format!("'{shown}' has an expression inside"))
                    .with_help("expressions cannot be nested; put the wanted name into a parameter of its own")
            }
            FaultKind::Identifier => identifier_error(&shown, body),
            FaultKind::Scope => scope_error(first),
            FaultKind::Shape => shape_error(&shown, first),
        };
        let error = if Scope::from_name(first).is_some() && error.code == Code::TemplateInvalidIdentifier {
            error.with_field("scope", first)
        } else {
            error
        };
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
    let error =
        Diagnostic::new(Code::TemplateInvalidIdentifier, message).with_field("scope", first).with_available(names);
    match nearest(first, names) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help(format!("a parameter is written ${{params.{}}}", abridged(first))),
    }
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

pub(super) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<(FaultKind, String)> {
        let arena = Bump::new();
        let fault = parse(text, &arena).err()?;
        Some((fault.kind, text[fault.span.range()].to_owned()))
    }

    #[test]
    fn every_fault_is_told_from_the_others() {
        use FaultKind::{Identifier, Nested, Scope, Shape, Syntax, Unterminated};
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
            ("${a ${b", Unterminated, "${a ${b"),
            ("${a${b}c}d}", Nested, "${a${b}c}"),
            ("${a ${b} c", Nested, "${a ${b} c"),
            ("${ok} ${", Scope, "${ok}"),
            ("${a b} ${c ${d}}", Syntax, "${a b}"),
        ];
        for (text, kind, expression) in table {
            assert_eq!(fault(text), Some((kind, expression.to_owned())), "{text}");
        }
    }

    #[test]
    fn what_is_no_expression_is_text() {
        for text in ["", "$", "$$", "${", "}", "{{x}}", "$x $(y) $1", "\\", "$ {params.a}", "$\u{0}{"] {
            let arena = Bump::new();
            match parse(text, &arena) {
                Ok(field) => assert!(field.references().next().is_none() && field.parts.len() <= 1, "{text}"),
                Err(fault) => assert_eq!((text, fault.kind), ("${", FaultKind::Unterminated)),
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
        assert_eq!(fault(&"${".repeat(500_000)).map(|(kind, _)| kind), Some(FaultKind::Unterminated));
        let nested = format!("{}{}", "${".repeat(300_000), "}".repeat(300_000));
        assert_eq!(fault(&nested), Some((FaultKind::Nested, nested.clone())));
        assert_eq!(fault(&format!("${{{}}}", "a".repeat(1 << 20))).map(|(kind, _)| kind), Some(FaultKind::Scope));
    }

    #[test]
    fn every_truncation_and_substitution_gives_an_answer() {
        let text = "a$ ${params.a_1}é${steps.b.outputs.c}$${facts.d}";
        for (end, _) in text.char_indices() {
            let _ = fault(&text[..end]);
            for new in ["\0", "$", "{", "}", ".", " ", "é", "A", "${"] {
                if let Some((_, expression)) = fault(&format!("{}{new}{}", &text[..end], &text[end..])) {
                    assert!(expression.starts_with("${"));
                }
            }
        }
    }
}
