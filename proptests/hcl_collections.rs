//! HCL's collection functions, called directly with every value of a table in every argument, and the properties that
//! hold for any arguments.

use dropforge::bytecode::ImportKind;
use dropforge::dialect::hcl::builtins::{opentofu, stdlib};
use dropforge::dialect::hcl::values::convert::convert;
use dropforge::dialect::hcl::values::operators::raw_equals;
use dropforge::dialect::hcl::values::types::{conforms, type_of};
use dropforge::dialect::hcl::{Expression, invoke};
use dropforge::function::{Builtin, Caches, Capabilities, Cx, Fault, Outcome, Params, Registry, ResultType};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, BigNum, Extended, Inputs, Refinement, Type, Value};
use dropforge::vm::Space;
use proptest::prelude::*;

/// Budgets low enough to expose unbounded growth.
static SMALL: Limits = Limits {
    source_bytes: 1 << 16,
    nesting: 64,
    value_depth: 64,
    fuel: 20_000,
    time: None,
    cost: u64::MAX,
    memory: 1 << 18,
    output_bytes: 1 << 16,
    call_depth: 64,
    named_calls: 64,
    same_name: 64,
    templates: 8,
    code_words: 1 << 16,
    program_bytes: 256 << 20,
    regex_bytes: 1 << 10,
    diagnostics: 8,
};

fn fresh<'v>(arena: &'v Arena, caches: &'v Caches) -> Cx<'v> {
    Cx::new(arena, Inputs::default(), &SMALL, Capabilities::ALL, caches)
}

const NAMES: [&str; 42] = [
    "element",
    "slice",
    "reverse",
    "concat",
    "coalescelist",
    "chunklist",
    "flatten",
    "keys",
    "values",
    "merge",
    "zipmap",
    "lookup",
    "transpose",
    "tostring",
    "tonumber",
    "tobool",
    "tolist",
    "toset",
    "tomap",
    "coalesce",
    "assertnotnull",
    "setunion",
    "setintersection",
    "setsubtract",
    "setsymmetricdifference",
    "setproduct",
    "contains",
    "distinct",
    "compact",
    "sort",
    "length",
    "index",
    "matchkeys",
    "one",
    "hasindex",
    "sethaselement",
    "range",
    "sum",
    "alltrue",
    "anytrue",
    "list",
    "map",
];

/// The collection functions of both tables.
fn functions() -> Vec<Builtin> {
    let of = |registry: Registry| -> Vec<Builtin> {
        let known = |name: &&str| registry.get(ImportKind::Function, name).map(|function| Builtin::clone(function));
        NAMES.iter().filter_map(known).collect()
    };
    let (ours, standard) = (of(opentofu()), of(stdlib()));
    assert!(NAMES.iter().all(|name| ours.iter().chain(&standard).any(|function| function.name == *name)));
    ours.into_iter().chain(standard).collect()
}

/// Builds a value of 2^40 leaves that share one leaf.
fn shared<'v>(arena: &'v Arena, leaf: Value<'v>) -> Value<'v> {
    (0..40).fold(leaf, |inner, _| arena.list(&[inner, inner]))
}

