//! The cost of CEL expressions by cel-go's constants, with and without optimisation, including expressions that fail.

use dropforge::bytecode::disassemble;
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::dialect::cel::check::Environment;
use dropforge::dialect::cel::{Expression, Rules, Settings, registry};
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{InputBuilder, Inputs, Shapes, from_value};
use dropforge::vm::{Evaluator, Observer, Space};
use serde_json::json;

use crate::cases::{self, Case, Rendered};

/// The result of an expression, and its cost.
struct Evaluated {
    outcome: Result<(), Code>,
    cost: u64,
}

fn environment() -> Environment {
    let mut environment = Environment::new(&registry());
    for (name, ty) in [("n", "int"), ("s", "string"), ("l", "list(int)"), ("m", "map(string, int)"), ("d", "dyn")] {
        environment.declare(name, ty).expect("a type");
    }
    environment
}

fn evaluated_by(text: &str, settings: Settings<'_>, limits: &Limits) -> Evaluated {
    let space = Space::new();
    let shapes = Shapes::new(space.arena());
    let data = json!({
        "n": 7, "s": "twelve chars", "l": [1, 2, 3], "m": {"a": 1, "b": 2},
        "d": {"list": [1, 2, 3, 4], "text": "héllo", "deep": {"er": 1}},
    });
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).serialize(&data).expect("inputs"));
    let expression = Expression::with(&Source::new("e", text), &settings, &registry(), limits)
        .unwrap_or_else(|errors| panic!("{text}: {errors}"));
    let (value, cost) = expression.evaluate_metered(&space, inputs, limits);
    let outcome = value.map(|_| ()).map_err(|error| error.code);
    Evaluated { outcome, cost }
}

fn evaluated(text: &str, limits: &Limits) -> Evaluated {
    let environment = environment();
    let checked = Settings { cost: true, ..Settings::checked(&environment) };
    let on = evaluated_by(text, checked, limits);
    let off = evaluated_by(text, Settings { optimise: false, ..checked }, limits);
    assert_eq!(on.outcome, off.outcome, "{text}");
    if on.outcome != Err(Code::LimitCost) {
        assert_eq!(on.cost, off.cost, "{text}");
    }
    on
}

/// Compiles the expression of a case with metering. The names in its context are declared with any type.
fn compiled(case: &Case) -> Result<Expression, Diagnostics> {
    let registry = registry();
    let mut environment = Environment::new(&registry);
    for name in cases::context(case).as_object().expect("the context is a map").keys() {
        environment.declare(name, "dyn").expect("a type");
    }
    let settings = Settings { cost: true, ..Settings::checked(&environment) };
    let (name, text) = case.templates().next().expect("a case has a template");
    Expression::with(&Source::new(name, text), &settings, &registry, &Limits::default())
}

/// Returns the value of a case's expression as JSON, and its cost.
pub fn rendered(case: &Case) -> Result<Rendered, Diagnostics> {
    let (expression, space, limits) = (compiled(case)?, Space::new(), Limits::default());
    let shapes = Shapes::new(space.arena());
    let inputs = InputBuilder::new(space.arena(), &shapes).serialize(&cases::context(case)).expect("inputs");
    let (value, cost) = expression.evaluate_metered(&space, Inputs::new(inputs), &limits);
    let output = from_value::<serde_json::Value>(value?)?.to_string();
    Ok(Rendered { output, listing: disassemble(expression.program()), cost: Some(cost) })
}

/// Evaluates the metered expression of a case, observed by `hooks`.
pub fn watch(case: &Case, mut hooks: &mut dyn Observer) {
    let Ok(expression) = compiled(case) else { return };
    let (space, limits) = (Space::new(), Limits::default());
    let shapes = Shapes::new(space.arena());
    let inputs = InputBuilder::new(space.arena(), &shapes).serialize(&cases::context(case)).expect("inputs");
    let linked = registry().link(expression.program().imports()).expect("the functions of CEL");
    let mut evaluator = Evaluator::new(&space, expression.program(), &linked, &limits, Capabilities::NONE);
    let _ = evaluator.run_hooked::<Rules, _>(0, Inputs::new(inputs), &mut hooks);
}

