//! Bodies through the gate: values in, a value or an error's code out.

use std::collections::HashSet;

use serde_json::{Value as Json, json};

use super::*;
use crate::bytecode::ImportKind;
use crate::diagnostics::Code;
use crate::dialect::cel::call::{call, is_of, overload};
use crate::dialect::cel::values::{access, convert, optional};
use crate::function::{Capabilities, Overload, Params, Regexes, Registry, Ty};
use crate::limits::Limits;
use crate::stdlib::encoding;
use crate::value::{Arena, Capsule, CapsuleContent, Extended, Inputs};

fn registry() -> Registry {
    libraries::kubernetes()
}

fn with_cx<T>(limits: &Limits, run: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, regexes) = (Arena::new(), Regexes::default());
    run(&Cx::new(&arena, Inputs::default(), limits, Capabilities::NONE, &regexes))
}

/// A value as a test writes it: JSON, where a text may begin with the type it is of (`u:7`, `b:aGk=`, `t:…`, `d:90s`,
/// `type:int`), `{"some": v}` and `"none"` are optionals, `{"entries": [[k, v]]}` is a map of any keys.
fn value<'v>(cx: &Cx<'v>, written: &Json) -> Value<'v> {
    let list = |items: &[Json]| items.iter().map(|item| value(cx, item)).collect::<Vec<_>>();
    match written {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(n) => n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap()), Value::Int),
        Json::String(text) => typed(cx, text),
        Json::Array(items) => cx.list(&list(items)).unwrap(),
        Json::Object(map) => match map.iter().next() {
            Some((key, held)) if key == "some" => optional::of(cx, value(cx, held)).unwrap(),
            Some((key, Json::Array(pairs))) if key == "entries" => {
                let column = |at: usize| pairs.iter().map(|pair| value(cx, &pair[at])).collect::<Vec<_>>();
                access::map(cx, &column(0), &column(1)).unwrap()
            }
            _ => {
                let keys: Vec<_> = map.keys().map(|key| cx.text(key).unwrap()).collect();
                access::map(cx, &keys, &list(&map.values().cloned().collect::<Vec<_>>())).unwrap()
            }
        },
    }
}

fn typed<'v>(cx: &Cx<'v>, text: &str) -> Value<'v> {
    match text.split_once(':') {
        Some(("u", n)) => Value::Uint(n.parse().unwrap()),
        Some(("f", n)) => Value::Float(n.parse().unwrap()),
        Some(("b", base64)) => cx.bytes(&encoding::octets_of_base64(base64).unwrap()).unwrap(),
        Some(("t", moment)) => convert::timestamp(cx, cx.text(moment).unwrap()).unwrap(),
        Some(("d", span)) => convert::duration(cx, cx.text(span).unwrap()).unwrap(),
        Some(("type", name)) => cx.extended(Extended::Named(cx.arena().copy_str(name))).unwrap(),
        Some((kind, held)) if capsules::TYPE_NAMES.contains(&kind) => capsule(cx, kind, held),
        _ if text == "none" => optional::none(cx).unwrap(),
        _ => cx.text(text).unwrap(),
    }
}

fn capsule<'v>(cx: &Cx<'v>, name: &str, text: &str) -> Value<'v> {
    let content =
        if name == capsules::OMIT { CapsuleContent::Opaque } else { CapsuleContent::Text(cx.arena().copy_str(text)) };
    cx.extended(Extended::Capsule(Capsule { name: cx.arena().copy_str(name), id: 0, content })).unwrap()
}

