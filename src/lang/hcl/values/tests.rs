//! Operators and collections beyond the rows of the reference, such as limits and hostile values.

use super::access::has_element;
use super::elements::{elements, length};
use super::operators::{abs, and, neg, not, or, text};
use super::traverse::{attribute, index};
use super::{
    Refine, binary, contains_marked, equals, is_wholly_known, list_of, map_of, number_of, raw_equals, set_of,
    unknown_as_null, unmark_deep,
};
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Caches, Capabilities, Cx, Fault, Outcome};
use dropforge_value::{Arena, BigNum, Inputs, Refinement, Type, Value};

fn with_cx<T>(limits: Limits, body: impl FnOnce(&Cx<'_>) -> T) -> T {
    let (arena, caches) = (Arena::new(), Caches::default());
    body(&Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches))
}

fn with<T>(body: impl FnOnce(&Cx<'_>) -> T) -> T {
    with_cx(Limits::default(), body)
}

fn number<'v>(cx: &Cx<'v>, text: &str) -> Value<'v> {
    cx.arena().number(BigNum::parse(text).unwrap())
}

fn shown(outcome: Outcome<Value<'_>>) -> String {
    match outcome {
        Ok(Value::Bool(b)) => b.to_string(),
        Ok(value) => number_of(value).map_or_else(|| "unknown".to_owned(), |number| number.to_text()),
        Err(Fault::Wrong(_)) => "fault".to_owned(),
        Err(Fault::Limit(limit)) => limit.message.clone(),
    }
}

#[test]
fn arithmetic_of_plain_and_big_numbers() {
    let rows = [
        (BinaryOp::Add, "9223372036854775807", "1", "9223372036854775808"),
        (BinaryOp::Sub, "-9223372036854775808", "1", "-9223372036854775809"),
        (BinaryOp::Mul, "4294967296", "4294967296", "18446744073709551616"),
        (BinaryOp::Mul, "0", "-1", "-0"),
        (BinaryOp::Div, "6", "3", "2"),
        (BinaryOp::Div, "7", "2", "3.5"),
        (BinaryOp::Div, "-9223372036854775808", "-1", "9223372036854775808"),
        (BinaryOp::Div, "5", "0", "+Inf"),
        (BinaryOp::Div, "-5", "0", "-Inf"),
        (BinaryOp::Div, "0", "0", "fault"),
        (BinaryOp::Rem, "-9223372036854775808", "-1", "0"),
        (BinaryOp::Rem, "-7", "3", "-1"),
        (BinaryOp::Rem, "7", "-3", "1"),
        (BinaryOp::Rem, "5", "0", "5"),
        (BinaryOp::Rem, "5.5", "2", "1.5"),
        (BinaryOp::Sub, "Inf", "Inf", "fault"),
        (BinaryOp::Lt, "1", "1.5", "true"),
        (BinaryOp::Le, "0.1", "0.1", "true"),
        (BinaryOp::Ge, "1e400", "Inf", "false"),
        (BinaryOp::Eq, "5", "5.0", "true"),
        (BinaryOp::Ne, "0.3", "0.1", "true"),
    ];
    for (op, a, b, want) in rows {
        with(|cx| assert_eq!(shown(binary(cx, number(cx, a), number(cx, b), op)), want, "{a} {b}"));
    }
    with(|cx| {
        assert_eq!(shown(neg(cx, Value::Int(i64::MIN))), "9223372036854775808");
        assert_eq!(shown(neg(cx, Value::Int(0))), "-0");
        assert_eq!(shown(abs(cx, Value::Int(i64::MIN))), "9223372036854775808");
        let sum = binary(cx, number(cx, "0.1"), number(cx, "0.2"), BinaryOp::Add);
        assert_eq!(shown(equals(cx, sum.unwrap(), Value::Float(0.3))), "true");
        assert_eq!(
            shown(binary(cx, Value::Uint(u64::MAX), Value::Float(0.5), BinaryOp::Add)),
            "18446744073709551615.5"
        );
    });
}

#[test]
fn a_length_has_the_precision_of_a_machine_integer() {
    with(|cx| {
        let list = cx.list(&[Value::Null, Value::Null]).unwrap();
        let two = length(cx, list).unwrap();
        let three = length(cx, cx.list(&[Value::Null; 3]).unwrap()).unwrap();
        let third = binary(cx, two, three, BinaryOp::Div).unwrap();
        assert_eq!(shown(Ok(third)), "0.6666666666666666667");
        assert_eq!(shown(equals(cx, two, Value::Int(2))), "true");
    });
}

