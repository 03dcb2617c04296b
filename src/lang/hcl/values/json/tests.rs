//! JSON beyond the rows of the reference.

use super::*;
use dropforge_base::limits::Limits;
use dropforge_machine::function::{Caches, Capabilities, Cx, Fault, Outcome};
use dropforge_value::{Arena, BigNum, Inputs, Refinement, Type, Value};

fn with_cx<T>(body: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, limits, caches) = (Arena::new(), Limits::default(), Caches::default());
    body(&Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches))
}

fn said<T: std::fmt::Debug>(outcome: Outcome<T>) -> String {
    match outcome {
        Err(Fault::Wrong(wrong)) => {
            let path: String = wrong.path.iter().map(ToString::to_string).collect();
            format!("{path}: {}", wrong.message)
        }
        Err(Fault::Limit(limit)) => limit.code.name().to_owned(),
        Ok(value) => format!("{value:?}"),
    }
}

#[test]
fn what_is_written_reads_as_the_same() {
    let rows = [
        r#"{"value":3.14159265358979323846264338327950288419716939937510582097494459,"type":"number"}"#,
        r#"{"value":-0.5,"type":"number"}"#,
        r#"{"value":[null,"\u003ca href=\"x\"\u003e\\ \t\b\u0001\u2028é"],"type":["tuple",["dynamic","string"]]}"#,
        r#"{"value":{"a":[],"b":{}},"type":["object",{"a":["set","bool"],"b":["map",["list","number"]]}]}"#,
        r#"{"value":[{"a":"1"},null],"type":["list",["object",{"a":"string"}]]}"#,
        "null",
    ];
    with_cx(|cx| {
        for text in rows {
            let value = decode(cx, text, &Type::Dynamic).unwrap();
            assert_eq!(encode(cx, value, &Type::Dynamic).unwrap(), text);
        }
    });
}

#[test]
fn what_does_not_fit_the_type_says_where() {
    let rows = [
        (r#"{"a":[1,"x"]}"#, r#"["object",{"a":["list","number"]}]"#, ".a[1]: a number is required"),
        (r#"{"b":1}"#, r#"["object",{"a":"string"}]"#, ": unsupported attribute \"b\""),
        ("[1]", r#"["tuple",["number","bool"]]"#, ": a tuple of 2 elements is required"),
        ("[[]]", r#"["set","string"]"#, "[...]: string is required"),
        (r#"{"k":{}}"#, r#"["map",["list","string"]]"#, "[\"k\"]: list of string is required"),
        ("1", r#""dynamic""#, ": an object with type and value is required"),
        (r#"{"type":"string"}"#, r#""dynamic""#, ": a value with its type lacks the value"),
        (r#"{"value":1,"type":"text"}"#, r#""dynamic""#, ": unknown type \"text\""),
        (r#"{"value":1,"type":["list"]}"#, r#""dynamic""#, ": a type is a name"),
        (r#"{"value":1,"kind":"string"}"#, r#""dynamic""#, ": invalid key \"kind\""),
        (
            r#"[{"value":1,"type":"number"},{"value":true,"type":"bool"}]"#,
            r#"["list","dynamic"]"#,
            ": the elements of a list",
        ),
        ("true", r#"["capsule","x"]"#, ": a type is a name"),
    ];
    with_cx(|cx| {
        for (text, ty, want) in rows {
            let got = decode_type(cx, &Json::read(ty, 8).unwrap()).and_then(|ty| decode(cx, text, &ty));
            assert!(said(got).starts_with(want), "{text} as {ty} is not: {want}");
        }
    });
}

#[test]
fn values_without_a_json_form_are_refused() {
    with_cx(|cx| {
        let arena = cx.arena();
        let rows = [
            (arena.refined(Type::String, Refinement::NOT_NULL), "[0]: value is not known"),
            (arena.marked(Value::Int(1), &["m"]), "[0]: value has marks"),
            (arena.number(BigNum::parse("-Inf").unwrap()), "[0]: an infinite number has no JSON form"),
        ];
        for (value, want) in rows {
            let got = said(encode_plain(cx, cx.list(&[value]).unwrap()));
            assert!(got.starts_with(want), "{got}");
        }
    });
}

#[test]
fn names_and_texts_are_normalised() {
    with_cx(|cx| {
        let value = decode_implied(cx, "{\"e\\u0301\": \"e\\u0301\", \"é\": \"a\"}").unwrap();
        assert_eq!(encode_plain(cx, value).unwrap(), "{\"é\":\"a\"}");
        let value = decode_implied(cx, "{\"e\\u0301\": 1, \"é\": \"a\"}");
        assert_eq!(said(value), ": duplicate \"é\" property in JSON object");
    });
}

#[test]
fn deep_and_long_text_ends_in_an_error() {
    with_cx(|cx| {
        assert!(said(decode_implied(cx, &"[".repeat(1_000_000))).contains("nests deeper than 128 levels"));
        assert_eq!(said(decode_implied(cx, &"[1,".repeat(30_000_000))), "limit.memory");
        let types = format!("{{\"value\":1,\"type\":{}}}", "[\"list\",".repeat(100_000));
        assert!(said(decode(cx, &types, &Type::Dynamic)).contains("nests deeper than 128 levels"));
    });
}
