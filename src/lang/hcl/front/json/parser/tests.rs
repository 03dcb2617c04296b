//! Values, errors and limits of the parser.

use super::*;

fn parse(text: &str) -> ParsedJson {
    parse_expression(&Source::new("t.json", text), &Limits::default())
}

/// The value in a short notation, and the messages with their spans.
fn shown(text: &str) -> String {
    let parsed = parse(text);
    let place = |d: &Diagnostic| d.primary().map(|label| label.span).unwrap_or_default();
    let show = |d: &Diagnostic| format!("{} {}-{}", d.message, place(d).start, place(d).end);
    let errors: Vec<_> = parsed.diagnostics.iter().map(|error| show(error)).collect();
    format!("{} {}", value(&parsed.document, parsed.document.root()), errors.join("; "))
}

fn value(document: &JsonDocument, id: JsonId) -> String {
    let list = |items: Vec<String>| items.join(",");
    let node = document.node(id);
    let json = match node.json {
        JsonContent::Invalid => "!".into(),
        JsonContent::Null => "null".into(),
        JsonContent::Bool(truth) => truth.to_string(),
        JsonContent::Number(digits) => document.str(digits).into(),
        JsonContent::String(text) => format!("{:?}", document.str(text)),
        JsonContent::Array(items) => {
            format!("[{}]", list(document.items(items).iter().map(|&id| value(document, id)).collect()))
        }
        JsonContent::Object(properties) => {
            let show = |of: &Property| format!("{}={}", document.str(of.name), value(document, of.value));
            format!("{{{}}}", list(document.properties(properties).iter().map(show).collect()))
        }
    };
    format!("{json}@{}-{}", node.span.start, node.span.end)
}