/// A value as [`value`] reads it.
fn written(value: Value<'_>) -> Json {
    let list = |items: &[Value<'_>]| items.iter().map(|item| written(*item)).collect::<Vec<_>>();
    match (value, value.extended()) {
        (Value::Null | Value::Undefined, _) => Json::Null,
        (Value::Bool(truth), _) => json!(truth),
        (Value::Int(n), _) => json!(n),
        (Value::Uint(n), _) => json!(format!("u:{n}")),
        (Value::Float(n), _) if n.is_finite() => json!(n),
        (Value::Float(n), _) => json!(format!("f:{n}")),
        (Value::Str(text), _) => json!(text.as_str()),
        (Value::List(items), _) => json!(list(items.items())),
        (Value::Map(map), _) => map.iter().map(|(key, value)| (key.to_owned(), written(value))).collect(),
        (_, Some(Extended::Bytes(bytes))) => json!(format!("b:{}", encoding::base64(bytes))),
        (_, Some(Extended::Timestamp { .. })) => json!(format!("t:{}", plain(value))),
        (_, Some(Extended::Duration(_))) => json!(format!("d:{}", plain(value))),
        (_, Some(Extended::Named(name))) => json!(format!("type:{name}")),
        (_, Some(Extended::Optional(Value::Undefined))) => json!("none"),
        (_, Some(Extended::Optional(held))) => json!({"some": written(*held)}),
        (_, Some(Extended::Entries(entries))) => {
            let pairs: Vec<_> = entries.iter().map(|(key, value)| json!([written(key), written(value)])).collect();
            json!({"entries": pairs})
        }
        (_, Some(Extended::Capsule(capsule))) => json!(format!("{}:{}", capsule.name, capsules::content(value))),
        (value, _) => panic!("{value:?}"),
    }
}

fn plain(value: Value<'_>) -> String {
    crate::dialect::cel::values::text::plain(value).unwrap().unwrap().into_owned()
}

/// Calls `name` (with a dot in front: on a receiver) with `given`, and gives back what it answers, or the error's code
/// and message.
fn called(cx: &Cx<'_>, name: &str, given: &[Json]) -> std::result::Result<Json, String> {
    let registry = registry();
    let (member, name) = name.strip_prefix('.').map_or((false, name), |name| (true, name));
    let function = registry.get(ImportKind::Function, name).unwrap_or_else(|| panic!("no {name}"));
    let given: Vec<_> = given.iter().map(|given| value(cx, given)).collect();
    let answer =
        call(cx, function, member, &given).map_err(|error| format!("{} {}", error.code.id(), error.message))?;
    Ok(written(answer))
}

/// Each case: the function, its arguments, its answer; or the beginning of the error's code and message.
#[track_caller]
fn check(cases: &[(&str, Json, Json)]) {
    for (name, given, wanted) in cases {
        let got = with_cx(&Limits::default(), |cx| called(cx, name, given.as_array().unwrap()));
        match (&got, wanted.as_str()) {
            (Err(error), Some(wanted)) if wanted.starts_with("E0") => {
                assert!(error.starts_with(wanted), "{name} {given}: {error}, not {wanted}");
            }
            (Ok(got), _) => assert_eq!(got, wanted, "{name} {given}"),
            (Err(error), _) => panic!("{name} {given}: {error}, not {wanted}"),
        }
    }
}

/// Every overload, by its function.
fn overloads() -> Vec<(String, Overload)> {
    let mut all = Vec::new();
    // What lowering calls has one body for all values.
    for function in registry().iter().filter(|function| function.kind == ImportKind::Function) {
        let Params::Overloaded(overloads) = &function.params else { panic!("{} has no overloads", function.name) };
        all.extend(overloads.iter().map(|overload| (function.name.to_string(), overload.clone())));
    }
    all
}

/// The text of a value of each type that only functions look into.
const SAMPLES: &[(&str, &str)] = &[
    (capsules::IP, "10.0.0.1"),
    (capsules::CIDR, "10.0.0.0/8"),
    (capsules::URL, "https://example.com/"),
    (capsules::QUANTITY, "1k"),
    (capsules::SEMVER, "1.2.3"),
    (capsules::FORMAT, "uuid"),
];

/// A value of a type.
fn sample<'v>(cx: &Cx<'v>, ty: &Ty) -> Value<'v> {
    let given = match ty {
        Ty::Dyn | Ty::Param(_) | Ty::Int => json!(1),
        Ty::Null => Json::Null,
        Ty::Bool => json!(true),
        Ty::Uint => json!("u:1"),
        Ty::Double => json!(1.5),
        Ty::String => json!("1"),
        Ty::Bytes => json!("b:aGk="),
        Ty::Timestamp => json!("t:2020-01-02T03:04:05Z"),
        Ty::Duration => json!("d:90s"),
        Ty::Type(_) => json!("type:int"),
        Ty::List(element) => return cx.list(&[sample(cx, element), sample(cx, element)]).unwrap(),
        Ty::Map(key, element) => return access::map(cx, &[sample(cx, key)], &[sample(cx, element)]).unwrap(),
        Ty::Optional(held) => return optional::of(cx, sample(cx, held)).unwrap(),
        Ty::Opaque(name) => json!(format!("{name}:{}", SAMPLES.iter().find(|(kind, _)| kind == name).unwrap().1)),
    };
    value(cx, &given)
}

/// These have no answer for the samples, by the meaning of their arguments.
const WITHOUT_AN_ANSWER: &[(&str, Code)] = &[
    ("timestamp_to_year_with_tz", Code::BadArgument),
    ("timestamp_to_month_with_tz", Code::BadArgument),
    ("timestamp_to_day_of_month_1_based_with_tz", Code::BadArgument),
    ("timestamp_to_day_of_month_with_tz", Code::BadArgument),
    ("timestamp_to_day_of_week_with_tz", Code::BadArgument),
    ("timestamp_to_day_of_year_with_tz", Code::BadArgument),
    ("timestamp_to_hours_with_tz", Code::BadArgument),
    ("timestamp_to_minutes_with_tz", Code::BadArgument),
    ("timestamp_to_seconds_tz", Code::BadArgument),
    ("timestamp_to_milliseconds_with_tz", Code::BadArgument),
    ("string_to_duration", Code::BadArgument),
    ("string_to_timestamp", Code::BadArgument),
    ("base64_decode_string", Code::BadArgument),
    ("select_optional_field", Code::BadIndex),
    ("@mapInsert_map_key_value", Code::BadArgument),
    ("string_to_ip", Code::BadArgument),
    ("ip_is_canonical", Code::BadArgument),
    ("string_to_cidr", Code::BadArgument),
    ("cidr_contains_ip_string", Code::BadArgument),
    ("cidr_contains_cidr_string", Code::BadArgument),
    ("string_to_url", Code::BadArgument),
    ("string_to_semver", Code::BadArgument),
    ("dyn_deepMerge", Code::BadArgument),
    ("random.seededInt_int_int_string", Code::BadArgument),
    ("@mapInsert_map_map", Code::BadArgument),
];

