//! Intrinsics of YAML templates. Lowering calls them; sources cannot name them.

use super::intrinsics::intrinsics;
use crate::values::errors::undefined_input;
use crate::values::optional::in_document;
use crate::values::{as_optional, maps, text, type_name};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::file_path;
use dropforge_machine::function::{Cx, Noted, excerpt};
use dropforge_value::{Extended, Value};

intrinsics! {
    /// The intrinsics of YAML templates.
    pub static DOCUMENTS:
    "spelled" (number: Any, spelling: Str) = spelled, "A number with its spelling in a document.";
    "tagged" (value: Any, tag: Str) = tagged, "A value with a tag.";
    "entry of null" (value: Any) = entry_of_null, "A map with one entry, whose key is null.";
    "condition" (value: Any) = condition, "A boolean; fails for another value.";
    "assertion" (message: Any, values: List) = assertion, "Fails with the error of an assertion.";
    "path of file" (path: Any, folder: Str) = path_of_file, "The name of a file, relative to the root.";
    "no such file" (name: Str, names: List) = no_such_file, "Fails with the error of a missing file.";
    "missing inputs" (names: List, values: List) = missing_inputs, reads Notes, "Fails with the noted error, and those of missing inputs.";
    "one by one" (value: Any) = one_by_one, "The elements for a loop with one variable.";
    "in pairs" (value: Any) = in_pairs, "The entries for a loop with two variables.";
}

fn spelled<'v>(cx: &Cx<'v>, number: Value<'v>, spelling: &'v str) -> Result<Value<'v>> {
    cx.charge(size_of::<Extended>())?;
    Ok(cx.arena().spelled(number, spelling))
}

fn tagged<'v>(cx: &Cx<'v>, value: Value<'v>, tag: &'v str) -> Result<Value<'v>> {
    let value = in_document(value);
    cx.charge(size_of::<Extended>())?;
    let at = u32::try_from(cx.at()).unwrap_or(u32::MAX);
    Ok(if value.is_undefined() { value } else { cx.arena().tagged(value, tag, at) })
}

fn entry_of_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if value.is_undefined() {
        return Ok(value);
    }
    cx.entries(&[Value::Null], &[value])?.map_err(|_| cx.arity())
}

fn condition<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if let truth @ Value::Bool(_) = value.unwritten() {
        return Ok(truth);
    }
    let message = format!("a condition is a bool, true or false, and not of type '{}'", type_name(value));
    let error = cx.fault(Code::TypeMismatch, message);
    Err(error.with_help("compare it with something: no other value is true or false"))
}

/// Fails with `message`, and a note for each name and value of `values`, which alternate.
fn assertion<'v>(cx: &Cx<'v>, message: Value<'v>, values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let text = match text::plain(message)? {
        Some(text) => text.into_owned(),
        None => excerpt(message),
    };
    let mut error = cx.fault(Code::Assertion, format!("assertion failed: {text}"));
    let named = values.as_chunks::<2>().0.iter().filter(|[_, value]| !value.is_undefined());
    error.notes =
        named.map(|[name, value]| format!("`{}` is {}", name.as_str().unwrap_or(""), excerpt(*value))).collect();
    Err(error)
}

fn one_by_one<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if maps::is_map(value.unwritten()) {
        let message = "`$for` over a map has two variables, the key and the value";
        return Err(cx.fault(Code::NotIterable, message).with_help("write `key, value in …`"));
    }
    in_pairs(cx, value)
}

fn in_pairs<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let value = value.unwritten();
    if matches!(value, Value::List(_)) || maps::is_map(value) { Ok(value) } else { Err(not_iterable(cx, value)) }
}

#[cold]
fn not_iterable(cx: &Cx<'_>, value: Value<'_>) -> Box<Diagnostic> {
    let message = format!("`$for` goes over a list or a map, not over a value of type '{}'", type_name(value));
    let help = match value {
        Value::Null => "for none where it is null: `x == null ? [] : x`",
        Value::Int(_) | Value::Uint(_) => "for so many turns: `lists.range(n)`",
        Value::Str(_) => "for the parts of a text: `x.split(',')`",
        _ if as_optional(value).is_some() => "for none where it is not there: `x.orValue([])`",
        _ => return cx.fault(Code::NotIterable, message),
    };
    cx.fault(Code::NotIterable, message).with_help(help)
}

fn path_of_file<'v>(cx: &Cx<'v>, path: Value<'v>, folder: &'v str) -> Result<Value<'v>> {
    let Some(path) = in_document(path).unwritten().as_str() else {
        let message = format!("the path of `$include` is text, and not of type '{}'", type_name(path));
        return Err(cx.fault(Code::TypeMismatch, message));
    };
    match file_path::within(folder, path) {
        Some(name) => cx.text(&name),
        None => {
            let message = format!("`{path}` leads out of the include root");
            Err(cx.fault(Code::OutsideRoot, message).with_help("paths are relative to the file they stand in"))
        }
    }
}

fn no_such_file<'v>(cx: &Cx<'v>, name: &'v str, names: &'v [Value<'v>]) -> Result<Value<'v>> {
    let names = || names.iter().filter_map(Value::as_str);
    let error = cx.fault(Code::UnknownTemplate, format!("template `{name}` not found"));
    Err(error.with_suggestion(name, names()).with_available(names()))
}

/// Fails with the last error that was noted. If an input of `names` (each followed by a path) was missing, the errors of the
/// others whose `values` are undefined follow.
fn missing_inputs<'v>(cx: &Cx<'v>, names: &'v [Value<'v>], values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let errors = cx.notes().take(0).into_iter().filter_map(|note| match note.what {
        Noted::Error(error, _) => Some(error),
        Noted::Unanswered | Noted::Marks(_) => None,
    });
    let Some(mut error) = errors.last() else { return Ok(Value::Null) };
    let missing =
        names.as_chunks::<2>().0.iter().zip(values).enumerate().filter(|(_, (_, value))| value.is_undefined());
    let others = missing.filter_map(|(at, ([name, path], _))| {
        let mut other = undefined_input(cx, name.as_str()?).with_field("path", path.as_str()?);
        other.part = u32::try_from(at).ok();
        Some(other)
    });
    let (same, others): (Vec<_>, Vec<_>) = others.partition(|other| other.message == error.message);
    if !same.is_empty() && error.code == Code::UndefinedVariable {
        error.also.extend(others);
    }
    Err(error)
}
