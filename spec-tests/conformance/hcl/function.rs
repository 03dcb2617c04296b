//! `function` rows: a function called directly with values.

use dropforge::bytecode::ImportKind;
use dropforge::dialect::hcl::{builtins, invoke};
use dropforge::function::{Builtin, Fault};
use dropforge::value::{Capsule, CapsuleContent, Extended, Value};

use super::encoding::{Check, Row, value, want, with_cx};
use dropforge::dialect::hcl::values::json::Json;

/// Returns the reason for skipping a row.
pub fn not_for_us(row: &Row<'_>) -> Option<&'static str> {
    Some(match row.text("function").ok()? {
        "makestatictimestampfunc" => "the answer is the time at which the row was written",
        "byteslen" | "bytesslice" => "the value is a Go byte slice",
        "base64decode" if !row.list("args").iter().all(is_text) => "the argument is no text in UTF-8",
        _ => return None,
    })
}

/// Returns `true` unless the value is a byte string.
fn is_text(value: &Json<'_>) -> bool {
    value.get("value").is_none_or(|value| value.get("b64").is_none())
}

/// Returns the function that a row names, by our name.
fn named(row: &Row<'_>) -> Check<Builtin> {
    let (id, function) = (row.text("id")?, row.text("function")?);
    if function == "to" {
        return conversion(row);
    }
    let registry = if id.starts_with("go-cty") { builtins::stdlib() } else { builtins::opentofu() };
    let found = registry.get(ImportKind::Function, function);
    found.map(|builtin| Builtin::clone(builtin)).ok_or_else(|| format!("there is no function `{function}`"))
}

/// Returns the conversion to the type that a row names. A row without a type expects an error, because none of its
/// arguments converts to string.
fn conversion(row: &Row<'_>) -> Check<Builtin> {
    let ty = row.get("to").or_else(|| row.get("return_type"));
    let kind = ty.and_then(|ty| ty.as_text().or_else(|| ty.as_list()?.first()?.as_text()));
    let name = match kind {
        Some("object" | "tuple") => "convert".to_owned(),
        kind => format!("to{}", kind.unwrap_or("string")),
    };
    let found = builtins::opentofu().get(ImportKind::Function, &name).cloned();
    found.map(|builtin| Builtin::clone(&builtin)).ok_or_else(|| format!("there is no function `{name}`"))
}

/// Calls the function and compares its result with `want`, or its error with `error_arg`.
pub fn run(row: &Row<'_>) -> Check {
    let function = named(row)?;
    with_cx(|cx| {
        let argument = |json: &Json<'_>| match json {
            Json::Null => Ok(Value::Null),
            json => value(cx.arena(), json),
        };
        let mut args = row.list("args").iter().map(argument).collect::<Check<Vec<_>>>()?;
        if function.name == "convert" {
            let content = CapsuleContent::Type(row.ty(cx.arena(), "to")?);
            args.push(cx.arena().extended(Extended::Capsule(Capsule { name: "type", id: 0, content })));
        }
        match invoke(cx, &function, &args) {
            Ok(answer) => want(cx.arena(), row, "want", Some(answer)),
            Err(Fault::Limit(limit)) => Err(format!("a limit: {}", limit.message)),
            Err(Fault::Wrong(wrong)) => {
                let asked = row.get("error_arg").map(|_| row.number("error_arg"));
                match wrong.argument {
                    Some(at) if asked.is_some_and(|asked| asked != at as i64) => {
                        Err(format!("want an error of argument {asked:?}, got one of {at}: {}", wrong.message))
                    }
                    None if asked.is_some() => Err(format!("want an error of argument {asked:?}: {}", wrong.message)),
                    _ => want(cx.arena(), row, "want", None).map_err(|why| format!("{why}: {}", wrong.message)),
                }
            }
        }
    })
}
