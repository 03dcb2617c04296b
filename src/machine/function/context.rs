//! The context of a run: the arena, the budgets, the capabilities.

use std::cell::Cell;
use std::time::Instant;

use super::capabilities::Capabilities;
use super::errors::{Note, Noted, Notes, Subject};
use super::mutation::Mutations;
use super::patterns::Caches;
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use dropforge_base::limits::{Deadline, Limit, Limits};
use dropforge_value::{
    Arena, BLOCK, BadKey, Data, Entries, Extended, Inputs, Map, Shape, Text, Value, equal, narrowed_number,
};

/// Steps between two clock checks: less than a millisecond.
const PORTION: u64 = 1 << 11;

/// Allocations between two clock checks, which may be too small to take steps.
const CHARGES: u32 = 1 << 10;

/// The resources that a run may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Steps.
    pub fuel: u64,
    /// Bytes.
    pub memory: u64,
    /// The deadline.
    pub until: Option<Instant>,
    /// How often the run has looked at the clock.
    pub asked: u64,
}

impl Budgets {
    /// Creates full budgets. The time limit starts now.
    #[inline]
    pub fn of(limits: &Limits) -> Self {
        let until = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { fuel: limits.fuel, memory: limits.memory, until, asked: 0 }
    }
}

/// The context of a run, for function bodies and a language's rules.
///
/// Growth is charged in advance: [`Cx::charge`] for bytes, [`Cx::spend`] for steps.
#[derive(Debug)]
pub struct Cx<'v> {
    arena: &'v Arena,
    inputs: Inputs<'v>,
    pub(super) limits: &'v Limits,
    capabilities: Capabilities<'v>,
    pub(super) caches: &'v Caches,
    pub(super) patterns: super::patterns::PaidPatterns,
    /// The patterns in RE2 syntax that the run has paid for: a bit for each in the session's cache.
    pub(super) paid: Cell<u64>,
    /// Steps until the next look at the clock; all remaining ones without a time limit.
    fuel: Cell<u64>,
    /// Further steps.
    reserve: Cell<u64>,
    until: Cell<Option<Instant>>,
    asked: Cell<u64>,
    charges: Cell<u32>,
    /// A further deadline, which another thread can move up.
    deadline: Option<&'v Deadline>,
    memory: Cell<u64>,
    /// The cost of the run so far, for metered programs.
    metered: Cell<u64>,
    at: Cell<usize>,
    notes: Notes<'v>,
    /// The maps that the run has changed.
    pub(super) mutations: Mutations<'v>,
    /// Set if a presence test finds nothing in a value without members.
    lenient: Cell<bool>,
}

impl<'v> Cx<'v> {
    /// Creates a context with full budgets.
    #[inline]
    pub fn new(
        arena: &'v Arena,
        inputs: Inputs<'v>,
        limits: &'v Limits,
        capabilities: Capabilities<'v>,
        caches: &'v Caches,
    ) -> Self {
        let Budgets { fuel, memory, until, asked } = Budgets::of(limits);
        let (fuel, reserve, until, memory) = (Cell::new(fuel), Cell::new(0), Cell::new(until), Cell::new(memory));
        let (metered, at, asked, notes) = (Cell::new(0), Cell::new(0), Cell::new(asked), Notes::default());
        let cx = Self {
            arena,
            inputs,
            limits,
            capabilities,
            caches,
            patterns: Default::default(),
            paid: Cell::new(0),
            fuel,
            reserve,
            until,
            asked,
            charges: Cell::new(0),
            deadline: None,
            memory,
            metered,
            at,
            notes,
            mutations: Mutations::default(),
            lenient: Cell::new(false),
        };
        cx.portion(PORTION);
        cx
    }

    /// Returns the remaining budgets.
    pub fn budgets(&self) -> Budgets {
        let (until, asked) = (self.until.get(), self.asked.get());
        Budgets { fuel: self.fuel(), memory: self.memory.get(), until, asked }
    }

    /// Continues with the remaining budgets of another run.
    pub fn set_budgets(&self, budgets: Budgets) {
        self.fuel.set(budgets.fuel);
        self.reserve.set(0);
        self.until.set(budgets.until);
        self.asked.set(budgets.asked);
        self.memory.set(budgets.memory);
        self.portion(PORTION);
    }

