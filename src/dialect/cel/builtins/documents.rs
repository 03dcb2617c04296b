//! What templates of YAML do besides expressions. Lowering calls these; no source can.

use crate::builtins;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::cel::semantics::in_document;
use crate::dialect::cel::values::{access, as_optional, text, type_name};
use crate::function::{Cx, excerpt};
use crate::stdlib::relative;
use crate::value::{Extended, Value};

builtins! {
    /// The core of documents.
    pub(crate) static DOCUMENTS:
    filter "spelled" (number: Any, spelling: Str) = spelled, "A number as a document spells it." [];
    filter "tagged" (value: Any, tag: Str) = tagged, "A value with a tag." [];
    filter "entry of null" (value: Any) = entry_of_null, "A map of one entry, whose key is null." [];
    filter "condition" (value: Any) = condition, "A condition, which is true or false." [];
    filter "assertion" (message: Any, values: List) = assertion, "The error of a condition that does not hold." [];
    filter "path of file" (path: Any, folder: Str) = path_of_file, "The name of a file, from the root on." [];
    filter "no such file" (name: Str, names: List) = no_such_file, "The error of a file that is not there." [];
    filter "one by one" (value: Any) = one_by_one, "What a loop with one variable goes over." [];
    filter "in pairs" (value: Any) = in_pairs, "What a loop with two variables goes over." [];
}

fn spelled<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[number, Value::Str(spelling)] = args else { return Err(cx.arity()) };
    cx.charge(size_of::<Extended>())?;
    Ok(cx.arena().spelled(number, spelling.as_str()))
}

fn tagged<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[value, Value::Str(tag)] = args else { return Err(cx.arity()) };
    let value = in_document(value);
    cx.charge(size_of::<Extended>())?;
    Ok(if value.is_undefined() { value } else { cx.arena().tagged(value, tag.as_str()) })
}

fn entry_of_null<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[value] = args else { return Err(cx.arity()) };
    if value.is_undefined() {
        return Ok(value);
    }
    cx.entries(&[Value::Null], &[value])?.map_err(|_| cx.arity())
}

fn condition<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    match args {
        [Value::Bool(_)] => Ok(args[0]),
        [value] => {
            let message = format!("a condition is a bool, true or false, and not of type '{}'", type_name(*value));
            Err(cx
                .fault(Code::TypeMismatch, message)
                .with_help("compare it with something: no other value is true or false"))
        }
        _ => Err(cx.arity()),
    }
}

/// `message`, and the values that names have: a name and its value in turn.
fn assertion<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[message, Value::List(values)] = args else { return Err(cx.arity()) };
    let text = match text::plain(message)? {
        Some(text) => text.into_owned(),
        None => excerpt(message),
    };
    let mut error = cx.fault(Code::Assertion, format!("assertion failed: {text}"));
    let named = values.items().as_chunks::<2>().0.iter().filter(|[_, value]| !value.is_undefined());
    error.notes =
        named.map(|[name, value]| format!("`{}` is {}", name.as_str().unwrap_or(""), excerpt(*value))).collect();
    Err(error)
}

fn one_by_one<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    match args {
        [list @ Value::List(_)] => Ok(*list),
        [map] if access::is_map(*map) => {
            let message = "`$for` over a map has two variables, the key and the value";
            Err(cx.fault(Code::NotIterable, message).with_help("write `key, value in …`"))
        }
        [value] => Err(not_iterable(cx, *value)),
        _ => Err(cx.arity()),
    }
}

fn in_pairs<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    match args {
        [value] if matches!(value, Value::List(_)) || access::is_map(*value) => Ok(*value),
        [value] => Err(not_iterable(cx, *value)),
        _ => Err(cx.arity()),
    }
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

fn path_of_file<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[path, Value::Str(folder)] = args else { return Err(cx.arity()) };
    let Some(path) = in_document(path).as_str() else {
        let message = format!("the path of `$include` is text, and not of type '{}'", type_name(path));
        return Err(cx.fault(Code::TypeMismatch, message));
    };
    match relative::within(folder.as_str(), path) {
        Some(name) => cx.text(&name),
        None => {
            let message = format!("`{path}` leads out of the include root");
            Err(cx.fault(Code::OutsideRoot, message).with_help("paths are relative to the file they stand in"))
        }
    }
}

fn no_such_file<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::Str(name), Value::List(names)] = args else { return Err(cx.arity()) };
    let names = || names.items().iter().filter_map(Value::as_str);
    let error = cx.fault(Code::UnknownTemplate, format!("template `{}` not found", name.as_str()));
    Err(error.with_suggestion(name.as_str(), names()).with_available(names()))
}
