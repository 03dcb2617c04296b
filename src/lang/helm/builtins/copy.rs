//! Copies of values and everything in them.

use super::arguments::{is_nil, only};
use crate::error::failed;
use crate::values::{items, map_of};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

/// A list or map that is being copied.
struct Copying<'v> {
    of: Value<'v>,
    parts: &'v [Value<'v>],
    copies: Vec<Value<'v>>,
}

impl<'v> Copying<'v> {
    /// Returns the copying of a container. `None` for values without maps in them, which need no copy.
    fn of(cx: &Cx<'v>, of: Value<'v>) -> Result<Option<Self>> {
        cx.spend(1)?;
        let parts = match (map_of(cx, of), items(of)) {
            (Some(map), _) => map.values(),
            (None, Some(items)) if of.depth() > 1 => items,
            _ => return Ok(None),
        };
        cx.charge(parts.len().saturating_mul(size_of::<Value<'_>>()))?;
        Ok(Some(Self { of, parts, copies: Vec::with_capacity(parts.len()) }))
    }

    /// Returns the copy.
    fn end(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        let copy = match map_of(cx, self.of) {
            Some(map) => Value::Map(cx.shaped_map(map.shape(), &self.copies)?),
            None => cx.list(&self.copies)?,
        };
        match self.of.extended() {
            Some(Extended::Typed(ty, _)) => cx.extended(Extended::Typed(*ty, copy)),
            _ => Ok(copy),
        }
    }
}

pub(super) fn deep_copy<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let value = only(cx, args)?;
    if is_nil(value) {
        return Err(failed("reflect: call of reflect.Value.Type on zero Value"));
    }
    let Some(first) = Copying::of(cx, value)? else { return Ok(value) };
    let mut open = vec![first];
    while let Some(innermost) = open.last_mut() {
        let Some(part) = innermost.parts.get(innermost.copies.len()) else {
            let Some(copied) = open.pop() else { break };
            let copy = copied.end(cx)?;
            match open.last_mut() {
                Some(outer) => outer.copies.push(copy),
                None => return Ok(copy),
            }
            continue;
        };
        match Copying::of(cx, *part)? {
            Some(inner) => open.push(inner),
            None => innermost.copies.push(*part),
        }
    }
    Ok(value)
}