const VALUES: &[(&str, u64)] = &[
    // Names and fields. Constants are free.
    ("n", 1),
    ("7", 0),
    ("m.a", 2),
    ("m['a']", 2),
    ("d.deep.er", 3),
    ("d.list[n - 6]", 5),
    ("l[l[0]]", 3),
    ("m[d.text.size() == 5 ? 'a' : 'b']", 6),
    ("has(d.deep.er)", 3),
    ("d.?deep.er", 3),
    ("d.?nothing.er", 1),
    ("d.?deep.?gone", 2),
    ("m[?'z'].orValue(5)", 1),
    ("m[?'a'].orValue(n)", 2),
    ("m.?z.or(m.?b).value()", 4),
    // List and map literals.
    ("[n, n]", 12),
    ("{'a': n, s: 1}", 32),
    ("[?m.?a, ?m.?z]", 13),
    // Operators. String operators charge per ten characters.
    ("n + n * 2", 4),
    ("-n", 2),
    ("s == 'twelve chars'", 3),
    ("s == 'short'", 2),
    ("s < 'twelve chars and more'", 3),
    ("s + s", 5),
    ("d.text + 'x'", 3),
    ("l + l", 3),
    ("n in l", 5),
    ("'a' in m", 2),
    // Skipped operands are free.
    ("true || n / 0 > 1", 0),
    ("n > 0 || n / 0 > 1", 2),
    ("n / 0 > 1 || n > 0", 5),
    ("n > 0 ? n : n / 0", 2),
    ("n > 0 ? m.a : m.b", 3),
    ("(n > 0 ? m : m).a", 3),
    ("n < 0 ? 1 : n + n", 5),
    // Functions.
    ("size(s)", 2),
    ("s.contains('chars')", 3),
    ("s.startsWith('twelve')", 3),
    ("s.matches('^t.*s$')", 5),
    ("s.upperAscii()", 16),
    ("s.split(' ')", 16),
    ("l.slice(0, 2)", 14),
    ("lists.range(5)", 16),
    ("l.sort()", 30),
    ("[s, s].sort()", 31),
    ("sets.contains(l, l)", 12),
    ("regex.extract(s, 'c.*')", 5),
    ("bytes(s)", 3),
    ("'%d'.format([n])", 12),
    // Loops.
    ("l.all(x, x > 0)", 17),
    ("l.all(x, x < 2)", 14),
    ("l.exists(x, x == 2)", 17),
    ("l.exists(x, x > 9)", 20),
    ("l.exists_one(x, x == 2)", 11),
    ("l.map(x, x * 2)", 54),
    ("l.map(x, x > 1, x)", 44),
    ("l.filter(x, x > 1)", 44),
    ("m.transformMap(k, v, v + 1)", 42),
    ("m.map(k, k)", 38),
    ("[[1], l].map(x, x.map(y, y))", 132),
    ("cel.bind(x, n + 1, x + x)", 15),
    ("optional.of(n).optMap(x, x + 1).value()", 20),
    // The value of a binding is computed when it is first read.
    ("cel.bind(x, n + 1, 1)", 10),
    ("cel.bind(x, n / 0, n > 0)", 12),
    ("cel.bind(x, n + 1, n > 9 ? x : 1)", 12),
    ("cel.bind(x, n + 1, n > 1 ? x : 1)", 14),
    ("cel.bind(x, n + 1, n > 1 ? x + x : x)", 17),
    ("cel.bind(x, n + 1, n > 1 || x > 1)", 12),
    ("cel.bind(x, n + 1, cel.bind(y, x + 1, y + y))", 27),
    ("l.map(y, cel.bind(x, n + 1, y > 1 ? x : y))", 88),
    ("optional.of(n).optMap(x, 'a').value()", 15),
    ("optional.of(n).optFlatMap(x, optional.none()).hasValue()", 15),
    // An empty optional has no elements, so no index is evaluated.
    ("optional.none()[?n / 0].orValue(n)", 3),
    ("d.?nothing[s + s].orValue(n)", 2),
    ("optional.ofNonZeroValue(optional.none()).hasValue()", 3),
    ("[].map(x, x)", 21),
];

