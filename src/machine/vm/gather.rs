//! Loops, and lists and maps built piece by piece.

use hashbrown::HashSet;

use super::access::Access;
use super::machine::{Capture, Interpreter};
use super::semantics::{Items, Loop, Semantics};
use crate::bytecode::{Claim, Role};
use crate::function::excerpt;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::{EntryKey, Extended, Shape, Text, Value};

impl<A: Access, S: Semantics + ?Sized> Interpreter<'_, '_, A, S> {
    /// Opens a loop over the top value and puts its first item into one or two slots. Returns `false` if there are no
    /// items.
    pub(super) fn iter(&mut self, names: u32, slot: u32) -> Result<bool> {
        let value = self.pop();
        let items = self.rules.iterate(&self.cx, value, names)?;
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

/// Returns `true` if a value needs no conversion to the role of a value.
#[inline(always)]
const fn is_plain(value: Value<'_>) -> bool {
    !matches!(value, Value::Undefined | Value::Extended(_))
}

/// Encodes the claim and the word of an entry. A gathered entry takes three values: its claim with the word of the
/// instruction that added it, its key, and its value.
fn note(claim: u32, at: usize) -> Value<'static> {
    Value::Int((at as i64) << 1 | i64::from(claim & 1))
}

/// Decodes a [`note`].
fn noted(value: Value<'_>) -> (Claim, usize) {
    let Value::Int(note) = value else { return (Claim::Yields, 0) };
    (Claim::of((note & 1) as u32), usize::try_from(note >> 1).unwrap_or(0))
}

impl<'r, A: Access, S: Semantics + ?Sized> Interpreter<'r, '_, A, S> {
    /// Pops a value and gathers it.
    pub(super) fn keep(&mut self) -> Result<()> {
        self.cx.charge(size_of::<Value>())?;
        let value = self.pop();
        self.gathered.push(value);
        Ok(())
    }

    /// Closes the innermost capture. Returns the index of its first gathered value.
    fn gathered_from(&mut self) -> Result<usize> {
        match self.captures.pop() {
            Some(Capture::Values(start)) => Ok(start),
            _ => Err(self.corrupt()),
        }
    }

    /// Pushes a list of the gathered values.
    pub(super) fn end_gather(&mut self) -> Result<()> {
        let start = self.gathered_from()?;
        let list = self.cx.list(self.gathered.get(start..).unwrap_or(&[]))?;
        self.gathered.truncate(start);
        self.push(list);
        Ok(())
    }

