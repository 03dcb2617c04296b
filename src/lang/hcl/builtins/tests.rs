//! Properties of all functions, and hostile arguments.

use super::*;
use crate::argument_gate::invoke;
use crate::values::{conforms, type_of};
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{
    Builtin, Caches, Capabilities, Cx, Fault, Function, Outcome, Params, Positional, Registry, ResultType,
};
use dropforge_value::{Arena, Inputs, Type, Value};

/// Runs `body` with a fresh arena and full budgets.
pub(crate) fn with_cx<T>(body: impl FnOnce(&Cx<'_>) -> T) -> T {
    with_limits(&Limits::default(), body)
}

/// Runs `body` with a fresh arena under `limits`.
pub(crate) fn with_limits<T>(limits: &Limits, body: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, caches) = (Arena::new(), Caches::default());
    body(&Cx::new(&arena, Inputs::default(), limits, Capabilities::ALL, &caches))
}

/// All functions of both libraries, except those that inspect notes.
fn functions() -> Vec<(Builtin, Positional)> {
    let by_place = |builtin: &Function| match &builtin.params {
        Params::Positional(params) => Some((Builtin::clone(builtin), params.clone())),
        _ => None,
    };
    let all = [stdlib(), opentofu()];
    let attempts = ["try", "can"];
    all.iter().flat_map(Registry::iter).filter_map(by_place).filter(|(f, _)| !attempts.contains(&&*f.name)).collect()
}

#[test]
fn every_function_is_documented_and_shown() {
    // These two only name their replacements.
    let refuses = ["list", "map"];
    for (function, _) in functions().into_iter().filter(|(f, _)| !refuses.contains(&&*f.name)) {
        assert!(function.doc.ends_with(['.', '`']), "{}: {}", function.name, function.doc);
        assert!(!function.examples.is_empty() || !function.pure, "{}", function.name);
    }
    assert!(registry().get(ImportKind::Function, "upper").is_some());
    assert!(bare().get(ImportKind::Function, "upper").is_none());
}

/// Values of every kind, known and unknown.
fn values<'v>(cx: &Cx<'v>) -> Vec<Value<'v>> {
    let arena = cx.arena();
    let list = |ty: &'static Type<'static>, items: &[Value<'v>]| arena.typed(Type::List(ty), arena.list(items));
    vec![
        Value::Null,
        arena.null(Type::String),
        arena.unknown(Type::Dynamic),
        arena.unknown(Type::Number),
        arena.unknown(Type::List(&Type::String)),
        arena.marked(arena.text("a,b\n\u{0}é😀"), &["m"]),
        arena.text("{\"a\": [1]}"),
        arena.text("2006-01-02T15:04:05Z"),
        arena.text("10.0.0.0/8"),
        Value::Bool(true),
        Value::Int(-3),
        Value::Int(i64::MAX),
        arena.number(dropforge_value::BigNum::infinity(true, 512)),
        list(&Type::String, &[arena.text("a"), arena.unknown(Type::String)]),
        arena.list(&[Value::Null, Value::Int(1), arena.marked(arena.text("a"), &["n"])]),
        arena.map(&[("a", Value::Int(1)), ("b", arena.list(&[]))]),
        arena.typed(Type::Set(&Type::Number), arena.list(&[Value::Int(1), Value::Int(2)])),
        arena.typed(Type::Map(&Type::Bool), arena.map(&[("k", Value::Bool(false))])),
    ]
}

/// Calls a function and compares the type of the result with the declared type.
fn check<'v>(cx: &Cx<'v>, function: &Builtin, params: &Positional, args: &[Value<'v>]) {
    let Ok(answer) = invoke(cx, function, args) else { return };
    let said = match params.result {
        ResultType::Is(ty) => Ok(ty),
        ResultType::OfBody => return,
        ResultType::Of(of) => of(cx, &args.iter().map(|arg| arg.unmarked().0).collect::<Vec<_>>()),
    };
    let (Ok(said), Ok(got)) = (said, type_of(cx, answer)) else { return };
    let untyped = got == Type::Dynamic && (!answer.is_known() || answer.is_null());
    assert!(untyped || conforms(&got, &said), "{}{args:?} is {got:?}, not {said:?}", function.name);
    assert!(!(params.not_null && answer.is_null()), "{}{args:?} is null", function.name);
}