    /// Sets a deadline in addition to the time limit.
    #[inline]
    pub fn set_deadline(&mut self, deadline: Option<&'v Deadline>) {
        if deadline.is_some() {
            self.deadline = deadline;
            self.portion(PORTION);
        }
    }

    /// With a time limit or a deadline, sets aside all but the steps until the next clock check.
    #[inline]
    fn portion(&self, steps: u64) {
        if self.until.get().is_some() || self.deadline.is_some() {
            let all = self.fuel();
            self.fuel.set(all.min(steps));
            self.reserve.set(all.saturating_sub(steps));
        }
    }

    /// Returns `true` if a presence test finds nothing in a value without members. Otherwise it is an error.
    pub fn lenient(&self) -> bool {
        self.lenient.get()
    }

    /// Sets the result of a presence test of a value without members: nothing, or an error.
    #[inline]
    pub fn set_lenient(&self, lenient: bool) {
        self.lenient.set(lenient);
    }

    /// Sets the result like [`Cx::set_lenient`].
    #[must_use]
    pub fn with_lenient(self, lenient: bool) -> Self {
        self.set_lenient(lenient);
        self
    }

    /// Returns the cost of the run so far.
    pub fn metered(&self) -> u64 {
        self.metered.get()
    }

    /// Adds to the cost of the run, saturating. Fails beyond [`Limits::cost`].
    #[inline]
    pub fn meter(&self, cost: u64) -> Result<()> {
        let all = self.metered.get().saturating_add(cost);
        self.metered.set(all);
        if all > self.limits.cost { Err(Limit::Cost.error(self.limits.cost)) } else { Ok(()) }
    }

    /// Returns the word of the running instruction.
    #[inline(always)]
    pub fn at(&self) -> usize {
        self.at.get()
    }

    /// Sets the running instruction.
    #[inline(always)]
    pub fn go(&self, at: usize) {
        self.at.set(at);
    }

