//! Type-checking rows: the type of the result, and errors found before evaluation.

use dropforge::bytecode::ImportKind;
use dropforge::dialect::cel::builtins;
use dropforge::dialect::cel::check::cost::{Hints, estimate};
use dropforge::dialect::cel::check::{Checked, Declared, Environment, Strictness as Strict, check_with};
use dropforge::dialect::cel::syntax::tree::Tree;
use dropforge::dialect::cel::syntax::{Options, parse};
use dropforge::function::{Overload, Params};
use dropforge::text::Source;
use serde_json::Value;

use crate::report::Outcome;
use excerpts::excerpts;

mod excerpts {
    use dropforge::diagnostics::{Diagnostic, Diagnostics};

    include!("../../../src/lang/cel/front/check/tests/excerpts.rs");
}

/// Returns the outcome of a row that type checking decides, or `None` for rows that have to be evaluated.
pub fn decided(row: &Value) -> Option<Outcome> {
    let flag = |name: &str| row.get(name).and_then(Value::as_bool).unwrap_or(false);
    if flag("disable_check") {
        return None;
    }
    let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let options = Options { macros: !flag("disable_macros"), ..Options::default() };
    let tree = parse(&Source::new("<input>", text(row, "expr")?), &options).ok()?;
    let mut environment = environment(row)?;
    let want = row.get("want")?;
    let in_check = text(want, "phase").as_deref() == Some("check");
    let strict = Strict { literals: in_check, ..Strict::default() };
    match (check_with(&tree, &environment, strict), text(want, "error")) {
        (Err(errors), Some(wanted)) if in_check && comparable(&excerpts(&errors)) != comparable(&wanted) => {
            Some(Outcome::Fail(format!("wanted: {wanted}\nfound: {}", excerpts(&errors))))
        }
        (Err(_), Some(_)) => Some(Outcome::Pass),
        (Err(errors), None) => Some(Outcome::Fail(excerpts(&errors))),
        (Ok(_), Some(wanted)) if in_check => Some(Outcome::Fail(format!("checked, wanted: {wanted}"))),
        (Ok(checked), wanted_error) => {
            let ty = text(want, "type").filter(|_| wanted_error.is_none());
            let compared = ty.map_or(Ok(()), |ty| compared(&checked, &ty, &mut environment));
            match compared
                .and_then(|()| cost(row, &tree, &checked))
                .and_then(|()| super::evaluate::cost(row, tree.source().text(), &options, &environment))
            {
                Err(why) => Some(Outcome::Fail(why)),
                Ok(()) => (flag("check_only") || want.get("value").is_none() && want.get("type").is_some())
                    .then_some(Outcome::Pass),
            }
        }
    }
}

/// Returns the comparable part of errors: everything except a function's message about an invalid argument.
fn comparable(errors: &str) -> String {
    let parts: Vec<_> = errors.lines().map(|line| line.split(" argument: ").next().unwrap_or("")).collect();
    parts.join("\n")
}

/// Compares the cost estimate if the row has one.
fn cost(row: &Value, tree: &Tree, checked: &Checked) -> Result<(), String> {
    let Some(wanted) = row.get("cost_est").and_then(Value::as_array) else { return Ok(()) };
    let found = estimate(tree, checked, &Hints::default());
    let found = [found.min, found.max].map(|n| Value::from(n.to_string()));
    if *wanted == found { Ok(()) } else { Err(format!("cost {found:?}, wanted {wanted:?}")) }
}

fn compared(checked: &Checked, wanted: &str, environment: &mut Environment) -> Result<(), String> {
    let types = environment.types();
    let wanted = types.read(wanted).map(|ty| types.text(ty)).map_err(|error| error.to_string())?;
    let found = checked.result_text();
    if found == wanted { Ok(()) } else { Err(format!("type {found}, wanted {wanted}")) }
}

/// Builds the environment with the functions and variables of a row.
fn environment(row: &Value) -> Option<Environment> {
    let container = row.get("container").and_then(Value::as_str).unwrap_or("");
    let mut environment = Environment::new(&super::registry(row)).in_container(container);
    for entry in row.get("type_env")?.as_array()? {
        let name = entry.get("name")?.as_str()?;
        if let Some(ty) = entry.get("ident").and_then(Value::as_str) {
            environment.declare(name, ty).expect("a row's type");
        }
        for of in entry.get("function").and_then(Value::as_array).into_iter().flatten() {
            declare(&mut environment, name, of)?;
        }
    }
    Some(environment)
}

fn declare(environment: &mut Environment, name: &str, of: &Value) -> Option<()> {
    let params: Vec<_> = of.get("params")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let declared = Declared {
        id: of.get("overload_id")?.as_str()?,
        member: of.get("instance").and_then(Value::as_bool).unwrap_or(false),
        params: &params,
        result: of.get("result")?.as_str()?,
    };
    environment.declare_function(name, &declared).ok()
}

/// Checks that a function has the overloads listed in a row. Macros are not functions.
pub fn signature(row: &Value) -> Outcome {
    let Some(overloads) = row.get("overloads").and_then(Value::as_array) else {
        return Outcome::Skip("a macro, not a function".into());
    };
    let name = row.get("name").and_then(Value::as_str).expect("a row has a name");
    if name == "cel.@block" {
        return Outcome::Skip("the checker knows its values one by one".into());
    }
    let registry = builtins::extended();
    let Some(function) = registry.get(ImportKind::Function, name) else {
        return Outcome::Fail("it is not there".into());
    };
    let Params::Overloaded(ours) = &function.params else { return Outcome::Fail("it has no overloads".into()) };
    let ours: Vec<_> = ours.iter().map(written).collect();
    let missing: Vec<_> = overloads.iter().map(listed).filter(|of| !ours.contains(of)).collect();
    if missing.is_empty() { Outcome::Pass } else { Outcome::Fail(format!("not there: {missing:?} of {ours:?}")) }
}

fn written(of: &Overload) -> String {
    let params: Vec<_> = of.params.iter().map(ToString::to_string).collect();
    format!("{} {} ({}) {}", of.id, of.member, params.join(", "), of.result)
}

/// Formats an overload of a row in the same way.
fn listed(of: &Value) -> String {
    let text = |name: &str| of.get(name).and_then(Value::as_str).unwrap_or("").replace("null_type", "null");
    let params: Vec<_> =
        of.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let member = of.get("member").and_then(Value::as_bool).unwrap_or(false);
    format!("{} {member} ({}) {}", text("id"), params.join(", "), text("result"))
}
