//! Optimisation preserves behaviour: an expression has the same value, or the same error at the same place, and the
//! same cost. Metering changes no value, and the checked machine agrees with the trusting one.

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::dialect::cel::check::Environment;
use dropforge::dialect::cel::{Declarations, Expression, Rules, Settings, registry};
use dropforge::function::{Capabilities, Registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{InputBuilder, Inputs, Shapes};
use dropforge::vm::{Run, Session, Space, answer_checked};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// The result of an expression: its value as text, or its error and position.
type Outcome = Result<String, (Code, String, Option<String>)>;

fn error_of(error: &Diagnostic) -> (Code, String, Option<String>) {
    (error.code, error.message.clone(), error.position().map(|place| place.to_string()))
}

/// Prints a value with the types of everything in it, in order.
fn shown(value: dropforge::value::Value<'_>) -> String {
    use dropforge::value::{Extended, Value};
    let entry = |(key, value): (String, Value<'_>)| format!("{key}: {}", shown(value));
    match (value, value.extended()) {
        (Value::Str(text), _) => format!("{:?}", text.as_str()),
        (Value::List(list), _) => format!("{:?}", list.items().iter().map(|item| shown(*item)).collect::<Vec<_>>()),
        (Value::Map(map), _) => {
            format!("{:?}", map.iter().map(|(key, value)| entry((format!("{key:?}"), value))).collect::<Vec<_>>())
        }
        (_, Some(Extended::Entries(entries))) => {
            let entries = entries.iter().map(|(key, value)| entry((shown(key), value)));
            format!("entries {:?}", entries.collect::<Vec<_>>())
        }
        (_, Some(Extended::Optional(held))) => format!("optional({})", shown(*held)),
        _ => format!("{value:?}"),
    }
}

/// Budgets that only hostile expressions use up.
fn limits() -> Limits {
    Limits { fuel: 300_000, memory: 8 << 20, ..Limits::default() }
}

fn evaluated(expression: &Expression, data: &Value, limits: &Limits) -> (Outcome, u64) {
    let space = Space::new();
    let shapes = Shapes::new(space.arena());
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).serialize(data).expect("inputs"));
    let (value, cost) = expression.evaluate_metered(&space, inputs, limits);
    (value.map(shown).map_err(|error| error_of(&error)), cost)
}

/// Evaluates on the machine that checks each index.
fn checked(expression: &Expression, registry: &Registry, data: &Value, limits: &Limits) -> Outcome {
    let space = Space::new();
    let shapes = Shapes::new(space.arena());
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).serialize(data).expect("inputs"));
    let linked = registry.link(expression.program().imports()).expect("it links");
    let (program, capabilities) = (expression.program(), Capabilities::NONE);
    let what = Run { program, linked: &linked, inputs, limits, capabilities, budgets: None };
    let mut session = Session::new();
    let answer = answer_checked::<Rules>(&mut session, what);
    answer.map(shown).map_err(|error| error_of(&error))
}

fn is_limit(outcome: &Outcome) -> bool {
    matches!(outcome, Err((code, ..)) if code.is_limit())
}

/// Compares all ways of evaluating `text`.
fn agree(text: &str, declarations: Declarations<'_>, registry: &Registry, data: &Value) -> Result<(), TestCaseError> {
    let limits = limits();
    let mut seen: Vec<(Outcome, u64)> = Vec::new();
    for (optimise, cost) in [(true, false), (false, false), (true, true), (false, true)] {
        let settings = Settings { declarations, optimise, cost, ..Settings::default() };
        let Ok(expression) = Expression::with(&Source::new("e", text), &settings, registry, &limits) else {
            return Ok(());
        };
        let found = evaluated(&expression, data, &limits);
        if is_limit(&found.0) {
            return Ok(());
        }
        let by_checks = checked(&expression, registry, data, &limits);
        prop_assert_eq!(&by_checks, &found.0, "{} (optimised: {}, metered: {})", text, optimise, cost);
        seen.push(found);
    }
    for (outcome, _) in &seen {
        prop_assert_eq!(outcome, &seen[0].0, "{} with {}", text, data);
    }
    prop_assert_eq!(seen[2].1, seen[3].1, "what {} costs with {}", text, data);
    Ok(())
}

const LEAVES: &[&str] = &[
    "i",
    "j",
    "s",
    "b",
    "l",
    "m",
    "d",
    "d.a",
    "d.b",
    "m.x",
    "l[0]",
    "1",
    "2",
    "0",
    "-1",
    "3u",
    "1.5",
    "'a'",
    "'x'",
    "'ab ab'",
    "b'ab'",
    "true",
    "false",
    "null",
    "[]",
    "[1, 2]",
    "['a', 'b']",
    "{}",
    "{'x': 1}",
    "optional.of(1)",
    "optional.none()",
    "int",
    "timestamp(0)",
    "duration('1s')",
    "9223372036854775807",
    "lists.range(3)",
];

