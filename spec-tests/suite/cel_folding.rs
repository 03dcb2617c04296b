//! Constant folding: the parts of an expression that are computed at compile time.

use dropforge::bytecode::disassemble;
use dropforge::diagnostics::Code;
use dropforge::dialect::cel::{Expression, Names, Settings, registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::Inputs;
use dropforge::vm::Space;

fn compiled(text: &str, settings: Settings<'_>) -> Expression {
    Expression::with(&Source::new("e", text), &settings, &registry(), &Limits::default())
        .unwrap_or_else(|errors| panic!("{text}: {errors}"))
}

/// Returns the instructions of an expression by name.
fn instructions(text: &str, optimise: bool) -> Vec<String> {
    let listing = disassemble(compiled(text, Settings { optimise, ..Settings::default() }).program());
    let names = listing.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1));
    names.map(str::to_owned).collect()
}

#[test]
fn parts_that_are_constant_are_constants() {
    for (text, wanted) in [
        ("1 + 2 * 3", &["int"][..]),
        ("'a,b'.split(',')", &["str", "str", "list"]),
        ("[3, 1, 2].map(x, x * 2).sort()", &["int", "int", "int", "list"]),
        ("{'a': [1, 2].all(x, x > 0)}.a", &["lit"]),
        ("cel.bind(x, 'ab', x + x).size() > 3 ? 1u : 2u", &["int", "call_memo"]),
        ("true || a.b", &["lit"]),
        ("size('ab') == 3 && a.b", &["lit"]),
        ("size('ab') == 2 ? a : b", &["load_path"]),
        ("type(1) == type(2)", &["lit"]),
        ("b'a' + b'b'", &["str", "call_memo"]),
        ("timestamp('2024-01-01T00:00:00Z').getFullYear() + n", &["int", "load_path", "add"]),
    ] {
        let found = instructions(text, true);
        let (end, found) = (found[found.len() - 2..].to_vec(), &found[..found.len() - 2]);
        assert_eq!(end, ["answer", "return"], "{text}");
        assert_eq!(found, wanted, "{text}");
    }
}

/// Without declarations, a variable may shadow a type name.
#[test]
fn types_are_constant_unless_a_variable_can_shadow_them() {
    let none = |_: &str| false;
    let declared = Settings::naming(Names { container: "", declared: Some(&none) });
    for text in ["type(1) == int", "type(omit()) == omit"] {
        let listing = disassemble(compiled(text, declared).program());
        assert!(listing.contains("lit true") && !listing.contains("eq"), "{listing}");
        assert!(instructions(text, true).iter().any(|name| name == "peek_path"), "{text}");
    }
}

#[test]
fn without_the_optimiser_nothing_is_computed() {
    for (text, wanted) in [("1 + 2", "add"), ("'a'.size()", "call"), ("true ? 1 : 2", "jump_unless"), ("3u", "call")] {
        assert!(instructions(text, false).iter().any(|name| name == wanted), "{text}");
        assert!(!instructions(text, true).iter().any(|name| name == wanted), "{text}");
    }
}

#[test]
fn failing_large_and_variable_parts_are_not_folded() {
    for (text, wanted) in [
        ("1 / 0", "div"),
        ("[1][7]", "load_path"),
        ("'x'.matches('(')", "call"),
        ("lists.range(1000)", "call"),
        ("lists.range(100000).map(x, x * 2).size()", "iter"),
        ("'abc'.replace('', '0123456789').replace('', '0123456789').replace('', '0123456789')", "call"),
        ("timestamp(0)", "call"),
        ("optional.of(1)", "call"),
        ("[1, 2].map(x, x + n)", "iter"),
    ] {
        assert!(instructions(text, true).iter().any(|name| name == wanted), "{text}: {:?}", instructions(text, true));
    }
}

#[test]
fn errors_in_constants_occur_only_if_the_run_reaches_them() {
    let (space, limits) = (Space::new(), Limits::default());
    for (text, wanted) in [
        ("1 / 0 > 0", Some((Code::Arithmetic, "1:1"))),
        ("false ? 1 / 0 : 2", None),
        ("true || 1 / 0 > 0", None),
        ("1 / 0 > 0 || true", None),
        ("[1, 2].map(x, x / 0)", Some((Code::Arithmetic, "1:15"))),
    ] {
        for optimise in [true, false] {
            let expression = compiled(text, Settings { optimise, ..Settings::default() });
            let error = expression.evaluate(&space, Inputs::default(), &limits).err();
            let place = |error: &dropforge::diagnostics::Diagnostic| error.position().map(|place| place.to_string());
            let found = error.map(|error| (error.code, place(&error).unwrap_or_default()));
            assert_eq!(found, wanted.map(|(code, place)| (code, place.to_owned())), "{text} ({optimise})");
        }
    }
}

#[test]
fn a_constant_has_the_cost_of_its_expression() {
    let (space, limits) = (Space::new(), Limits::default());
    for text in [
        "[3, 1, 2].map(x, x * 2)",
        "true || [1] == [1]",
        "size([1, 2]) == 2 ? 'a' + 'b' : 'c'",
        "[1, 2][0] == 1 && true",
    ] {
        let cost = |optimise| {
            let expression = compiled(text, Settings { optimise, cost: true, ..Settings::default() });
            expression.evaluate_metered(&space, Inputs::default(), &limits).1
        };
        assert_eq!(cost(true), cost(false), "{text}");
        assert!(instructions(text, true).len() < instructions(text, false).len(), "{text}");
    }
}
