//! Rows that are evaluated.

use std::collections::BTreeSet;

use dropforge::dialect::cel::builtins::libraries;
use dropforge::dialect::cel::syntax::Options;
use dropforge::dialect::cel::values::{text, type_name};
use dropforge::dialect::cel::{Expression, Names};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Inputs, Value};
use dropforge::vm::Space;
use serde_json::Value as Json;

use super::values::{decode, same};
use crate::report::Outcome;

/// Evaluates the expression of a row and holds the value against what the row wants.
pub fn run(row: &Json, source: &str, options: &Options) -> Outcome {
    let want = row.get("want").cloned().unwrap_or_default();
    if want.get("unknown").is_some() {
        return Outcome::Skip("values that are not known yet".into());
    }
    if row.get("check_only").and_then(Json::as_bool).unwrap_or(false) {
        return Outcome::Skip("only checked".into());
    }
    if want.get("error").is_some() && want.get("phase").and_then(Json::as_str) == Some("check") {
        return Outcome::Skip("an error of the checker".into());
    }
    let (space, limits) = (Space::new(), Limits::default());
    let answer = evaluated(row, source, options, &space, &limits);
    match (answer, want.get("error"), want.get("value")) {
        (Err(_), Some(_), _) => Outcome::Pass,
        (Ok(value), Some(error), _) => Outcome::Fail(format!("{value:?} instead of an error: {error}")),
        (Err(error), None, _) => Outcome::Fail(format!("error: {error}")),
        (Ok(value), None, want) => {
            let want = want.cloned().unwrap_or_else(|| serde_json::json!({"bool": true}));
            if let Some(wanted) = want.get("other").and_then(Json::as_str) {
                let text = text::plain(value).ok().flatten().unwrap_or_default();
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

fn evaluated<'s>(
    row: &Json,
    text: &str,
    options: &Options,
    space: &'s Space,
    limits: &'s Limits,
) -> Result<Value<'s>, String> {
    let cx = space.context(limits);
    let mut bindings = Vec::new();
    for (name, value) in row.get("bindings").and_then(Json::as_object).into_iter().flatten() {
        bindings.push((cx.arena().copy_str(name), decode(&cx, value)?));
    }
    let of_env = row.get("type_env").and_then(Json::as_array).into_iter().flatten();
    let of_env = of_env.filter(|entry| entry.get("ident").is_some()).filter_map(|entry| entry.get("name")?.as_str());
    let declared: BTreeSet<&str> = of_env.chain(bindings.iter().map(|(name, _)| *name)).collect();
    let is_declared = |name: &str| declared.contains(name);
    let container = row.get("container").and_then(Json::as_str).unwrap_or("");
    let names = Names { container, declared: Some(&is_declared) };
    let source = Source::new("<input>", text);
    let expression = Expression::with(&source, options, &libraries::extended(), &names, limits)
        .map_err(|errors| errors.to_string())?;
    let expression = Box::leak(Box::new(expression)); // the value borrows from it
    let inputs = Inputs::new(cx.arena().map(&bindings));
    expression.evaluate(space, inputs, limits).map_err(|error| error.message)
}