const SHAPES: &[&str] = &[
    "$a + $b",
    "$a - $b",
    "$a * $b",
    "$a / $b",
    "$a % $b",
    "$a == $b",
    "$a != $b",
    "$a < $b",
    "$a >= $b",
    "$a in $b",
    "$a && $b",
    "$a || $b",
    "$a && $b",
    "$a || $b",
    "$a ? $b : $c",
    "true ? $a : $b",
    "$a || true",
    "false && $a",
    "!$a",
    "-$a",
    "$a[$b]",
    "$a.x",
    "$a.?x",
    "$a.?x.y",
    "$a[?$b]",
    "has($a.x)",
    "[$a, $b]",
    "[$a, ?$b]",
    "{'x': $a, 'y': $b}",
    "{$a: $b}",
    "{?'k': $a}",
    "size($a)",
    "string($a)",
    "int($a)",
    "dyn($a)",
    "type($a) == int",
    "$a.contains('a')",
    "$a.startsWith($b)",
    "$a.matches('a+')",
    "$a.split(' ')",
    "$a.upperAscii()",
    "$a.replace('a', $b)",
    "$a.substring(1)",
    "$a.join('-')",
    "$a.map(x, $b)",
    "$a.map(x, x + $b)",
    "$a.map(x, $b, x)",
    "$a.filter(x, $b)",
    "$a.filter(x, x == $b)",
    "$a.all(x, $b)",
    "$a.all(x, x != $b)",
    "$a.exists(x, $b)",
    "$a.exists(x, x == $b)",
    "$a.exists_one(x, x == $b)",
    "$a.all(k, v, v != $b)",
    "$a.transformList(k, v, $b)",
    "$a.transformMap(k, v, v == $b, $c)",
    "$a.transformMap(k, v, $b)",
    "$a.transformMapEntry(k, v, {v: $b})",
    "cel.bind(x, $a, $b)",
    "cel.bind(x, $a, [x, x, $b])",
    "$a.orValue($b)",
    "$a.or($b)",
    "$a.optMap(x, [x, $b])",
    "$a.sort()",
    "$a.slice(0, $b)",
    "$a.flatten()",
    "$a.distinct()",
    "$a.sortBy(x, $b)",
    "$a.reverse()",
    "sets.contains($a, $b)",
    "math.greatest($a, $b)",
    "[1, 2, 3].map(x, x * 2)",
    "'%s-%s'.format([$a, $b])",
    "x",
    "x + $a",
    "regex.extract('a1', $a)",
];

/// Expressions of all kinds. Many of them fail.
fn expression() -> impl Strategy<Value = String> {
    select(LEAVES).prop_map(str::to_owned).prop_recursive(5, 40, 3, |inner| {
        (inner.clone(), inner.clone(), inner, select(SHAPES)).prop_map(|(a, b, c, shape)| {
            shape.replace("$a", &format!("({a})")).replace("$b", &format!("({b})")).replace("$c", &format!("({c})"))
        })
    })
}

