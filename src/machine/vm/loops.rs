//! Loop instructions.

use super::access::Access;
use super::items::{Items, Loop};
use super::machine::Machine;
use super::semantics::Semantics;
use dropforge_base::diagnostics::Result;
use dropforge_value::Value;

impl<A: Access> Machine<'_, '_, A> {
    /// Opens a loop over the top value and puts its first item into one or two slots. Returns `false` if there are no
    /// items.
    pub(super) fn iter<S: Semantics + Default>(&mut self, names: u32, slot: u32) -> Result<bool> {
        let value = self.pop();
        let items = S::default().iterate(&self.cx, value, names)?;
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

    /// Puts the next item into the loop's slots. Closes the loop and returns `false` if there are no more items.
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
            Items::Numbers(_) => {
                self.set_slot(slot, Value::uint(at as u64));
                self.set_slot(slot + 1, Value::uint(at as u64));
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
