//! Fields, elements and sizes of values; maps with keys of any type.

use super::compare::equal;
use super::{
    as_bytes, as_optional, bad_argument, bad_index, bad_index_value, bad_key, no_fields, no_such_key, no_such_overload,
    optional_of, out_of_bounds, type_name,
};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::{Cx, excerpt};
use dropforge_value::{BadKey, Extended, Value};

/// Counts characters, elements, entries or bytes; `None` for a value without a size.
///
/// # Errors
/// The render has no steps left.
pub fn size_if_any(cx: &Cx<'_>, value: Value<'_>) -> Result<Option<usize>> {
    Ok(match (value, value.extended()) {
        (Value::Str(text), _) => {
            cx.spend((text.as_str().len() / 64) as u64)?;
            Some(text.as_str().chars().count())
        }
        (Value::List(list), _) => Some(list.items().len()),
        (Value::Map(map), _) => Some(map.len()),
        (_, Some(Extended::Entries(entries))) => Some(entries.len()),
        _ => as_bytes(value).map(<[u8]>::len),
    })
}

/// `size(value)`.
///
/// # Errors
/// The value has no size, or the render has no steps left.
pub fn size<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<i64> {
    let size = size_if_any(cx, value)?.ok_or_else(|| no_such_overload("size", false, &[value]))?;
    Ok(i64::try_from(size).unwrap_or(i64::MAX))
}

/// Converts a number to a position in a list of `len` elements.
///
/// # Errors
/// The inner error is an index out of bounds, the outer one a value that cannot be an index.
fn position(len: usize, index: Value<'_>) -> Result<Result<usize>> {
    let at = match index {
        Value::Int(at) => at,
        Value::Uint(at) => i64::try_from(at).map_err(|_| bad_index_value("list", index))?,
        Value::Float(at) => integer(at).ok_or_else(|| bad_index_value("list", index))?,
        _ => return Err(bad_index("list", index)),
    };
    Ok(usize::try_from(at).ok().filter(|at| *at < len).ok_or_else(|| out_of_bounds(at)))
}

/// Converts a float to the integer that it is, if it is one of 64 bits.
fn integer(float: f64) -> Option<i64> {
    let fits = float.fract() == 0.0 && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    fits.then_some(float as i64)
}

/// Returns `true` for a value that can be a key or an index.
fn is_key(value: Value<'_>) -> bool {
    matches!(value, Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) | Value::Str(_))
}

/// Returns what a presence test finds in a value without members: nothing, or the error of a strict program.
fn no_members<'v>(cx: &Cx<'v>, error: impl FnOnce() -> Box<Diagnostic>) -> Result<Value<'v>> {
    if cx.lenient() { Ok(Value::Undefined) } else { Err(error()) }
}

/// `value[index]`: the element of a list or the value of a map. Indexing an optional gives an optional.
///
/// # Errors
/// There is no such element, or the value cannot be indexed this way.
pub fn index<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Value<'v>> {
    let (value, index) = (value.unwritten(), index.unwritten());
    if let Value::List(list) = value {
        let at = position(list.items().len(), index)??;
        return list.items().get(at).copied().ok_or_else(|| out_of_bounds(at));
    }
    if is_map(value) {
        return entry(value, index).ok_or_else(|| no_such_key(index));
    }
    match as_optional(value) {
        Some(_) => index_optional(cx, value, index),
        None => Err(no_such_overload("_[_]", false, &[value, index])),
    }
}

/// `value[?index]`: an optional of the element, or of the element of the value that an optional holds.
///
/// # Errors
/// Those of [`held_element`].
pub fn index_optional<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Value<'v>> {
    if let Some(Value::Undefined) = as_optional(value) {
        return Ok(value);
    }
    optional_of(cx, held_element(cx, value, index)?)
}

