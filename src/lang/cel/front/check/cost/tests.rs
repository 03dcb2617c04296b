use super::*;
use crate::check::{Environment, check};
use crate::{builtins, syntax};
use dropforge_base::text::Source;

const UNKNOWN: u64 = u64::MAX;

fn cost(text: &str, hints: &Hints) -> (u64, u64) {
    let tree = syntax::parse(&Source::new("<input>", text), &syntax::Options::default()).expect("it is read");
    let mut environment = Environment::new(&builtins::extended());
    let variables = [
        ("n", "int"),
        ("b", "bool"),
        ("s", "string"),
        ("l", "list(string)"),
        ("m", "map(string, list(int))"),
        ("d", "dyn"),
    ];
    for (name, ty) in variables {
        environment.declare(name, ty).expect("a type");
    }
    let checked = check(&tree, &environment).expect("it is right");
    let Range { min, max } = estimate(&tree, &checked, hints);
    (min, max)
}

fn all(hints: &Hints, rows: &[(&str, u64, u64)]) {
    let wrong: Vec<_> = rows
        .iter()
        .map(|&(text, min, max)| (text, (min, max), cost(text, hints)))
        .filter(|(_, wanted, found)| wanted != found)
        .collect();
    assert!(wrong.is_empty(), "(expression, wanted, found): {wrong:#?}");
}

#[test]
fn costs_without_hints() {
    all(
        &Hints::default(),
        &[
            ("1", 0, 0),
            ("n", 1, 1),
            ("n + 1", 2, 2),
            ("d.a.b", 1, 1),
            ("m.a", 2, 2),
            ("has(m.a)", 2, 2),
            ("m.?a", 2, 2),
            ("m['a'][0]", 3, 3),
            ("[1, n]", 11, 11),
            ("{'a': n}", 31, 31),
            ("b && n > 1", 1, 3),
            ("b ? n : n + n", 2, 4),
            ("dyn(n) == 1", 3, 3),
            ("s == 'abcdefghijkl'", 2, 3),
            ("s.startsWith('abcdefghijkl')", 3, 3),
            ("s.contains('a')", 1, 1_844_674_407_370_955_265),
            ("n in [1, 2, 3]", 14, 14),
            ("[1, 2].all(x, x > n)", 17, 23),
            ("cel.bind(x, [1, 2], x + x)", 23, 23),
            ("s + s", 2, 1_844_674_407_370_955_266),
            ("l.map(x, x + 'a')", 12, UNKNOWN),
            ("'abc'.substring(9)", UNKNOWN, UNKNOWN),
            ("s.replace('ab', s)", 4, UNKNOWN),
            ("s.split('ab')", 13, UNKNOWN),
            ("l.join()", 3, UNKNOWN),
            ("l.join(s)", 4, UNKNOWN),
            ("s.charAt(0) + s", 4, 3_689_348_814_741_910_532),
            ("'a'.startsWith(strings.quote(s))", 2, 1_844_674_407_370_955_265),
        ],
    );
}

#[test]
fn hints_say_sizes_of_variables_and_of_what_is_in_them() {
    let hints = Hints::default()
        .with("s", Range::new(0, 100))
        .with("l", Range::new(1, 10))
        .with("l.@items", Range::fixed(20))
        .with("m", Range::fixed(3))
        .with("m.@values", Range::fixed(5))
        .with("m.a", Range::fixed(7));
    all(
        &hints,
        &[
            ("s == s", 3, 12),
            ("s.matches('[a-z]+')", 3, 23),
            ("l.all(x, x.startsWith('a'))", 5, 52),
            ("l.all(x, x == s)", 5, 72),
            ("l[0] == s", 4, 5),
            ("m.all(k, m[k].all(v, v > 1))", 11, 98),
            ("m.a.all(v, v > 1)", 24, 38),
            ("l.sort()", 15, 222),
        ],
    );
    let free = Hints { free_presence: true, ..Hints::default() };
    all(&free, &[("has(m.a)", 1, 1)]);
}

#[test]
fn costs_of_nested_loops_do_not_overflow() {
    // What `&&` leaves out costs nothing at least, whatever it is.
    let nested = |name: &str| format!("{}b{}", format!("l.{name}(x, ").repeat(60), ")".repeat(60));
    let ten = Hints::default().with("l", Range::fixed(10));
    assert_eq!(cost(&nested("all"), &Hints::default()), (2, UNKNOWN));
    assert_eq!(cost(&nested("all"), &ten), (32, UNKNOWN));
    assert_eq!(cost(&nested("map"), &ten), (UNKNOWN, UNKNOWN));
}
