//! What the language does besides operators and functions that a source can name. Lowering calls these; no source can.

use crate::builtins;
use crate::diagnostics::Result;
use crate::dialect::cel::semantics::noted_since;
use crate::dialect::cel::values::errors::bad_argument;
use crate::dialect::cel::values::{access, as_optional, optional};
use crate::function::Cx;
use crate::value::{Extended, OutputFormat, Value, write_documents};

builtins! {
    /// The core.
    pub(crate) static CORE:
    filter "uint" (bits: Int) = uint, "The number without sign of a literal." [];
    filter "bytes" (base64: Str) = bytes, "The bytes of a literal." [];
    filter "type" (name: Str) = named, "A type by its name." [];
    filter "has" (value: Any, field: Str) = has, "Whether a value has a field." [];
    filter "select optional" (value: Any, field: Str) = select_optional, "An optional of a field." [];
    filter "index optional" (value: Any, index: Any) = index_optional, "An optional of an element." [];
    filter "list" (elements: List) = list, "A list of elements, each behind whether it is an optional." [];
    filter "map" (entries: List) = map, "A map of entries: whether it is an optional, key, value." [];
    filter "map of pairs" (pairs: List) = map_of_pairs, "A map of keys and values in turn." [];
    filter "map of maps" (maps: List) = map_of_maps, "The entries of maps in one." [];
    filter "json" (value: Any) = json, "A value as a line of JSON." [];
    filter "settled" (answer: Any, from: Int) = settled, "An answer, unless an error was noted." [];
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

fn json<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let &[value] = args else { return Err(cx.arity()) };
    let mut out = String::new();
    write_documents([value], OutputFormat::Ndjson, cx.limits().output_bytes, &mut out)?;
    cx.text(&out)
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
