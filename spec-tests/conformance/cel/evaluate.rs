//! Evaluation rows.

use std::collections::BTreeSet;

use dropforge::dialect::cel::check::Environment;
use dropforge::dialect::cel::syntax::Options;
use dropforge::dialect::cel::values::{convert, type_name};
use dropforge::dialect::cel::{Declarations, Expression, Names, Settings};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Inputs, Value};
use dropforge::vm::Space;
use serde_json::Value as Json;

use super::values::{decode, same};
use crate::report::Outcome;

/// Evaluates the expression of a row and compares its value.
pub fn run(row: &Json, source: &str, options: &Options) -> Outcome {
    let want = row.get("want").cloned().unwrap_or_default();
    if want.get("unknown").is_some() {
        return Outcome::Skip("values that are not known yet".into());
    }
    if row.get("check_only").and_then(Json::as_bool).unwrap_or(false) {
        return Outcome::Skip("only checked".into());
    }
    let (space, limits) = (Space::new(), Limits::default());
    let settings = Settings { syntax: *options, lenient: false, ..Settings::default() };
    let answer = evaluated(row, source, settings, &space, &limits).0;
    match (answer, want.get("error"), want.get("value")) {
        (Err(_), Some(_), _) => Outcome::Pass,
        (Ok(value), Some(error), _) => Outcome::Fail(format!("{value:?} instead of an error: {error}")),
        (Err(error), None, _) => Outcome::Fail(format!("error: {error}")),
        (Ok(value), None, want) => {
            let want = want.cloned().unwrap_or_else(|| serde_json::json!({"bool": true}));
            if let Some(wanted) = want.get("other").and_then(Json::as_str) {
                let text = convert::plain(value).ok().flatten().unwrap_or_default();
                let found = format!("{} {text}", type_name(value));
                return if found == wanted {
                    Outcome::Pass
                } else {
                    Outcome::Fail(format!("{found} instead of {wanted}"))
                };
            }
            let cx = space.context(&limits);
            match decode(&cx, &want) {
                Ok(wanted) if same(value, wanted) => Outcome::Pass,
                Ok(wanted) => Outcome::Fail(format!("{value:?} instead of {wanted:?}")),
                Err(error) => Outcome::Fail(format!("the row: {error}")),
            }
        }
    }
}

/// Checks the cost of a row's expression, with and without optimisations.
pub fn cost(row: &Json, text: &str, options: &Options, environment: &Environment) -> Result<(), String> {
    let Some(wanted) = row.get("cost").and_then(Json::as_str) else { return Ok(()) };
    let (space, limits) = (Space::new(), Limits::default());
    for optimise in [true, false] {
        let declarations = Declarations::Environment(environment);
        let settings =
            Settings { syntax: *options, declarations, optimise, cost: true, lenient: false, ..Settings::default() };
        let (answer, cost) = evaluated(row, text, settings, &space, &limits);
        if wanted != cost.to_string() {
            return Err(format!("cost {cost}, wanted {wanted} (optimised: {optimise}; {answer:?})"));
        }
    }
    Ok(())
}

fn evaluated<'s>(
    row: &Json,
    text: &str,
    settings: Settings<'_>,
    space: &'s Space,
    limits: &'s Limits,
) -> (Result<Value<'s>, String>, u64) {
    let cx = space.context(limits);
    let mut bindings = Vec::new();
    for (name, value) in row.get("bindings").and_then(Json::as_object).into_iter().flatten() {
        match decode(&cx, value) {
            Ok(value) => bindings.push((cx.arena().copy_str(name), value)),
            Err(error) => return (Err(error), 0),
        }
    }
    let of_env = row.get("type_env").and_then(Json::as_array).into_iter().flatten();
    let of_env = of_env.filter(|entry| entry.get("ident").is_some()).filter_map(|entry| entry.get("name")?.as_str());
    let declared: BTreeSet<&str> = of_env.chain(bindings.iter().map(|(name, _)| *name)).collect();
    let is_declared = |name: &str| declared.contains(name);
    let container = row.get("container").and_then(Json::as_str).unwrap_or("");
    let declarations = match settings.declarations {
        Declarations::Names(_) => Declarations::Names(Names { container, declared: Some(&is_declared) }),
        environment @ Declarations::Environment(_) => environment,
    };
    let source = Source::new("<input>", text);
    let expression =
        match Expression::with(&source, &Settings { declarations, ..settings }, &super::registry(row), limits) {
            Ok(expression) => expression,
            Err(errors) => return (Err(errors.to_string()), 0),
        };
    let expression = Box::leak(Box::new(expression)); // borrowed by the value
    let inputs = Inputs::new(cx.arena().map(&bindings));
    let (value, cost) = expression.evaluate_metered(space, inputs, limits);
    (value.map_err(|error| error.message), cost)
}