    /// Returns the notes of the run so far.
    pub fn notes(&self) -> &Notes<'v> {
        &self.notes
    }

    /// Records an error of the running instruction, about a part of its source.
    #[cold]
    pub fn note_error(&self, error: Box<Diagnostic>, subject: Subject) {
        self.note(Noted::Error(error, subject));
    }

    /// Records a note at the running instruction.
    pub fn note(&self, what: Noted<'v>) {
        self.notes.add(Note { at: self.at.get(), what });
    }

    /// Returns the inputs of the render.
    pub fn inputs(&self) -> Inputs<'v> {
        self.inputs
    }

    /// Returns the arena. Direct allocations are not charged: prefer [`Cx::text`] and similar methods.
    pub fn arena(&self) -> &'v Arena {
        self.arena
    }

    /// Returns the limits of the render.
    pub fn limits(&self) -> &'v Limits {
        self.limits
    }

    /// Returns the capabilities that the engine grants.
    pub fn capabilities(&self) -> Capabilities<'v> {
        self.capabilities
    }

    /// Returns the remaining steps.
    pub fn fuel(&self) -> u64 {
        self.fuel.get().saturating_add(self.reserve.get())
    }

    /// Spends steps. Fails if too few remain.
    #[inline]
    pub fn spend(&self, steps: u64) -> Result<()> {
        match self.fuel.get().checked_sub(steps) {
            Some(left) => {
                self.fuel.set(left);
                Ok(())
            }
            None => self.spend_reserve(steps),
        }
    }

    /// Checks the clock and spends steps that were set aside.
    #[cold]
    #[inline(never)]
    fn spend_reserve(&self, steps: u64) -> Result<()> {
        let Some(left) = self.fuel().checked_sub(steps) else { return Err(Limit::Fuel.error(self.limits.fuel)) };
        self.in_time()?;
        self.fuel.set(left);
        self.reserve.set(0);
        // Long work that was just paid for may be over after the time is.
        self.portion(if steps < PORTION { PORTION } else { 0 });
        Ok(())
    }

    /// Fails if the time is over. Costs no steps: for long work that is paid for before it is done.
    pub fn in_time(&self) -> Result<()> {
        self.asked.set(self.asked.get() + 1);
        if let Some(deadline) = self.deadline.filter(|deadline| deadline.is_over()) {
            return Err(deadline.error());
        }
        if self.until.get().is_some_and(|until| Instant::now() >= until) {
            let allowed = self.limits.time.unwrap_or_default();
            return Err(Limit::Time.error(u64::try_from(allowed.as_millis()).unwrap_or(u64::MAX)));
        }
        Ok(())
    }

    /// Charges for an allocation, with one step per 64 bytes. Many small ones end in time, too.
    #[inline]
    pub fn charge(&self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        match self.memory.get().checked_sub(bytes) {
            Some(left) => {
                self.memory.set(left);
                let nth = self.charges.get().wrapping_add(1);
                self.charges.set(nth);
                if nth.is_multiple_of(CHARGES) {
                    self.in_time()?;
                }
                self.spend(bytes / 64)
            }
            None => Err(Limit::Memory.error(self.limits.memory)),
        }
    }

    /// Takes back the charge for memory that is free again.
    pub fn give_back(&self, bytes: u64) {
        self.memory.set(self.memory.get().saturating_add(bytes).min(self.limits.memory));
    }

    /// Copies a text value and charges for it. A short one is padded.
    pub fn text(&self, text: &str) -> Result<Value<'v>> {
        self.charge(text.len().max(BLOCK) + size_of::<Text<'_>>())?;
        Ok(self.arena.text(text))
    }

    /// Creates a text value that borrows `text`.
    pub fn borrowed(&self, text: &'v str) -> Result<Value<'v>> {
        self.charge(size_of::<Text<'_>>())?;
        Ok(self.arena.borrowed_text(text))
    }

    /// Copies a list value and charges for it. Fails beyond the depth limit.
    pub fn list(&self, items: &[Value<'v>]) -> Result<Value<'v>> {
        self.charge((items.len() + 2) * size_of::<Value>())?;
        self.within_depth(self.arena.list(items))
    }

    /// Creates a list value of `items` like [`Cx::list`].
    pub fn list_of(&self, items: impl ExactSizeIterator<Item = Value<'v>>) -> Result<Value<'v>> {
        self.charge((items.len() + 2) * size_of::<Value>())?;
        self.within_depth(self.arena.borrowed_list(self.arena.bump().alloc_slice_fill_iter(items)))
    }

    /// Creates a map value and charges for it. The last of duplicate keys wins. Fails beyond the depth limit.
    pub fn map(&self, entries: &[(&'v str, Value<'v>)]) -> Result<Value<'v>> {
        self.charge((entries.len() + 2) * 4 * size_of::<Value>())?;
        self.within_depth(self.arena.map(entries))
    }

    /// Creates a map value with `shape`'s keys and charges for it. Fails beyond the depth limit.
    #[inline(never)]
    pub fn shaped_map(&self, shape: &'v Shape<'v>, values: &[Value<'v>]) -> Result<&'v Map<'v>> {
        self.map_of_values(shape, values.iter().copied())
    }

    /// Creates a map value like [`Cx::shaped_map`].
    #[inline(always)]
    pub fn map_of_values(
        &self,
        shape: &'v Shape<'v>,
        values: impl ExactSizeIterator<Item = Value<'v>>,
    ) -> Result<&'v Map<'v>> {
        self.charge((values.len() + 2) * 3 * size_of::<Value>())?;
        let map = self.arena.map_of_values(shape, values);
        if usize::from(map.depth()) > self.limits.value_depth { Err(self.too_deep()) } else { Ok(map) }
    }

    /// Copies owned data and charges for it. Fails beyond the depth limit.
    pub fn data(&self, data: &Data) -> Result<Value<'v>> {
        self.data_within(data, self.limits.value_depth)
    }

    /// Copies owned data of at most `levels` levels.
    fn data_within(&self, data: &Data, levels: usize) -> Result<Value<'v>> {
        let below = || levels.checked_sub(1).ok_or_else(|| self.too_deep());
        match data {
            Data::Null => Ok(Value::Null),
            Data::Bool(b) => Ok(Value::Bool(*b)),
            Data::Int(n) => Ok(Value::Int(*n)),
            Data::Uint(n) => Ok(Value::uint(*n)),
            Data::Float(n) => Ok(Value::Float(*n)),
            Data::Number(text) => narrowed_number(text),
            Data::Str(text) => self.text(text),
            Data::List(items) => {
                let levels = below()?;
                let items: Result<Vec<_>> = items.iter().map(|item| self.data_within(item, levels)).collect();
                self.list(&items?)
            }
            Data::Map(map) => {
                let levels = below()?;
                let entry = |(key, value): (&String, &Data)| {
                    self.charge(key.len())?;
                    Ok((self.arena.copy_str(key), self.data_within(value, levels)?))
                };
                self.map(&map.iter().map(entry).collect::<Result<Vec<_>>>()?)
            }
        }
    }

    /// Copies a value of another arena and charges for it. Fails beyond the depth limit.
    pub fn copied(&self, value: Value<'_>) -> Result<Value<'v>> {
        match value {
            Value::Undefined | Value::Null => Ok(Value::Null),
            Value::Bool(truth) => Ok(Value::Bool(truth)),
            Value::Int(n) => Ok(Value::Int(n)),
            Value::Uint(n) => Ok(Value::Uint(n)),
            Value::Float(n) => Ok(Value::Float(n)),
            Value::Str(text) => self.text(text.as_str()),
            Value::List(list) => {
                let items: Result<Vec<_>> = list.items().iter().map(|item| self.copied(*item)).collect();
                self.list(&items?)
            }
            Value::Map(map) => {
                let entry = |(key, value): (&str, Value<'_>)| {
                    self.charge(key.len())?;
                    Ok((self.arena.copy_str(key), self.copied(value)?))
                };
                self.map(&map.iter().map(entry).collect::<Result<Vec<_>>>()?)
            }
            Value::Extended(_) => self.data(&value.to_data()),
        }
    }

    /// Copies bytes and charges for them.
    pub fn bytes(&self, bytes: &[u8]) -> Result<Value<'v>> {
        self.charge(bytes.len() + size_of::<Extended>())?;
        Ok(self.arena.extended(Extended::Bytes(self.arena.bump().alloc_slice_copy(bytes))))
    }

    /// Copies a string, which may not be UTF-8, and charges for it.
    pub fn string(&self, bytes: &[u8]) -> Result<Value<'v>> {
        std::str::from_utf8(bytes).map_or_else(|_| self.bytes(bytes), |text| self.text(text))
    }

    /// Creates an extended value and charges for it, but not for the values it refers to. Fails beyond the depth limit.
    pub fn extended(&self, kind: Extended<'v>) -> Result<Value<'v>> {
        self.charge(size_of::<Extended>())?;
        self.within_depth(self.arena.extended(kind))
    }

    /// Creates a map of `keys` and `values` and charges for it, or returns the first invalid key. With string keys only,
    /// it is a plain map. Fails beyond the depth limit.
    pub fn entries(&self, keys: &[Value<'v>], values: &[Value<'v>]) -> Result<std::result::Result<Value<'v>, BadKey>> {
        // The keys are sorted.
        self.charge((keys.len() + 2) * 3 * size_of::<Value>())?;
        self.spend(keys.len() as u64 * u64::from(keys.len().checked_ilog2().unwrap_or(0)))?;
        let entries = match Entries::new(self.arena, keys, values) {
            Ok(entries) => entries,
            Err(bad) => return Ok(Err(bad)),
        };
        if entries.keys().iter().all(|key| key.as_str().is_some()) {
            let entries: Vec<_> = entries.iter().map(|(key, value)| (key.as_str().unwrap_or(""), value)).collect();
            return self.within_depth(self.arena.map(&entries)).map(Ok);
        }
        self.within_depth(self.arena.entries(entries)).map(Ok)
    }

    /// Returns `value`, or fails if it is beyond the depth limit.
    #[inline]
    pub fn within_depth(&self, value: Value<'v>) -> Result<Value<'v>> {
        if usize::from(value.depth()) > self.limits.value_depth { Err(self.too_deep()) } else { Ok(value) }
    }

    /// Returns the error of a value beyond the depth limit.
    #[cold]
    pub fn too_deep(&self) -> Box<Diagnostic> {
        Limit::ValueDepth.error(self.limits.value_depth as u64)
    }

    /// Compares deeply, spending one step per pair of values.
    pub fn equal(&self, a: Value<'v>, b: Value<'v>) -> Result<bool> {
        equal(a, b, &mut || self.spend(1))
    }

    /// Creates an error at the running instruction. [`CULPRIT`] in the message becomes its source text.
    pub fn fault(&self, code: Code, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(code, message)
    }

    /// Returns the error of a body that was called with a wrong number of arguments.
    #[cold]
    pub fn arity(&self) -> Box<Diagnostic> {
        self.fault(Code::BadArgument, format!("{CULPRIT}: wrong number of arguments"))
    }
}
