//! `cel`: its functions, and hostile expressions. Its cases are in `spec-tests/cel`.

use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::Code;
use dropforge::dialect::cel::values::{compare, type_name};
use dropforge::dialect::cel::{Expression, Names, Settings, registry};
use dropforge::engine::Dialect;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Inputs, Value};
use dropforge::vm::Space;

use crate::{cases, cel_cost};

#[test]
fn cases() {
    cases::run_cases("cel", &|case| match case.section("cost") {
        Some(_) => cel_cost::rendered(case),
        None => cases::render(Dialect::Cel, case),
    });
}

/// Evaluates an expression without variables and passes its value to `then`. Returns the error's code if it fails.
fn evaluated<R>(text: &str, then: impl FnOnce(&Space, Value<'_>) -> R) -> Result<R, Code> {
    let (space, limits) = (Space::new(), Limits::default());
    let declared = |_: &str| false;
    let names = Names { container: "", declared: Some(&declared) };
    let source = Source::new("example", text);
    let expression = Expression::with(&source, &Settings::naming(names), &registry(), &limits)
        .map_err(|errors| errors.first().expect("an error").code)?;
    let value = expression.evaluate(&space, Inputs::default(), &limits);
    value.map(|value| then(&space, value)).map_err(|error| error.code)
}

#[test]
fn every_example_is_true() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for function in registry().iter().filter(|function| function.kind == ImportKind::Function) {
        for (example, wanted) in &*function.examples {
            count += 1;
            // Compare in one list, which needs both to have the same type.
            let both = evaluated(&format!("[{example}, {wanted}]"), |space, value| {
                let [got, wanted] = value.as_list().unwrap_or(&[]) else { return false };
                let limits = Limits::default();
                let cx = space.context(&limits);
                type_name(*got) == type_name(*wanted) && compare::equal(&cx, *got, *wanted).unwrap_or(false)
            });
            let alone = || evaluated(example, |_, _| ()).err();
            if both != Ok(true) && alone().map(Code::id) != Some(*wanted) {
                wrong.push(format!("{}: {example} is not {wanted}: {both:?}, {:?}", function.name, alone()));
            }
        }
    }
    assert!(count > 300, "{count} examples");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the error code of an expression.
fn end(text: &str) -> Option<Code> {
    evaluated(text, |_, _| ()).err()
}

fn ends_in_a_limit(text: &str) -> bool {
    end(text).is_some_and(Code::is_limit)
}

#[test]
fn deep_and_long_expressions_end_in_a_limit() {
    let many = |part: &str| part.repeat(100_000);
    for text in [
        many("["),
        many("("),
        many("{'a':"),
        format!("1{}", many(" + 1")),
        format!("true{}", many(" || true")),
        format!("a{}", many(".b")),
        format!("true{}", many(" ? 1 : true")),
        many("[1].map(x, "),
    ] {
        assert!(ends_in_a_limit(&text), "{}: {:?}", &text[..20], end(&text));
    }
}

#[test]
fn runs_of_an_operator_are_no_depth() {
    for text in [format!("{}true", "!".repeat(100_001)), format!("{}1", "-".repeat(100_000))] {
        assert!(end(&text).is_none_or(Code::is_limit), "{:?}", end(&text));
    }
}

#[test]
fn growth_ends_in_a_limit() {
    let mut doubled = "'ab'".to_owned();
    for _ in 0..12 {
        doubled = format!("cel.bind(x, {doubled}, x + x + x + x + x + x + x + x + x + x)");
    }
    for text in [
        "lists.range(1000000000)".to_owned(),
        "lists.range(1000).map(a, lists.range(1000).map(b, lists.range(1000)))".to_owned(),
        "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))".to_owned(),
        "lists.range(3000).map(a, lists.range(3000)).flatten().distinct()".to_owned(),
        doubled,
    ] {
        assert!(ends_in_a_limit(&text), "{}: {:?}", &text[..text.len().min(60)], end(&text));
    }
}

#[test]
fn arithmetic_never_wraps() {
    for text in [
        "9223372036854775807 + 1",
        "-9223372036854775808 - 1",
        "9223372036854775807 * 2",
        "-(-9223372036854775808)",
        "-9223372036854775808 / -1",
        "1 / 0",
        "1 % 0",
        "1u - 2u",
        "18446744073709551615u + 1u",
        "int(9.3e18)",
        "uint(-1)",
        "timestamp('9999-12-31T23:59:59Z') + duration('1s')",
        "duration('9223372036s') + duration('9223372036s')",
    ] {
        assert!(matches!(end(text), Some(Code::Arithmetic | Code::BadArgument)), "{text}: {:?}", end(text));
    }
    assert_eq!(end("-9223372036854775808 % -1"), end("1 % 0"), "the reference refuses both");
}
