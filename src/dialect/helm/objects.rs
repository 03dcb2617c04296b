//! Objects with methods: the files of a chart, sets of API versions, versions of Kubernetes.
//!
//! | object | value | methods |
//! |---|---|---|
//! | files | [`Extended::Typed`] of [`FILES`] around a map from paths to `[]byte` or text | `Get`, `GetBytes`, `Lines` |
//! | a semantic version | [`Extended::Capsule`] of its text | see `builtins/semver.rs` |
//! | a time | [`Extended::Timestamp`] | see `builtins/dates.rs` |
//! | versions | [`Extended::Typed`] of [`VERSIONS`] around a list of texts | `Has` |

use super::builtins::{dates, semver};
use super::error::{error, failed};
use super::values::{byte_list, items, strings, strval, text_bytes, type_name};
use crate::diagnostics::{Code, Result};
use crate::function::Cx;
use crate::value::{Extended, Map, Type, Value};

/// The type of the files of a chart.
pub(crate) const FILES: Type<'static> = Type::Map(&Type::Capsule("bytes"));

/// The type of a set of API versions.
pub(crate) const VERSIONS: Type<'static> = Type::List(&Type::Capsule("common.Version"));

/// Returns `true` if a value has a method of this name that takes arguments.
pub(super) fn has_method(value: Value<'_>, name: &str) -> bool {
    match value.extended() {
        Some(Extended::Typed(ty, _)) if *ty == FILES => matches!(name, "Get" | "GetBytes" | "Lines"),
        Some(Extended::Typed(ty, _)) if *ty == VERSIONS => name == "Has",
        _ => semver::has_method(value, name) || dates::has_method(value, name),
    }
}

/// Calls a method.
///
/// # Errors
/// The arguments are wrong, or the method fails.
pub(super) fn call<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str, args: &[Value<'v>]) -> Result<Value<'v>> {
    if let Some(result) = semver::method(value, name, args)? {
        return Ok(result);
    }
    if let Some(result) = dates::method(cx, value, name, args)? {
        return Ok(result);
    }
    let [argument] = args else {
        let message = format!("wrong number of args for {name}: want 1 got {}", args.len());
        return Err(error(Code::BadArgument, message));
    };
    let Some(argument) = text_bytes(*argument) else {
        let of = type_name(*argument);
        return Err(error(Code::BadArgument, format!("wrong type for value; expected string; got {of}")));
    };
    match value.extended() {
        Some(Extended::Typed(_, Value::Map(files))) => file(cx, files, name, argument),
        Some(Extended::Typed(..)) => {
            let versions = items(value).unwrap_or(&[]);
            cx.spend(versions.len() as u64)?;
            Ok(Value::Bool(versions.iter().any(|version| text_bytes(*version) == Some(argument))))
        }
        _ => Err(failed(format!("can't evaluate field {name} in type {}", type_name(value)))),
    }
}

/// Returns the content of a file; that of an unknown one is empty.
fn file<'v>(cx: &Cx<'v>, files: &'v Map<'v>, name: &str, path: &[u8]) -> Result<Value<'v>> {
    let found = std::str::from_utf8(path).ok().and_then(|path| files.get(path));
    let content = found.map_or(Ok(Default::default()), |found| strval(cx, found))?;
    match name {
        "GetBytes" => byte_list(cx, &content),
        "Lines" if found.is_none() => strings(cx, &[]),
        "Lines" => lines(cx, &content),
        _ => super::values::string(cx, &content),
    }
}

/// Returns the lines of a file. The end of the last line begins no other.
fn lines<'v>(cx: &Cx<'v>, content: &[u8]) -> Result<Value<'v>> {
    let Some((last, before)) = content.split_last() else {
        return Err(failed("runtime error: index out of range [-1]"));
    };
    let content = if *last == b'\n' { before } else { content };
    let lines = content.split(|byte| *byte == b'\n').map(|line| super::values::string(cx, line));
    strings(cx, &lines.collect::<Result<Vec<_>>>()?)
}
