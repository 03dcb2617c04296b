//! Properties of every function: its examples are true, and bad arguments cause nothing but errors.

use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::Code;
use dropforge::dialect::hcl::{Expression, registry};
use dropforge::files::Files;
use dropforge::function::{Builtin, Capabilities, Function, Params, Positional};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, BigNum, Inputs, Type, Value};
use dropforge::vm::Space;

use super::{Outcome, evaluated_allowing, said};

/// The functions that a source can name.
fn functions() -> Vec<(Builtin, Positional)> {
    let of = |builtin: &Function| match &builtin.params {
        Params::Positional(params) if builtin.kind == ImportKind::Function => {
            Some((Builtin::clone(builtin), params.clone()))
        }
        _ => None,
    };
    registry().iter().filter_map(of).collect()
}

/// The files that the examples name.
fn example_files() -> Files {
    Files::below(concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-tests/hcl/files")).expect("the directory is there")
}

fn shown(text: &str) -> Outcome {
    let files = example_files();
    let all = Capabilities::ALL.with_files(&files);
    evaluated_allowing(all, Expression::new(&Source::new("example", text), &registry(), &Limits::default()))
}

/// Drops the type, because an example cannot write a list or a map.
fn untyped(outcome: Outcome) -> Outcome {
    outcome.map(|text| text.rsplit_once(" : ").map_or(text.clone(), |(value, _)| value.to_owned()))
}

/// Returns `true` if there is an error with this code, the expected result of an example.
fn fails_with(outcome: &Outcome, code: &str) -> bool {
    outcome.as_ref().is_err_and(|lines| lines.iter().any(|line| line.starts_with(&format!("! {code} "))))
}

#[test]
fn every_example_is_true() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (function, _) in functions() {
        for (example, wanted) in &*function.examples {
            let wanted_code = *wanted;
            let (got, wanted) = (untyped(shown(example)), untyped(shown(wanted)));
            count += 1;
            if got != wanted && !fails_with(&got, wanted_code) {
                wrong.push(format!("{}: {example} is {got:?}, not {wanted:?}", function.name));
            }
        }
    }
    assert!(count > 150, "{count} examples");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Values at the edges of every type, one variable each.
fn extremes(arena: &Arena) -> Vec<(&'static str, Value<'_>)> {
    let texts = arena.list_type(Type::String);
    let deep = (0..100).fold(Value::Int(1), |inner, _| arena.list(&[inner]));
    vec![
        ("nothing", Value::Null),
        ("nothing_text", arena.null(Type::String)),
        ("nothing_list", arena.null(texts)),
        ("dynamic", arena.unknown(Type::Dynamic)),
        ("unknown_text", arena.unknown(Type::String)),
        ("unknown_number", arena.unknown(Type::Number)),
        ("unknown_list", arena.unknown(texts)),
        ("unknown_map", arena.unknown(arena.map_type(Type::Dynamic))),
        ("faulty", arena.faulty(Type::Dynamic)),
        ("marked", arena.marked(arena.text("a"), &["m"])),
        ("marked_list", arena.marked(arena.list(&[arena.marked(Value::Int(1), &["n"])]), &["m"])),
        ("marked_unknown", arena.marked(arena.unknown(Type::Dynamic), &["m"])),
        ("empty", arena.text("")),
        ("text", arena.text("a\u{0}é😀%s${b}\\\"\n")),
        ("long", arena.text(&"ab ".repeat(20_000))),
        ("pattern", arena.text("(a*)*$(")),
        ("format", arena.text("%[9]d%*v%%%999999999s%.999999999f%")),
        ("date", arena.text("9999-12-31T23:59:59Z")),
        ("duration", arena.text("99999999999999h")),
        ("network", arena.text("10.0.0.0/8")),
        ("coded", arena.text("H4sIAAAAAAAA")),
        ("json", arena.text("[[[{\"a\": 1e999999999}")),
        ("yes", Value::Bool(true)),
        ("zero", Value::Int(0)),
        ("least", Value::Int(i64::MIN)),
        ("most", Value::Int(i64::MAX)),
        ("huge", arena.number(BigNum::parse("1e999999999").expect("a number"))),
        ("tiny", arena.number(BigNum::parse("1e-999999").expect("a number"))),
        ("infinite", arena.number(BigNum::infinity(true, 512))),
        ("none", arena.list(&[])),
        ("many", arena.list(&vec![Value::Int(7); 5_000])),
        ("mixed", arena.list(&[Value::Null, Value::Int(1), arena.text("a"), arena.unknown(Type::Dynamic)])),
        ("deep", deep),
        ("void", arena.map(&[])),
        ("map", arena.map(&[("a", Value::Int(1)), ("", Value::Null), ("é", arena.list(&[]))])),
        ("set", arena.typed(arena.set_type(Type::Number), arena.list(&[Value::Int(1), Value::Int(2)]))),
        ("texts", arena.typed(texts, arena.list(&[arena.text("b"), arena.unknown(Type::String), arena.text("a")]))),
        ("no_texts", arena.typed(texts, arena.list(&[]))),
    ]
}

/// Returns an ordinary argument of a type.
fn ordinary(ty: &Type<'_>) -> &'static str {
    match ty {
        Type::Bool => "yes",
        Type::Number => "zero",
        Type::String => "text",
        Type::Map(_) | Type::Object(_) => "map",
        Type::Set(_) => "set",
        _ => "texts",
    }
}

/// Returns calls with every extreme in every position, next to ordinary arguments; the same with `...`; and calls with
/// too few and too many arguments.
fn calls(params: &Positional, names: &[&str]) -> Vec<String> {
    let rest = params.rest.iter().chain(&params.rest);
    let others: Vec<_> = params.params.iter().chain(rest).map(|place| ordinary(&place.ty)).collect();
    let mut calls = vec![String::new(), [&others[..], &["text"]].concat().join(", ")];
    for at in 0..others.len() {
        for name in names {
            let mut args = others.clone();
            args[at] = name;
            calls.push(args.join(", "));
            calls.push(args[..=at].join(", ") + "...");
        }
    }
    calls
}

/// Tries every call in the long form, otherwise every third one.
#[test]
fn no_argument_makes_a_function_do_more_than_fail() {
    let limits = Limits { fuel: 300_000, memory: 4 << 20, ..Limits::default() };
    let (arena, registry) = (Arena::new(), registry());
    let extremes = extremes(&arena);
    let names: Vec<_> = extremes.iter().map(|(name, _)| *name).collect();
    let inputs = Inputs::new(arena.map(&extremes));
    let files = example_files();
    let all = Capabilities::ALL.with_files(&files);
    let (mut count, step) = (0, if crate::is_thorough() { 1 } else { 3 });
    for (function, params) in functions() {
        for args in calls(&params, &names).into_iter().step_by(step) {
            let text = format!("{}({args})", function.name);
            let expression = Expression::new(&Source::new("t", text.as_str()), &registry, &limits);
            let (space, expression) = (Space::new(), expression.expect("a call"));
            match expression.evaluate_allowing(all, &space, inputs, &limits) {
                Ok(answer) => assert!(answer.errors.iter().all(|error| error.position().is_some()), "{text}"),
                Err(error) => assert!(error.code.is_limit(), "{text}: {:?}", said([&*error])),
            }
            count += 1;
        }
    }
    assert!(count > 10_000 / step, "{count} calls");
}

#[test]
fn a_missing_capability_is_one_error_at_the_call() {
    for (function, params) in functions().into_iter().filter(|(function, _)| !function.needs.is_none()) {
        let args = vec!["\"a\""; params.params.len()].join(", ");
        let call = format!("{}({args})", function.name);
        let (limits, space) = (Limits::default(), Space::new());
        let text = format!("[{call}, 1 + true, {call}]");
        let expression = Expression::new(&Source::new("t", text.as_str()), &registry(), &limits).expect("a tuple");
        let answer = expression.evaluate(&space, Inputs::default(), &limits).expect("no limit is reached");
        let codes: Vec<_> = answer.errors.iter().map(|error| error.code).collect();
        assert_eq!(codes, [Code::CapabilityOff, Code::TypeMismatch, Code::CapabilityOff], "{text}");
        let names = function.needs.names().collect::<Vec<_>>();
        assert!(answer.errors[0].help.iter().any(|help| help.contains(names[0])), "{text}");
        assert_eq!(answer.errors[0].position().map(|place| place.column), Some(2), "{text}");
        let tried = Expression::new(&Source::new("t", format!("try({call}, \"no\")")), &registry(), &limits);
        assert_eq!(super::evaluated(tried).as_deref(), Ok("\"no\" : string"), "{text}");
    }
}