#[test]
fn answers_are_of_the_types_that_functions_say() {
    for (function, params) in functions() {
        with_limits(&Limits { memory: 16 << 20, ..Limits::default() }, |cx| {
            let values = values(cx);
            check(cx, &function, &params, &[]);
            for a in &values {
                check(cx, &function, &params, &[*a]);
                for b in &values {
                    check(cx, &function, &params, &[*a, *b]);
                    check(cx, &function, &params, &[*a, *b, Value::Int(2)]);
                    check(cx, &function, &params, &[*a, *b, cx.arena().text("$0")]);
                }
            }
        });
    }
}

fn called<'v>(cx: &Cx<'v>, name: &str, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let registry = registry();
    invoke(cx, registry.get(ImportKind::Function, name).expect("there is such a function"), args)
}

#[test]
fn what_grows_reaches_a_limit_before_it_has_grown() {
    let small = Limits { memory: 1 << 20, ..Limits::default() };
    type Grows = fn(&Cx<'_>) -> bool;
    let rows: [(&str, Grows); 7] = [
        ("indent", |cx| grows(cx, "indent", &[Value::Int(1 << 40), cx.arena().text("a\nb")])),
        ("replace", |cx| grows(cx, "replace", &[long(cx, 1000), cx.arena().text("a"), long(cx, 10_000)])),
        ("regexreplace", |cx| grows(cx, "regexreplace", &[long(cx, 1000), cx.arena().text("a"), long(cx, 10_000)])),
        ("regexreplace", |cx| {
            let template = cx.arena().text(&"$0".repeat(1000));
            grows(cx, "regexreplace", &[long(cx, 10_000), cx.arena().text("a+"), template])
        }),
        ("join", |cx| {
            let list = cx.arena().list(&vec![cx.arena().text(""); 1000]);
            let list = cx.arena().typed(Type::List(&Type::String), list);
            grows(cx, "join", &[long(cx, 10_000), list])
        }),
        ("format", |cx| grows(cx, "format", &[cx.arena().text("%1000000000s"), Value::Int(1)])),
        ("base64gunzip", |cx| {
            let zipped = with_cx(|wide| {
                let zipped = called(wide, "base64gzip", &[wide.arena().text(&"a".repeat(4 << 20))]).expect("it fits");
                zipped.as_str().map(str::to_owned)
            });
            grows(cx, "base64gunzip", &[cx.arena().text(&zipped.unwrap_or_default())])
        }),
    ];
    for (name, grows) in rows {
        assert!(with_limits(&small, grows), "{name}");
    }
}

fn long<'v>(cx: &Cx<'v>, len: usize) -> Value<'v> {
    cx.arena().text(&"a".repeat(len))
}

fn grows<'v>(cx: &Cx<'v>, name: &str, args: &[Value<'v>]) -> bool {
    matches!(called(cx, name, args), Err(Fault::Limit(_)))
}

#[test]
fn marks_and_texts_in_normal_form_come_out() {
    with_cx(|cx| {
        let text = cx.arena().marked(cx.arena().text("É"), &["m"]);
        let answer = called(cx, "lower", &[text]).expect("it is a text");
        assert_eq!((answer.unmarked().0.as_str(), answer.unmarked().1), (Some("é"), &["m"][..]));
        let joined = called(cx, "format", &[cx.arena().text("e%s"), cx.arena().text("\u{301}")]).expect("it is a text");
        assert_eq!(joined.as_str(), Some("é"));
    });
}
