//! Deep equality of values with their types.

use super::{items, map_of, text_bytes, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

/// Returns `true` if two values are deeply equal, like Go's `reflect.DeepEqual`: an `int` never equals a `float64`, nor a
/// `[]string` a `[]interface{}`.
pub(crate) fn deep_equal<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    let (mut open, mut next) = (Vec::new(), Some((a, b)));
    while let Some((a, b)) = next {
        cx.spend(1)?;
        if !alike(cx, a, b, &mut open)? {
            return Ok(false);
        }
        next = open.pop();
    }
    Ok(true)
}

/// Compares two values except for what they contain, which is added to `open`.
fn alike<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, open: &mut Vec<(Value<'v>, Value<'v>)>) -> Result<bool> {
    if type_name(a) != type_name(b) {
        return Ok(false);
    }
    if let (Some(a), Some(b)) = (items(a), items(b)) {
        cx.charge(a.len() * size_of::<(Value<'_>, Value<'_>)>())?;
        open.extend(a.iter().copied().zip(b.iter().copied()));
        return Ok(a.len() == b.len());
    }
    if let (Some(a), Some(b)) = (map_of(cx, a), map_of(cx, b)) {
        cx.charge(a.len() * size_of::<(Value<'_>, Value<'_>)>())?;
        for (key, value) in a.iter() {
            let Some(other) = b.get(key) else { return Ok(false) };
            open.push((value, other));
        }
        return Ok(a.len() == b.len());
    }
    if let (Some(a), Some(b)) = (text_bytes(a), text_bytes(b)) {
        cx.spend(a.len().min(b.len()) as u64 / 64)?;
        return Ok(a == b);
    }
    match (a.extended(), b.extended()) {
        (Some(Extended::Typed(_, a)), Some(Extended::Typed(_, b))) => Ok(text_bytes(*a) == text_bytes(*b)),
        // One kind of nothing equals the other.
        _ if matches!(a, Value::Null | Value::Undefined) => Ok(true),
        _ => cx.equal(a, b),
    }
}
