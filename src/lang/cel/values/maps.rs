//! Maps with keys of any type.

use super::errors::bad_argument;
use super::type_name;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, excerpt};
use dropforge_value::{BadKey, Extended, Value};

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