/// Returns the value that `value[?index]` holds; undefined for a missing one.
///
/// # Errors
/// The index cannot be one of the value. In a strict program, the value has no elements.
pub fn held_element<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Value<'v>> {
    let (value, index) = (value.unwritten(), index.unwritten());
    let found = match (value, as_optional(value)) {
        (_, Some(Value::Undefined)) => return Ok(Value::Undefined),
        (_, Some(held)) => return held_element(cx, held, index),
        _ if !is_key(index) => return Err(bad_key(index)),
        (Value::List(list), _) => {
            let at = position(list.items().len(), index)?;
            at.ok().and_then(|at| list.items().get(at).copied())
        }
        _ if is_map(value) => entry(value, index),
        _ => Some(no_members(cx, || no_such_overload("_[_]", false, &[value, index]))?),
    };
    Ok(found.unwrap_or_default())
}

/// `value.field`: the value of a map under a string. Selecting from an optional gives an optional.
///
/// # Errors
/// There is no such field, or the value has no fields.
pub fn select<'v>(cx: &Cx<'v>, value: Value<'v>, field: &str) -> Result<Value<'v>> {
    let value = value.unwritten();
    let found = match (value, value.extended()) {
        (Value::Map(map), _) => map.get(field),
        (_, Some(Extended::Entries(entries))) => entries.get(cx.text(field)?),
        (_, Some(Extended::Optional(_))) => return select_optional(cx, value, field),
        _ => return Err(no_fields(value)),
    };
    match found {
        Some(found) => Ok(found),
        None => Err(no_such_key(cx.text(field)?)),
    }
}

/// `value.?field`: an optional of the field, or of the field of the value that an optional holds.
///
/// # Errors
/// Those of [`held_field`].
pub fn select_optional<'v>(cx: &Cx<'v>, value: Value<'v>, field: &str) -> Result<Value<'v>> {
    if let Some(Value::Undefined) = as_optional(value) {
        return Ok(value);
    }
    optional_of(cx, held_field(cx, value, field)?)
}

/// Returns the value that `value.?field` holds; undefined for a missing one.
///
/// # Errors
/// The value is a list. In a strict program, it has no fields.
pub fn held_field<'v>(cx: &Cx<'v>, value: Value<'v>, field: &str) -> Result<Value<'v>> {
    let value = value.unwritten();
    let found = match (value, as_optional(value)) {
        (_, Some(Value::Undefined)) => return Ok(Value::Undefined),
        (_, Some(held)) => return held_field(cx, held, field),
        (Value::Map(map), _) => map.get(field),
        (Value::List(_), _) => return Err(bad_index("list", cx.text(field)?)),
        _ if is_map(value) => entry(value, cx.text(field)?),
        _ => {
            let (key, detail) = (cx.text(field)?, format!("a value of type {} has no fields", type_name(value)));
            Some(no_members(cx, || no_such_key(key).with_detail(detail))?)
        }
    };
    Ok(found.unwrap_or_default())
}

/// `has(value.field)`.
///
/// # Errors
/// The value is a list. In a strict program, it has no fields.
#[inline]
pub fn has<'v>(cx: &Cx<'v>, value: Value<'v>, field: &str) -> Result<bool> {
    let value = value.unwritten();
    match (value, value.extended()) {
        (Value::Map(map), _) => Ok(map.get(field).is_some()),
        (_, Some(Extended::Entries(entries))) => Ok(entries.get(cx.text(field)?).is_some()),
        (_, Some(Extended::Optional(Value::Undefined))) => Ok(false),
        (_, Some(Extended::Optional(held))) => has(cx, *held, field),
        (Value::List(_), _) => Err(no_fields(value)),
        _ => no_members(cx, || no_fields(value)).map(|_| false),
    }
}

