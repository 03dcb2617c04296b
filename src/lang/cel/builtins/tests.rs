//! Bodies through the gate: values in, a value or an error's code out.

use std::collections::HashSet;

use serde_json::{Value as Json, json};

use super::*;
use crate::semantics::{call, is_of, overload};
use crate::values;
use crate::values::{access, convert, empty_optional, optional_of};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::encodings;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Builtin, Caches, Capabilities, Cx, Overload, Params, Registry, Ty};
use dropforge_value::{Arena, Capsule, CapsuleContent, Extended, Inputs, Value};

fn registry() -> Registry {
    super::kubernetes()
}

fn with_cx<T>(limits: &Limits, run: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, caches) = (Arena::new(), Caches::default());
    run(&Cx::new(&arena, Inputs::default(), limits, Capabilities::NONE, &caches))
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
            Some((key, held)) if key == "some" => optional_of(cx, value(cx, held)).unwrap(),
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
        Some(("b", base64)) => cx.bytes(&encodings::octets_of_base64(base64).unwrap()).unwrap(),
        Some(("t", moment)) => convert::timestamp(cx, cx.text(moment).unwrap()).unwrap(),
        Some(("d", span)) => convert::duration(cx, cx.text(span).unwrap()).unwrap(),
        Some(("type", name)) => cx.extended(Extended::Named(cx.arena().copy_str(name))).unwrap(),
        Some((kind, held)) if values::TYPE_NAMES.contains(&kind) => capsule(cx, kind, held),
        _ if text == "none" => empty_optional(cx).unwrap(),
        _ => cx.text(text).unwrap(),
    }
}

fn capsule<'v>(cx: &Cx<'v>, name: &str, text: &str) -> Value<'v> {
    let content =
        if name == values::OMIT { CapsuleContent::Opaque } else { CapsuleContent::Text(cx.arena().copy_str(text)) };
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
        (_, Some(Extended::Bytes(bytes))) => json!(format!("b:{}", encodings::base64(bytes))),
        (_, Some(Extended::Timestamp { .. })) => json!(format!("t:{}", plain(value))),
        (_, Some(Extended::Duration(_))) => json!(format!("d:{}", plain(value))),
        (_, Some(Extended::Named(name))) => json!(format!("type:{name}")),
        (_, Some(Extended::Optional(Value::Undefined))) => json!("none"),
        (_, Some(Extended::Optional(held))) => json!({"some": written(*held)}),
        (_, Some(Extended::Entries(entries))) => {
            let pairs: Vec<_> = entries.iter().map(|(key, value)| json!([written(key), written(value)])).collect();
            json!({"entries": pairs})
        }
        (_, Some(Extended::Capsule(capsule))) => json!(format!("{}:{}", capsule.name, values::Content::of(value).0)),
        (value, _) => panic!("{value:?}"),
    }
}

fn plain(value: Value<'_>) -> String {
    crate::values::convert::plain(value).unwrap().unwrap().into_owned()
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
    (values::IP, "10.0.0.1"),
    (values::CIDR, "10.0.0.0/8"),
    (values::URL, "https://example.com/"),
    (values::QUANTITY, "1k"),
    (values::SEMVER, "1.2.3"),
    (values::FORMAT, "uuid"),
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
        Ty::Optional(held) => return optional_of(cx, sample(cx, held)).unwrap(),
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
    ("raw_file_string", Code::BadArgument),
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

mod bounds;
mod kubernetes;
mod manifests;
mod regex_and_network;
mod schemas;
mod tables;
