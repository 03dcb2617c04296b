//! Partial evaluation of CEL: once the unknown attributes are known, the residual expression has the value of the
//! whole.

use dropforge::dialect::cel::syntax::{Options, parse};
use dropforge::dialect::cel::values::type_name;
use dropforge::dialect::cel::{Expression, Partial, Pattern, registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Inputs, Value};
use dropforge::vm::Space;
use proptest::prelude::*;

use crate::same_tree::same_tree;

const LEAVES: &[&str] = &[
    "0",
    "1",
    "2",
    "2u",
    "0.5",
    "true",
    "false",
    "null",
    "'k'",
    "'n'",
    "''",
    "b'n'",
    "[]",
    "{}",
    "a",
    "b",
    "s",
    "p",
    "q",
    "l",
    "m",
    "x",
    "y",
    "m.n",
    "m.o",
    "m.o.n",
    "m.missing",
    "m['n']",
    "m[s]",
    "l[0]",
    "l[a]",
    "l[1]",
    "int",
    "bool",
    "optional.none()",
    "ip('10.0.0.1')",
    "duration('1s')",
    "missing",
    "m.?n",
    "m.?missing",
    "m[?s]",
    "has(m.n)",
    "has(m.missing)",
    "a == b",
    "a < b",
    "p && q",
    "1 / 0 == 1",
    "x == y",
];

const OF_ONE: &[&str] = &[
    "!(A)",
    "-(A)",
    "(A).n",
    "has((A).n)",
    "(A).?n",
    "size(A)",
    "type(A)",
    "string(A)",
    "optional.of(A)",
    "(A).value()",
    "(A).hasValue()",
    "[A]",
    "[?A]",
    "{'n': A}",
    "m[A]",
    "l[A]",
    "(A)[0]",
    "(A).map(x, x)",
    "dyn(A)",
    "[A].flatten()",
    "timestamp(A)",
    "(A).family()",
    "quantity(A)",
];

const OF_TWO: &[&str] = &[
    "(A) + (B)",
    "(A) - (B)",
    "(A) * (B)",
    "(A) / (B)",
    "(A) % (B)",
    "(A) == (B)",
    "(A) != (B)",
    "(A) < (B)",
    "(A) >= (B)",
    "(A) in (B)",
    "(A) && (B)",
    "(A) || (B)",
    "(A) && (B)",
    "(A) || (B)",
    "(B) || (A) && p",
    "[A, B]",
    "{'n': A, 'k': B}",
    "{A: B}",
    "{?'n': A, 'k': B}",
    "(A)[B]",
    "(A)[?B]",
    "(A).orValue(B)",
    "(A).or(B)",
    "(A).all(x, B)",
    "(A).exists(x, B)",
    "(A).exists_one(x, B)",
    "(A).map(y, B)",
    "(A).filter(x, B)",
    "(A).map(x, B, x)",
    "cel.bind(x, A, B)",
    "cel.bind(y, A, B)",
    "(A).optMap(x, B)",
    "(A).optFlatMap(x, B)",
    "(A).transformList(x, y, B)",
    "(A).transformMap(x, y, B)",
    "(A).sortBy(x, B)",
    "(A).contains(B)",
    "math.greatest(A, B)",
    "math.least(A, B, 1)",
    "l.exists(x, (A) || (B))",
    "l.all(y, (A) && (B))",
    "cel.block([A, cel.index(0)], B)",
    "cel.block([A, B], cel.index(1))",
    "sets.contains(A, B)",
    "(A).transformMapEntry(x, y, {B: x})",
];

fn expression() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(LEAVES).prop_map(str::to_owned);
    leaf.prop_recursive(5, 24, 3, |inner| {
        let fill = |form: &str, a: &str, b: &str| form.replace('A', "\u{1}").replace('B', b).replace('\u{1}', a);
        let one = (proptest::sample::select(OF_ONE), inner.clone()).prop_map(move |(form, a)| fill(form, &a, ""));
        let two = (proptest::sample::select(OF_TWO), inner.clone(), inner.clone())
            .prop_map(move |(form, a, b)| fill(form, &a, &b));
        let choice = (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("({a}) ? ({b}) : ({c})"));
        prop_oneof![2 => one, 5 => two, 1 => choice]
    })
}

const PATTERNS: &[&str] = &[
    "a",
    "b",
    "s",
    "p",
    "q",
    "l",
    "m",
    "x",
    "y",
    "m.n",
    "m.o.n",
    "m.*",
    "m.missing",
    "l[0]",
    "l[1]",
    "m[*].n",
    "missing",
];

fn patterns() -> impl Strategy<Value = Vec<Pattern>> {
    let pattern = proptest::sample::select(PATTERNS).prop_map(|text| text.parse().expect("a pattern"));
    proptest::collection::vec(pattern, 1..4)
}