#[test]
fn null_and_other_types_are_no_operands() {
    with(|cx| {
        let arena = cx.arena();
        let null = arena.null(Type::Number);
        for (a, b, at) in
            [(Value::Null, Value::Int(1), 0), (Value::Int(1), null, 1), (Value::Int(1), arena.text("a"), 1)]
        {
            let Err(Fault::Wrong(wrong)) = binary(cx, a, b, BinaryOp::Add) else { panic!("{a:?} + {b:?}") };
            assert_eq!(wrong.argument, Some(at));
        }
        assert_eq!(shown(and(cx, null, Value::Bool(false))), "fault");
        assert_eq!(shown(not(cx, Value::Int(1))), "fault");
        assert_eq!(shown(or(cx, arena.unknown(Type::Bool), Value::Bool(true))), "true");
        assert_eq!(shown(and(cx, arena.unknown(Type::Dynamic), Value::Bool(true))), "unknown");
    });
}

#[test]
fn unknown_values_are_narrowed_until_one_is_left() {
    with(|cx| {
        let arena = cx.arena();
        let refine = || Refine::of(arena.unknown(Type::Number)).not_null();
        let five = || BigNum::of_int(5, 512);
        let exact = refine().at_least(cx, five(), true).at_most(cx, five(), true).done(cx);
        assert_eq!(shown(exact), "5");
        let open = refine().at_least(cx, five(), false).at_least(cx, BigNum::of_int(3, 512), true).done(cx).unwrap();
        assert_eq!(shown(binary(cx, open, Value::Int(4), BinaryOp::Lt)), "false");
        assert_eq!(shown(binary(cx, open, Value::Int(6), BinaryOp::Lt)), "unknown");
        let list = Refine::of(arena.unknown(arena.list_type(Type::String))).not_null();
        let empty = list.length_at_most(0).done(cx).unwrap();
        assert_eq!(shown(length(cx, empty)), "0");
        let huge = Refine::of(arena.unknown(arena.list_type(Type::String))).not_null().length_at_least(u64::MAX);
        assert!(matches!(huge.done(cx), Err(Fault::Limit(_))));
        let text = Refine::of(arena.unknown(Type::String)).prefix(cx, "e\u{301}-").unwrap();
        let text = text.prefix(cx, "other").unwrap().done(cx).unwrap();
        assert_eq!(text.as_unknown().unwrap().refinement.prefix, "é-");
        assert_eq!(shown(equals(cx, text, arena.text("e-"))), "false");
        let dynamic = Refine::of(arena.unknown(Type::Dynamic)).not_null().done(cx).unwrap();
        assert!(!dynamic.as_unknown().unwrap().refinement.not_null);
    });
}

#[test]
fn sets_are_sorted_and_have_each_value_once() {
    with(|cx| {
        let arena = cx.arena();
        let unknown = arena.unknown(Type::Number);
        let items =
            [Value::Int(3), Value::Null, unknown, number(cx, "1.5"), Value::Float(3.0), unknown, Value::Int(-1)];
        let set = set_of(cx, Type::Number, &items).unwrap();
        let texts: Vec<_> = set.elements().unwrap().iter().map(|item| shown(Ok(*item))).collect();
        assert_eq!(texts, ["-1", "1.5", "3", "unknown", "unknown", "unknown"]);
        assert!(set.elements().unwrap()[5].is_null());
        assert!(matches!(length(cx, set).unwrap().as_unknown(), Some(unknown) if unknown.ty == Type::Number));
        assert_eq!(shown(has_element(cx, set, Value::Int(3))), "true");
        assert_eq!(shown(has_element(cx, set, Value::Int(4))), "unknown");
        let marked = arena.marked(arena.text("b"), &["secret"]);
        let set = set_of(cx, Type::String, &[marked, arena.text("a"), arena.text("b")]).unwrap();
        assert_eq!(set.unmarked().1, ["secret"]);
        assert_eq!(set.elements().unwrap().len(), 2);
        let one = |text| cx.map(&[("k", arena.text(text))]).unwrap();
        let object = one("b").type_in(arena);
        let set = set_of(cx, object, &[one("b"), one("a\""), one("b"), one("a")]).unwrap();
        let keys: Vec<_> =
            set.elements().unwrap().iter().map(|item| item.entries().unwrap().get("k").unwrap()).collect();
        assert_eq!(keys.iter().filter_map(Value::as_str).collect::<Vec<_>>(), ["a", "a\"", "b"]);
    });
}

#[test]
fn collections_give_null_and_unknown_their_type() {
    with(|cx| {
        let arena = cx.arena();
        let list = list_of(cx, Type::String, &[Value::Null, arena.unknown(Type::Dynamic), arena.text("a")]).unwrap();
        let types: Vec<_> = list.elements().unwrap().iter().map(|item| item.type_in(arena)).collect();
        assert_eq!(types, [Type::String; 3]);
        let map = map_of(cx, Type::Bool, &[("b", Value::Bool(true)), ("a", Value::Null)]).unwrap();
        let keys: Vec<_> = elements(cx, map).unwrap().iter().map(|(key, _)| key.as_str().unwrap()).collect();
        assert_eq!(keys, ["a", "b"]);
        let known = unknown_as_null(cx, list).unwrap();
        assert!(known.elements().unwrap()[1].is_null() && known.elements().unwrap()[1].type_in(arena) == Type::String);
        assert!(raw_equals(cx, known, unknown_as_null(cx, known).unwrap()).unwrap());
        assert!(!raw_equals(cx, known, list).unwrap());
    });
}