#[test]
fn every_overload_takes_what_it_says_and_answers_what_it_says() {
    let registry = registry();
    with_cx(&Limits::default(), |cx| {
        for (name, wanted) in overloads() {
            let given: Vec<_> = wanted.params.iter().map(|ty| sample(cx, ty)).collect();
            let function = registry.get(ImportKind::Function, &name).unwrap();
            let picked = overload(function, wanted.member, &given).unwrap_or_else(|| panic!("{}", wanted.id));
            assert!(picked.params.len() == wanted.params.len() && picked.result == wanted.result, "{}", wanted.id);
            let special = WITHOUT_AN_ANSWER.iter().find(|(id, _)| *id == wanted.id);
            match ((wanted.body)(cx, &given), special) {
                (Ok(answer), None) => assert!(is_of(answer, &wanted.result), "{}: {answer:?}", wanted.id),
                (Err(error), Some((_, code))) if error.code == *code => {}
                (answer, _) => panic!("{}: {answer:?}", wanted.id),
            }
            for count in [0, 1, 2, 3, 4].into_iter().filter(|count| *count != given.len()) {
                // A body that is called with another number of arguments says so, or has an overload with that number.
                let _ = (wanted.body)(cx, &vec![Value::Int(1); count]);
            }
        }
    });
}

#[test]
fn ids_are_unique_and_parameters_are_letters() {
    fn letters(ty: &Ty, id: &str) {
        match ty {
            Ty::Param(name) => assert!(name.len() == 1, "{id}: `{name}` is no type"),
            Ty::List(of) | Ty::Optional(of) | Ty::Type(of) => letters(of, id),
            Ty::Map(key, of) => [key, of].iter().for_each(|ty| letters(ty, id)),
            _ => {}
        }
    }
    let (all, mut seen) = (overloads(), HashSet::new());
    for (name, overload) in &all {
        assert!(seen.insert(overload.id), "{name}: {} comes twice", overload.id);
        overload.params.iter().chain([&overload.result]).for_each(|ty| letters(ty, overload.id));
    }
    let tables: usize = STANDARD.iter().map(|table| table.len()).sum();
    assert_eq!((tables, STANDARD.iter().flat_map(|table| table.iter()).map(count).sum::<usize>()), (45, 163));
}

fn count(function: &Builtin) -> usize {
    if let Params::Overloaded(overloads) = &function.params { overloads.len() } else { 0 }
}

#[test]
fn operators() {
    check(&[
        ("_+_", json!([i64::MAX, 1]), json!("E0302 integer overflow")),
        ("_+_", json!(["u:18446744073709551615", "u:1"]), json!("E0302 unsigned integer overflow")),
        ("_+_", json!([1, "u:1"]), json!("E0301 no such overload: _+_(int, uint)")),
        ("_+_", json!([[1], ["a"]]), json!([1, "a"])),
        ("_+_", json!(["b:aGk=", "b:aGk="]), json!("b:aGloaQ==")),
        ("_+_", json!(["t:9999-12-31T23:59:59.999999999Z", "d:1ns"]), json!("E0302 timestamp overflow")),
        ("_-_", json!(["t:0001-01-01T00:00:00Z", "d:1ns"]), json!("E0302 timestamp overflow")),
        ("_-_", json!(["t:0001-01-01T00:00:00Z", "t:9999-12-31T23:59:59Z"]), json!("E0302 duration overflow")),
        ("_-_", json!(["t:1970-01-01T00:00:00Z", "t:1970-01-01T00:00:00.25Z"]), json!("d:-0.25s")),
        ("_-_", json!(["u:0", "u:1"]), json!("E0302 unsigned integer overflow")),
        ("_*_", json!([i64::MIN, -1]), json!("E0302 integer overflow")),
        ("_/_", json!([i64::MIN, -1]), json!("E0302 integer overflow")),
        ("_/_", json!([1.0, 0.0]), json!("f:inf")),
        ("_/_", json!(["u:1", "u:0"]), json!("E0302 division by zero")),
        ("_%_", json!([i64::MIN, -1]), json!("E0302 integer overflow")),
        ("_%_", json!(["u:1", "u:0"]), json!("E0302 modulus by zero")),
        ("_%_", json!([1.0, 1.0]), json!("E0301 no such overload: _%_(double, double)")),
        ("-_", json!([i64::MIN]), json!("E0302 integer overflow")),
        ("-_", json!([0.0]), json!(-0.0)),
        ("-_", json!(["u:1"]), json!("E0301")),
        ("_+_", json!(["d:9223372036s", "d:9223372036s"]), json!("E0302 duration overflow")),
    ]);
}

