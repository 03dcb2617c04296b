//! Deep equality that keeps whole numbers and floats apart, as JSON libraries compare.

use super::{Map, Value};

/// Whether `a` and `b` are the same value: numbers of one kind by value (NaN equals nothing), lists by item,
/// maps by key whatever their order. `visit` is called once for each pair compared and may stop the
/// comparison with an error, so that values that share parts cannot unfold without bound.
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
        (Value::Map(a), Value::Map(b)) => return equal_maps(a, b, visit),
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

fn equal_maps<E>(a: &Map<'_>, b: &Map<'_>, visit: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a.iter() {
        let Some(other) = b.get(key) else { return Ok(false) };
        if !equal(value, other, visit)? {
            return Ok(false);
        }
    }
    Ok(true)
}
