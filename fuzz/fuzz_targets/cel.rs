//! CEL expressions: rendered; printed and parsed again; optimised and metered without a difference.

#![no_main]

use dropforge::Dialect;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::dialect::cel::syntax::{Options, parse, unparse};
use dropforge::dialect::cel::{Expression, Settings, registry};
use dropforge::function::Registry;
use dropforge::text::Source;
use dropforge::vm::Space;
use dropforge_fuzz::{inputs, limits, with_inputs};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static REGISTRY: Registry = registry();
}

fuzz_target!(|text: &str| {
    dropforge_fuzz::render(Dialect::Cel, text);
    print(text, true);
    print(text, false);
    optimise(text);
});

/// A printed expression is printed the same again.
fn print(text: &str, macros: bool) {
    let parsed = |text: &str| parse(&Source::new("e", text), &Options { macros });
    if let Ok(tree) = parsed(text) {
        let once = unparse(&tree);
        let again = parsed(&once).unwrap_or_else(|errors| panic!("{once:?} is not read again: {errors}"));
        assert_eq!(unparse(&again), once);
    }
}

/// The value of an expression as text, or its error and the place of it.
type Outcome = Result<String, (Code, String, Option<String>)>;

/// Optimising and metering do not change the value, and optimising does not change the cost.
fn optimise(text: &str) {
    let runs = [(true, false), (false, false), (true, true), (false, true)].map(|(optimise, cost)| {
        let settings = Settings { optimise, cost, ..Settings::default() };
        evaluated(text, &settings)
    });
    let [Some(first), Some(second), Some(third), Some(fourth)] = runs else { return };
    let all = [&first, &second, &third, &fourth];
    let is_limit = |run: &(Outcome, u64)| matches!(&run.0, Err((code, ..)) if code.is_limit());
    // The optimised form finds a repeated key when all entries are made: an error of a later entry comes first.
    let repeats = |run: &(Outcome, u64)| matches!(&run.0, Err((_, message, _)) if message.starts_with("insert failed"));
    if !all.iter().any(|run| is_limit(run) || repeats(run)) {
        all.iter().for_each(|run| assert_eq!(run.0, first.0, "{text:?}"));
        assert_eq!(third.1, fourth.1, "the cost of {text:?}");
    }
}

fn evaluated(text: &str, settings: &Settings<'_>) -> Option<(Outcome, u64)> {
    let limits = limits();
    let expression = REGISTRY.with(|all| Expression::with(&Source::new("e", text), settings, all, &limits)).ok()?;
    with_inputs(&inputs(), |inputs| {
        let space = Space::new();
        let (value, cost) = expression.evaluate_metered(&space, inputs, &limits);
        (value.map(|value| format!("{:?}", value.to_data())).map_err(|error| placed(&error)), cost)
    })
}

fn placed(error: &Diagnostic) -> (Code, String, Option<String>) {
    (error.code, error.message.clone(), error.position().map(|place| place.to_string()))
}
