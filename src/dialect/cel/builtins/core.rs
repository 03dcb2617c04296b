//! What the language does besides operators and functions that a source can name. Lowering calls these; no source can.
//!
//! `schema(text, values)` holds inputs against what `$schema` says of them: `text` is a constant made by
//! [`Schemas::text`](crate::schema::Schemas::text) of the names and their schemas, `values` a list with the value of each
//! of these names, in this order; `undefined` stands for a name that is not there. It answers null, or raises an error for
//! each violation, the first with the others beside it: each at the part of the call that is its name's, with the fields
//! `pointer` (a JSON pointer), `keyword` (the word of the schema), `limit` (what the word says) and `value`, the last two
//! as JSON. The schemas are compiled when the text is first come upon, and kept as long as the space.

use crate::builtins;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::cel::semantics::noted_since;
use crate::dialect::cel::values::compare::equal;
use crate::dialect::cel::values::errors::bad_argument;
use crate::dialect::cel::values::{access, as_optional, optional};
use crate::function::Cx;
use crate::schema::Violation;
use crate::value::{Extended, Value};

builtins! {
    /// The core.
    pub(crate) static CORE:
    filter "uint" (bits: Int) = uint, "The number without sign of a literal." [];
    filter "bytes" (base64: Str) = bytes, "The bytes of a literal." [];
    filter "type" (name: Str) = named, "A type by its name." [];
    filter "has" (value: Any, field: Str) = has, "Whether a value has a field." [];
    filter "select optional" (value: Any, field: Str) = select_optional, "An optional of a field." [];
    filter "index optional" (value: Any, index: Any) = index_optional, "An optional of an element." [];
    filter "held" (value: Any) = held_by, "What an optional holds; undefined where it is none, or no optional." [];
    filter "list" (elements: List) = list, "A list of elements, each behind whether it is an optional." [];
    filter "map" (entries: List) = map, "A map of entries: whether it is an optional, key, value." [];
    filter "map of pairs" (pairs: List) = map_of_pairs, "A map of keys and values in turn." [];
    filter "map of maps" (maps: List) = map_of_maps, "The entries of maps in one." [];
    filter "schema" (text: Str, values: List) = schema, "Inputs against their schemas." [];
    filter "settled" (answer: Any, from: Int) = settled, "An answer, unless an error was noted." [];
    filter "known" (keys: List, unknown: List) = known, "Fails where the keys are those of an attribute that is not known." [];
    filter "decided" (answer: Any, from: Int) = decided, "An answer that no error matters to." [];
}

fn uint<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Int(bits)] = args else { return Err(cx.arity()) };
    Ok(Value::Uint(bits.cast_unsigned()))
}

fn bytes<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(text)] = args else { return Err(cx.arity()) };
    let decoded = crate::stdlib::encoding::octets_of_base64(text.as_str()).ok_or_else(|| cx.arity())?;
    cx.charge(decoded.len())?;
    cx.extended(Extended::Bytes(cx.arena().bump().alloc_slice_copy(&decoded)))
}

fn named<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [Value::Str(name)] = args else { return Err(cx.arity()) };
    cx.extended(Extended::Named(name.as_str()))
}

fn has<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, Value::Str(field)] = args else { return Err(cx.arity()) };
    access::has(cx, *value, field.as_str()).map(Value::Bool)
}

fn select_optional<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value, Value::Str(field)] = args else { return Err(cx.arity()) };
    optional::select(cx, *value, field.as_str())
}

fn index_optional<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[value, index] = args else { return Err(cx.arity()) };
    optional::index(cx, value, index)
}

fn held_by<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[value] = args else { return Err(cx.arity()) };
    Ok(as_optional(value).unwrap_or_default())
}

/// What an optional element or entry holds; nothing where it is none.
fn held<'v>(value: Value<'v>) -> Result<Option<Value<'v>>> {
    match as_optional(value) {
        Some(held) => Ok(Some(held).filter(|held| !held.is_undefined())),
        None => Err(bad_argument("cannot initialize optional entry from a value that is not optional")),
    }
}

fn list<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(given)] = args else { return Err(cx.arity()) };
    let mut items = Vec::with_capacity(given.items().len() / 2);
    for &[is_optional, value] in given.items().as_chunks::<2>().0 {
        match is_optional {
            Value::Bool(true) => items.extend(held(value)?),
            _ => items.push(value),
        }
    }
    cx.list(&items)
}

fn map<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(given)] = args else { return Err(cx.arity()) };
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for &[is_optional, key, value] in given.items().as_chunks::<3>().0 {
        let value = if matches!(is_optional, Value::Bool(true)) { held(value)? } else { Some(value) };
        if let Some(value) = value {
            keys.push(key);
            values.push(value);
        }
    }
    access::map(cx, &keys, &values)
}

fn map_of_pairs<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(given)] = args else { return Err(cx.arity()) };
    let pairs = given.items().as_chunks::<2>().0;
    let (keys, values): (Vec<_>, Vec<_>) = pairs.iter().map(|[key, value]| (*key, *value)).unzip();
    access::map(cx, &keys, &values)
}

fn map_of_maps<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(given)] = args else { return Err(cx.arity()) };
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for &map in given.items() {
        let Some(pairs) = access::pairs(cx, map)? else {
            return Err(bad_argument("an entry of transformMapEntry must be a map"));
        };
        keys.extend(pairs.0);
        values.extend(pairs.1);
    }
    access::map(cx, &keys, &values)
}

fn schema<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::Str(text), Value::List(values)] = args else { return Err(cx.arity()) };
    let schemas = cx.schemas(text.as_str())?;
    let found = schemas.validate(values.items(), cx.limits().diagnostics, &mut |steps| cx.spend(steps))?;
    let mut found = found.into_iter();
    let Some(first) = found.next() else { return Ok(Value::Null) };
    let mut error = unfit(cx, first);
    error.also = found.map(|violation| unfit(cx, violation)).collect();
    Err(error)
}

/// The error of an input that does not fit its schema.
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

fn settled<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[answer, from] = args else { return Err(cx.arity()) };
    if cx.notes().count() == 0 {
        return Ok(answer);
    }
    noted_since(cx, from).map_or(Ok(answer), Err)
}

fn decided<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[answer, from] = args else { return Err(cx.arity()) };
    if cx.notes().count() > 0 {
        let _ = noted_since(cx, from);
    }
    Ok(answer)
}

fn known<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[Value::List(keys), Value::List(unknown)] = args else { return Err(cx.arity()) };
    for alternative in unknown.items() {
        cx.spend(keys.items().len() as u64)?;
        let mut fits = true;
        for (key, wanted) in keys.items().iter().zip(alternative.as_list().unwrap_or(&[])) {
            fits = fits && (matches!(wanted, Value::Null) || equal(cx, *key, *wanted)?);
        }
        if fits {
            return Err(Diagnostic::new(Code::UnknownAttribute, "the attribute is not known"));
        }
    }
    Ok(Value::Null)
}