    /// Pops a value and converts it to the role of a value.
    #[inline(always)]
    fn pop_value(&mut self) -> Result<Value<'r>> {
        match self.pop() {
            value if is_plain(value) => Ok(value),
            value => self.rules.in_role(&self.cx, value, Role::Value),
        }
    }

    /// Pops a value and gathers it in the role of a value, unless it is undefined.
    pub(super) fn keep_some(&mut self) -> Result<()> {
        let value = self.pop_value()?;
        if !value.is_undefined() {
            self.cx.charge(size_of::<Value>())?;
            self.gathered.push(value);
        }
        Ok(())
    }

    /// Converts the top `count` values to the role of a value. Returns the number of undefined ones.
    #[inline]
    fn settle(&mut self, count: usize) -> Result<usize> {
        if self.topmost(count).iter().copied().all(is_plain) { Ok(0) } else { self.settle_each(count) }
    }

    #[inline(never)]
    fn settle_each(&mut self, count: usize) -> Result<usize> {
        let mut absent = 0;
        for at in self.top.saturating_sub(count)..self.top {
            let value = self.rules.in_role(&self.cx, A::at(self.values, at), Role::Value)?;
            absent += usize::from(value.is_undefined());
            *A::place(self.values, at) = value;
        }
        Ok(absent)
    }

    /// Builds a list of the top `count` values without undefined ones.
    pub(super) fn list_some(&mut self, count: u32) -> Result<()> {
        if self.settle(count as usize)? == 0 {
            return self.list(count);
        }
        let there: Vec<_> =
            self.topmost(count as usize).iter().copied().filter(|value| !value.is_undefined()).collect();
        let list = self.cx.list(&there)?;
        self.top -= count as usize;
        self.push(list);
        Ok(())
    }

    /// Builds a map of the top values without undefined ones, with the keys at offset `at`.
    pub(super) fn map_some(&mut self, at: u32) -> Result<()> {
        let shape = self.shape(at)?;
        let count = shape.keys().len();
        let values = self.topmost(count);
        let map = if values.iter().copied().all(is_plain) {
            self.cx.shaped_map(shape, values).map(Value::Map)?
        } else {
            self.map_of_some(shape)?
        };
        self.top -= count;
        self.push(map);
        Ok(())
    }

    /// Builds a map of the top values without undefined ones, with the keys of `shape`.
    #[inline(never)]
    fn map_of_some(&mut self, shape: &'r Shape<'r>) -> Result<Value<'r>> {
        let count = shape.keys().len();
        if self.settle_each(count)? == 0 {
            return self.cx.shaped_map(shape, self.topmost(count)).map(Value::Map);
        }
        let entries = shape.keys().iter().zip(self.topmost(count)).filter(|(_, value)| !value.is_undefined());
        let (keys, values): (Vec<Text<'r>>, Vec<_>) = entries.unzip();
        self.map_of(keys.into_iter(), values.into_iter())?.ok_or_else(|| self.corrupt())
    }

    /// Builds a map. `None` for duplicate keys.
    fn map_of<K, V>(&self, keys: K, values: V) -> Result<Option<Value<'r>>>
    where
        K: ExactSizeIterator<Item = Text<'r>>,
        V: ExactSizeIterator<Item = Value<'r>>,
    {
        self.cx.charge(keys.len() * size_of::<Text<'_>>())?;
        let arena = self.cx.arena();
        let keys = arena.bump().alloc_slice_fill_iter(keys);
        let shape = self.feedback.with_order(self.cx.at(), |order| Shape::guessed(arena, keys, order));
        shape.map(|shape| self.cx.map_of_values(shape, values).map(Value::Map)).transpose()
    }

    /// Pops a key and a value and gathers them, unless the value is undefined.
    pub(super) fn keep_entry(&mut self, claim: u32) -> Result<()> {
        let value = self.pop_value()?;
        let key = self.pop().unwritten();
        if EntryKey::of(key).is_none_or(|key| key == EntryKey::Null) {
            return Err(self.bad_key(key));
        }
        if !value.is_undefined() {
            self.cx.charge(3 * size_of::<Value>())?;
            self.gathered.extend_from_slice_copy(&[note(claim, self.cx.at()), key, value]);
        }
        Ok(())
    }

    #[cold]
    fn bad_key(&self, key: Value<'r>) -> Box<Diagnostic> {
        let kind = key.kind();
        let message = format!("the key of an entry is a string, a whole number or a boolean, not of kind {kind}");
        self.cx.fault(Code::TypeMismatch, message)
    }

    /// Pops a map and gathers its entries.
    pub(super) fn keep_entries(&mut self, claim: u32) -> Result<()> {
        let value = self.pop_value()?.unwritten();
        let note = note(claim, self.cx.at());
        let each = |len: usize| self.cx.charge(3 * len * size_of::<Value>());
        match (value, value.extended()) {
            (Value::Undefined, _) => {}
            (Value::Map(map), _) => {
                each(map.len())?;
                let keys = map.shape().keys().iter().map(Value::Str);
                self.gathered.extend(keys.zip(map.values()).flat_map(|(key, value)| [note, key, *value]));
            }
            (_, Some(Extended::Entries(entries))) => {
                each(entries.len())?;
                self.gathered.extend(entries.iter().flat_map(|(key, value)| [note, key, value]));
            }
            _ => {
                let message = format!("what becomes entries of a map must be a map, not of kind {}", value.kind());
                return Err(self.cx.fault(Code::TypeMismatch, message));
            }
        }
        Ok(())
    }

    /// Pushes a map of the gathered entries.
    pub(super) fn end_entries(&mut self) -> Result<()> {
        let start = self.gathered_from()?;
        let entries = self.gathered.get(start..).unwrap_or(&[]).as_chunks::<3>().0;
        self.cx.spend(entries.len() as u64)?;
        let map = match self.plain_map(entries)? {
            Some(map) => map,
            None => self.settled_map(entries)?,
        };
        self.gathered.truncate(start);
        self.push(map);
        Ok(())
    }

    /// Builds the map if all keys are strings without duplicates.
    fn plain_map(&self, entries: &[[Value<'r>; 3]]) -> Result<Option<Value<'r>>> {
        if !entries.iter().all(|[_, key, _]| matches!(key, Value::Str(_))) {
            return Ok(None);
        }
        let key = |[_, key, _]: &[Value<'r>; 3]| if let Value::Str(text) = key { **text } else { Text::new("") };
        self.map_of(entries.iter().map(key), entries.iter().map(|[_, _, value]| *value))
    }

    /// Builds the map if entries replace others.
    #[inline(never)]
    fn settled_map(&self, entries: &[[Value<'r>; 3]]) -> Result<Value<'r>> {
        self.cx.charge(size_of_val(entries))?;
        let stays = |note: &Value<'r>| noted(*note).0 == Claim::Stays;
        let mut fixed = HashSet::new();
        for [note, key, _] in entries.iter().filter(|[note, ..]| stays(note)) {
            if !EntryKey::of(*key).is_some_and(|key| fixed.insert(key)) {
                return Err(self.twice(*key, noted(*note).1));
            }
        }
        let mut made: indexmap::IndexMap<EntryKey<'r>, (Value<'r>, Value<'r>)> = indexmap::IndexMap::new();
        for [note, key, value] in entries {
            let Some(entry) = EntryKey::of(*key) else { return Err(self.corrupt()) };
            if !stays(note) && fixed.contains(&entry) {
                continue;
            }
            made.entry(entry).or_insert((*key, *value)).1 = *value;
        }
        let (keys, values): (Vec<_>, Vec<_>) = made.into_values().unzip();
        self.cx.entries(&keys, &values)?.map_err(|_| self.corrupt())
    }

    #[cold]
    fn twice(&self, key: Value<'r>, at: usize) -> Box<Diagnostic> {
        let message = format!("duplicate key {} in a map: two of its keys are the same", excerpt(key));
        self.placed_at_word(self.cx.fault(Code::DuplicateKey, message), at)
    }
}