#[test]
fn marks_of_what_decides_are_on_the_result() {
    with(|cx| {
        let arena = cx.arena();
        let (one, two) = (arena.marked(Value::Int(1), &["b"]), arena.marked(Value::Int(2), &["a", "b"]));
        assert_eq!(binary(cx, one, two, BinaryOp::Add).unwrap().unmarked().1, ["a", "b"]);
        let list = arena.marked(cx.list(&[one]).unwrap(), &["c"]);
        assert_eq!(equals(cx, list, list).unwrap().unmarked().1, ["b", "c"]);
        let item = index(cx, list, arena.marked(Value::Int(0), &["k"])).unwrap().unwrap();
        assert_eq!(item.unmarked().1, ["b", "c", "k"]);
        let (plain, marks) = unmark_deep(cx, list).unwrap();
        assert_eq!((marks, plain.elements().unwrap()[0].is_marked()), (vec!["b", "c"], false));
    });
}

#[test]
fn steps_that_lead_nowhere_say_why() {
    with(|cx| {
        let arena = cx.arena();
        let secret = arena.marked(cx.list(&[Value::Null]).unwrap(), &["secret"]);
        let object = cx.map(&[("1", Value::Int(5))]).unwrap();
        let detail = |value, key| index(cx, value, key).unwrap().unwrap_err().detail;
        assert!(detail(secret, Value::Int(1)).ends_with("value."), "what a mark hides is not told");
        assert!(detail(cx.list(&[]).unwrap(), Value::Int(0)).contains("no elements"));
        assert!(detail(cx.list(&[Value::Null]).unwrap(), Value::Float(0.5)).contains("fraction"));
        assert!(detail(object, Value::Int(2)).contains("names"));
        assert_eq!(shown(index(cx, object, Value::Int(1)).unwrap().map_err(|_| Fault::wrong(""))), "5");
        assert!(attribute(cx, Value::Bool(true), "a").unwrap().unwrap_err().detail.contains("bool"));
        assert!(attribute(cx, arena.unknown(Type::Dynamic), "a").unwrap().unwrap().as_unknown().is_some());
    });
}

#[test]
fn work_on_large_values_is_bounded() {
    let numbers: Vec<Value<'_>> = (0..3000).map(Value::Int).collect();
    let limits = Limits { fuel: 2000, ..Limits::default() };
    with_cx(limits, |cx| {
        let list = cx.arena().list(&numbers);
        assert!(matches!(equals(cx, list, list), Err(Fault::Limit(_))));
        assert!(matches!(set_of(cx, Type::Number, &numbers), Err(Fault::Limit(_))));
        assert!(matches!(unmark_deep(cx, cx.arena().list(&[cx.arena().marked(list, &["m"])])), Err(Fault::Limit(_))));
    });
    with(|cx| {
        let (huge, tiny) = (BigNum::parse("1e600000000").unwrap(), BigNum::parse("1e-600000000").unwrap());
        assert!(matches!(text(cx, &huge), Err(Fault::Limit(_))));
        assert!(matches!(text(cx, &tiny), Err(Fault::Limit(_))));
        let range = Refinement { least: Some(cx.arena().bound(tiny, true)), ..Refinement::NOT_NULL };
        let unknown = cx.arena().refined(Type::Number, range);
        assert_eq!(shown(binary(cx, unknown, Value::Int(0), BinaryOp::Lt)), "false");
    });
}

#[test]
fn only_what_holds_marks_or_unknown_values_is_searched_for_them() {
    with(|cx| {
        let arena = cx.arena();
        let plain = arena.list(&[arena.list(&[Value::Int(1); 1000]); 1000]);
        let before = cx.fuel();
        assert!(!contains_marked(cx, plain).unwrap() && is_wholly_known(cx, plain).unwrap());
        assert_eq!(cx.fuel(), before, "a million items not looked at");
        let marked = arena.list(&[plain, arena.map(&[("a", arena.marked(Value::Int(1), &["m"]))])]);
        assert!(contains_marked(cx, marked).unwrap() && is_wholly_known(cx, marked).unwrap());
        let unknown = arena.list(&[plain, arena.typed(Type::Dynamic, arena.list(&[arena.unknown(Type::Number)]))]);
        assert!(!contains_marked(cx, unknown).unwrap() && !is_wholly_known(cx, unknown).unwrap());
        assert!(before - cx.fuel() < 100, "what is plain in them is passed over");
    });
}
