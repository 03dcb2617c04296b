//! Calls functions directly, without a template. A call is a JSON array of the function's name and its arguments, in
//! which integers are `int`s, floats `float64`s, and nested arrays and objects lists and maps.

use serde_json::{Value as Json, json};

use super::super::error::GO_MESSAGE;
use crate::values::{print, type_name};
use dropforge_base::diagnostics::Code;
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::ImportKind::Function;
use dropforge_machine::function::{Caches, Capabilities, Cx, Growing, Params};
use dropforge_value::{Arena, Extended, Inputs, Sized, Value, Width};

/// Calls a function with values, after the check of their types.
fn call_values<'v>(cx: &Cx<'v>, name: &str, given: &[Value<'v>]) -> Result<Value<'v>, String> {
    let registry = super::registry();
    let builtin = registry.get(Function, name).unwrap_or_else(|| panic!("no function {name}"));
    let Params::Assigned(params) = builtin.params else { panic!("{name} has other parameters") };
    assert!(params.admit(given), "{name}: {given:?}");
    let result = builtin.body.call(cx, given).expect("a body that takes values");
    result.map_err(|error| error.fields.get(GO_MESSAGE).cloned().unwrap_or_else(|| error.code.id().to_owned()))
}

fn with_cx<T>(limits: &Limits, body: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, caches) = (Arena::new(), Caches::default());
    body(&Cx::new(&arena, Inputs::default(), limits, Capabilities::ALL, &caches))
}

/// Returns the printed result of a call and its type, or the message of the error.
fn call_within(limits: &Limits, call: &Json) -> String {
    with_cx(limits, |cx| {
        let (name, args) = call.as_array().and_then(|call| call.split_first()).expect("a call");
        let given: Vec<_> = args.iter().map(|json| held(cx.arena(), json)).collect();
        match call_values(cx, name.as_str().unwrap_or(""), &given) {
            Ok(result) => shown(cx, result),
            Err(message) => format!("error: {message}"),
        }
    })
}

/// Returns JSON as a value.
fn held<'v>(arena: &'v Arena, json: &Json) -> Value<'v> {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => number.as_i64().map_or(Value::Float(number.as_f64().unwrap_or(0.0)), Value::Int),
        Json::String(text) => arena.text(text),
        Json::Array(items) => arena.list(&items.iter().map(|item| held(arena, item)).collect::<Vec<_>>()),
        Json::Object(entries) => {
            let entry = |(key, value): (&String, &Json)| (arena.copy_str(key), held(arena, value));
            arena.map(&entries.iter().map(entry).collect::<Vec<_>>())
        }
    }
}

fn shown<'v>(cx: &Cx<'v>, value: Value<'v>) -> String {
    let mut text = Growing::new(cx);
    print(cx, value, &mut text).expect("a value that can be printed");
    format!("{} {}", type_name(value), String::from_utf8_lossy(text.bytes()))
}

/// Checks the results of calls.
fn check(cases: &[(Json, &str)]) {
    for (call, wanted) in cases {
        assert_eq!(call_within(&Limits::default(), call), *wanted, "{call}");
    }
}

