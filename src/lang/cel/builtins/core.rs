//! Intrinsics of expressions: operations besides operators and functions. Lowering calls them; sources cannot name them.

use super::intrinsics::intrinsics;
use crate::values::compare::equal;
use crate::values::declared::declared;
use crate::values::errors::{bad_argument, noted_since};
use crate::values::{access, as_optional, maps};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, joined};
use dropforge_machine::function::Cx;
use dropforge_schema::{Schema, Violation};
use dropforge_value::{Extended, Value};

intrinsics! {
    /// The intrinsics of expressions.
    pub static CORE:
    "uint" (bits: Int) = i64::cast_unsigned, "The unsigned integer of a literal.";
    "bytes" (base64: Str) = bytes, "The bytes of a literal.";
    "type" (name: Str) = type_of_name, "A type by its name.";
    "has" (value: Any, field: Str) = access::has, "Returns `true` if a value has a field.";
    "select optional" (value: Any, field: Str) = access::select_optional, "An optional of a field.";
    "index optional" (value: Any, index: Any) = access::index_optional, "An optional of an element.";
    "held field" (value: Any, field: Str) = access::held_field, "The value that an optional of a field holds; undefined for a missing one.";
    "held element" (value: Any, index: Any) = access::held_element, "The value that an optional of an element holds; undefined for a missing one.";
    "held" (value: Any) = held, "The value of an optional; undefined for an empty one, or another value.";
    "empty" (value: Any) = is_empty, "Returns `true` for an empty optional.";
    "list" (elements: List) = list, "A list of elements, each after a boolean: `true` for an optional element.";
    "map" (entries: List) = map, "A map of entries: `true` for an optional entry, key, value.";
    "map of pairs" (pairs: List) = map_of_pairs, "A map of alternating keys and values.";
    "map of maps" (maps: List, from: Int) = map_of_maps, "A map with the entries of several maps, unless an error was noted since `from`.";
    "schema" (text: Str, values: List) = schema, "Checks inputs with their schemas. Returns them with declared numbers.";
    "settled" (answer: Any, from: Int) = settled, "A value, unless an error was noted since `from`.";
    "known" (keys: List, unknown: List) = known, "Fails if the keys are those of an unknown attribute, or one is undefined.";
    "decided" (answer: Any, from: Int) = decided, "A value that makes the errors noted since `from` irrelevant.";
}

fn bytes<'v>(cx: &Cx<'v>, base64: &'v str) -> Result<Value<'v>> {
    let decoded = dropforge_base::stdlib::base64::octets_of_base64(base64).ok_or_else(|| cx.arity())?;
    cx.charge(decoded.len())?;
    cx.extended(Extended::Bytes(cx.arena().bump().alloc_slice_copy(&decoded)))
}

fn type_of_name<'v>(cx: &Cx<'v>, name: &'v str) -> Result<Value<'v>> {
    cx.extended(Extended::Named(name))
}

fn held(value: Value<'_>) -> Value<'_> {
    as_optional(value).unwrap_or_default()
}

fn is_empty(value: Value<'_>) -> bool {
    as_optional(value).is_some_and(|held| held.is_undefined())
}

/// Returns the value of an element or entry: what it holds if it `is_optional`. Returns `None` for an empty optional.
fn element<'v>(is_optional: Value<'v>, value: Value<'v>) -> Result<Option<Value<'v>>> {
    match (is_optional, as_optional(value)) {
        (Value::Bool(true), Some(held)) => Ok(Some(held).filter(|held| !held.is_undefined())),
        (Value::Bool(true), None) => {
            Err(bad_argument("cannot initialize optional entry from a value that is not optional"))
        }
        _ => Ok(Some(value)),
    }
}

fn list<'v>(elements: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    let elements = elements.as_chunks::<2>().0.iter();
    elements.filter_map(|&[is_optional, value]| element(is_optional, value).transpose()).collect()
}

fn map<'v>(cx: &Cx<'v>, entries: &'v [Value<'v>]) -> Result<Value<'v>> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for &[is_optional, key, value] in entries.as_chunks::<3>().0 {
        if let Some(value) = element(is_optional, value)? {
            keys.push(key);
            values.push(value);
        }
    }
    maps::map(cx, &keys, &values)
}