/// Types and productions of their expressions. `I`, `B`, `S` and `L` stand for an expression of a type (integer,
/// boolean, string, list of integers), `D` for one of any type.
const TYPED: [(char, &[&str], &[&str]); 5] = [
    (
        'I',
        &["i", "j", "1", "0", "-7", "m.x", "l[0]", "x"],
        &[
            "I + I",
            "I - I",
            "I * I",
            "I / I",
            "I % I",
            "-I",
            "B ? I : I",
            "size(S)",
            "size(L)",
            "L[I]",
            "m['x']",
            "L.map(x, I)[0]",
            "int(S)",
            "cel.bind(x, I, I + x)",
            "m[?S].orValue(I)",
            "math.greatest(I, I)",
            "L.filter(x, B).size()",
            "S.indexOf(S)",
            "int(D)",
            "{'a': I}.a",
            "[I, I][I]",
            "lists.range(3)[I]",
        ],
    ),
    (
        'B',
        &["b", "true", "false"],
        &[
            "B && B",
            "B || B",
            "!B",
            "I < I",
            "I == I",
            "S == S",
            "S < S",
            "L == L",
            "I in L",
            "B ? B : B",
            "L.all(x, I > x)",
            "L.all(x, B)",
            "L.exists(x, x == I)",
            "L.exists(x, B)",
            "L.exists_one(x, B)",
            "S.contains(S)",
            "S.startsWith(S)",
            "S.matches('a+')",
            "has(d.a)",
            "has({'a': I}.a)",
            "D == D",
            "sets.contains(L, L)",
            "m.exists(k, v, k == S && v > I)",
            "L.all(k, v, k <= v || B)",
            "S in m",
            "optional.of(I).hasValue()",
            "type(D) == int",
            "L.sort() == L",
        ],
    ),
    (
        'S',
        &["s", "'a'", "'b a'", "'a text of its own'", "''"],
        &[
            "S + S",
            "B ? S : S",
            "string(I)",
            "S.upperAscii()",
            "S.replace('a', S)",
            "S.substring(I)",
            "S.split('a').join(S)",
            "S.trim()",
            "'%d-%s'.format([I, S])",
            "L.map(x, string(x)).join(',')",
            "cel.bind(y, S, y + y)",
            "S.reverse()",
            "strings.quote(S)",
            "regex.extract(S, 'a').orValue(S)",
        ],
    ),
    (
        'L',
        &["l", "[]", "[1, 2, 3]", "[i, j]"],
        &[
            "L + L",
            "[I, I]",
            "B ? L : L",
            "L.map(x, I)",
            "L.map(x, x * I)",
            "L.map(x, B, x + I)",
            "L.filter(x, B)",
            "L.filter(x, x > I)",
            "L.sort()",
            "L.reverse()",
            "L.distinct()",
            "L.slice(0, I)",
            "lists.range(I)",
            "L.transformList(k, v, k + v)",
            "L.sortBy(x, -x)",
            "[L, L].flatten()",
            "m.map(k, m[k])",
            "[I, ?m.?z]",
        ],
    ),
    ('D', &["d", "d.a", "d.b", "null", "m"], &["dyn(I)", "dyn(S)", "dyn(L)", "d.a.x", "d[S]", "B ? d.a : d.b"]),
];

