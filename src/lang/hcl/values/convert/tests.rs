//! Conversions beyond the rows of the reference, and their cost.

use crate::values::json::{Json, decode, decode_implied, decode_type, encode};
use crate::values::{convert, type_of, unify};
use dropforge_base::limits::Limits;
use dropforge_machine::function::{Caches, Capabilities, Cx, Fault, Outcome};
use dropforge_value::{Arena, Inputs, Type, Value};

fn with_limits<T>(limits: &Limits, body: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, caches) = (Arena::new(), Caches::default());
    body(&Cx::new(&arena, Inputs::default(), limits, Capabilities::NONE, &caches))
}

fn with_cx<T>(body: impl FnOnce(&Cx<'_>) -> T) -> T {
    with_limits(&Limits::default(), body)
}

fn ty<'v>(cx: &Cx<'v>, json: &str) -> Type<'v> {
    decode_type(cx, &Json::read(json, 64).unwrap()).unwrap()
}

/// Formats the value with its type, or the error with its path.
fn shown<'v>(cx: &Cx<'v>, outcome: Outcome<Value<'v>>) -> String {
    match outcome.and_then(|value| encode(cx, value, &Type::Dynamic)) {
        Ok(text) => text,
        Err(Fault::Wrong(wrong)) => {
            let path: String = wrong.path.iter().map(ToString::to_string).collect();
            format!("{path}: {}", wrong.message)
        }
        Err(Fault::Limit(limit)) => format!("limit {}", limit.code.name()),
    }
}