#[test]
fn each_step_costs_the_same_as_in_the_reference() {
    let wrong: Vec<_> = VALUES
        .iter()
        .map(|(text, wanted)| (text, wanted, evaluated(text, &Limits::default())))
        .filter(|(_, wanted, found)| found.outcome.is_err() || found.cost != **wanted)
        .map(|(text, wanted, found)| format!("{text}: {} instead of {wanted} ({:?})", found.cost, found.outcome))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Errors: the reference evaluates the other operand too, charges for the call, and runs all turns of a loop.
const ERRORS: &[(&str, u64)] = &[
    ("1 / 0 + n", 3),
    ("-(1 / 0)", 2),
    ("[1 / 0, n, n]", 11),
    ("{'a': 1 / 0, 'b': n}", 31),
    ("d.z.y", 2),
    ("m.z + n", 4),
    ("d[1 / 0]", 3),
    ("s == string(1 / 0)", 4),
    ("s.replace(string(1 / 0), s)", 3),
    ("l.map(x, x / 0)", 54),
    ("l.all(x, x / 0 > 0)", 20),
    ("(1 / 0 > 0) && n > 0", 4),
    ("1 / 0 > 0 ? n : n", 2),
    ("l.slice(2, 9)", 13),
];

#[test]
fn failing_expressions_cost_the_same_as_in_the_reference() {
    let mut wrong = Vec::new();
    for (text, wanted) in ERRORS {
        let found = evaluated(text, &Limits::default());
        if found.outcome.is_ok() || found.cost != *wanted {
            wrong.push(format!("{text}: {} instead of {wanted} ({:?})", found.cost, found.outcome));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_limit_is_reached_by_one_more_than_it_allows() {
    for (text, cost) in VALUES.iter().filter(|(_, cost)| *cost > 0) {
        let within = |allowed| evaluated(text, &Limits { cost: allowed, ..Limits::default() });
        assert_eq!(within(*cost).outcome, Ok(()), "{text}");
        let above = within(cost - 1);
        assert_eq!(above.outcome, Err(Code::LimitCost), "{text}");
        assert!(above.cost >= *cost, "{text}");
    }
}

#[test]
fn a_limit_stops_loops_in_loops_long_before_they_end() {
    for text in [
        "lists.range(100000).map(a, lists.range(100000).map(b, a * b))",
        "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))",
        "lists.range(1000).map(a, lists.range(1000).filter(b, cel.bind(x, a + b, x > 5))).flatten()",
        "lists.range(1000000).exists(a, a / 0 > 0)",
        "lists.range(1000).transformMap(i, v, lists.range(1000).exists_one(w, w == v))",
        "'a'.replace('', 'aaaaaaaaaa').replace('', 'aaaaaaaaaa').replace('', 'aaaaaaaaaa').replace('', 'aaaaaaaaaa')",
    ] {
        let limits = Limits { cost: 5_000, fuel: 1_000_000, ..Limits::default() };
        let found = evaluated_by(text, Settings { cost: true, ..Settings::checked(&environment()) }, &limits);
        let all = Limits { cost: u64::MAX, ..limits };
        assert_eq!(found.outcome, Err(Code::LimitCost), "{text}");
        assert!(found.cost > 5_000 && found.cost < 1_100_000, "{text}: {}", found.cost);
        assert_ne!(
            evaluated_by(text, Settings { cost: true, ..Settings::checked(&environment()) }, &all).outcome,
            Err(Code::LimitCost),
            "{text}"
        );
    }
}

#[test]
fn a_reached_limit_is_no_error_that_anything_absorbs() {
    for text in
        ["l.map(x, x + x).size() > 0 || true", "l.exists(x, l.map(y, y).size() > 9) || n > 0", "[l.map(x, x)][?9]"]
    {
        let limits = Limits { cost: 20, ..Limits::default() };
        assert_eq!(evaluated(text, &limits).outcome, Err(Code::LimitCost), "{text}");
    }
}

#[test]
fn errors_in_the_turns_of_a_loop_use_memory_that_is_counted() {
    let limits = Limits { memory: 4 << 20, ..Limits::default() };
    for metered in [false, true] {
        let environment = environment();
        let settings = Settings { cost: metered, ..Settings::checked(&environment) };
        let found = evaluated_by("lists.range(100000).all(a, a / 0 > 0)", settings, &limits);
        assert_eq!(found.outcome, Err(Code::LimitMemory), "{metered}");
    }
}

#[test]
fn unchecked_calls_cost_one_each() {
    let unchecked = Settings { cost: true, ..Settings::default() };
    for (text, wanted) in [("s + s", 3), ("s.contains(s)", 3), ("s == s", 4), ("l.map(x, x * 2)", 54), ("l.sort()", 2)]
    {
        assert_eq!(evaluated_by(text, unchecked, &Limits::default()).cost, wanted, "{text}");
    }
}

#[test]
fn unmetered_expressions_have_no_cost_and_no_limit() {
    let limits = Limits { cost: 0, ..Limits::default() };
    let found = evaluated_by("l.map(x, x * 2)", Settings::default(), &limits);
    assert_eq!((found.outcome, found.cost), (Ok(()), 0));
}

/// Without declarations, an input may shadow a type name.
#[test]
fn inputs_named_like_types_are_read_and_cost_one_step() {
    let (space, limits) = (Space::new(), Limits::default());
    let shapes = Shapes::new(space.arena());
    let data = json!({"omit": {"a": 2}, "net": {"IP": 3}});
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).serialize(&data).expect("inputs"));
    for (text, inputs, wanted, wanted_cost) in [
        ("omit.a == 2", inputs, true, 3),
        ("net.IP == 3", inputs, true, 3),
        ("omit == type(omit())", Inputs::default(), true, 3),
        ("net.IP == type(ip('::1'))", Inputs::default(), true, 3),
    ] {
        let settings = Settings { cost: true, ..Settings::default() };
        let expression = Expression::with(&Source::new("e", text), &settings, &registry(), &limits).expect(text);
        let (value, cost) = expression.evaluate_metered(&space, inputs, &limits);
        let value = value.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((from_value::<bool>(value).ok(), cost), (Some(wanted), wanted_cost), "{text}");
    }
}
