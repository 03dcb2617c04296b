//! What is in a value: fields, elements, sizes.

use super::compare::equal;
use super::errors::{bad_argument, bad_index, no_fields, no_such_key, no_such_overload, out_of_bounds};
use super::{as_bytes, as_optional, type_name};
use crate::diagnostics::Result;
use crate::function::{Cx, excerpt};
use crate::value::{BadKey, Extended, Value};

/// What is under `key` in a map; `None` where it is no map or has no such key. A number is the same key in each of the
/// number types.
pub fn entry<'v>(map: Value<'v>, key: Value<'v>) -> Option<Value<'v>> {
    match (map, map.extended()) {
        (Value::Map(map), _) => map.get(key.as_str()?),
        (_, Some(Extended::Entries(entries))) => entries.get(key),
        _ => None,
    }
}

/// Whether it is a map, whatever its keys.
pub const fn is_map(value: Value<'_>) -> bool {
    matches!(value, Value::Map(_)) || matches!(value.extended(), Some(Extended::Entries(_)))
}

/// How many elements, entries, characters or bytes there are; [`None`] where it has no size.
///
/// # Errors
/// The render has no steps left.
pub fn size_of_value<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Option<usize>> {
    Ok(match (value, value.extended()) {
        (Value::Str(text), _) => {
            cx.spend((text.as_str().len() / 64) as u64)?;
            Some(text.as_str().chars().count())
        }
        (Value::List(list), _) => Some(list.items().len()),
        (Value::Map(map), _) => Some(map.len()),
        (_, Some(Extended::Entries(entries))) => Some(entries.len()),
        (_, Some(Extended::Bytes(bytes))) => Some(bytes.len()),
        _ => None,
    })
}

/// `size(value)`.
///
/// # Errors
/// It has no size.
pub fn size<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    match size_of_value(cx, value)? {
        Some(size) => Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX))),
        None => Err(no_such_overload("size", false, &[value])),
    }
}

/// The place in a list that a number says; [`None`] where it is no whole number.
///
/// # Errors
/// No place is behind so many, or in front of the first one.
fn place(len: usize, index: Value<'_>) -> Option<Result<usize>> {
    let place = match index {
        Value::Int(at) => usize::try_from(at).ok(),
        Value::Uint(at) => usize::try_from(at).ok(),
        // Below 2^53 every whole number is a float.
        Value::Float(at) if at.fract() == 0.0 => (0.0..9_007_199_254_740_992.0).contains(&at).then_some(at as usize),
        _ => return None,
    };
    Some(place.filter(|at| *at < len).ok_or_else(|| match index {
        Value::Int(at) => out_of_bounds(at),
        Value::Uint(at) => out_of_bounds(at),
        Value::Float(at) => out_of_bounds(at),
        _ => bad_index("list", index),
    }))
}

/// `value[index]`: the element of a list, the entry of a map; of an optional, an optional of that.
///
/// # Errors
/// There is none, or it cannot be asked for.
pub fn index<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Value<'v>> {
    if let Value::List(list) = value {
        let at = place(list.items().len(), index).unwrap_or_else(|| Err(bad_index("list", index)))?;
        return list.items().get(at).copied().ok_or_else(|| out_of_bounds(at));
    }
    if is_map(value) {
        return entry(value, index).ok_or_else(|| no_such_key(index));
    }
    match as_optional(value) {
        Some(_) => super::optional::index(cx, value, index),
        None => Err(no_such_overload("_[_]", false, &[value, index])),
    }
}

/// The element or entry where there is one, as [`index`] has it.
///
/// # Errors
/// It cannot be asked for.
pub fn index_if_any<'v>(value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
    if let Value::List(list) = value {
        let at = place(list.items().len(), index).ok_or_else(|| bad_index("list", index))?;
        return Ok(at.ok().and_then(|at| list.items().get(at).copied()));
    }
    if is_map(value) {
        return Ok(entry(value, index));
    }
    Err(no_such_overload("_[_]", false, &[value, index]))
}

/// `value.field`: the entry of a map under a text; of an optional, an optional of that.
///
/// # Errors
/// There is none, or such a value has no fields.
pub fn select<'v>(cx: &Cx<'v>, value: Value<'v>, field: &str) -> Result<Value<'v>> {
    let found = match (value, value.extended()) {
        (Value::Map(map), _) => map.get(field),
        (_, Some(Extended::Entries(entries))) => entries.get(cx.text(field)?),
        (_, Some(Extended::Optional(_))) => return super::optional::select(cx, value, field),
        _ => return Err(no_fields(value)),
    };
    match found {
        Some(found) => Ok(found),
        None => Err(no_such_key(cx.text(field)?)),
    }
}

/// `has(value.field)`.
///
/// # Errors
/// Such a value has no fields.
pub fn has<'v>(cx: &Cx<'v>, value: Value<'v>, field: &str) -> Result<bool> {
    match (value, value.extended()) {
        (Value::Map(map), _) => Ok(map.get(field).is_some()),
        (_, Some(Extended::Entries(entries))) => Ok(entries.get(cx.text(field)?).is_some()),
        (_, Some(Extended::Optional(Value::Undefined))) => Ok(false),
        (_, Some(Extended::Optional(held))) => has(cx, *held, field),
        _ => Err(no_fields(value)),
    }
}

/// `needle in haystack`: an element of a list, a key of a map.
///
/// # Errors
/// It is neither, or a limit of the render.
pub fn contains<'v>(cx: &Cx<'v>, haystack: Value<'v>, needle: Value<'v>) -> Result<bool> {
    if let Value::List(list) = haystack {
        for item in list.items() {
            if equal(cx, *item, needle)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    if is_map(haystack) {
        return Ok(entry(haystack, needle).is_some());
    }
    Err(no_such_overload("@in", false, &[needle, haystack]))
}

/// A map of `keys`, the value of each at its place in `values`.
///
/// # Errors
/// A key that comes twice, or that cannot be one; a limit of the render.
pub fn map<'v>(cx: &Cx<'v>, keys: &[Value<'v>], values: &[Value<'v>]) -> Result<Value<'v>> {
    let null = keys.iter().position(|key| matches!(key, Value::Null)); // documents alone have such keys
    let made = match null {
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

/// The keys and values of a map, in their order.
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

/// Keys, and a value for each.
pub type Pairs<'v> = (Vec<Value<'v>>, Vec<Value<'v>>);

/// Whether it is its type's zero: null, false, 0, nothing in it.
pub fn is_zero(value: Value<'_>) -> bool {
    match (value, value.extended()) {
        (Value::Null | Value::Undefined | Value::Bool(false) | Value::Int(0) | Value::Uint(0), _) => true,
        (Value::Float(n), _) => n == 0.0,
        (Value::Str(text), _) => text.as_str().is_empty(),
        (Value::List(list), _) => list.items().is_empty(),
        (Value::Map(map), _) => map.is_empty(),
        (_, Some(Extended::Duration(nanos))) => *nanos == 0,
        (_, Some(Extended::Timestamp { seconds, nanos })) => (*seconds, *nanos) == (super::time::FIRST_SECOND, 0),
        (_, Some(Extended::Optional(held))) => held.is_undefined(),
        (_, Some(Extended::Entries(entries))) => entries.is_empty(),
        _ => as_bytes(value).is_some_and(<[u8]>::is_empty),
    }
}
