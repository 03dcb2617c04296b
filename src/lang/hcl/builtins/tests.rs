//! Properties of all functions, and hostile arguments.

use super::*;
use crate::Expression;
use crate::argument_gate::invoke;
use crate::values::{conforms, type_of};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{
    Builtin, Caches, Capabilities, Cx, Fault, Function, Outcome, Params, Positional, Registry, ResultType,
};
use dropforge_machine::vm::Space;
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
    let rows: [(&str, Grows); 8] = [
        ("base64gzip", |cx| grows(cx, "base64gzip", &[long(cx, 1 << 20)])),
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
fn gzip_writes_the_bytes_of_the_reference() {
    // The hashes are those of Terraform 1.11.4.
    let rows = [
        (r#""""#, "23c30f494239bb528aca9046c1011300d66cd9fc76349caf661f8a64536e6f67"),
        (r#""é""#, "32182ca55cc2f9d5bd0759ab30a8cabc374ab5903763529961f7ea93ccc2bf0a"),
        (
            r#"join("", [for n in range(8): substr(md5(n), 0, 9)])"#,
            "c685ba5adf8daca39dfe70cb7f285401a40748bd1c8dc00aebc29ebe8d91fde4",
        ),
        (
            r#"join("", [for n in range(1000): jsondecode(format("\"\\u%04x\"", 19968 + n * n * 31 % 20000))])"#,
            "741369a7a8a71162a6364140ab087bd04e6d7727fe6b04829a1674e240acb917",
        ),
        (
            r#"join("", [for a in range(300): join("", [for b in range(100): format("%d ", a * b * 7919 % 1009)])])"#,
            "953358e02a330f4c5c73c62a48cf2594d5cad214334894a1f81dd59c7f8ca745",
        ),
        (
            r#"join("", [for n in range(1000): sha512(n)])"#,
            "cef7d0c9c849786630600a8b218e01239ee26fd480a4d29cbb4ed4076302b7f9",
        ),
        (
            r#"join("", [for n in range(1000): base64encode(md5("${n}"))])"#,
            "fbb86a31f773a3ca625a7b89945809e086553181aaabb6c41317f02e89501912",
        ),
        (
            r#"join("", [for n in range(1000): n % 9 < 6 ? sha512(n) : "${n % 7}${md5(n % 5)}\n"])"#,
            "9826f20a23a1655dac7a407523ed79c084b2f26fdec2000aec970bbe2c781d39",
        ),
    ];
    for (text, wanted) in rows {
        let (limits, space) = (Limits::default(), Space::new());
        let source = Source::new("e", format!("sha256(base64gzip({text}))"));
        let expression = Expression::new(&source, &registry(), &limits).expect("it compiles");
        let answer = expression.evaluate(&space, Inputs::default(), &limits).expect("it has a value");
        assert_eq!(answer.value.as_str(), Some(wanted), "{text}");
    }
}

#[test]
fn compressed_texts_are_read_as_they_were() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..30 {
        let text: String = (0..random.usize(0..6)).map(|_| piece(&mut random)).collect();
        with_cx(|cx| {
            let zipped = called(cx, "base64gzip", &[cx.arena().text(&text)]).expect("it fits");
            let read = called(cx, "base64gunzip", &[zipped]).expect("it is compressed");
            assert!(read.as_str() == Some(&*text), "{} bytes", text.len());
        });
    }
}

/// A text of few or many characters, which repeats or not. None of them combines with another.
fn piece(random: &mut fastrand::Rng) -> String {
    let (characters, length) = (random.u32(1..0x300), random.usize(0..20_000));
    let mut character = || char::from_u32(random.u32(0..characters)).unwrap_or('-');
    let part: String = (0..length).map(|_| character()).collect();
    part.repeat(random.usize(1..3))
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
