//! Parses one field to its tree, or to its leftmost error.

use std::ops::Range;

use bumpalo::Bump;
use lalrpop_util::ParseError;

use super::error::{SyntaxError, SyntaxErrorKind};
use super::lexer::Lexer;
use super::tree::{ParsedField, Part, Reference};
use crate::Scope;
use dropforge_base::text::Span;

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
pub(super) fn reference(source: &str, at: Range<usize>, segments: usize) -> Result<Reference<'_>, SyntaxError> {
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