/// Values of every kind: known, null, unknown and marked.
fn table<'v>(arena: &'v Arena) -> Vec<Value<'v>> {
    let texts = arena.list(&[arena.text("b"), arena.text(""), arena.text("a"), arena.text("b")]);
    let numbers = arena.list(&[Value::Int(2), Value::Int(-1), arena.number(BigNum::of_int(2, 64))]);
    let unknown_text = arena.unknown(Type::String);
    let list = |element: &'static Type<'static>, items| arena.typed(Type::List(element), items);
    let set = |element: &'static Type<'static>, items| arena.typed(Type::Set(element), items);
    let map = |element: &'static Type<'static>, entries: &[(&'static str, Value<'v>)]| {
        arena.typed(Type::Map(element), arena.map(entries))
    };
    let some = Refinement { len_least: 1, len_most: 3, ..Refinement::NOT_NULL };
    let mut values = vec![
        Value::Null,
        Value::Undefined,
        Value::Bool(true),
        Value::Int(0),
        Value::Int(1),
        Value::Int(-2),
        Value::Int(i64::MIN),
        Value::Int(i64::MAX),
        Value::Uint(u64::MAX),
        Value::Float(1.5),
        arena.number(BigNum::infinity(true, 512)),
        arena.number(BigNum::of_int(1_000_000_000, 64)),
        arena.text(""),
        arena.text("a"),
        arena.text("1"),
        arena.list(&[]),
        arena.list(&[Value::Int(1), arena.text("a"), Value::Null, arena.list(&[])]),
        arena.list(&[Value::Bool(true), arena.unknown(Type::Dynamic)]),
        texts,
        arena.map(&[]),
        arena.map(&[("b", Value::Int(1)), ("a", Value::Null)]),
        arena.map(&[("a", texts), ("é", unknown_text)]),
        list(&Type::String, texts),
        list(&Type::String, arena.list(&[])),
        list(&Type::String, arena.list(&[arena.text("a"), arena.null(Type::String), unknown_text])),
        list(&Type::String, arena.list(&[arena.marked(arena.text("a"), &["in"]), arena.text("b")])),
        list(&Type::Number, numbers),
        list(&Type::Dynamic, arena.list(&[])),
        list(&Type::Dynamic, arena.list(&[arena.unknown(Type::Dynamic)])),
        list(&Type::Bool, arena.list(&[Value::Bool(false), arena.null(Type::Bool)])),
        set(&Type::String, arena.list(&[arena.text("a"), arena.text("b")])),
        set(&Type::String, arena.list(&[arena.text("a"), unknown_text])),
        set(&Type::Dynamic, arena.list(&[])),
        map(&Type::String, &[("b", arena.text("x")), ("a", arena.null(Type::String))]),
        map(
            &Type::List(&Type::String),
            &[("a", list(&Type::String, texts)), ("b", arena.null(Type::List(&Type::String)))],
        ),
        map(&Type::Dynamic, &[]),
        shared(arena, Value::Int(1)),
        shared(arena, arena.list(&[])),
        arena.extended(Extended::Capsule(dropforge::value::Capsule {
            name: "thing",
            id: 7,
            content: dropforge::value::CapsuleContent::Opaque,
        })),
    ];
    let types = [
        Type::Dynamic,
        Type::Bool,
        Type::Number,
        Type::String,
        Type::List(&Type::String),
        Type::List(&Type::Dynamic),
        Type::Set(&Type::Number),
        Type::Map(&Type::Bool),
        Type::Tuple(&[]),
        Type::Tuple(&[Type::Number, Type::Dynamic]),
        Type::Object(&[]),
        Type::Capsule("thing"),
    ];
    for ty in types {
        values.extend([arena.null(ty), arena.unknown(ty)]);
    }
    values.push(arena.refined(Type::List(&Type::Number), some));
    values.push(arena.refined(Type::Set(&Type::String), some));
    let marked: Vec<_> = values.iter().map(|value| arena.marked(*value, &["m"])).collect();
    values.extend(marked);
    values
}

/// Returns the minimum number of arguments, and the numbers to call the function with.
fn arities(function: &Builtin) -> Vec<usize> {
    let Params::Positional(params) = &function.params else { return Vec::new() };
    let least = params.params.len();
    if params.rest.is_some() { vec![least, least + 1, least + 2] } else { vec![least] }
}

/// Checks the answer against the function's declaration.
fn check<'v>(cx: &Cx<'v>, function: &Builtin, args: &[Value<'v>], answer: Outcome<Value<'v>>) {
    let Params::Positional(params) = &function.params else { return };
    let Ok(answer) = answer else { return };
    let said = || format!("{}({args:?}) = {answer:?}", function.name);
    if params.not_null {
        assert!(!answer.is_null(), "null: {}", said());
    }
    let Ok(ty) = type_of(cx, answer) else { return };
    if let ResultType::Is(wanted) = params.result {
        assert!(conforms(&ty, &wanted) || ty == Type::Dynamic, "type {ty:?}: {}", said());
    }
    if let Some(Extended::Typed(Type::List(element) | Type::Set(element), items)) = answer.unmarked().0.extended() {
        for item in items.as_list().unwrap_or(&[]) {
            let Ok(own) = type_of(cx, *item) else { return };
            assert!(conforms(&own, element), "element of {own:?}: {}", said());
        }
    }
}