#[test]
fn strings() {
    check(&[
        (json!(["abbrev", 5, "hello world"]), "string he..."),
        (json!(["abbrev", 3, "hello world"]), "string hello world"),
        (json!(["abbrevboth", 5, 6, "1234 5678 9123"]), "string 1234 5678 9123"),
        (json!(["trunc", -2, "hello"]), "string lo"),
        (json!(["substr", 0, 100, "hello"]), "string hello"),
        (json!(["substr", 4, -1, "ab"]), "error: runtime error: slice bounds out of range [4:2]"),
        (json!(["replace", "", "-", "ab"]), "string -a-b-"),
        (json!(["repeat", -1, "a"]), "error: strings: negative Repeat count"),
        (json!(["splitList", ",", "a,b"]), "[]string [a b]"),
        (json!(["split", ",", "a,b"]), "map[string]string map[_0:a _1:b]"),
        (json!(["splitn", ",", 0, "a,b"]), "map[string]string map[]"),
        (json!(["indent", 2, "a\n\n"]), "string   a\n  \n  "),
        (json!(["nindent", 0, "a"]), "string \na"),
        (json!(["wrap", 5, "Hello World"]), "string Hello\nWorld"),
        (json!(["wrapWith", 3, "", "abcdef"]), "string abc\ndef"),
        (json!(["initials", "First Try"]), "string FT"),
        (json!(["nospace", "a b\tc\u{a0}d"]), "string abcd"),
        (json!(["upper", "ß"]), "string ß"),
        (json!(["quote", 1, "a\"b", null, [1, "c"]]), r#"string "1" "a\"b" "[1 c]""#),
        (json!(["squote", "it's", null, true]), "string 'it's' 'true'"),
        (json!(["cat", "a", null, "", 1]), "string a  1"),
        (json!(["cat", "", 1]), "string  1"),
        (json!(["join", "-", [1, null, "a"]]), "string 1-a"),
        (json!(["join", "-", null]), "string "),
        (json!(["sortAlpha", [10, 9, 1]]), "[]string [1 10 9]"),
        (json!(["sortAlpha", null]), "[]string [<nil>]"),
        (json!(["toStrings", "x"]), "[]string [x]"),
        (json!(["toString", null]), "string <nil>"),
    ]);
}

#[test]
fn lists() {
    check(&[
        (json!(["first", []]), "<nil> <nil>"),
        (json!(["rest", [1, 2]]), "[]interface {} [2]"),
        (json!(["rest", []]), "[]interface {} []"),
        (json!(["initial", "a"]), "error: Cannot find initial on type string"),
        (json!(["append", [1], [2]]), "[]interface {} [1 [2]]"),
        (json!(["append", {}, 1]), "error: Cannot push on type map"),
        (json!(["append", null, 1]), "error: runtime error: invalid memory address or nil pointer dereference"),
        (json!(["concat", [1], "a"]), "error: Cannot concat type string as list"),
        (json!(["chunk", 2, [1, 2, 3]]), "[][]interface {} [[1 2] [3]]"),
        (json!(["chunk", 0, [1]]), "error: runtime error: makeslice: len out of range"),
        (json!(["slice", [1, 2, 3], "1", 2.9]), "[]interface {} [2]"),
        (json!(["slice", [], 1]), "<nil> <nil>"),
        (json!(["slice", [1], 2]), "error: reflect.Value.Slice: slice index out of bounds"),
        (json!(["slice", "abc", 1]), "error: list should be type of slice or array but string"),
        (json!(["compact", [0, 1, "", "a", null, false, {}]]), "[]interface {} [1 a]"),
        (json!(["uniq", [1, 1.0, "1", 1, null, null]]), "[]interface {} [1 1 1 <nil>]"),
        (json!(["without", [1, 2, 3], 1, 3]), "[]interface {} [2]"),
        (json!(["has", 1, [1.0]]), "bool false"),
        (json!(["has", 1, null]), "bool false"),
        (json!(["until", -2]), "[]int [0 -1]"),
        (json!(["untilStep", 1, 10, 3]), "[]int [1 4 7]"),
        (json!(["seq", 2, -2]), "string 2 1 0 -1 -2"),
    ]);
}

#[test]
fn maps() {
    check(&[
        (json!(["dict", "a", 1, true]), "map[string]interface {} map[a:1 true:]"),
        (json!(["dict", null, 1, "a", 1, "a", 2]), "map[string]interface {} map[<nil>:1 a:2]"),
        (json!(["get", {"a": null}, "a"]), "<nil> <nil>"),
        (json!(["get", {}, "a"]), "string "),
        (json!(["hasKey", {"a": null}, "a"]), "bool true"),
        (json!(["pluck", "a", {"a": 1}, {}, {"a": 2}]), "[]interface {} [1 2]"),
        (json!(["dig", "a", "b", 0, {"a": {"b": 1}}]), "int 1"),
        (json!(["dig", "a", "c", 0, {"a": {"b": 1}}]), "int 0"),
        (
            json!(["dig", "a", "b", 0, {"a": 1}]),
            "error: interface conversion: interface {} is int, not map[string]interface {}",
        ),
        (json!(["dig", null, 0, {}]), "error: interface conversion: interface {} is nil, not string"),
        (json!(["dig", 0, {}]), "error: dig needs at least three arguments"),
        (json!(["keys", {"a": 2, "b": 1}, {"b": 1}]), "[]string [a b b]"),
        (json!(["values", {"a": 1, "b": 2}]), "[]interface {} [1 2]"),
        (json!(["pick", {"a": 1, "b": 2}, "b", "c"]), "map[string]interface {} map[b:2]"),
        (json!(["omit", {"a": 1, "b": 2}, "b", "c"]), "map[string]interface {} map[a:1]"),
        (json!(["set", {"a": 1}, "b", 2]), "map[string]interface {} map[a:1 b:2]"),
        (json!(["unset", {"a": 1}, "a"]), "map[string]interface {} map[]"),
        (json!(["deepCopy", null]), "error: reflect: call of reflect.Value.Type on zero Value"),
        (json!(["deepCopy", {"a": [[1], {"b": 1}]}]), "map[string]interface {} map[a:[[1] map[b:1]]]"),
        (json!(["deepEqual", [1], [1.0]]), "bool false"),
    ]);
}

#[test]
fn merged_maps() {
    check(&[
        (json!(["merge", {"a": 1}, {"a": 2, "b": 3}]), "map[string]interface {} map[a:1 b:3]"),
        (
            json!(["merge", {"a": 0, "b": "", "c": false}, {"a": 1, "b": 2, "c": 3}]),
            "map[string]interface {} map[a:1 b:2 c:3]",
        ),
        (json!(["merge", {}, {"a": null}]), "map[string]interface {} map[]"),
        (
            json!(["merge", {"a": {"x": 1}}, {"a": {"x": 2, "y": 3}}, {"a": 1}]),
            "map[string]interface {} map[a:map[x:1 y:3]]",
        ),
        (json!(["merge", {"l": [1]}, {"l": [2, 3]}]), "map[string]interface {} map[l:[1]]"),
        (json!(["merge", {"e": {}}, {"e": {"q": 1}}]), "map[string]interface {} map[e:map[q:1]]"),
        (json!(["mergeOverwrite", {"a": 1}, {"a": null}]), "map[string]interface {} map[a:<nil>]"),
        (json!(["mergeOverwrite", {"a": {"x": 1}}, {"a": {}}]), "map[string]interface {} map[a:map[x:1]]"),
        (
            json!(["mergeOverwrite", {"a": {"x": 1}}, {"a": {"y": 2, "x": 9}}]),
            "map[string]interface {} map[a:map[x:9 y:2]]",
        ),
        (json!(["mergeOverwrite", {"a": {"x": 1}}, {"a": 1}]), "map[string]interface {} map[a:1]"),
        (json!(["mergeOverwrite", {"a": [1]}, {"a": []}]), "map[string]interface {} map[a:[]]"),
    ]);
}

#[test]
fn numbers() {
    check(&[
        (json!(["add", 1.9, "0x10", true, null]), "int64 18"),
        (json!(["add", i64::MAX, 1]), "int64 -9223372036854775808"),
        (json!(["div", i64::MIN, -1]), "int64 -9223372036854775808"),
        (json!(["div", 7, "a"]), "error: runtime error: integer divide by zero"),
        (json!(["mod", -7, 3]), "int64 -1"),
        (json!(["min", 3, "a"]), "int64 0"),
        (json!(["maxf", 1.5, "x"]), "float64 1.5"),
        (json!(["addf", 0.1, 0.2]), "float64 0.3"),
        (json!(["divf", 1, 3]), "float64 0.3333333333333333"),
        (json!(["divf", 1, 0]), "error: decimal division by 0"),
        (json!(["addf", "inf"]), "error: Cannot create a Decimal from +Inf"),
        (json!(["round", 2.5, 0]), "float64 3"),
        (json!(["round", -1.5, 0]), "float64 -2"),
        (json!(["round", 123.456, -1]), "float64 120"),
        (json!(["round", 1.2345, 3, 0.6]), "float64 1.234"),
        (json!(["int", "010"]), "int 8"),
        (json!(["int64", "1_000"]), "int64 1000"),
        (json!(["int", 1e21]), "int -9223372036854775808"),
        (json!(["float64", "0x1p-2"]), "float64 0.25"),
        (json!(["atoi", "99999999999999999999"]), "int 9223372036854775807"),
        (json!(["toDecimal", 777]), "int64 511"),
        (json!(["kindOf", {}]), "string map"),
        (json!(["kindOf", null]), "string invalid"),
        (json!(["typeIs", "[]interface {}", []]), "bool true"),
    ]);
}

#[test]
fn choices() {
    check(&[
        (json!(["default", "d"]), "string d"),
        (json!(["default", "d", 0]), "string d"),
        (json!(["default", "d", 1, 2]), "int 1"),
        (json!(["coalesce", 0, "", null]), "<nil> <nil>"),
        (json!(["all"]), "bool true"),
        (json!(["any", 0, {}]), "bool false"),
        (json!(["ternary", 1, 2, false]), "int 2"),
        (json!(["required", "m", 0]), "int 0"),
        (json!(["required", "no name", ""]), "error: no name"),
        (json!(["fail", ""]), "error: "),
    ]);
}

#[test]
fn a_copy_is_not_changed_with_its_original_but_a_merged_map_is() {
    let limits = Limits { memory: 8 << 20, ..Limits::default() };
    with_cx(&limits, |cx| {
        let arena = cx.arena();
        let inner = arena.map(&[("b", Value::Int(1))]);
        let (outer, target) = (arena.map(&[("a", inner)]), arena.map(&[]));
        let copy = call_values(cx, "deepCopy", &[outer]).unwrap();
        call_values(cx, "merge", &[target, outer]).unwrap();
        call_values(cx, "set", &[inner, arena.text("b"), Value::Int(2)]).unwrap();
        assert_eq!(shown(cx, copy), "map[string]interface {} map[a:map[b:1]]");
        assert_eq!(shown(cx, target), "map[string]interface {} map[a:map[b:2]]");
        // A map in itself exceeds a limit.
        call_values(cx, "set", &[inner, arena.text("b"), outer]).unwrap();
        for name in ["deepCopy", "merge"] {
            let given = if name == "merge" { vec![outer, outer] } else { vec![outer] };
            let code = call_values(cx, name, &given).unwrap_err();
            assert!(
                [Code::LimitFuel, Code::LimitMemory, Code::LimitDepth].iter().any(|limit| limit.id() == code),
                "{code}"
            );
        }
    });
}

#[test]
fn strings_that_are_not_utf8_are_cut_and_joined() {
    with_cx(&Limits::default(), |cx| {
        let broken = call_values(cx, "trunc", &[Value::Int(2), cx.arena().text("hé")]).unwrap();
        let (dash, one, two) = (cx.arena().text("-"), Value::Int(1), Value::Int(2));
        let shown = |name, given: &[_]| shown(cx, call_values(cx, name, given).unwrap());
        assert_eq!(type_name(broken), "string");
        assert_eq!(shown("upper", &[broken]), "string H\u{fffd}");
        assert_eq!(shown("quote", &[broken]), r#"string "h\xc3""#);
        assert_eq!(shown("repeat", &[two, broken]), "string h\u{fffd}h\u{fffd}");
        assert_eq!(shown("indent", &[one, broken]), "string  h\u{fffd}");
        assert_eq!(shown("join", &[dash, broken]), "string h\u{fffd}");
        assert_eq!(shown("dict", &[broken]), "map[string]interface {} map[h\u{fffd}:]");
        let last = cx.bytes(b"\xc3").unwrap();
        let replaced = call_values(cx, "replace", &[last, cx.arena().text("x"), broken]).unwrap();
        assert_eq!(replaced.as_str(), Some("hx"));
    });
}

#[test]
fn growth_is_refused_before_it_happens() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let (half, lines) = ("a".repeat(1 << 19), "\n".repeat(1 << 10));
    for call in [
        json!(["repeat", i64::MAX, "a"]),
        json!(["repeat", 3, half]),
        json!(["replace", "a", "bcd", half]),
        json!(["indent", 1 << 12, lines]),
        json!(["indent", i64::MAX, "a"]),
        json!(["wrapWith", 1, "abcd", half]),
        json!(["splitList", "", half]),
        json!(["split", "", half]),
        json!(["join", half, [1, 2, 3, 4]]),
        json!(["quote", "\n".repeat(1 << 19)]),
        json!(["cat", half, half, half]),
        json!(["untilStep", 0, 1 << 20, 1]),
    ] {
        assert_eq!(call_within(&limits, &call), "error: E0604", "{}", call[0]);
    }
    assert_eq!(call_within(&limits, &json!(["seq", i64::MAX])), "error: E0603");
}

#[test]
fn memory_of_a_derivation_is_free_after_it() {
    let limits = Limits { memory: 36 << 20, ..Limits::default() };
    with_cx(&limits, |cx| {
        let counter = cx.extended(Extended::Sized(Sized::Unsigned(Width::W32, 1))).unwrap();
        let texts = ["long", "password", "user", "example.com"].map(|text| cx.arena().text(text));
        let [kind, secret, user, site] = texts;
        for _ in 0..2 {
            let derived = call_values(cx, "derivePassword", &[counter, kind, secret, user, site]);
            assert_eq!(derived.map(|derived| shown(cx, derived)).as_deref(), Ok("string ZedaFaxcZaso9*"));
        }
        // Far more of them are possible than a chart has.
        assert!(100 * (limits.fuel - cx.fuel()) / 2 < limits.fuel);
    });
}

#[test]
fn every_row_has_examples() {
    for builtin in super::tables().into_iter().flatten().filter(|builtin| builtin.kind == Function) {
        assert!(!builtin.examples.is_empty() || !builtin.pure, "{}", builtin.name);
    }
}