#[test]
fn values_convert_or_say_where_they_do_not() {
    let rows = [
        (r#"["1", 2.50]"#, r#"["list","number"]"#, r#"{"value":[1,2.5],"type":["list","number"]}"#),
        (r#"[1, "x"]"#, r#"["list","number"]"#, "[1]: a number is required"),
        (
            r#"{"a": {"b": ["TRUE"]}}"#,
            r#"["map",["object",{"b":["tuple",["bool"]]}]]"#,
            "[\"a\"].b[0]: a bool is required; to convert from string, use lowercase \"true\"",
        ),
        (r#"[1, [2]]"#, r#"["list","dynamic"]"#, ": all list elements must have the same type"),
        (
            r#"[[1], ["a"], [true]]"#,
            r#"["list",["list","string"]]"#,
            r#"{"value":[["1"],["a"],["true"]],"type":["list",["list","string"]]}"#,
        ),
        (
            r#"[{"a": 1}, {"a": "x"}]"#,
            r#"["list",["object",{"a":"dynamic"}]]"#,
            r#"{"value":[{"a":"1"},{"a":"x"}],"type":["list",["object",{"a":"string"}]]}"#,
        ),
        (
            r#"[{"a": 1}, {"a": "x"}]"#,
            r#"["set",["object",{"a":"dynamic"}]]"#,
            ": the elements of a set must all be of one type",
        ),
        (
            r#"{"b": 1, "c": 2}"#,
            r#"["object",{"a":"string","b":"string"},["a"]]"#,
            r#"{"value":{"a":null,"b":"1"},"type":["object",{"a":"string","b":"string"}]}"#,
        ),
        (r#"["b", "a", "b"]"#, r#"["set","string"]"#, r#"{"value":["a","b"],"type":["set","string"]}"#),
        ("null", r#"["list","string"]"#, r#"{"value":null,"type":["list","string"]}"#),
        ("true", r#""number""#, ": number required, but have bool"),
        (r#""1""#, r#"["list","string"]"#, ": list of string required, but have string"),
        ("[1]", r#""string""#, ": string required, but have tuple"),
        ("1e22", r#""string""#, r#"{"value":"10000000000000000000000","type":"string"}"#),
        ("1e-7", r#""string""#, r#"{"value":"0.0000001","type":"string"}"#),
        (r#"" 1""#, r#""number""#, ": a number is required"),
        (r#""0x10""#, r#""number""#, ": a number is required"),
    ];
    with_cx(|cx| {
        for (value, to, want) in rows {
            let (value, to) = (decode_implied(cx, value).unwrap(), ty(cx, to));
            let got = convert(cx, value, &to);
            assert_eq!(shown(cx, got), want);
        }
    });
}

#[test]
fn the_dynamic_type_within_a_target_becomes_the_type_that_all_elements_unify_to() {
    with_cx(|cx| {
        let value = decode_implied(cx, r#"[{"a": 1, "b": null}, {"a": "x", "b": null}]"#).unwrap();
        let made = convert(cx, value, &ty(cx, r#"["list",["object",{"a":"dynamic","b":"bool"}]]"#)).unwrap();
        assert_eq!(type_of(cx, made).unwrap(), ty(cx, r#"["list",["object",{"a":"string","b":"bool"}]]"#));
    });
}

#[test]
fn a_value_that_fits_is_not_made_again() {
    with_cx(|cx| {
        let value =
            decode(cx, r#"[["a"],["b"]]"#, &ty(cx, r#"["tuple",[["list","string"],["set","string"]]]"#)).unwrap();
        let marked = cx.arena().marked(value, &["m"]);
        for to in ["[\"tuple\",[[\"list\",\"dynamic\"],[\"set\",\"string\"]]]", "\"dynamic\""] {
            let to = ty(cx, to);
            let fuel = cx.fuel();
            let Value::Extended(made) = convert(cx, marked, &to).unwrap() else { panic!("marks are lost") };
            let Value::Extended(marked) = marked else { panic!("marks are lost") };
            assert!(std::ptr::eq(made, marked));
            assert_eq!(cx.fuel(), fuel);
        }
    });
}

/// Makes a list of the same list twice, `levels` deep: few values, but exponentially many parts.
fn doubled<'v>(cx: &Cx<'v>, levels: usize) -> Value<'v> {
    (0..levels).fold(Value::Int(1), |value, _| cx.list(&[value, value]).unwrap())
}

#[test]
fn values_that_share_parts_end_in_a_limit() {
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    with_limits(&limits, |cx| {
        let value = doubled(cx, 100);
        for to in [r#"["list","dynamic"]"#, r#"["set",["list","string"]]"#, r#""string""#] {
            let got = shown(cx, convert(cx, value, &ty(cx, to)));
            assert!(got.starts_with("limit "), "{to}: {got}");
        }
    });
}

#[test]
fn many_types_end_in_a_limit_and_many_values_of_few_types_do_not() {
    let object = |name: &str| format!(r#"{{"{name}": 1}}"#);
    let many: Vec<_> = (0..20_000).map(|at| object(&format!("a{at}"))).collect();
    let few: Vec<_> = (0..20_000).map(|at| object(["a", "b"][at % 2])).collect();
    for (items, ends) in [(many, true), (few, false)] {
        let limits = Limits { fuel: 10_000_000, ..Limits::default() };
        with_limits(&limits, |cx| {
            let value = decode_implied(cx, &format!("[{}]", items.join(","))).unwrap();
            let got = convert(cx, value, &ty(cx, r#"["list","dynamic"]"#));
            assert_eq!(matches!(got, Err(Fault::Limit(_))), ends);
        });
    }
}

#[test]
fn a_number_of_countless_digits_is_refused_as_text() {
    with_cx(|cx| {
        let value = decode_implied(cx, "1e600000000").unwrap();
        assert_eq!(shown(cx, convert(cx, value, &Type::String)), "limit limit.memory");
    });
}

#[test]
fn unification_says_what_becomes_unknown() {
    with_cx(|cx| {
        let types = [ty(cx, r#"["object",{"a":"string"}]"#), Type::Dynamic];
        let unified = unify(cx, &types, true).unwrap().unwrap();
        assert_eq!((unified.ty, unified.undecided), (Type::Dynamic, true));
        let types = [Type::String, Type::Dynamic, Type::String];
        let unified = unify(cx, &types, true).unwrap().unwrap();
        assert_eq!((unified.ty, unified.undecided), (Type::String, false));
    });
}
