//! The parser accepts exactly the sources that Tera accepts: sequences of tokens, sequences of tags, and expressions
//! with a token inserted, removed or joined to its neighbour.

use std::panic::catch_unwind;

use dropforge::dialect::tera::parse;
use dropforge::limits::Limits;
use dropforge::text::Source;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tera::Tera;

/// Returns `true` if the reference accepts a source, or `None` if it panics.
fn reference_accepts(source: &str) -> Option<bool> {
    let source = source.to_owned();
    let refused = catch_unwind(|| match Tera::default().add_raw_template("t", &source) {
        Ok(()) => false,
        Err(error) => error.to_string().starts_with("Failed to parse"),
    });
    refused.ok().map(|refused| !refused)
}

fn accepted(source: &str) -> (bool, String) {
    let arena = bumpalo::Bump::new();
    let (template, errors) = parse(&arena, &Source::new("t", source), &Limits::default());
    assert_eq!(template.is_none(), !errors.is_empty(), "{source:?}");
    for error in &errors {
        assert!(error.position().is_some(), "{error} has no place in {source:?}");
    }
    (template.is_some(), errors.iter().map(|error| format!("{error}; ")).collect())
}

fn same(source: &str) -> Result<(), TestCaseError> {
    let (ours, errors) = accepted(source);
    if let Some(theirs) = reference_accepts(source) {
        prop_assert_eq!(ours, theirs, "{:?}: {}", source, errors);
    }
    Ok(())
}

const WORDS: &[&str] = &[
    "a",
    "b.c",
    "x[0]",
    "x['k']",
    "x[a.b]",
    "x[-1]",
    "true",
    "false",
    "trueish",
    "falsey.x",
    "not",
    "and",
    "or",
    "in",
    "is",
    "not in",
    "is not",
    "isx",
    "inx",
    "1",
    "-1",
    "0",
    "01",
    "2.5",
    "-0.5",
    "'s'",
    "\"t\"",
    "`u`",
    "''",
    "+",
    "-",
    "*",
    "/",
    "%",
    "~",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "=",
    "|",
    "| f",
    "| f()",
    "| f(a=1)",
    "| f(a=[1], b='x',)",
    "f()",
    "f(a=b)",
    "f(a=not b)",
    "m::g()",
    "m::g(a=1)",
    "(",
    ")",
    "[",
    "]",
    ",",
    "::",
    "is odd",
    "is t(1)",
    "is t(a, 'b')",
    "super()",
    ".",
    "true or",
    "truein x",
    "notx",
    "oror",
    "(a)",
    "(a + 1)",
    "(a or b)",
    "(not a)",
    "[1, a]",
    "[]",
    "[1,]",
    "i",
    "_x",
    "x1",
    "self",
];

const OPERANDS: &[&str] = &[
    "a",
    "a.b.0",
    "x[y]",
    "1",
    "2.5",
    "'s'",
    "true",
    "f(a=1)",
    "m::g()",
    "a is odd",
    "(a)",
    "(a + b * 2)",
    "(a | f)",
    "(a == b)",
    "(not a)",
    "[1, a]",
    "a | f",
    "'s' | f",
    "a ~ 'x'",
    "1 ~ f()",
    "not",
    "trueish",
    "(a is odd)",
    "('s')",
    "((a))",
    "a | f | g(x=1)",
    "-3",
    "in",
    "or",
];

const LINKS: &[&str] = &[
    " + ",
    " - ",
    " * ",
    " / ",
    " % ",
    " ~ ",
    " < ",
    " >= ",
    " == ",
    " != ",
    " in ",
    " not in ",
    " and ",
    " or ",
    " and not ",
    " | f ",
    " is ",
    "-",
    "+",
    " or",
    "or ",
    " in",
];