/// Builds an expression of one type from the outside in, as `picks` chooses.
fn typed(ty: char, depth: usize, picks: &mut impl Iterator<Item = usize>) -> String {
    let Some((_, leaves, shapes)) = TYPED.iter().find(|(name, ..)| *name == ty) else { return ty.to_string() };
    let of = |list: &[&'static str], pick: usize| list[pick % list.len()];
    let pick = picks.next().unwrap_or(0);
    if depth == 0 || pick.is_multiple_of(5) {
        return of(leaves, pick / 5).to_owned(); // `x` is undefined outside loops
    }
    let mut text = String::new();
    let shape: Vec<char> = of(shapes, pick).chars().collect();
    for (at, &part) in shape.iter().enumerate() {
        let alone = |near: Option<&char>| near.is_none_or(|near| !near.is_alphanumeric());
        if "IBSLD".contains(part) && alone(at.checked_sub(1).and_then(|at| shape.get(at))) && alone(shape.get(at + 1)) {
            text.push_str(&format!("({})", typed(part, depth - 1, picks)));
        } else {
            text.push(part);
        }
    }
    text
}

/// Expressions that pass the type checker and can fail only when they run.
fn typed_expression() -> impl Strategy<Value = String> {
    (select(&['I', 'B', 'S', 'L'][..]), proptest::collection::vec(0usize..10_000, 40))
        .prop_map(|(ty, picks)| typed(ty, 5, &mut picks.into_iter()))
}

fn data() -> impl Strategy<Value = Value> {
    let whole = select(&[0, 1, -1, 2, 7, i64::MAX, i64::MIN][..]);
    let text = select(&["", "a", "ab ab", "éé", "a longer text than ten characters"][..]);
    let list = proptest::collection::vec(-2i64..4, 0..4);
    let dynamic = prop_oneof![
        Just(json!(null)),
        whole.clone().prop_map(|n| json!(n)),
        text.clone().prop_map(|text| json!(text)),
        list.clone().prop_map(|list| json!(list)),
        list.clone().prop_map(|list| json!({"x": list})),
    ];
    (whole, text, any::<bool>(), list, dynamic.clone(), dynamic).prop_map(|(i, s, b, l, first, second)| {
        json!({"i": i, "j": 3, "s": s, "b": b, "l": l, "m": {"x": 1, "y": i}, "d": {"a": first, "b": second}})
    })
}

fn environment(registry: &Registry) -> Environment {
    let mut environment = Environment::new(registry);
    let declared =
        [("i", "int"), ("j", "int"), ("s", "string"), ("b", "bool"), ("l", "list(int)"), ("m", "map(string, int)")];
    for (name, ty) in declared {
        environment.declare(name, ty).expect("a type");
    }
    environment.declare("d", "dyn").expect("a type");
    environment
}

/// The registry and the declared variables, shared because building them takes longer than a test case.
fn with_environment<R>(then: impl FnOnce(&Registry, &Environment) -> R) -> R {
    use std::sync::OnceLock;
    static KNOWN: OnceLock<(Registry, Environment)> = OnceLock::new();
    let (registry, environment) = KNOWN.get_or_init(|| {
        let registry = registry();
        let environment = environment(&registry);
        (registry, environment)
    });
    then(registry, environment)
}

/// Replaces the name `j`.
fn with_j(text: &str, by: &str) -> String {
    let parts = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let replaced = parts.map(|part| match part.strip_prefix('j') {
        Some(rest) if rest.chars().all(|c| !c.is_ascii_alphanumeric() && c != '_') => format!("{by}{rest}"),
        _ => part.to_owned(),
    });
    replaced.collect()
}

/// Values to bind, without names that a macro in the body binds.
const BOUND: &[&str] = &[
    "i + 1",
    "7 / i",
    "l[2]",
    "l.map(z, z + i)[0]",
    "m.z",
    "1 / 0",
    "int(s)",
    "cel.bind(z, 6 / i, z + z)",
    "d.a.x[0]",
];

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn a_bound_name_is_the_same_as_its_value(
        text in prop_oneof![expression(), typed_expression()],
        bound in select(BOUND),
        data in data(),
    ) {
        let limits = limits();
        let texts = [format!("cel.bind(w, {bound}, {})", with_j(&text, "w")), with_j(&text, &format!("({bound})"))];
        with_environment(|registry, _| {
            for (optimise, cost) in [(true, false), (false, false), (true, true)] {
                let settings = Settings { optimise, cost, ..Settings::default() };
                let outcomes = texts.each_ref().map(|text| {
                    let expression = Expression::with(&Source::new("e", text.as_str()), &settings, registry, &limits);
                    expression.ok().map(|expression| evaluated(&expression, &data, &limits).0)
                });
                let [Some(by_name), Some(by_value)] = outcomes else { return Ok(()) };
                if is_limit(&by_name) || is_limit(&by_value) {
                    return Ok(());
                }
                let code = |outcome: Outcome| outcome.map_err(|(code, ..)| code);
                prop_assert_eq!(code(by_name), code(by_value), "{} with {}", &texts[0], &data);
            }
            Ok(())
        })?;
    }

    #[test]
    fn unchecked_expressions_are_the_same_when_optimised(text in expression(), data in data()) {
        with_environment(|registry, _| agree(&text, Settings::default().declarations, registry, &data))?;
    }

    #[test]
    fn typed_expressions_are_the_same_when_optimised(text in typed_expression(), data in data()) {
        with_environment(|registry, environment| {
            agree(&text, Declarations::Environment(environment), registry, &data)?;
            agree(&text, Settings::default().declarations, registry, &data)
        })?;
    }

    #[test]
    fn checked_expressions_are_the_same_when_optimised(text in expression(), data in data()) {
        with_environment(|registry, environment| agree(&text, Declarations::Environment(environment), registry, &data))?;
    }
}

/// A repeated key and a key that is none: every form reports the error of the earlier entry.
#[test]
fn entries_with_two_errors_fail_in_every_form() {
    let data = json!({"d": {"a": 1}, "i": 1, "l": [1, 2]});
    let cases = [
        ("[d.a, d.a, null].transformMapEntry(k, v, {v: i})", "insert failed: key `1` already exists"),
        ("[d.a, null, d.a].transformMapEntry(k, v, {v: i})", "unsupported key type: null_type"),
        ("[d.a, null, d.a, d.a].transformMapEntry(k, v, k != 1, {v: i})", "insert failed: key `1` already exists"),
        ("[1, 1, 0].transformMapEntry(k, v, 6 / v > 0, {v: i})", "insert failed: key `1` already exists"),
        ("[1, 0, 1].transformMapEntry(k, v, 6 / v > 0, {v: i})", "division by zero"),
        ("[1, 0].all(x, [x, x, 0].transformMapEntry(k, v, {v: 1 / v}).size() > 0)", "insert failed: key `1` already"),
        ("l.map(x, [x, x, 0].transformMapEntry(k, v, {v: 1 / v}))", "insert failed: key `1` already exists"),
    ];
    for (text, error) in cases {
        with_environment(|registry, _| agree(text, Settings::default().declarations, registry, &data)).unwrap();
        let expression = Expression::new(&Source::new("e", text), &registry(), &limits()).unwrap();
        let (outcome, _) = evaluated(&expression, &data, &limits());
        let message = outcome.unwrap_err().1;
        assert!(message.contains(error), "{text}: {message}");
    }
}