#[test]
fn equality_and_order() {
    let yes = json!(true);
    check(&[
        ("_==_", json!([1, 1.0]), yes.clone()),
        ("_==_", json!(["u:1", 1.0]), yes.clone()),
        ("_==_", json!([1, "u:1"]), yes.clone()),
        ("_==_", json!([-1, "u:18446744073709551615"]), json!(false)),
        ("_==_", json!(["f:NaN", "f:NaN"]), json!(false)),
        ("_!=_", json!(["f:NaN", 1]), yes.clone()),
        ("_==_", json!([[1, "u:2"], [1.0, 2]]), yes.clone()),
        ("_==_", json!([{"a": 1, "b": [2]}, {"b": [2.0], "a": "u:1"}]), yes.clone()),
        ("_==_", json!([{"entries": [[1, "a"], [true, "b"]]}, {"entries": [[true, "b"], ["u:1", "a"]]}]), yes.clone()),
        ("_==_", json!([{"entries": [[1, "a"]]}, {"1": "a"}]), json!(false)),
        ("_==_", json!([{}, []]), json!(false)),
        ("_==_", json!([null, false]), json!(false)),
        ("_==_", json!(["none", {"some": null}]), json!(false)),
        ("_==_", json!([{"some": 1}, {"some": 1.0}]), yes.clone()),
        ("_==_", json!(["b:aGk=", "b:aGk="]), yes.clone()),
        ("_==_", json!(["type:int", "type:int"]), yes.clone()),
        ("_==_", json!(["d:60s", "d:1m"]), yes.clone()),
        ("_==_", json!(["t:2020-01-01T00:00:00Z", "t:2020-01-01T01:00:00+01:00"]), yes.clone()),
        ("_<_", json!([-1, "u:0"]), yes.clone()),
        ("_<_", json!([1, "f:NaN"]), json!(false)),
        ("_>=_", json!(["f:NaN", "f:NaN"]), json!(false)),
        ("_<_", json!([i64::MAX, 9_223_372_036_854_775_808.0]), json!(false)),
        ("_<_", json!(["\u{FFFF}", "\u{10000}"]), yes.clone()),
        ("_<_", json!(["b:/w==", "b:AA=="]), json!(false)),
        ("_<=_", json!([false, true]), yes.clone()),
        ("_>_", json!(["d:1s", "d:1ms"]), yes.clone()),
        ("_<_", json!([null, null]), json!("E0301 no such overload: _<_(null_type, null_type)")),
        ("_<_", json!(["a", 1]), json!("E0301 no such overload: _<_(string, int)")),
    ]);
}

#[test]
fn elements() {
    check(&[
        ("@in", json!([1.0, [2, "u:1"]]), json!(true)),
        ("@in", json!(["a", {"a": null}]), json!(true)),
        ("@in", json!([2.0, {"entries": [["u:2", 0], ["k", 0]]}]), json!(true)),
        ("@in", json!([1, "text"]), json!("E0301 no such overload: @in(int, string)")),
        ("_[_]", json!([[1, 2], -1]), json!("E0202 index out of bounds: -1")),
        ("_[_]", json!([[1, 2], 5]), json!("E0202 index out of bounds: 5")),
        ("_[_]", json!([{"a": 1}, "b"]), json!("E0202 no such key: b")),
        ("_[_]", json!([{"entries": [[1, "a"]]}, "u:1"]), json!("a")),
        ("_[_]", json!([{"entries": [[1, "a"]]}, 1.5]), json!("E0202 no such key: 1.5")),
        ("_[_]", json!([{"some": [7]}, 0]), json!({"some": 7})),
        ("_[_]", json!([{"some": [7]}, 1]), json!("none")),
        ("_[_]", json!([{"some": {"a": 7}}, "a"]), json!({"some": 7})),
        ("_[?_]", json!([[1], 1]), json!("none")),
        ("_?._", json!([{"a": 1}, "a"]), json!({"some": 1})),
        ("_?._", json!(["none", "a"]), json!("none")),
        ("_?._", json!([1, "a"]), json!("E0202 no such key: a")),
        ("size", json!(["πέντε"]), json!(5)),
        ("size", json!([null]), json!("E0403 no such overload: size(null_type)")),
        (".size", json!([{"entries": [[1, 1], [true, 2]]}]), json!(2)),
    ]);
}

