//! Generated HCL sources parse without errors. Mutated ones have errors with valid positions and are read to the end.

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::syntax::lexer::lex_config;
use dropforge::dialect::hcl::syntax::parser::{
    parse_config, parse_expression, parse_partial_traversal, parse_template, parse_traversal,
};
use dropforge::limits::Limits;
use dropforge::text::Source;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Returns the errors of a text, parsed in one of the five ways.
fn errors(text: &str, way: usize) -> Vec<Box<Diagnostic>> {
    let (source, limits) = (Source::new("s", text), Limits::default());
    match way {
        0 => parse_config(&source, &limits).diagnostics,
        1 => parse_expression(&source, &limits).diagnostics,
        2 => parse_template(&source, &limits).diagnostics,
        3 => parse_traversal(&source, &limits).diagnostics,
        _ => parse_partial_traversal(&source, &limits).diagnostics,
    }
}

/// Checks that every error has a message of its own and a position within the text.
fn check(text: &str) -> Result<(), TestCaseError> {
    for way in 0..5 {
        for error in errors(text, way) {
            prop_assert!(error.message != "Invalid syntax", "{text:?} is refused without a reason");
            let span = error.primary().map(|label| label.span);
            for span in span.into_iter().chain(error.context) {
                prop_assert!(text.get(span.range()).is_some(), "{error} is outside of {text:?}");
            }
            prop_assert!(span.is_some(), "{error} has no place in {text:?}");
        }
    }
    Ok(())
}

const LEAVES: &[&str] = &[
    "a",
    "a.b",
    "a.0",
    "a.*.b.c",
    "a[*].b[0]",
    "a[\"k\"]",
    "1",
    "2.5e3",
    "true",
    "null",
    "\"\"",
    "\"s\\n\"",
    "[]",
    "{}",
    "f()",
    "n::f(a...)",
    "\"%{ if a }b%{ else }c%{ endif }\"",
    "\"%{ for x, y in z ~}${x}%{ endfor }\"",
    "<<E\n x ${y}\nE\n",
    "<<-E\n  x\n  E\n",
];

const SHAPES: &[&str] = &[
    "($a)",
    "-$a",
    "!$a",
    "[$a, $b]",
    "[$a, $b,]",
    "($a)[$b].c",
    "f($a, $b)",
    "f($a, $b...)",
    "($a) ? ($b) : $a",
    "{x = $a, (y) : $b}",
    "{\n  x = $a\n  \"y\" = $b,\n}",
    "[for x in $a : $b]",
    "[for k, v in $a : $b if k]",
    "{for k, v in $a : k => $b...}",
    "\"p${$a}q${~ $b ~}\"",
    "\"%{ if $a }x${$b}%{ endif }\"",
    "$a + $b",
    "$a * $b",
    "$a == $b",
    "$a && $b",
];

/// Valid expressions. A heredoc ends with its line, so each operand is in parentheses.
pub fn expression() -> impl Strategy<Value = String> {
    let leaf = select(LEAVES).prop_map(|leaf| format!("({leaf})"));
    leaf.prop_recursive(4, 24, 2, |inner| {
        (select(SHAPES), inner.clone(), inner)
            .prop_map(|(shape, a, b)| format!("({})", shape.replace("$a", &a).replace("$b", &b)))
    })
}

/// Valid configurations. No body declares a name twice.
fn config() -> impl Strategy<Value = String> {
    let argument = expression().prop_map(|value| format!(" = {value}\n"));
    let item = prop_oneof![
        3 => argument,
        1 => select(&[" {}\n", " \"l\" m {\n}\n", " {\n  # c\n}\n", " { x = 1 }\n", " = 1 // c\n"][..]).prop_map(str::to_owned),
    ];
    let body = vec(item, 0..4).prop_map(|items| {
        let named = items.iter().enumerate().map(|(at, item)| format!("n{at}{item}"));
        named.collect::<String>()
    });
    (body.clone(), body).prop_map(|(outer, inner)| format!("{outer}block \"l\" {{\n{inner}}}\n"))
}

const PIECES: &[&str] = &[
    "a",
    "1",
    "1e9999999999",
    "0.1",
    "\"",
    "${",
    "%{",
    "~}",
    "}",
    "{",
    "[",
    "]",
    "(",
    ")",
    ".",
    "*",
    ".*",
    "[*]",
    "-",
    "?",
    ":",
    "::",
    ",",
    "=",
    "=>",
    "...",
    "\n",
    "for",
    "in",
    "if",
    "else",
    "endif",
    "endfor",
    "# c\n",
    "/* c */",
    "<<E\n",
    "E\n",
    "\\q",
    "'",
    "é",
    "\0",
    "b \"l\" {\n",
];

/// Edits of a text: the position of a token, and the text that replaces or follows it.
fn changes() -> impl Strategy<Value = Vec<(Index, bool, Option<&'static str>)>> {
    vec((any::<Index>(), any::<bool>(), proptest::option::of(select(PIECES))), 1..4)
}

fn changed(mut text: String, changes: Vec<(Index, bool, Option<&'static str>)>) -> String {
    for (at, replaces, piece) in changes {
        let tokens = lex_config(text.as_bytes());
        let span = at.get(&tokens).span.range();
        let range = if replaces { span } else { span.end..span.end };
        if text.get(range.clone()).is_some() {
            text.replace_range(range, piece.unwrap_or(""));
        }
    }
    text
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn generated_sources_have_no_errors(expression in expression(), config in config()) {
        prop_assert!(errors(&expression, 1).is_empty(), "{expression}: {:?}", errors(&expression, 1));
        prop_assert!(errors(&config, 0).is_empty(), "{config}: {:?}", errors(&config, 0));
    }

    #[test]
    fn errors_have_places(expression in expression(), config in config(), changes in changes()) {
        check(&changed(expression, changes.clone()))?;
        check(&changed(config, changes))?;
    }

    #[test]
    fn random_sequences_of_tokens(pieces in vec(select(PIECES), 0..24), space in select(&["", " "][..])) {
        check(&pieces.join(space))?;
    }
}
