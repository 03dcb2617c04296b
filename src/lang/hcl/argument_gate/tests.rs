use super::*;
use crate::builtins::tests::with_cx;
use dropforge_machine::function::{Capabilities, Noted, Rest};
use dropforge_machine::functions;

functions! {
    /// Functions that show what the gate does.
    static TABLE:
    "none" () -> Bool = yes, "No parameter." ["none()" => "true"];
    "two" (a: String, b: Number [null]) -> String = first, "Two parameters." [];
    "all" (a: (list String), ... more: Any [null unknown dynamic marked]) -> {of_first} or null = last, "Any number." [];
    "clock" (... more: (map (set Bool))) -> (list Number) or null = all_true, needs CLOCK, "A capability." [];
}

fn yes<'v>(_: &Cx<'v>) -> Outcome<Value<'v>> {
    Ok(Value::Bool(true))
}

fn all_true<'v>(_: &Cx<'v>, _: Rest<'_, 'v>) -> Outcome<Value<'v>> {
    Ok(Value::Bool(true))
}

fn first<'v>(_: &Cx<'v>, first: Value<'v>, _: Value<'v>) -> Outcome<Value<'v>> {
    Ok(first)
}

fn last<'v>(_: &Cx<'v>, first: Value<'v>, Rest(more): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    Ok(more.last().copied().unwrap_or(first))
}

fn of_first<'v>(cx: &Cx<'v>, first: Value<'v>, _: Rest<'_, 'v>) -> Outcome<Type<'v>> {
    type_of(cx, first)
}

fn function(name: &str) -> &'static Builtin {
    TABLE.iter().find(|builtin| builtin.name == name).unwrap()
}

#[test]
fn the_table_says_what_its_rows_say() {
    let Params::Positional(params) = &function("all").params else { panic!("by place") };
    assert_eq!(params.params[0].ty, Type::List(&Type::String));
    assert_eq!((&*params.params[0].name, params.params[0].admits), ("a", Admits::NONE));
    let rest = params.rest.clone().unwrap();
    assert!(rest.admits.include(Admits::MARKED.and(Admits::DYNAMIC)) && !rest.admits.include(Admits::ERRORS));
    assert!(!params.not_null && matches!(params.result, ResultType::Of(_)));
    let clock = function("clock");
    assert!(!clock.pure && clock.needs == Capabilities::CLOCK);
    let Params::Positional(params) = &clock.params else { panic!("by place") };
    assert_eq!(params.rest.as_ref().unwrap().ty, Type::Map(&Type::Set(&Type::Bool)));
    assert!(matches!(params.result, ResultType::Is(Type::List(Type::Number))));
    assert!(function("none").pure && *function("none").examples == [("none()", "true")]);
}

/// The notes of a call: the message and the subject of each.
fn errors(cx: &Cx<'_>) -> Vec<(String, Subject)> {
    let error = |note: dropforge_machine::function::Note<'_>| match note.what {
        Noted::Error(error, subject) => Some((error.message.clone(), subject)),
        _ => None,
    };
    cx.notes().take(0).into_iter().filter_map(error).collect()
}

#[test]
fn errors_of_arguments_that_are_not_evaluated_are_dropped() {
    with_cx(|cx| {
        let arena = cx.arena();
        let (text, none) = (arena.text("a"), arena.list(&[]));
        for (last, wanted) in [
            (arena.unknown(Type::Dynamic), None),
            (arena.unknown(Type::List(&Type::Bool)), None),
            (Value::Int(1), Some("Invalid expanding argument value")),
            (none, Some("Not enough function arguments")),
            (arena.list(&[text, text]), Some("Too many function arguments")),
        ] {
            cx.note_error(cx.fault(Code::UndefinedVariable, "nope"), Subject::Whole);
            let given = [Value::Int(0), text, Value::Int(1), last];
            call(cx, function("two"), &given, true).unwrap();
            let noted: Vec<_> = errors(cx).into_iter().map(|(message, _)| message).collect();
            assert_eq!(noted, wanted.into_iter().collect::<Vec<_>>());
        }
        cx.note_error(cx.fault(Code::UndefinedVariable, "nope"), Subject::Whole);
        let given = [Value::Int(0), text, Value::Int(1), arena.list(&[Value::Int(1)])];
        call(cx, function("two"), &given, true).unwrap();
        assert_eq!(errors(cx).len(), 1, "the call takes place");
    });
}

fn is_faulty(value: Value<'_>) -> bool {
    value.as_unknown().is_some_and(|unknown| unknown.faulty && unknown.ty == Type::Dynamic)
}

