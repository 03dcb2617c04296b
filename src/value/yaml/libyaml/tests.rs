use std::convert::Infallible;

use super::*;
use crate::marshal::{Numbers, Refused, exchange_json, plain};
use crate::{Arena, JsonStyle, Value, Viewed};

const DEPTH: usize = 100;

fn written(value: Value<'_>, form: Form) -> Result<String, Refused<Infallible>> {
    let mut out = String::new();
    write(Viewed(value, &plain), form, &mut out, &mut |_| Ok(())).map(|()| out)
}

/// Returns a document as JSON, or the error.
fn as_json(text: &str) -> String {
    let arena = Arena::new();
    match read(&arena, text, Numbers::Floats, DEPTH) {
        Err(error) => error,
        Ok(value) => {
            let mut out = String::new();
            let tree = Viewed(value, &plain);
            let style = JsonStyle::Exchanged { pretty: false, markup: false };
            exchange_json(tree, style, &mut out, &mut |_| Ok::<_, Infallible>(())).unwrap();
            out
        }
    }
}

#[test]
fn documents_are_read() {
    for (text, wanted) in [
        ("", "null"),
        ("a: 1\nb: [x, {c: d}, e: f]\n", r#"{"a":1,"b":["x",{"c":"d"},{"e":"f"}]}"#),
        ("a:\n- 1\n-\n- - 2\nb: ~\n", r#"{"a":[1,null,[2]],"b":null}"#),
        ("? - k\n  \n", "yaml: invalid map key: []interface {}{\"k\"}"),
        (
            "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\nc: *x",
            r#"{"a":{"p":1,"q":2},"b":{"p":1,"q":3},"c":{"p":1,"q":2}}"#,
        ),
        ("a: |\n  x\n   y\n\n  z\n\nb: >-\n  x\n  y\n\n  z\n", r#"{"a":"x\n y\n\nz\n","b":"x y\nz"}"#),
        ("a: |2+\n   x\n\n", r#"{"a":" x\n\n"}"#),
        ("a: \"x \\\n   y\\x41\\n  z\n\n  w\"", r#"{"a":"x yA\n  z\nw"}"#),
        ("a: 'it''s\n  b'", r#"{"a":"it's b"}"#),
        ("a: b\n  c\n\n  d # e\nf: g#h", r#"{"a":"b c\nd","f":"g#h"}"#),
        ("1: a\n1.5: b\ntrue: c\n", r#"{"1":"a","1.5":"b","true":"c"}"#),
        ("%YAML 1.1\n---\na: 1\n...\n---\nb", r#"{"a":1}"#),
    ] {
        assert_eq!(as_json(text), wanted, "{text}");
    }
}

#[test]
fn errors_name_their_line() {
    for (text, wanted) in [
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("x: 1\na: b: c", "yaml: line 2: mapping values are not allowed in this context"),
        ("a:\n  - 1\n b: 2", "yaml: line 2: did not find expected key"),
        ("\ta: 1", "yaml: found character that cannot start any token"),
        ("a: *x", "yaml: unknown anchor 'x' referenced"),
        ("a: \"\\q\"", "yaml: found unknown escape character"),
        ("a: [1", "yaml: line 1: did not find expected ',' or ']'"),
        ("a: .inf", "json: unsupported value: +Inf"),
        ("a: !!int x", "yaml: cannot decode !!str `x` as a !!int"),
        ("a: \u{1}", "yaml: control characters are not allowed"),
        ("&a [*a]", "yaml: anchor 'a' value contains itself"),
        ("a: {<<: 1}", "yaml: map merge requires map or sequence of maps as the value"),
    ] {
        assert_eq!(as_json(text), wanted, "{text}");
    }
}

#[test]
fn nesting_and_copies_are_bounded() {
    assert!(as_json(&"[".repeat(100_000)).contains("exceeded max depth"));
    assert!(as_json(&"- ".repeat(100_000)).contains("exceeded max depth"));
    assert!(as_json(&"a: {".repeat(100_000)).contains("exceeded max depth"));
    let mut bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (next, last) in ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"]) {
        let aliases = vec![format!("*{last}"); 9].join(", ");
        bomb.push_str(&format!("{next}: &{next} [{aliases}]\n"));
    }
    assert_eq!(as_json(&bomb), "yaml: document contains excessive aliasing");
}

#[test]
fn values_are_written_in_both_forms() {
    let arena = Arena::new();
    let item = arena.map(&[("k", Value::Float(1_000_000.0)), ("a10", Value::Null), ("a2", arena.text("y"))]);
    let list = arena.list(&[item, arena.list(&[Value::Int(1), arena.list(&[])])]);
    let map = arena.map(&[("l", list), ("t", arena.text("x\ny\n")), ("e", arena.map(&[]))]);
    let wanted = "e: {}\nl:\n- a2: \"y\"\n  a10: null\n  k: 1000000\n- - 1\n  - []\nt: |\n  x\n  y\n";
    assert_eq!(written(map, Form::Json).unwrap(), wanted);
    let wanted = "e: {}\nl:\n  - a2: \"y\"\n    a10: null\n    k: 1e+06\n  - - 1\n    - []\nt: |\n  x\n  y\n";
    assert_eq!(written(map, Form::Pretty).unwrap(), wanted);
}

#[test]
fn texts_choose_their_style() {
    let arena = Arena::new();
    for (text, wanted) in [
        ("a b", "a b"),
        ("", "\"\""),
        ("1:2", "\"1:2\""),
        ("2001-02-30", "2001-02-30"),
        ("2001-1-1 1:2:3.5", "\"2001-1-1 1:2:3.5\""),
        ("a: b", "'a: b'"),
        ("it's: ", "'it''s: '"),
        ("a\tb", "\"a\\tb\""),
        ("😀", "\"\\U0001F600\""),
        ("\n", "|2+\n"),
        (" a\nb", "|2-\n   a\n  b"),
        ("a \nb", "\"a \\nb\""),
        ("\u{85}", "' '"),
    ] {
        assert_eq!(
            written(arena.text(text), Form::Json).unwrap().trim_end_matches('\n'),
            wanted.trim_end_matches('\n')
        );
    }
    assert!(written(arena.text("\u{7f}"), Form::Json).is_err());
    let long = vec!["word"; 30].join(" ");
    let folded = written(arena.text(&long), Form::Json).unwrap();
    assert!(folded.lines().count() == 2 && folded.lines().nth(1).unwrap().starts_with("  word"), "{folded}");
    let key = "k".repeat(129);
    assert_eq!(written(arena.map(&[(&key, Value::Int(1))]), Form::Json).unwrap(), format!("? {key}\n: 1\n"));
}

#[test]
fn what_is_written_reads_back() {
    let mut random = fastrand::Rng::with_seed(11);
    let pieces = [
        "a",
        " ",
        "  ",
        "\n",
        ":",
        "- ",
        "#",
        "'",
        "\"",
        "\\",
        "é",
        "1",
        ".",
        "no",
        "\t",
        "{",
        "?",
        "word word",
        "\u{2028}",
    ];
    for round in 0..4000 {
        let arena = Arena::new();
        let text: String = (0..random.usize(0..40)).map(|_| pieces[random.usize(0..pieces.len())]).collect();
        let key: String = (0..random.usize(0..8)).map(|_| pieces[random.usize(0..pieces.len())]).collect();
        let inner =
            arena.map(&[(arena.copy_str(&key), arena.text(&text)), ("n", Value::Float(f64::from(round) / 8.0))]);
        let value = arena.map(&[("l", arena.list(&[arena.text(&text), inner])), ("z", arena.text(&text))]);
        // The pretty form writes blocks whose first line begins with a tab, which readers refuse.
        let is_tabbed =
            [&text, &key].into_iter().flat_map(|text| text.split(super::is_break)).any(|line| line.starts_with('\t'));
        for form in [Form::Json, Form::Pretty].into_iter().take(if is_tabbed { 1 } else { 2 }) {
            let yaml = written(value, form).unwrap();
            let back = read(&arena, &yaml, Numbers::Floats, DEPTH).unwrap_or_else(|error| panic!("{error}: {yaml:?}"));
            assert!(back.to_data() == value.to_data(), "{yaml}");
        }
    }
}