fn map_of_pairs<'v>(cx: &Cx<'v>, pairs: &'v [Value<'v>]) -> Result<Value<'v>> {
    let (keys, values): (Vec<_>, Vec<_>) = pairs.as_chunks::<2>().0.iter().map(|[key, value]| (*key, *value)).unzip();
    maps::map(cx, &keys, &values)
}

/// Joins the maps before the first undefined one, whose error was noted. An error of joining them comes first.
fn map_of_maps<'v>(cx: &Cx<'v>, all: &'v [Value<'v>], from: Value<'v>) -> Result<Value<'v>> {
    let noted = if cx.notes().count() == 0 { None } else { noted_since(cx, from) };
    let made = all.split(Value::is_undefined).next().unwrap_or_default();
    let joined = maps::joined(cx, made)?.ok_or_else(|| bad_argument("an entry of transformMapEntry must be a map"))?;
    noted.map_or(Ok(joined), Err)
}

/// Checks inputs with their schemas. `text` is made by [`Schemas::text`](dropforge_schema::Schemas::text); `values` are the
/// inputs in its order, undefined for missing ones.
///
/// Each violation is an error at its part of the call, with the fields `pointer` (a JSON pointer), `keyword`, `limit` and
/// `value` (the last two as JSON). The compiled schemas are cached with the space.
fn schema<'v>(cx: &Cx<'v>, text: &'v str, values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let violations = cx.schemas(text)?.validate(values, cx.limits().diagnostics, &mut |steps| cx.spend(steps))?;
    match joined(violations.into_iter().map(|violation| unfit(cx, violation))) {
        Some(error) => Err(error),
        None => with_declared_numbers(cx, text, values),
    }
}

/// Returns the list of valid inputs with the numbers that their schemas declare.
fn with_declared_numbers<'v>(cx: &Cx<'v>, text: &'v str, values: &'v [Value<'v>]) -> Result<Value<'v>> {
    let schemas = cx.schemas(text)?;
    let mut changed: Option<Vec<Value<'v>>> = None;
    for (at, ((_, schema), value)) in
        schemas.iter().zip(values).enumerate().filter(|(_, ((_, of), _))| of.has_numbers())
    {
        if let Some(new) = declared(cx, schema, Schema::ROOT, *value)?
            && let Some(slot) = changed.get_or_insert_with(|| values.to_vec()).get_mut(at)
        {
            *slot = new;
        }
    }
    match changed {
        Some(values) => cx.list(&values),
        None => {
            cx.charge(size_of::<Value>())?;
            Ok(cx.arena().borrowed_list(values))
        }
    }
}

/// Returns the error of an input that does not fit its schema.
#[cold]
fn unfit(cx: &Cx<'_>, violation: Violation) -> Box<Diagnostic> {
    let code = if violation.keyword == "type" { Code::InputType } else { Code::InputStructure };
    let message = format!("`{}` does not fit its `$schema`: {}", violation.path, violation.what());
    let mut error = cx.fault(code, message);
    error.part = u32::try_from(violation.nth).ok();
    let Violation { pointer, keyword, limit, value, help, .. } = violation;
    error.help = help;
    error.fields.extend([("pointer", pointer), ("keyword", keyword.to_owned()), ("limit", limit)]);
    error.fields.extend(value.map(|value| ("value", value)));
    error
}

fn settled<'v>(cx: &Cx<'v>, answer: Value<'v>, from: Value<'v>) -> Result<Value<'v>> {
    if cx.notes().count() == 0 {
        return Ok(answer);
    }
    noted_since(cx, from).map_or(Ok(answer), Err)
}

fn decided<'v>(cx: &Cx<'v>, answer: Value<'v>, from: Value<'v>) -> Value<'v> {
    if cx.notes().count() > 0 {
        let _ = noted_since(cx, from);
    }
    answer
}

fn known<'v>(cx: &Cx<'v>, keys: &'v [Value<'v>], unknown: &'v [Value<'v>]) -> Result<Value<'v>> {
    let failed = keys.iter().any(|key| matches!(key, Value::Undefined));
    for alternative in unknown {
        cx.spend(keys.len() as u64)?;
        let mut fits = true;
        for (key, wanted) in keys.iter().zip(alternative.as_list().unwrap_or(&[])) {
            fits = fits && (failed || matches!(wanted, Value::Null) || equal(cx, *key, *wanted)?);
        }
        if fits {
            return Err(Diagnostic::new(Code::UnknownAttribute, "the attribute is not known"));
        }
    }
    Ok(Value::Null)
}