#[test]
fn every_value_in_every_argument_gives_an_answer_or_an_error() {
    for function in functions() {
        for count in arities(&function) {
            // With more than one argument, use a sample of the values, starting at a different one in each position.
            let size = table(&Arena::new()).len();
            let steps = if crate::has_all_cases() { [1, 1, 2, 7] } else { [1, 1, 5, 11] };
            let step = steps.get(count).copied().unwrap_or(steps[3]);
            let columns: Vec<Vec<usize>> = (0..count).map(|at| (at % step..size).step_by(step).collect()).collect();
            let total: usize = columns.iter().map(Vec::len).product();
            for from in (0..total).step_by(256) {
                let (arena, caches) = (Arena::new(), Caches::default());
                let values = table(&arena);
                for number in from..total.min(from + 256) {
                    let mut rest = number;
                    let mut args = Vec::new();
                    for column in &columns {
                        args.push(values[column[rest % column.len()]]);
                        rest /= column.len();
                    }
                    let cx = fresh(&arena, &caches);
                    check(&cx, &function, &args, invoke(&cx, &function, &args));
                }
            }
        }
    }
}

/// A value that can be built in any arena.
#[derive(Debug, Clone)]
enum Plan {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    Tuple(Vec<Plan>),
    Object(Vec<(String, Plan)>),
}

impl Plan {
    fn make<'v>(&self, arena: &'v Arena) -> Value<'v> {
        match self {
            Plan::Null => Value::Null,
            Plan::Bool(truth) => Value::Bool(*truth),
            Plan::Int(n) => Value::Int(*n),
            Plan::Text(text) => arena.text(text),
            Plan::Tuple(items) => arena.list(&items.iter().map(|item| item.make(arena)).collect::<Vec<_>>()),
            Plan::Object(entries) => {
                let entry = |(key, item): &(String, Plan)| (arena.copy_str(key), item.make(arena));
                arena.map(&entries.iter().map(entry).collect::<Vec<_>>())
            }
        }
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    let leaf = prop_oneof![
        Just(Plan::Null),
        any::<bool>().prop_map(Plan::Bool),
        (-3..4_i64).prop_map(Plan::Int),
        "[a-c]{0,2}".prop_map(Plan::Text),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Plan::Tuple),
            prop::collection::vec(("[a-c]{1,2}", inner), 0..4).prop_map(Plan::Object),
        ]
    })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-d]{0,2}", 0..8)
}

fn list<'v>(arena: &'v Arena, texts: &[String]) -> Value<'v> {
    let texts: Vec<_> = texts.iter().map(|text| arena.text(text)).collect();
    arena.typed(Type::List(&Type::String), arena.list(&texts))
}

fn map<'v>(arena: &'v Arena, entries: &[(String, i64)]) -> Value<'v> {
    let entries: Vec<_> = entries.iter().map(|(key, n)| (arena.copy_str(key), Value::Int(*n))).collect();
    arena.typed(Type::Map(&Type::Number), arena.map(&entries))
}

fn entries() -> impl Strategy<Value = Vec<(String, i64)>> {
    prop::collection::vec(("[a-e]", -9..9_i64), 0..6)
}