/// Values for the variables.
#[derive(Debug, Clone)]
struct Given {
    a: i64,
    b: i64,
    s: &'static str,
    truths: [bool; 2],
    l: Vec<i64>,
}

fn given() -> impl Strategy<Value = Given> {
    let text = proptest::sample::select(&["n", "o", "k", "1"][..]);
    (0..3i64, 0..3i64, text, any::<[bool; 2]>(), proptest::collection::vec(0..3i64, 0..3))
        .prop_map(|(a, b, s, truths, l)| Given { a, b, s, truths, l })
}

impl Given {
    fn inputs<'v>(&self, space: &'v Space, keep: impl Fn(&str) -> bool) -> Inputs<'v> {
        let arena = space.arena();
        let ints: Vec<_> = self.l.iter().map(|n| Value::Int(*n)).collect();
        let inner = arena.map(&[("n", Value::Int(self.b))]);
        let all = [
            ("a", Value::Int(self.a)),
            ("b", Value::Int(self.b)),
            ("s", arena.text(self.s)),
            ("p", Value::Bool(self.truths[0])),
            ("q", Value::Bool(self.truths[1])),
            ("l", arena.list(&ints)),
            ("m", arena.map(&[("n", Value::Int(self.a)), ("o", inner)])),
            ("x", Value::Int(1)),
            ("y", arena.text("y")),
        ];
        let kept: Vec<_> = all.into_iter().filter(|(name, _)| keep(name)).collect();
        Inputs::new(arena.map(&kept))
    }
}

/// Returns a comparable form of a value, or `None` for an error.
fn shown<E>(answer: Result<Value<'_>, E>) -> Option<String> {
    answer.ok().map(|value| format!("{} {:?}", type_name(value), value.to_data()))
}

fn holds(text: &str, given: &Given, patterns: &[Pattern]) -> Result<(), TestCaseError> {
    let (space, limits) = (Space::new(), Limits { fuel: 100_000, ..Limits::default() });
    let Ok(whole) = Expression::new(&Source::new("whole", text), &registry(), &limits) else { return Ok(()) };
    let all = given.inputs(&space, |_| true);
    let value = whole.evaluate(&space, all, &limits);
    let code = value.as_ref().err().map(|error| error.code);
    let value = shown(value);
    let is_unknown = |name: &str| patterns.iter().any(|pattern| pattern.to_string() == name);
    // Unknown variables are never read, so their presence makes no difference.
    let less = given.inputs(&space, |name| !is_unknown(name));
    let with = whole.partial(&space, all, patterns, &limits);
    let without = whole.partial(&space, less, patterns, &limits);
    match (with, without) {
        (Err(error), Err(same)) => {
            prop_assert_eq!(Some(error.code), code);
            prop_assert_eq!(error.code, same.code);
        }
        (Ok(Partial::Value(found)), Ok(Partial::Value(same))) => {
            let found = shown(Ok::<_, ()>(found));
            prop_assert_eq!(&found, &value);
            prop_assert_eq!(found, shown(Ok::<_, ()>(same)));
        }
        (Ok(Partial::Unknown { unknowns, residual }), Ok(Partial::Unknown { residual: same, .. })) => {
            let left = residual.to_string();
            prop_assert_eq!(&left, &same.to_string());
            prop_assert!(!unknowns.is_empty(), "it waits for nothing: {}", left);
            let again = parse(&Source::new("left", left.as_str()), &Options::default());
            let again = again.map_err(|error| TestCaseError::fail(format!("{left}: {error}")))?;
            prop_assert!(same_tree(&again, residual.tree()), "read as another tree: {}", left);
            let rest = residual.compile(&limits).expect("it compiles");
            prop_assert_eq!(shown(rest.evaluate(&space, all, &limits)), value.clone(), "left: {}", left);
            // Known values are embedded in the residual.
            let only = given.inputs(&space, |name| patterns.iter().any(|pattern| pattern.root() == name));
            prop_assert_eq!(shown(rest.evaluate(&space, only, &limits)), value, "alone: {}", left);
        }
        (with, without) => prop_assert!(false, "with: {with:?}\nwithout: {without:?}"),
    }
    Ok(())
}

proptest! {
    #[test]
    fn residuals_have_the_value_of_the_whole_expression(text in expression(), given in given(), patterns in patterns()) {
        holds(&text, &given, &patterns)?;
    }

    #[test]
    fn any_text_is_a_pattern_or_none(text in "[a-z.*\\[\\]'\"`0-9u\\\\]{0,12}") {
        if let Ok(pattern) = text.parse::<Pattern>() {
            prop_assert_eq!(pattern.to_string().parse::<Pattern>().expect("it is written as one"), pattern);
        }
    }
}
