//! A function never fails on the kinds of arguments for which its row says so.

use dropforge::engine::{Dialect, Engine};
use dropforge::function::{Builtin, Caches, Capabilities, Cx, Kind, Type};
use dropforge::limits::Limits;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes, Value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::values::any_json;

/// The number of values of each kind in a case. No function has more parameters.
const EACH: usize = 4;

fn text() -> impl Strategy<Value = Json> {
    prop_oneof!["[ -~éß\u{301}\u{1F600}\n\t\"\\\\<>/&]{0,24}", "\\PC{0,12}", "(\\\\[nt]|[ab,./<> -]){0,12}"]
        .prop_map(Json::from)
}

fn number() -> impl Strategy<Value = Json> {
    let edges = [0.0, -0.0, 1.0, -1.0, 0.5, f64::MAX, f64::MIN_POSITIVE].map(Json::from);
    prop_oneof![
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no such number", |n| n.is_finite()).prop_map(Json::from),
        proptest::sample::select([edges.to_vec(), [i64::MIN, -1, 0, 1, 2, i64::MAX].map(Json::from).to_vec()].concat()),
    ]
}

fn of_kind(kind: Kind) -> BoxedStrategy<Option<Json>> {
    let present = match kind {
        Kind::Absent => return Just(None).boxed(),
        Kind::Present => any_json().boxed(),
        Kind::Is(Type::Any) => return prop_oneof![Just(None), any_json().prop_map(Some)].boxed(),
        Kind::Is(Type::Bool) => any::<bool>().prop_map(Json::from).boxed(),
        Kind::Is(Type::Int) => {
            prop_oneof![any::<i64>().prop_map(Json::from), any::<u64>().prop_map(Json::from)].boxed()
        }
        Kind::Is(Type::Size) => {
            prop_oneof![(0..300_u64).prop_map(Json::from), any::<u64>().prop_map(Json::from)].boxed()
        }
        Kind::Is(Type::Number) => number().boxed(),
        Kind::Is(Type::Str) => text().boxed(),
        Kind::Is(Type::List) => vec(any_json(), 0..6).prop_map(Json::from).boxed(),
        Kind::Is(Type::Map) => {
            btree_map("[a-dé]{0,2}", any_json(), 0..6).prop_map(|map| Json::Object(map.into_iter().collect())).boxed()
        }
    };
    present.prop_map(Some).boxed()
}

/// Every kind in a row, with its values in a case.
const KINDS: [Kind; 10] = [
    Kind::Absent,
    Kind::Present,
    Kind::Is(Type::Any),
    Kind::Is(Type::Bool),
    Kind::Is(Type::Int),
    Kind::Is(Type::Size),
    Kind::Is(Type::Number),
    Kind::Is(Type::Str),
    Kind::Is(Type::List),
    Kind::Is(Type::Map),
];

fn values_of_kinds() -> impl Strategy<Value = Vec<Vec<Option<Json>>>> {
    KINDS.map(|kind| vec(of_kind(kind), EACH)).to_vec()
}

/// Calls the body with these values. Returns an error that is not a limit, or tells of a recorded one.
fn called(builtin: &Builtin, given: &[Option<Json>]) -> Result<(), String> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let make = |json: &Json| InputBuilder::new(&arena, &shapes).serialize(json).expect("a value");
    let values: Vec<Value<'_>> = given.iter().map(|json| json.as_ref().map(make).unwrap_or_default()).collect();
    assert!(builtin.is_total(&values), "{}: {given:?} has the kinds of its row", builtin.name);
    let (limits, caches) = (Limits::default(), Caches::default());
    let cx = Cx::new(&arena, Inputs::new(make(&serde_json::json!({}))), &limits, Capabilities::NONE, &caches);
    let Some(result) = builtin.body.call(&cx, &values) else { return Err("no body that takes values".to_owned()) };
    match result {
        Err(error) if !error.code.is_limit() => Err(error.message),
        _ if cx.notes().count() > 0 => Err("recorded an error".to_owned()),
        _ => Ok(()),
    }
}

#[test]
fn rows_say_so_of_many_functions() {
    let engine = Engine::new();
    let total = engine.registry(Dialect::Tera).iter().filter(|builtin| !builtin.total.is_empty()).count();
    assert!(total > 30, "{total}");
}

proptest! {
    #[test]
    fn a_total_function_neither_fails_nor_records_an_error(pool in values_of_kinds()) {
        let engine = Engine::new();
        for builtin in engine.registry(Dialect::Tera).iter() {
            for kinds in builtin.total {
                let values = kinds.iter().enumerate().map(|(nth, kind)| {
                    let at = KINDS.iter().position(|other| other == kind).expect("a kind of the list");
                    pool[at][nth % EACH].clone()
                });
                let values: Vec<_> = values.collect();
                let outcome = called(builtin, &values);
                prop_assert!(outcome.is_ok(), "{} {values:?}: {outcome:?}", builtin.name);
            }
        }
    }
}