#[test]
fn conversions_keep_to_the_ranges() {
    check(&[
        ("int", json!([9_223_372_036_854_775_807.0_f64]), json!("E0302 integer overflow")),
        ("int", json!([-9_223_372_036_854_775_808.0_f64]), json!("E0302 integer overflow")),
        ("int", json!(["f:NaN"]), json!("E0302 integer overflow")),
        ("int", json!([-7.9]), json!(-7)),
        ("int", json!(["u:9223372036854775808"]), json!("E0302 integer overflow")),
        ("int", json!(["+5"]), json!(5)),
        ("int", json!([" 5"]), json!("E0403 type conversion error from 'string' to 'int'")),
        ("int", json!([true]), json!("E0403 no such overload: int(bool)")),
        ("uint", json!([18_446_744_073_709_551_616.0_f64]), json!("E0302 unsigned integer overflow")),
        ("uint", json!([-0.5]), json!("E0302 unsigned integer overflow")),
        ("uint", json!(["+5"]), json!("E0403")),
        ("double", json!(["1e400"]), json!("E0403 type conversion error from 'string' to 'double'")),
        ("double", json!(["-Infinity"]), json!("f:-inf")),
        ("double", json!(["NaN"]), json!("f:NaN")),
        ("double", json!(["u:18446744073709551615"]), json!(18_446_744_073_709_551_615.0_f64)),
        ("bool", json!(["TrUe"]), json!("E0403 type conversion error from 'string' to 'bool'")),
        ("string", json!(["b:/w=="]), json!("E0403 invalid UTF-8")),
        ("string", json!([null]), json!("E0403 no such overload: string(null_type)")),
        ("string", json!(["f:-inf"]), json!("-Inf")),
        ("string", json!(["d:-1.5h"]), json!("-5400s")),
        ("string", json!(["t:2009-02-13T23:31:30.0100Z"]), json!("2009-02-13T23:31:30.01Z")),
        ("bytes", json!(["é"]), json!("b:w6k=")),
        ("timestamp", json!([-62_135_596_800_i64]), json!("t:0001-01-01T00:00:00Z")),
        ("timestamp", json!([-62_135_596_801_i64]), json!("E0302 timestamp overflow")),
        ("timestamp", json!([i64::MAX]), json!("E0302 timestamp overflow")),
        ("timestamp", json!(["9999-12-31T23:59:59-01:00"]), json!("E0302 timestamp overflow")),
        ("timestamp", json!(["0000-01-01T00:00:00Z"]), json!("E0302 timestamp overflow")),
        ("timestamp", json!(["2020-02-30T00:00:00Z"]), json!("E0403 type conversion error")),
        ("duration", json!(["320000000000s"]), json!("E0403 type conversion error")),
        ("duration", json!(["-9223372036854775808ns"]), json!("d:-9223372036.854775808s")),
        ("duration", json!([""]), json!("E0403 type conversion error")),
        ("type", json!([{"entries": [[1, 1]]}]), json!("type:map")),
        ("type", json!(["t:2020-01-01T00:00:00Z"]), json!("type:google.protobuf.Timestamp")),
        ("type", json!(["none"]), json!("type:optional_type")),
        ("type", json!([null]), json!("type:null_type")),
    ]);
}

#[test]
fn parts_of_times() {
    let moment = "t:2009-02-13T23:31:20.123456789Z";
    check(&[
        (".getFullYear", json!([moment]), json!(2009)),
        (".getMonth", json!([moment]), json!(1)),
        (".getDate", json!([moment, "Australia/Sydney"]), json!(14)),
        (".getDayOfMonth", json!([moment, "US/Central"]), json!(12)),
        (".getDayOfWeek", json!([moment]), json!(5)),
        (".getDayOfYear", json!([moment]), json!(43)),
        (".getHours", json!([moment, "02:00"]), json!(1)),
        (".getHours", json!([moment, "-9:30"]), json!(14)),
        (".getMinutes", json!([moment, "+05:45"]), json!(16)),
        (".getMilliseconds", json!([moment]), json!(123)),
        (".getHours", json!([moment, "24:00"]), json!("E0403 unknown time zone 24:00")),
        (".getHours", json!([moment, "+:00"]), json!("E0403 unknown time zone")),
        (".getHours", json!([moment, "++1:00"]), json!("E0403 unknown time zone")),
        (".getHours", json!([moment, "Local"]), json!("E0403 unknown time zone Local")),
        // The offset leads out of the years that there are, but not out of the calendar.
        (".getFullYear", json!(["t:0001-01-01T00:00:00Z", "-01:00"]), json!(0)),
        (".getFullYear", json!(["t:9999-12-31T23:59:59Z", "+01:00"]), json!(10_000)),
        (".getSeconds", json!(["d:3730s"]), json!(3730)),
        (".getMilliseconds", json!(["d:-1.5s"]), json!(-500)),
        (".getDate", json!(["d:1s"]), json!("E0403 no such overload: google.protobuf.Duration.getDate()")),
    ]);
}

#[test]
fn texts() {
    check(&[
        (".indexOf", json!(["ta©o©αT", "©α", 5]), json!(-1)),
        (".indexOf", json!(["abc", "", 9]), json!(3)),
        (".indexOf", json!(["abc", "c", 9]), json!("E0403 index out of range: 9")),
        (".indexOf", json!(["abc", "c", -1]), json!("E0403 index out of range: -1")),
        (".lastIndexOf", json!(["ta©o©αT", "©", 3]), json!(2)),
        (".lastIndexOf", json!(["bananananana", "nana", 7]), json!(6)),
        (".lastIndexOf", json!(["abc", ""]), json!(3)),
        (".lastIndexOf", json!(["", "@@"]), json!(-1)),
        (".charAt", json!(["©αT", 1]), json!("α")),
        (".charAt", json!(["©", i64::MAX]), json!("E0403 index out of range")),
        (".substring", json!(["ta©o©αT", 2, 5]), json!("©o©")),
        (".substring", json!(["abc", 1, 9]), json!("E0403 index out of range: 9")),
        (".replace", json!(["abab", "ab", "", -1]), json!("")),
        (".replace", json!(["abab", "ab", "x", 0]), json!("abab")),
        (".replace", json!(["é", "", "_"]), json!("_é_")),
        (".split", json!(["a,b", ",", 0]), json!([])),
        (".split", json!(["a,b", ",", 1]), json!(["a,b"])),
        (".split", json!(["", ","]), json!([""])),
        (".split", json!(["", ""]), json!([])),
        (".split", json!(["©b", ""]), json!(["©", "b"])),
        (".split", json!(["abc", "", 2]), json!(["a", "bc"])),
        (".trim", json!(["\u{85}\u{a0}a\u{200b}"]), json!("a\u{200b}")),
        (".join", json!([["a", 1]]), json!("E0403 no such overload: int.join()")),
        (".reverse", json!(["Ta©"]), json!("©aT")),
        ("strings.quote", json!(["\u{7}\\\"é\u{0}"]), json!("\"\\a\\\\\\\"é\u{0}\"")),
        (".matches", json!(["é", "^\\w$"]), json!(false)),
        ("matches", json!(["a", "[[]"]), json!(false)),
        (".matches", json!(["a", "("]), json!("E0403 `(` is not a regular expression")),
    ]);
}