const TAGS: &[&str] = &[
    "{% if a %}",
    "{% elif a %}",
    "{% else %}",
    "{% endif %}",
    "{%- if not a -%}",
    "{% for x in y %}",
    "{% for k, v in y | f %}",
    "{% for k , v in y %}",
    "{% for x in [1] %}",
    "{% for x in 'a' %}",
    "{% endfor %}",
    "{% break %}",
    "{% continue %}",
    "{% block b %}",
    "{% block c %}",
    "{% endblock %}",
    "{% endblock b %}",
    "{% endblockb %}",
    "{% endblock b c %}",
    "{% filter f %}",
    "{% filter f(a=1) %}",
    "{% endfilter %}",
    "{% macro m() %}",
    "{% macro n(a, b=1, c='x') %}",
    "{% macro n(a = 1) %}",
    "{% macro n(a,) %}",
    "{% endmacro %}",
    "{% endmacro m %}",
    "{% set a = 1 %}",
    "{% set a=[1] | f %}",
    "{% set_global a = b %}",
    "{% set a == 1 %}",
    "{% set true = 1 %}",
    "{% include 'x' %}",
    "{% include ['x', 'y'] ignore missing %}",
    "{% include 'x'ignoremissing%}",
    "{% include x %}",
    "{% extends 'p' %}",
    "{% import 'q' as q %}",
    "{% raw %}",
    "{% endraw %}",
    "{%- raw -%}",
    "{%-endraw-%}",
    "{{ a }}",
    "{{- a -}}",
    "{{ super() }}",
    "{{super()}}",
    "{{ super( ) }}",
    "{# c #}",
    "{##}",
    "{#- c -#}",
    "{#-#}",
    "{#--#}",
    "text",
    " ",
    "\n",
    "{",
    "}}",
    "%}",
    "{ {",
    "{{",
    "{%",
    "{#",
    "#}",
    "{% %}",
    "{%if a%}",
    "{% if(a) %}",
    "{% ifa %}",
    "{% endfor x %}",
    "{% else if %}",
    "{{ 'a}}b' }}",
    "{{ \"{% if %}\" }}",
    "{%\tif\ra\n%}",
];

fn soup(words: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    vec((select(words), any::<bool>()), 0..most).prop_map(|words| {
        words.into_iter().map(|(word, space)| format!("{word}{}", if space { " " } else { "" })).collect()
    })
}

fn expression() -> impl Strategy<Value = String> {
    (select(OPERANDS), vec((select(LINKS), select(OPERANDS)), 0..4)).prop_map(|(first, rest)| {
        rest.into_iter().fold(first.to_owned(), |all, (link, operand)| format!("{all}{link}{operand}"))
    })
}

/// Returns `text` with one character removed or one token inserted.
fn damaged() -> impl Strategy<Value = String> {
    (expression(), any::<prop::sample::Index>(), select(WORDS), any::<bool>()).prop_map(|(text, at, word, cut)| {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let at = if places.is_empty() { 0 } else { places[at.index(places.len())] };
        let (before, behind) = text.split_at(at);
        if cut { format!("{before}{}", behind.get(1..).unwrap_or("")) } else { format!("{before}{word}{behind}") }
    })
}

fn wrapped(expression: &str) -> [String; 6] {
    [
        format!("{{{{ {expression} }}}}"),
        format!("{{{{-{expression}-}}}}"),
        format!("{{% if {expression} %}}{{% endif %}}"),
        format!("{{% for q in {expression} %}}{{% endfor %}}"),
        format!("{{% set q = {expression} %}}"),
        format!("{{{{ f(k={expression}) | g(k=[{expression}]) }}}}"),
    ]
}

proptest! {
    #![proptest_config(crate::cases(800))]

    #[test]
    fn random_sequences_of_words(words in soup(WORDS, 7)) {
        for source in wrapped(&words) {
            same(&source)?;
        }
    }

    #[test]
    fn expressions(text in expression()) {
        for source in wrapped(&text) {
            same(&source)?;
        }
    }

    #[test]
    fn damaged_expressions(text in damaged()) {
        for source in wrapped(&text) {
            same(&source)?;
        }
    }

    #[test]
    fn random_sequences_of_tags(source in soup(TAGS, 9)) {
        same(&source)?;
    }

    #[test]
    fn any_text_at_all_is_read_or_refused(source in "[{}%#\\-a-c'\"\\[\\]().,|~=<> 0-9é\n]{0,60}") {
        same(&source)?;
    }
}

#[test]
fn chains_of_a_hundred_thousand_links_are_flat() {
    let long = |first: &str, link: &str| format!("{{{{ {first}{} }}}}", link.repeat(100_000));
    for (first, link) in [("a", " + 1"), ("a", " ~ 'x'"), ("a", " | f"), ("a", ".b"), ("a", " and b"), ("a", " or b")] {
        assert!(accepted(&long(first, link)).0, "{link}");
    }
    let elif = format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}x".repeat(100_000));
    assert!(accepted(&elif).0);
}

#[test]
fn nesting_ends_in_a_limit() {
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let sources = [
        deep("{% if a %}", "{% endif %}"),
        format!("{{{{ {} }}}}", deep("(", ")")),
        format!("{{{{ {} }}}}", deep("f(a=", ")")),
        format!("{{{{ a{} }}}}", deep("[a", "]")),
    ];
    for source in sources {
        let arena = bumpalo::Bump::new();
        let (template, errors) = parse(&arena, &Source::new("t", source), &Limits::default());
        assert!(template.is_none());
        assert_eq!(errors[0].code.name(), "limit.depth");
    }
}
