//! Running loops.

use super::access::Access;
use super::machine::Machine;
use super::semantics::Semantics;
use crate::bytecode::LoopField;
use crate::diagnostics::Result;
use crate::value::{Map, Value};

/// What a loop goes over.
#[derive(Debug, Clone, Copy)]
pub enum Items<'v> {
    /// The items of a list.
    List(&'v [Value<'v>]),
    /// The entries of a map in the order of the keys' bytes.
    Sorted(&'v Map<'v>),
    /// The items of a list, each behind its index.
    Indexed(&'v [Value<'v>]),
    /// The entries of a map in the order of insertion.
    Entries(&'v Map<'v>),
    /// Keys and values.
    Pairs(&'v [[Value<'v>; 2]]),
}

impl Items<'_> {
    fn len(&self) -> usize {
        match self {
            Items::List(items) | Items::Indexed(items) => items.len(),
            Items::Sorted(map) | Items::Entries(map) => map.len(),
            Items::Pairs(pairs) => pairs.len(),
        }
    }
}

/// A loop that is running.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop<'v> {
    items: Items<'v>,
    begun: usize,
    len: usize,
}

impl<'v> Loop<'v> {
    pub fn field(&self, field: LoopField) -> Value<'v> {
        match field {
            LoopField::Index => Value::uint(self.begun as u64),
            LoopField::Index0 => Value::uint(self.begun.saturating_sub(1) as u64),
            LoopField::First => Value::Bool(self.begun == 1),
            LoopField::Last => Value::Bool(self.begun == self.len),
        }
    }
}

impl<'r, A: Access> Machine<'r, '_, A> {
    /// Opens a loop over the top of the stack with one or two slots, and sets them to the first item; `false`
    /// where there is none.
    pub(super) fn iter<S: Semantics>(&mut self, names: u32, slot: u32) -> Result<bool> {
        let value = self.pop();
        let items = S::iterate(&self.cx, value, names)?;
        let len = items.len();
        if len == 0 {
            return Ok(false);
        }
        if names == 1 && !matches!(items, Items::List(_)) {
            return Err(self.corrupt()); // an entry takes two slots
        }
        self.loops.push(Loop { items, begun: 0, len });
        self.next(slot)
    }

    /// Sets the loop's slots to the next item; closes the loop and says `false` where there is none.
    #[inline(always)]
    pub(super) fn next(&mut self, slot: u32) -> Result<bool> {
        self.cx.spend(1)?;
        let innermost = self.loops.len().wrapping_sub(1);
        let running = A::place(&mut self.loops, innermost);
        let at = running.begun;
        if at == running.len {
            self.loops.pop();
            return Ok(false);
        }
        running.begun += 1;
        match running.items {
            Items::List(items) => {
                let item = items.get(at).copied().unwrap_or_default();
                self.set_slot(slot, item);
            }
            Items::Sorted(map) => {
                if let Some((key, value)) = map.sorted_entry(at) {
                    self.set_slot(slot, Value::Str(key));
                    self.set_slot(slot + 1, value);
                }
            }
            Items::Entries(map) => {
                let (keys, values) = (map.shape().keys(), map.values());
                self.set_slot(slot, keys.get(at).map_or(Value::Undefined, Value::Str));
                self.set_slot(slot + 1, values.get(at).copied().unwrap_or_default());
            }
            Items::Indexed(items) => {
                let item = items.get(at).copied().unwrap_or_default();
                self.set_slot(slot, Value::uint(at as u64));
                self.set_slot(slot + 1, item);
            }
            Items::Pairs(pairs) => {
                let [key, value] = pairs.get(at).copied().unwrap_or_default();
                self.set_slot(slot, key);
                self.set_slot(slot + 1, value);
            }
        }
        Ok(true)
    }
}