/// Calls a function that must succeed.
fn call<'v>(cx: &Cx<'v>, name: &str, args: &[Value<'v>]) -> Value<'v> {
    let find = |registry: Registry| registry.get(ImportKind::Function, name).cloned();
    let function = find(opentofu()).or_else(|| find(stdlib())).expect("there is such a function");
    invoke(cx, &function, args).unwrap_or_else(|fault| panic!("{name}({args:?}): {fault:?}"))
}

fn same<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> bool {
    raw_equals(cx, a, b).expect("the budget is large enough")
}

fn length(value: Value<'_>) -> usize {
    value.elements().map_or_else(|| value.entries().map_or(0, |map| map.values().len()), <[_]>::len)
}

proptest! {
    #[test]
    fn lists_come_apart_and_together(a in texts(), b in texts(), size in 1..4_i64) {
        let (arena, caches) = (Arena::new(), Caches::default());
        let cx = &fresh(&arena, &caches);
        let (x, y) = (list(&arena, &a), list(&arena, &b));
        let both = call(cx, "concat", &[x, y]);
        let (to, end) = (Value::Int(a.len() as i64), Value::Int((a.len() + b.len()) as i64));
        assert!(same(cx, call(cx, "slice", &[both, Value::Int(0), to]), x));
        assert!(same(cx, call(cx, "slice", &[both, to, end]), y));
        let reversed = call(cx, "reverse", &[x]);
        assert!(same(cx, call(cx, "reverse", &[reversed]), x));
        let chunks = call(cx, "chunklist", &[both, Value::Int(size)]);
        assert_eq!(length(chunks), (a.len() + b.len()).div_ceil(size as usize));
        assert!(same(cx, call(cx, "flatten", &[chunks]), cx.arena().list(both.elements().unwrap_or(&[]))));
    }

    #[test]
    fn sorted_and_distinct_lists_stay_as_they_are(a in texts()) {
        let (arena, caches) = (Arena::new(), Caches::default());
        let cx = &fresh(&arena, &caches);
        let x = list(&arena, &a);
        for name in ["sort", "distinct", "compact"] {
            let once = call(cx, name, &[x]);
            assert!(same(cx, call(cx, name, &[once]), once), "{name}");
        }
        let sorted: Vec<_> = call(cx, "sort", &[x]).elements().unwrap_or(&[]).iter().map(Value::as_str).collect();
        let mut ours: Vec<_> = a.iter().map(|text| Some(text.as_str())).collect();
        ours.sort();
        assert_eq!(sorted, ours);
        ours.dedup();
        assert_eq!(length(call(cx, "distinct", &[x])), ours.len());
        assert_eq!(length(call(cx, "toset", &[x])), ours.len());
        for (at, text) in a.iter().enumerate() {
            let element = call(cx, "element", &[x, Value::Int((at + 3 * a.len()) as i64)]);
            assert_eq!(element.as_str(), Some(text.as_str()));
            let first = a.iter().position(|other| other == text).unwrap_or(a.len());
            assert!(same(cx, call(cx, "index", &[x, element]), Value::Int(first as i64)));
            assert!(matches!(call(cx, "contains", &[x, element]), Value::Bool(true)));
        }
    }

    #[test]
    fn merging_is_associative_and_maps_come_apart(a in entries(), b in entries(), c in entries()) {
        let (arena, caches) = (Arena::new(), Caches::default());
        let cx = &fresh(&arena, &caches);
        let (x, y, z) = (map(&arena, &a), map(&arena, &b), map(&arena, &c));
        let (left, right) = (call(cx, "merge", &[x, y]), call(cx, "merge", &[y, z]));
        let all = call(cx, "merge", &[x, y, z]);
        assert!(same(cx, call(cx, "merge", &[left, z]), all) && same(cx, call(cx, "merge", &[x, right]), all));
        assert!(same(cx, call(cx, "merge", &[x, x]), x));
        let (keys, values) = (call(cx, "keys", &[all]), call(cx, "values", &[all]));
        assert!(same(cx, call(cx, "zipmap", &[keys, values]), all));
        for (key, n) in &c {
            let found = call(cx, "lookup", &[all, arena.text(key)]);
            let last = c.iter().rev().find(|(other, _)| other == key).map_or(*n, |(_, n)| *n);
            assert!(same(cx, found, Value::Int(last)));
        }
    }

    #[test]
    fn sets_obey_their_laws(a in texts(), b in texts()) {
        let (arena, caches) = (Arena::new(), Caches::default());
        let cx = &fresh(&arena, &caches);
        let (x, y) = (call(cx, "toset", &[list(&arena, &a)]), call(cx, "toset", &[list(&arena, &b)]));
        let x = if length(x) == 0 { arena.typed(Type::Set(&Type::String), arena.list(&[])) } else { x };
        let (union, common) = (call(cx, "setunion", &[x, y]), call(cx, "setintersection", &[x, y]));
        let (only_x, only_y) = (call(cx, "setsubtract", &[x, y]), call(cx, "setsubtract", &[y, x]));
        assert!(same(cx, call(cx, "setunion", &[y, x]), union));
        assert!(same(cx, call(cx, "setintersection", &[y, x]), common));
        assert!(same(cx, call(cx, "setunion", &[only_x, common]), x));
        let either = call(cx, "setsymmetricdifference", &[x, y]);
        assert!(same(cx, call(cx, "setunion", &[only_x, only_y]), either));
        assert!(same(cx, call(cx, "setsubtract", &[union, common]), either));
        assert_eq!(length(union) + length(common), length(x) + length(y));
        let product = call(cx, "setproduct", &[x, y]);
        assert_eq!(length(product), length(x) * length(y));
        let pairs = call(cx, "setproduct", &[list(&arena, &a), list(&arena, &b)]);
        assert_eq!(length(pairs), a.len() * b.len());
        if let (Some(pair), Some(first), Some(last)) = (pairs.elements().and_then(<[_]>::last), a.last(), b.last()) {
            let texts: Vec<_> = pair.elements().unwrap_or(&[]).iter().map(Value::as_str).collect();
            assert_eq!(texts, [Some(first.as_str()), Some(last.as_str())]);
        }
    }

    #[test]
    fn results_of_unknown_arguments_hold_for_known_ones(
        plans in prop::collection::vec(plan(), 3), hidden in 0..3_usize, which in any::<prop::sample::Index>(),
    ) {
        let all = functions();
        let function = which.get(&all);
        let Params::Positional(params) = &function.params else { panic!("by place") };
        let count = params.params.len().max(usize::from(params.rest.is_some()) * 2);
        let (arena, caches) = (Arena::new(), Caches::default());
        let cx = &fresh(&arena, &caches);
        let mut args: Vec<_> = plans.iter().take(count).map(|plan| plan.make(&arena)).collect();
        for (at, arg) in args.iter_mut().enumerate() {
            let Some(param) = params.params.get(at).or(params.rest.as_ref()) else { return Ok(()) };
            let Ok(value) = convert(cx, *arg, &param.ty) else { return Ok(()) };
            *arg = value;
        }
        let Ok(known) = invoke(cx, function, &args) else { return Ok(()) };
        let at = hidden % count;
        let ty = type_of(cx, args[at]).expect("the budget is large enough");
        if ty == Type::Dynamic {
            return Ok(());
        }
        args[at] = arena.unknown(ty);
        let unknown = match invoke(cx, function, &args) {
            Ok(answer) => answer,
            Err(fault) => panic!("{}({args:?}): {fault:?}, but {known:?}", function.name),
        };
        let own = type_of(cx, known).expect("the budget is large enough");
        match unknown.as_unknown() {
            Some(unknown) => assert!(conforms(&own, &unknown.ty), "{}: {unknown:?}, but {known:?}", function.name),
            None => {
                let wanted = type_of(cx, unknown).expect("the budget is large enough");
                assert!(conforms(&own, &wanted), "{}: {unknown:?}, but {known:?}", function.name);
            }
        }
    }
}

#[test]
fn unbounded_growth_ends_in_a_limit() {
    let (arena, caches) = (Arena::new(), Caches::default());
    let many = arena.list(&(0..500).map(Value::Int).collect::<Vec<_>>());
    let outcome = |name, args: &[Value<'_>]| {
        let function = opentofu().get(ImportKind::Function, name).cloned().expect("there is such a function");
        invoke(&fresh(&arena, &caches), &function, args).map(|_| ())
    };
    for (name, args) in [
        ("setproduct", vec![many; 7]),
        ("setproduct", vec![many; 100]),
        ("flatten", vec![shared(&arena, Value::Int(1))]),
        ("concat", vec![many; 500]),
        ("element", vec![shared(&arena, Value::Int(1)), arena.unknown(Type::Number)]),
    ] {
        let outcome = outcome(name, &args);
        assert!(matches!(outcome, Err(Fault::Limit(_))), "{name}: {outcome:?}");
    }
    let far = outcome("range", &[Value::Int(1_000_000_000)]);
    assert!(matches!(far, Err(Fault::Wrong(_))), "{far:?}");
}

/// Returns an expression's value as JSON, or the codes of its errors.
fn evaluated(text: &str, registry: Registry) -> String {
    let (limits, space) = (Limits::default(), Space::new());
    let encoded = Source::new("example", format!("jsonencode({text})"));
    let expression = Expression::new(&encoded, &registry, &limits).unwrap_or_else(|error| panic!("{text}: {error}"));
    let answer =
        expression.evaluate(&space, Inputs::default(), &limits).unwrap_or_else(|error| panic!("{text}: {error}"));
    let codes: Vec<_> = answer.errors.iter().map(|error| error.code.id()).collect();
    answer.value.as_str().filter(|_| codes.is_empty()).map_or_else(|| codes.join(" "), str::to_owned)
}

#[test]
fn the_examples_of_the_documentation_are_true() {
    let mut wrong = Vec::new();
    for (table, functions) in [(stdlib as fn() -> Registry, stdlib()), (opentofu, opentofu())] {
        let named = NAMES.iter().filter_map(|name| functions.get(ImportKind::Function, name));
        for (example, wanted) in named.flat_map(|function| &*function.examples) {
            let got = evaluated(example, table());
            let wanted = if wanted.starts_with("E0") { (*wanted).to_owned() } else { evaluated(wanted, table()) };
            if got != wanted {
                wrong.push(format!("{example} = {got}, not {wanted}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
