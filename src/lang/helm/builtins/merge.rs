//! Merging of maps into the first of them.
//!
//! A value that only one map has is not copied: after the merge both maps hold the same map or list, and a change of it is
//! visible in both.

use crate::values::truth;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

/// A step of a merge.
enum Step<'v> {
    /// Merges the second map into the first.
    Merge(Value<'v>, Value<'v>),
    /// Sets the entry of a map to this one, unless the map under its key has entries now.
    Settle(Value<'v>, &'v str, Value<'v>),
}

pub(super) fn merge<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    merged(cx, args, false)
}

pub(super) fn merge_overwrite<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    merged(cx, args, true)
}

/// Merges maps into the first one. With `overwrites`, values replace those that are there, even by nil or an empty value;
/// without it, only empty ones are replaced.
fn merged<'v>(cx: &Cx<'v>, args: &[Value<'v>], overwrites: bool) -> Result<Value<'v>> {
    let [first, others @ ..] = args else { return Err(cx.arity()) };
    for other in others {
        let mut steps = vec![Step::Merge(*first, *other)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Merge(to, from) => merge_entries(cx, to, from, overwrites, &mut steps)?,
                Step::Settle(to, key, value) => {
                    if !cx.entry(to, key).is_some_and(|now| truth(cx, now)) {
                        cx.set_entry(to, key, value)?;
                    }
                }
            }
        }
    }
    Ok(*first)
}

/// Merges the entries of one map into another. Maps in both are left to further steps.
fn merge_entries<'v>(
    cx: &Cx<'v>,
    to: Value<'v>,
    from: Value<'v>,
    overwrites: bool,
    steps: &mut Vec<Step<'v>>,
) -> Result<()> {
    let Value::Map(entries) = cx.current(from) else { return Err(cx.arity()) };
    cx.charge(entries.len().saturating_mul(2 * size_of::<Step<'_>>()))?;
    for (key, value) in entries.iter() {
        cx.spend(1)?;
        match (cx.entry(to, key), value) {
            (_, Value::Null | Value::Undefined) if !overwrites => {}
            (Some(there @ Value::Map(_)), Value::Map(_)) => {
                // The last step comes first.
                steps.extend([Step::Settle(to, key, value), Step::Merge(there, value)]);
            }
            (Some(there), _) if !overwrites && truth(cx, there) => {}
            _ => cx.set_entry(to, key, value)?,
        }
    }
    Ok(())
}