#[test]
fn formats() {
    check(&[
        (
            ".format",
            json!(["%s|%s", ["b:aGk=", [null, true, 1e21, {"b": 1, "a": "d:1h"}]]]),
            json!("hi|[null, true, 1000000000000000000000, {a: 3600s, b: 1}]"),
        ),
        (".format", json!(["%d %d", ["u:7", 2.5]]), json!("7 2.5")),
        (".format", json!(["%.3f %f %e %.0f", [1.2345, 2, "u:3", 2.5]]), json!("1.234 2.000000 3.000000e+00 2")),
        (
            ".format",
            json!(["%b %b %o %x %X %x", [true, -5, 11, -255, "hi", "b:aGk="]]),
            json!("1 -101 13 -ff 6869 6869"),
        ),
        (
            ".format",
            json!(["%s %s", ["f:NaN", {"entries": [[2, "f:-inf"], [true, 0], [10, "type:int"]]}]]),
            json!("NaN {10: int, 2: -Infinity, true: 0}"),
        ),
        (".format", json!(["%%%s%%", ["a", "unused"]]), json!("%a%")),
        (".format", json!(["%", []]), json!("E0403 unexpected end of format string")),
        (".format", json!(["%.", []]), json!("E0403 a precision is a number")),
        (".format", json!(["%.1001f", [1.5]]), json!("E0403 a precision is a number")),
        (".format", json!(["%.99999999999999999999f", [1.5]]), json!("E0403 a precision is a number")),
        (
            ".format",
            json!(["%é", [1]]),
            json!("E0403 could not parse formatting clause: unrecognized formatting clause \"é\""),
        ),
        (
            ".format",
            json!(["%d", [null]]),
            json!(
                "E0403 error during formatting: decimal clause can only be used on ints, uints, and doubles, was given null_type"
            ),
        ),
        (".format", json!(["%s", ["none"]]), json!("E0403 error during formatting: string clause")),
        (".format", json!(["%s%s", ["a"]]), json!("E0403 index 1 out of range")),
    ]);
}