/// Returns the first of the numbered `items` that is equal to `needle`.
///
/// # Errors
/// The render has no steps left.
pub fn find<'v>(
    cx: &Cx<'v>,
    items: impl IntoIterator<Item = (usize, &'v Value<'v>)>,
    needle: Value<'v>,
) -> Result<Option<usize>> {
    for (at, item) in items {
        if equal(cx, *item, needle)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// `needle in haystack`: an element of a list, or a key of a map.
///
/// # Errors
/// The value is neither, or the render has no steps left.
pub fn contains<'v>(cx: &Cx<'v>, haystack: Value<'v>, needle: Value<'v>) -> Result<bool> {
    match haystack {
        Value::List(list) => Ok(find(cx, list.items().iter().enumerate(), needle)?.is_some()),
        _ if is_map(haystack) => Ok(entry(haystack, needle).is_some()),
        _ => Err(no_such_overload("@in", false, &[needle, haystack])),
    }
}

/// Returns `true` for the zero value of a type: null, false, 0, the empty value.
pub fn is_zero(value: Value<'_>) -> bool {
    match (value, value.extended()) {
        (Value::Null | Value::Undefined | Value::Bool(false) | Value::Int(0) | Value::Uint(0), _) => true,
        (Value::Float(n), _) => n == 0.0,
        (Value::Str(text), _) => text.as_str().is_empty(),
        (Value::List(list), _) => list.items().is_empty(),
        (Value::Map(map), _) => map.is_empty(),
        (_, Some(Extended::Duration(nanos))) => *nanos == 0,
        (_, Some(Extended::Timestamp { seconds, nanos })) => (*seconds, *nanos) == (super::time::FIRST_SECOND, 0),
        (_, Some(Extended::Entries(entries))) => entries.is_empty(),
        _ => as_bytes(value).is_some_and(<[u8]>::is_empty),
    }
}

/// Keys, and the value of each.
pub type Pairs<'v> = (Vec<Value<'v>>, Vec<Value<'v>>);

/// Returns `true` for maps, whatever the types of their keys.
pub const fn is_map(value: Value<'_>) -> bool {
    matches!(value, Value::Map(_)) || matches!(value.extended(), Some(Extended::Entries(_)))
}

/// Returns the value under `key`; `None` if `map` is not a map or has no such key. A number is the same key in every
/// number type.
pub fn entry<'v>(map: Value<'v>, key: Value<'v>) -> Option<Value<'v>> {
    let (map, key) = (map.unwritten(), key.unwritten());
    match (map, map.extended()) {
        (Value::Map(map), _) => map.get(key.as_str()?),
        (_, Some(Extended::Entries(entries))) => entries.get(key),
        _ => None,
    }
}

/// Makes a map of `keys` and their `values`.
///
/// # Errors
/// A duplicate key, a value that cannot be a key, or a limit of the render.
pub fn map<'v>(cx: &Cx<'v>, keys: &[Value<'v>], values: &[Value<'v>]) -> Result<Value<'v>> {
    let plain: Vec<Value<'v>>;
    let keys = match keys.iter().any(Value::has_notation) {
        true => {
            plain = keys.iter().map(Value::unwritten).collect();
            &plain
        }
        false => keys,
    };
    // Only documents have null keys.
    let made = match keys.iter().position(|key| matches!(key, Value::Null)) {
        Some(at) => Err(BadKey::Kind(at)),
        None => cx.entries(keys, values)?,
    };
    made.map_err(|bad| {
        let key = |at: usize| keys.get(at).copied().unwrap_or_default();
        match bad {
            BadKey::Kind(at) => bad_argument(format!("unsupported key type: {}", type_name(key(at)))),
            BadKey::Twice(at) => bad_argument(format!("insert failed: key {} already exists", excerpt(key(at)))),
        }
    })
}

/// Returns the keys and values of a map in order; `None` if it is not a map.
///
/// # Errors
/// A limit of the render.
pub fn pairs<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Option<Pairs<'v>>> {
    match (value, value.extended()) {
        (Value::Map(map), _) => {
            cx.charge(map.len() * 3 * size_of::<Value>())?;
            let keys = map.iter().map(|(key, _)| cx.arena().borrowed_text(key)).collect();
            Ok(Some((keys, map.values().to_vec())))
        }
        (_, Some(Extended::Entries(entries))) => {
            cx.charge(entries.len() * 2 * size_of::<Value>())?;
            Ok(Some((entries.keys().to_vec(), entries.values().to_vec())))
        }
        _ => Ok(None),
    }
}

/// Joins maps; `None` if a value is not a map.
///
/// # Errors
/// A duplicate key, or a limit of the render.
pub fn joined<'v>(cx: &Cx<'v>, all: &[Value<'v>]) -> Result<Option<Value<'v>>> {
    let (mut keys, mut values) = (Vec::new(), Vec::new());
    for &map in all {
        let Some((more_keys, more_values)) = pairs(cx, map)? else { return Ok(None) };
        keys.extend(more_keys);
        values.extend(more_values);
    }
    map(cx, &keys, &values).map(Some)
}