#[test]
fn a_wrong_number_of_arguments_is_noted_where_it_shows() {
    with_cx(|cx| {
        let text = cx.arena().text("a");
        assert!(is_faulty(call(cx, function("two"), &[text], false).unwrap()));
        assert_eq!(errors(cx), [("Not enough function arguments".into(), Subject::Part(2))]);
        assert!(is_faulty(call(cx, function("two"), &[text, text, text], false).unwrap()));
        assert_eq!(errors(cx), [("Too many function arguments".into(), Subject::Part(7))]);
        let three = cx.arena().list(&[text, text, text]);
        assert!(is_faulty(call(cx, function("two"), &[three], true).unwrap()));
        assert_eq!(errors(cx), [("Too many function arguments".into(), Subject::Part(0))]);
    });
}

#[test]
fn arguments_are_converted_and_each_that_cannot_be_is_noted() {
    with_cx(|cx| {
        let arena = cx.arena();
        let answer = call(cx, function("two"), &[Value::Int(1), arena.text("2")], false).unwrap();
        assert_eq!(answer.as_str(), Some("1"));
        assert!(is_faulty(call(cx, function("two"), &[arena.list(&[]), arena.text("x")], false).unwrap()));
        let subjects: Vec<_> = errors(cx).into_iter().map(|(_, subject)| subject).collect();
        assert_eq!(subjects, [Subject::Part(4), Subject::Part(5)]);
    });
}

#[test]
fn what_could_not_be_computed_stops_a_call_without_another_error() {
    with_cx(|cx| {
        cx.note_error(cx.fault(Code::UndefinedVariable, "nope"), Subject::Whole);
        let given = [cx.arena().list(&[cx.arena().faulty(Type::Dynamic)]), Value::Null];
        assert!(is_faulty(call(cx, function("all"), &given, false).unwrap()));
        assert_eq!(errors(cx).len(), 1);
    });
}

#[test]
fn spread_collections_give_their_elements_and_their_marks() {
    with_cx(|cx| {
        let arena = cx.arena();
        let list = arena.marked(arena.list(&[arena.text("a"), Value::Int(1)]), &["m"]);
        let answer = call(cx, function("two"), &[list], true).unwrap();
        assert_eq!((answer.unmarked().0.as_str(), answer.unmarked().1), (Some("a"), &["m"][..]));
        let unknown = arena.unknown(Type::List(&Type::Bool));
        let answer = call(cx, function("two"), &[unknown], true).unwrap();
        assert!(answer.as_unknown().is_some_and(|unknown| !unknown.faulty));
        for wrong in [Value::Null, arena.null(Type::List(&Type::Bool)), Value::Int(1), arena.map(&[])] {
            assert!(is_faulty(call(cx, function("two"), &[wrong], true).unwrap()));
            assert_eq!(errors(cx).len(), 1);
        }
    });
}

#[test]
fn null_unknown_and_marks_where_they_are_not_admitted() {
    with_cx(|cx| {
        let arena = cx.arena();
        let Err(Fault::Wrong(wrong)) = invoke(cx, function("two"), &[arena.null(Type::String), Value::Int(1)]) else {
            panic!("null is refused")
        };
        assert_eq!(wrong.argument, Some(0));
        let untyped = invoke(cx, function("two"), &[arena.text("a"), arena.unknown(Type::Dynamic)]).unwrap();
        assert_eq!(untyped.as_unknown().unwrap().ty, Type::Dynamic);
        let marked = arena.marked(arena.unknown(Type::String), &["m"]);
        let unknown = invoke(cx, function("two"), &[marked, Value::Int(1)]).unwrap();
        assert_eq!(unknown.unmarked().1, ["m"]);
        let plain = unknown.unmarked().0.as_unknown();
        assert!(plain.is_some_and(|unknown| unknown.ty == Type::String && unknown.refinement.not_null));
        let marked = arena.marked(arena.text("a"), &["m"]);
        let untyped = invoke(cx, function("two"), &[arena.unknown(Type::Dynamic), marked]);
        assert!(untyped.unwrap().is_marked(), "marks are kept of all arguments");
        let list = arena.typed(Type::List(&Type::String), arena.list(&[arena.marked(arena.text("a"), &["in"])]));
        let seen = invoke(cx, function("all"), &[list, arena.marked(Value::Null, &["seen"])]).unwrap();
        assert_eq!(seen.unmarked().1, ["in", "seen"]);
    });
}