#[test]
fn lists_and_sets() {
    check(&[
        (".slice", json!([[1, 2], -1, 1]), json!("E0403 cannot slice(-1, 1), negative indexes not supported")),
        (
            ".slice",
            json!([[1, 2], 2, 1]),
            json!("E0403 cannot slice(2, 1), start index must be less than or equal to end index"),
        ),
        (".slice", json!([[1, 2], 0, 3]), json!("E0403 cannot slice(0, 3), list is length 2")),
        (".flatten", json!([[1, [2, [3]]], 0]), json!([1, [2, [3]]])),
        (".flatten", json!([[1, [2, [3]]]]), json!([1, 2, [3]])),
        (".flatten", json!([[[1]], -1]), json!("E0403 level must be non-negative")),
        (".sort", json!([["f:NaN", 2.0, "f:NaN", 1.0, -1.0]]), json!([-1.0, 1.0, 2.0, "f:NaN", "f:NaN"])),
        (".sort", json!([["b", 1]]), json!("E0403 list elements must have the same type")),
        (".sort", json!([[null]]), json!("E0403 list elements must be comparable")),
        (".sort", json!([["d:1m", "d:1s"]]), json!(["d:1s", "d:60s"])),
        (".@sortByAssociatedKeys", json!([["a", "b", "c"], [2, 1, 2]]), json!(["b", "a", "c"])),
        (".@sortByAssociatedKeys", json!([["a"], [2, 1]]), json!("E0403")),
        (".distinct", json!([[1, 1.0, "u:1", "1", [1], [1]]]), json!([1, "1", [1]])),
        ("lists.range", json!([-1]), json!([])),
        ("lists.range", json!([1_000_000_000]), json!("E0604")),
        ("lists.range", json!([i64::MAX]), json!("E0604")),
        ("sets.contains", json!([[[1], [2, 3]], [[2, 3.0]]]), json!(true)),
        ("sets.equivalent", json!([[1, 2], ["u:1", 2, 2.3]]), json!(false)),
        ("sets.intersects", json!([[], [1]]), json!(false)),
        ("optional.unwrap", json!([[{"some": 1}, "none", {"some": null}]]), json!([1, null])),
        ("optional.unwrap", json!([[1]]), json!("E0403 no such overload")),
        ("optional.ofNonZeroValue", json!(["d:0s"]), json!("none")),
        ("optional.ofNonZeroValue", json!([{}]), json!("none")),
        ("optional.ofNonZeroValue", json!(["t:0001-01-01T00:00:00Z"]), json!("none")),
        ("optional.ofNonZeroValue", json!(["t:1970-01-01T00:00:00Z"]), json!({"some": "t:1970-01-01T00:00:00Z"})),
        (".orValue", json!([1, 2]), json!("E0403 no such overload: int.orValue(int)")),
        (".value", json!(["none"]), json!("E0403 optional.none() dereference")),
        ("cel.@mapInsert", json!([{"a": 1}, 2, 3]), json!({"entries": [["a", 1], [2, 3]]})),
        (
            "cel.@mapInsert",
            json!([{"entries": [[1, 0]]}, "u:1", 3]),
            json!("E0403 insert failed: key `1` already exists"),
        ),
        ("cel.@mapInsert", json!([{}, null, 3]), json!("E0403 unsupported key type: null_type")),
        ("cel.@mapInsert", json!([{"a": 1}, {"b": 2}]), json!({"a": 1, "b": 2})),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("math.@max", json!([1, 1.0]), json!(1)),
        ("math.@max", json!([[1, "u:3", 2.5]]), json!("u:3")),
        ("math.@min", json!([["f:NaN", 1]]), json!("f:NaN")),
        ("math.@min", json!([[]]), json!("E0403 math.@min(list) argument must not be empty")),
        ("math.@min", json!([["a"]]), json!("E0403 no such overload: math.@min(string)")),
        ("math.@max", json!([[1, "a"]]), json!("E0403 no such overload: math.@max(int, string)")),
        ("math.abs", json!([i64::MIN]), json!("E0302 integer overflow")),
        ("math.round", json!([-0.5]), json!(-1.0)),
        ("math.round", json!([1]), json!("E0403 no such overload: math.round(int)")),
        ("math.sign", json!([-0.0]), json!(-0.0)),
        ("math.bitShiftLeft", json!([-1, 63]), json!(i64::MIN)),
        ("math.bitShiftLeft", json!([1, i64::MAX]), json!(0)),
        ("math.bitShiftRight", json!([-1, 1]), json!(i64::MAX)),
        ("math.bitShiftRight", json!(["u:1", -4]), json!("E0403 math.bitShiftRight() negative offset: -4")),
        ("math.bitNot", json!(["u:0"]), json!("u:18446744073709551615")),
        ("base64.encode", json!(["b:"]), json!("")),
        ("base64.decode", json!(["aGVsbG8"]), json!("b:aGVsbG8=")),
    ]);
}

/// What grows is refused before it is made: the calls end at once, by the limit.
#[test]
fn growth_is_bounded() {
    let big = "a".repeat(1 << 20);
    let small = Limits { memory: 24 << 20, ..Limits::default() };
    let list: Vec<_> = std::iter::repeat_n(json!("a"), 40).collect();
    let bytes = format!("b:{}", encoding::base64(big.as_bytes()));
    for (name, given) in [
        (".replace", json!([big, "a", "a".repeat(1000)])),
        (".replace", json!([big, "", "a".repeat(1000)])),
        (".split", json!([big, ""])),
        (".split", json!([big, "a"])),
        (".join", json!([list, big])),
        (".format", json!(["%s%s%s%s%s%s%s%s", [big, big, big, big, big, big, big, big]])),
        (".format", json!(["%x%x%x%x%x%x", [big, big, bytes, bytes, bytes, bytes]])),
        ("lists.range", json!([1 << 24])),
    ] {
        let got = with_cx(&small, |cx| called(cx, name, given.as_array().unwrap()));
        assert!(matches!(&got, Err(error) if error.starts_with("E0604")), "{name}: {:?}", got.map(|_| "an answer"));
    }
}

/// Comparisons that there are many of end by the limit of steps.
#[test]
fn work_is_bounded() {
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let numbers = |from: i64| (from..from + 1000).collect::<Vec<_>>();
    for (name, given) in [
        (".distinct", json!([numbers(0)])),
        ("sets.contains", json!([numbers(0), numbers(500)])),
        ("sets.equivalent", json!([numbers(0), numbers(500)])),
        ("sets.intersects", json!([numbers(0), numbers(5000)])),
    ] {
        let got = with_cx(&limits, |cx| called(cx, name, given.as_array().unwrap()));
        assert!(matches!(&got, Err(error) if error.starts_with("E0603")), "{name}");
    }
}