#[test]
fn values_have_their_places() {
    let cases = [
        (r#"{"a":1,"a":[],"b":{}}"#, r#"{a=1@5-6,a=[]@11-13,b={}@18-20}@0-21 "#),
        (r#" [true, false,null , "a\"b"]"#, r#"[true@2-6,false@8-13,null@14-18,"a\"b"@21-27]@1-28 "#),
        (
            "[-0, 1.50, 1E+5, 123456789012345678901234567890]",
            "[-0@1-3,1.50@5-9,1E+5@11-15,123456789012345678901234567890@17-47]@0-48 ",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(shown(text), wanted, "{text}");
    }
}

#[test]
fn what_is_wrong_is_reported_where_the_reference_reports_it() {
    let cases = [
        ("", "!@0-0 Missing value 0-0"),
        ("}", "!@0-1 Missing JSON value 0-1"),
        ("[,]", "!@0-1 Invalid start of value 1-2; Trailing comma in array 1-2"),
        ("[}", "!@0-1 Missing JSON value 1-2; Mismatched brackets 2-2"),
        ("[1 2]", "!@0-1 Missing separator comma 5-5"),
        ("[1:2]", "!@0-1 Invalid array value 5-5"),
        ("[[1}, 2]", "!@0-1 Mismatched brackets 8-8; Unclosed array 0-1"),
        ("{", "!@0-1 Missing value 1-1; Invalid object property name 1-1"),
        ("{1:2}", "!@0-1 Invalid object property name 1-2"),
        ("{{}:1}", "!@0-1 Invalid object property name 1-2"),
        (r#"{"a"}"#, "!@0-1 Missing object value 4-5"),
        (r#"{"a" 1}"#, "!@0-1 Missing property value colon 5-6"),
        (r#"{"a":1 "b":2}"#, "!@0-1 Missing separator comma 13-13"),
        (r#"{"a":1,}"#, "!@0-1 Trailing comma in object 6-7"),
        (r#"{"a":{"b"={}},"c":1}"#, "{a=!@5-6}@0-13 Missing property value colon 9-10"),
        ("01", "!@0-2 Invalid JSON number 0-2"),
        ("1.", "!@0-2 Invalid JSON number 0-2"),
        ("1e", "!@0-2 Invalid JSON number 0-2"),
        ("1-2", "!@0-3 Invalid JSON number 0-3"),
        ("2e5000000000", "!@0-12 Invalid JSON number 0-12"),
        ("Infinity", "!@0-8 Invalid JSON keyword 0-8"),
        ("\"a\n\"", "!@0-2 Invalid JSON string 2-3"),
        ("{} {}", "{}@0-2 Extraneous data after value 3-4"),
        ("[1] &", "[1@1-2]@0-3 Extraneous data after value 4-5"),
        ("\u{feff}{}", "!@0-1 Invalid start of value 0-1"),
    ];
    for (text, wanted) in cases {
        assert_eq!(shown(text), wanted, "{text}");
    }
}

#[test]
fn the_root_of_a_file_is_an_object_or_an_array() {
    let limits = Limits::default();
    for (text, wanted) in [("[]", 0), ("{}", 0), ("1", 1), ("", 2), ("\"a", 2), ("{a:1}", 3)] {
        let parsed = parse_file(&Source::new("t.json", text), &limits);
        assert_eq!(parsed.diagnostics.len(), wanted, "{text}");
        let root = parsed.document.node(parsed.document.root());
        assert!(matches!(root.json, JsonContent::Object(_) | JsonContent::Array(_)), "{text}");
    }
}

#[test]
fn a_byte_order_mark_is_refused_by_name() {
    let parsed = parse("\u{feff}{}");
    assert!(parsed.diagnostics[0].detail.as_deref().is_some_and(|detail| detail.contains("byte order mark")));
    assert!(parsed.diagnostics[0].render(false).contains("t.json:1:1"));
}

#[test]
fn depth_is_limited_and_costs_no_calls() {
    for open in ["[", "{\"a\":", "[{\"a\":", "{"] {
        for close in ["", "]", "}"] {
            let text = open.repeat(100_000) + &close.repeat(100_000);
            let parsed = parse_file(&Source::new("t.json", text), &Limits::default());
            assert!(parsed.diagnostics.iter().any(|d| d.code.name() == "limit.depth"), "{open} {close}");
            assert!(parsed.diagnostics.len() <= 100, "{open} {close}");
        }
    }
    let deep = Limits { nesting: 200_000, ..Limits::default() };
    let text = "[".repeat(100_000) + &"]".repeat(100_000);
    assert!(parse_file(&Source::new("t.json", text), &deep).diagnostics.is_empty());
}

#[test]
fn a_source_that_is_too_long_is_not_read() {
    let limits = Limits { source_bytes: 4, ..Limits::default() };
    let parsed = parse_file(&Source::new("t.json", "[1,2]"), &limits);
    let codes: Vec<_> = parsed.diagnostics.iter().map(|d| d.code.name()).collect();
    assert_eq!(codes, ["limit.source_bytes"]);
}

#[test]
fn many_errors_are_cut_and_a_long_string_is_one_token() {
    let text = format!("[{}tru]", "tru,".repeat(10_000));
    let diagnostics = parse(&text).diagnostics;
    assert_eq!(diagnostics.len(), Limits::default().diagnostics);
    assert!(
        diagnostics
            .last()
            .is_some_and(|last| last.notes.iter().any(|note| note.contains("more diagnostics: the limit is 100")))
    );
    let text = format!("\"{}\"", "aé\\n".repeat(500_000));
    let parsed = parse(&text);
    let JsonContent::String(found) = parsed.document.node(parsed.document.root()).json else { panic!() };
    assert_eq!(parsed.document.str(found).len(), 2_000_000);
}

#[test]
fn a_text_cut_anywhere_is_an_error_that_can_be_shown() {
    let text = r#"{"//": "é\ud83d\ude00", "a": [1.5e3, -0, null, {"b": ["${x}", true]}], "c": {"d": {}}}"#;
    assert!(parse(text).diagnostics.is_empty());
    for (at, _) in text.char_indices() {
        let parsed = parse_file(&Source::new("t.json", &text[..at]), &Limits::default());
        assert!(!parsed.diagnostics.is_empty(), "{at}");
        for diagnostic in &parsed.diagnostics {
            assert!(diagnostic.render(false).contains("t.json:1:"), "{at}");
        }
    }
}
