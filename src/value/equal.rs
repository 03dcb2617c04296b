//! Deep equality that distinguishes integers from floats, as JSON libraries do.

use super::{Extended, Value};

/// Returns `true` if `a` and `b` are the same value. Numbers of one kind compare by value (NaN equals nothing), lists by
/// item, maps by key regardless of order. `visit` is called once for each pair compared and may stop the comparison with
/// an error, which bounds the work on values that share parts.
pub fn equal<E>(a: Value<'_>, b: Value<'_>, visit: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    visit()?;
    Ok(match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Str(a), Value::Str(b)) => a.as_str() == b.as_str(),
        (Value::List(a), Value::List(b)) => return equal_lists(a.items(), b.items(), visit),
        (Value::Map(a), Value::Map(b)) => return equal_entries([a.len(), b.len()], a.iter(), |key| b.get(key), visit),
        (Value::Extended(a), Value::Extended(b)) => return equal_extended(a.kind(), b.kind(), visit),
        _ => false,
    })
}

/// Compares with types and marks. Unknown values equal nothing.
fn equal_extended<E>(a: &Extended<'_>, b: &Extended<'_>, visit: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    Ok(match (a, b) {
        (Extended::Number(a), Extended::Number(b)) => a.compare(b).is_eq(),
        (Extended::Null(a), Extended::Null(b)) => a == b,
        (Extended::Sized(a), Extended::Sized(b)) => a == b,
        (Extended::Capsule(a), Extended::Capsule(b)) => a == b,
        (Extended::Bytes(a), Extended::Bytes(b)) => a == b,
        (Extended::Named(a), Extended::Named(b)) => a == b,
        (Extended::Duration(a), Extended::Duration(b)) => a == b,
        (
            Extended::Timestamp { seconds, nanos },
            Extended::Timestamp { seconds: other_seconds, nanos: other_nanos },
        ) => (seconds, nanos) == (other_seconds, other_nanos),
        (Extended::Optional(a), Extended::Optional(b)) => return equal(*a, *b, visit),
        (Extended::Entries(a), Extended::Entries(b)) => {
            return equal_entries([a.len(), b.len()], a.iter(), |key| b.get(key), visit);
        }
        (Extended::Marked(a, marks), Extended::Marked(b, others)) if marks == others => return equal(*a, *b, visit),
        (Extended::Typed(ty, a), Extended::Typed(other, b)) if ty == other => return equal(*a, *b, visit),
        _ => false,
    })
}

fn equal_lists<E>(a: &[Value<'_>], b: &[Value<'_>], visit: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (a, b) in a.iter().zip(b) {
        if !equal(*a, *b, visit)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Compares two maps: the entries of one with the values that `find` looks up in the other.
fn equal_entries<'v, K, E>(
    lens: [usize; 2],
    entries: impl Iterator<Item = (K, Value<'v>)>,
    find: impl Fn(K) -> Option<Value<'v>>,
    visit: &mut impl FnMut() -> Result<(), E>,
) -> Result<bool, E> {
    if lens[0] != lens[1] {
        return Ok(false);
    }
    for (key, value) in entries {
        let Some(other) = find(key) else { return Ok(false) };
        if !equal(value, other, visit)? {
            return Ok(false);
        }
    }
    Ok(true)
}