/// Values at the edges of a type.
fn extremes<'v>(cx: &Cx<'v>, ty: &Ty) -> Vec<Value<'v>> {
    let all = |given: Json| given.as_array().unwrap().iter().map(|given| value(cx, given)).collect();
    match ty {
        Ty::Int => all(json!([0, -1, 1, 63, 64, i64::MIN, i64::MAX])),
        Ty::Uint => all(json!(["u:0", "u:1", "u:18446744073709551615"])),
        Ty::Double => all(json!([0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, "f:NaN", "f:inf", "f:-inf", 9.3e18])),
        Ty::String => all(json!([
            "",
            "é",
            "a\u{0}b",
            "%s%d%.3f%",
            "+23:59",
            "-00:00",
            ":",
            "(?i)x*",
            "a,b",
            "9999999999999999999"
        ])),
        Ty::Bytes => all(json!(["b:", "b:/w==", "b:AAECAwQ="])),
        Ty::Timestamp => all(json!(["t:0001-01-01T00:00:00Z", "t:9999-12-31T23:59:59.999999999Z"])),
        Ty::Duration => all(json!(["d:-9223372036854775808ns", "d:9223372036854775807ns", "d:0s"])),
        Ty::List(_) => {
            all(json!([[], [null], [1, "a", 2.5], [[[]], {}], ["f:NaN", 1.0], ["", "é"], ["none", {"some": 1}]]))
        }
        Ty::Map(..) => all(json!([{}, {"": null}, {"entries": [[true, 1], [1, "a"], ["u:7", []]]}])),
        Ty::Optional(_) => {
            all(json!(["none", {"some": null}, {"some": {"some": []}}, {"some": [1]}, {"some": {"": 0}}]))
        }
        Ty::Dyn | Ty::Param(_) => {
            all(json!([null, i64::MIN, "f:NaN", "é", [], {"entries": [[-1, 0]]}, "none", "type:type"]))
        }
        ty => vec![sample(cx, ty)],
    }
}

/// No combination of values that an overload takes, each at the edge of its type, does more than answer or fail.
#[test]
fn every_overload_takes_the_edges_of_its_types() {
    let limits = Limits { fuel: 1 << 20, memory: 1 << 20, ..Limits::default() };
    let mut calls = 0;
    for (name, overload) in overloads() {
        let arguments = with_cx(&Limits::default(), |cx| {
            overload.params.iter().map(|ty| extremes(cx, ty).len()).collect::<Vec<_>>()
        });
        for chosen in combinations(&arguments) {
            with_cx(&limits, |cx| {
                let choose = |(ty, at): (&Ty, &usize)| extremes(cx, ty)[*at];
                let given: Vec<_> = overload.params.iter().zip(&chosen).map(choose).collect();
                match (overload.body)(cx, &given) {
                    Ok(answer) => drop(written(answer)),
                    Err(error) => assert!(!error.message.is_empty(), "{name} {chosen:?}"),
                }
                calls += 1;
            });
        }
    }
    assert!(calls > 3000, "{calls}");
}

/// Each way to choose one of so many in each place.
fn combinations(counts: &[usize]) -> Vec<Vec<usize>> {
    counts.iter().fold(vec![Vec::new()], |chosen, count| {
        let further = |chosen: Vec<usize>| (0..*count).map(move |at| [chosen.as_slice(), &[at]].concat());
        chosen.into_iter().flat_map(further).collect()
    })
}

/// Looking through a text or bytes is paid for by their length, whatever becomes of it.
#[test]
fn looking_through_a_text_takes_steps() {
    let text = "9".repeat(1 << 20);
    let bytes = format!("b:{}", encoding::base64(text.as_bytes()));
    let registry = registry();
    for (name, given) in [
        ("int", json!([text])),
        ("double", json!([text])),
        ("duration", json!([text])),
        ("string", json!([bytes])),
        ("size", json!([text])),
        ("_==_", json!([text, text])),
        ("_==_", json!([bytes, bytes])),
        ("_<_", json!([bytes, bytes])),
        (".contains", json!([text, "1"])),
        (".charAt", json!([text, 1])),
        (".indexOf", json!([text, "1"])),
        (".matches", json!([text, "1"])),
        (".trim", json!([text])),
        (".sort", json!([[bytes, "b:"]])),
    ] {
        with_cx(&Limits::default(), |cx| {
            let given: Vec<_> = given.as_array().unwrap().iter().map(|given| value(cx, given)).collect();
            let (member, name) = name.strip_prefix('.').map_or((false, name), |name| (true, name));
            let before = cx.fuel();
            let _ = call(cx, registry.get(ImportKind::Function, name).unwrap(), member, &given);
            assert!(before - cx.fuel() >= (1 << 20) / 64, "{name}: {}", before - cx.fuel());
        });
    }
}

/// Values are as deep as the limit and not deeper, so that what walks over them does not run out of stack.
#[test]
fn depth_is_bounded() {
    with_cx(&Limits::default(), |cx| {
        let (mut list, mut held) = (Value::Null, Value::Null);
        while let Ok(deeper) = cx.list(&[list]) {
            list = deeper;
        }
        while let Ok(deeper) = optional::of(cx, held) {
            held = deeper;
        }
        assert_eq!((list.depth(), held.depth()), (128, 128));
        let mut map = Value::Null;
        while let Ok(deeper) = access::map(cx, &[Value::Int(1)], &[map]) {
            map = deeper;
        }
        assert_eq!(map.depth(), 128);
        let registry = registry();
        for value in [list, held, map] {
            let equals = registry.get(ImportKind::Function, "_==_").unwrap();
            assert!(matches!(call(cx, equals, false, &[value, value]), Ok(Value::Bool(true))));
        }
        let flatten = registry.get(ImportKind::Function, "flatten").unwrap();
        assert!(call(cx, flatten, true, &[list, Value::Int(i64::MAX)]).is_ok());
    });
}

mod kubernetes;
mod manifests;
mod regex_and_network;
