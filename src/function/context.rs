//! What a body (and a language's rules) may use: the arena, the budgets, the capabilities.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use regex::Regex;

use super::files::Files;
use super::notes::{Note, Noted, Notes, Subject};
use crate::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use crate::limits::{Limit, Limits};
use crate::schema::Schemas;
use crate::stdlib::pattern::search_steps;
use crate::value::{Arena, BadKey, Entries, Extended, Inputs, Map, Shape, Value, equal};

/// What a program may reach outside its inputs; an engine allows none unless it is built to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities<'r> {
    set: u8,
    files: Option<&'r Files>,
    moment: Option<SystemTime>,
}

impl Capabilities<'static> {
    /// Nothing.
    pub const NONE: Self = Self::of(0);
    /// The current time.
    pub const CLOCK: Self = Self::of(1);
    /// Random numbers.
    pub const RANDOM: Self = Self::of(2);
    /// Environment variables.
    pub const ENVIRONMENT: Self = Self::of(4);
    /// Files below a directory: which one, [`Capabilities::with_files`] says. Without one no file is found.
    pub const FILES: Self = Self::of(8);
    /// All of them.
    pub const ALL: Self = Self::of(15);

    const fn of(set: u8) -> Self {
        Self { set, files: None, moment: None }
    }
}

impl<'r> Capabilities<'r> {
    /// Both.
    pub const fn and(self, other: Self) -> Self {
        let files = if self.files.is_some() { self.files } else { other.files };
        let moment = if self.moment.is_some() { self.moment } else { other.moment };
        Self { set: self.set | other.set, files, moment }
    }

    /// These, and the files below this directory.
    pub const fn with_files(self, files: &'r Files) -> Self {
        Self { set: self.set | Capabilities::FILES.set, files: Some(files), ..self }
    }

    /// These, where the moment that stands for the whole of what is done is this one.
    pub const fn with_moment(self, moment: SystemTime) -> Self {
        Self { moment: Some(moment), ..self }
    }

    /// The moment that stands for the whole of what is done.
    pub const fn moment(self) -> Option<SystemTime> {
        self.moment
    }

    /// The files that may be read.
    pub const fn files(self) -> Option<&'r Files> {
        self.files
    }

    /// Whether every one of `other` is here.
    pub const fn include(self, other: Capabilities<'_>) -> bool {
        self.set & other.set == other.set
    }

    /// What they are called on the command line.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("clock", Capabilities::CLOCK),
            ("random", Capabilities::RANDOM),
            ("environment", Capabilities::ENVIRONMENT),
            ("files", Capabilities::FILES),
        ];
        all.into_iter().filter(move |(_, one)| self.include(*one)).map(|(name, _)| name)
    }

    /// Whether there is none.
    pub const fn is_none(self) -> bool {
        self.set == 0
    }
}

/// Compiled patterns. Shared, not cloned: a clone begins with an empty cache of its automaton.
type Patterns = hashbrown::HashMap<String, Arc<Regex>>;

/// Compiled regular expressions and schemas, kept from render to render.
#[derive(Debug, Default)]
pub struct Caches {
    compiled: RefCell<Patterns>,
    /// By the text that a program carries of them.
    schemas: RefCell<hashbrown::HashMap<String, Arc<Schemas>>>,
}

/// How many schemas are kept.
const SCHEMAS: usize = 256;

/// How many patterns are kept.
const REGEXES: usize = 64;

/// Bytes one compiled pattern may take.
const REGEX_SIZE: usize = 1 << 20;

/// Bytes the automaton of one pattern, built as it searches, may take; it lives as long as the pattern.
const REGEX_CACHE: usize = 256 << 10;

/// Compiling a pattern costs about as many steps as searching this many bytes.
const REGEX_COMPILATION: usize = 1 << 10;

/// Steps between two looks at the clock: some milliseconds at most.
const PORTION: u64 = 1 << 14;

/// What a run may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Steps.
    pub fuel: u64,
    /// Bytes.
    pub memory: u64,
    /// Time.
    pub until: Option<Instant>,
}

impl Budgets {
    /// Full budgets; the time begins now.
    pub fn of(limits: &Limits) -> Self {
        let until = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { fuel: limits.fuel, memory: limits.memory, until }
    }
}

/// The context of a running program: what bodies and a language's rules work with.
///
/// Growth is charged before it happens: [`Cx::charge`] for bytes, [`Cx::spend`] for steps.
#[derive(Debug)]
pub struct Cx<'v> {
    arena: &'v Arena,
    inputs: Inputs<'v>,
    limits: &'v Limits,
    capabilities: Capabilities<'v>,
    caches: &'v Caches,
    /// Patterns this render has paid for. What a render costs must not depend on what ran before it. Made with the
    /// first one, and freed by a call, as `Notes` are.
    patterns: OnceCell<Rc<RefCell<Patterns>>>,
    /// Steps until the clock is looked at; all that are left where no time is set.
    fuel: Cell<u64>,
    /// Steps beyond those.
    reserve: Cell<u64>,
    until: Cell<Option<Instant>>,
    memory: Cell<u64>,
    /// What the run cost so far, of programs that are metered.
    metered: Cell<u64>,
    at: Cell<usize>,
    notes: Notes<'v>,
}

impl<'v> Cx<'v> {
    /// A context with full budgets.
    pub fn new(
        arena: &'v Arena,
        inputs: Inputs<'v>,
        limits: &'v Limits,
        capabilities: Capabilities<'v>,
        caches: &'v Caches,
    ) -> Self {
        let Budgets { fuel, memory, until } = Budgets::of(limits);
        let (fuel, reserve, until, memory) = (Cell::new(fuel), Cell::new(0), Cell::new(until), Cell::new(memory));
        let (patterns, metered, at, notes) = (OnceCell::new(), Cell::new(0), Cell::new(0), Notes::default());
        let cx = Self {
            arena,
            inputs,
            limits,
            capabilities,
            caches,
            patterns,
            fuel,
            reserve,
            until,
            memory,
            metered,
            at,
            notes,
        };
        cx.portion();
        cx
    }

    /// What is left of the budgets.
    pub(crate) fn budgets(&self) -> Budgets {
        Budgets { fuel: self.fuel(), memory: self.memory.get(), until: self.until.get() }
    }

    /// Goes on with what a run before this, or a part of it that had budgets of its own, left of them.
    pub(crate) fn set_budgets(&self, budgets: Budgets) {
        self.fuel.set(budgets.fuel);
        self.reserve.set(0);
        self.until.set(budgets.until);
        self.memory.set(budgets.memory);
        self.portion();
    }

    /// Where a time is set, lets few steps pass until the clock is looked at again.
    #[inline]
    fn portion(&self) {
        if self.until.get().is_some() {
            let all = self.fuel();
            self.fuel.set(all.min(PORTION));
            self.reserve.set(all.saturating_sub(PORTION));
        }
    }

    /// What the run cost so far.
    pub(crate) fn metered(&self) -> u64 {
        self.metered.get()
    }

    /// Adds `cost` to what the run cost so far; what is too large to count stays the largest number. An error once it is
    /// more than [`Limits::cost`].
    #[inline]
    pub(crate) fn meter(&self, cost: u64) -> Result<()> {
        let all = self.metered.get().saturating_add(cost);
        self.metered.set(all);
        if all > self.limits.cost { Err(Limit::Cost.error(self.limits.cost)) } else { Ok(()) }
    }

    /// The word of the running instruction.
    #[inline(always)]
    pub(crate) fn at(&self) -> usize {
        self.at.get()
    }

    /// Says which instruction runs.
    #[inline(always)]
    pub(crate) fn go(&self, at: usize) {
        self.at.set(at);
    }

    /// What was noted in the run so far.
    pub fn notes(&self) -> &Notes<'v> {
        &self.notes
    }

    /// Notes an error of the running instruction, about a part of its source, and goes on.
    #[cold]
    pub fn note_error(&self, error: Box<Diagnostic>, subject: Subject) {
        self.note(Noted::Error(error, subject));
    }

    /// Notes something at the running instruction.
    pub fn note(&self, what: Noted<'v>) {
        self.notes.add(Note { at: self.at.get(), what });
    }

    /// The inputs of the render.
    pub fn inputs(&self) -> Inputs<'v> {
        self.inputs
    }

    /// The arena. What is made through it directly is not charged: prefer [`Cx::text`] and its kin.
    pub fn arena(&self) -> &'v Arena {
        self.arena
    }

    /// The limits of the render.
    pub fn limits(&self) -> &'v Limits {
        self.limits
    }

    /// What the engine allows.
    pub fn capabilities(&self) -> Capabilities<'v> {
        self.capabilities
    }

    /// Steps left.
    pub fn fuel(&self) -> u64 {
        self.fuel.get().saturating_add(self.reserve.get())
    }

    /// Spends `steps`; an error when they are not there.
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

    /// Spends steps that are not there until the clock is looked at.
    #[cold]
    #[inline(never)]
    fn spend_reserve(&self, steps: u64) -> Result<()> {
        let Some(left) = self.fuel().checked_sub(steps) else { return Err(Limit::Fuel.error(self.limits.fuel)) };
        if self.until.get().is_some_and(|until| Instant::now() >= until) {
            let allowed = self.limits.time.unwrap_or_default();
            return Err(Limit::Time.error(u64::try_from(allowed.as_millis()).unwrap_or(u64::MAX)));
        }
        self.fuel.set(left);
        self.reserve.set(0);
        self.portion();
        Ok(())
    }

    /// Charges `bytes` that are about to be made, and a step for each 64 of them.
    #[inline]
    pub fn charge(&self, bytes: usize) -> Result<()> {
        let bytes = bytes as u64;
        match self.memory.get().checked_sub(bytes) {
            Some(left) => {
                self.memory.set(left);
                self.spend(bytes / 64)
            }
            None => Err(Limit::Memory.error(self.limits.memory)),
        }
    }

    /// A text value: a charged copy of `text`.
    pub fn text(&self, text: &str) -> Result<Value<'v>> {
        self.charge(text.len() + size_of::<Value>())?;
        Ok(self.arena.text(text))
    }

    /// A text value that borrows `text`.
    pub fn borrowed(&self, text: &'v str) -> Result<Value<'v>> {
        self.charge(size_of::<Value>())?;
        Ok(self.arena.borrowed_text(text))
    }

    /// A list value: a charged copy of `items`, at most as deep as the limit.
    pub fn list(&self, items: &[Value<'v>]) -> Result<Value<'v>> {
        self.charge((items.len() + 2) * size_of::<Value>())?;
        self.bounded(self.arena.list(items))
    }

    /// A map value of `entries`, at most as deep as the limit; of a key that comes twice the last value counts.
    pub fn map(&self, entries: &[(&'v str, Value<'v>)]) -> Result<Value<'v>> {
        self.charge((entries.len() + 2) * 3 * size_of::<Value>())?;
        self.bounded(self.arena.map(entries))
    }

    /// A map value of `shape`'s keys with a charged copy of `values`, one for each key, at most as deep as the limit.
    #[inline(never)]
    pub(crate) fn shaped_map(&self, shape: &'v Shape<'v>, values: &[Value<'v>]) -> Result<&'v Map<'v>> {
        self.map_of_values(shape, values.iter().copied())
    }

    /// The same of the values that `values` yields.
    #[inline(always)]
    pub(crate) fn map_of_values(
        &self,
        shape: &'v Shape<'v>,
        values: impl ExactSizeIterator<Item = Value<'v>>,
    ) -> Result<&'v Map<'v>> {
        self.charge((values.len() + 2) * 3 * size_of::<Value>())?;
        let map = self.arena.map_of_values(shape, values);
        if usize::from(map.depth()) > self.limits.value_depth { Err(self.too_deep()) } else { Ok(map) }
    }

    /// Bytes: a charged copy of `bytes`.
    pub fn bytes(&self, bytes: &[u8]) -> Result<Value<'v>> {
        self.charge(bytes.len() + size_of::<Extended>())?;
        Ok(self.arena.extended(Extended::Bytes(self.arena.bump().alloc_slice_copy(bytes))))
    }

    /// A charged value beyond the plain ones, at most as deep as the limit. What it refers to is not charged.
    pub fn extended(&self, kind: Extended<'v>) -> Result<Value<'v>> {
        self.charge(size_of::<Extended>())?;
        self.bounded(self.arena.extended(kind))
    }

    /// A charged map of `keys`, the value of each at its place in `values`, at most as deep as the limit; or which of
    /// them cannot be a key. Where all keys are text it is a plain map.
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
            return self.bounded(self.arena.map(&entries)).map(Ok);
        }
        self.bounded(self.arena.entries(entries)).map(Ok)
    }

    #[inline]
    fn bounded(&self, value: Value<'v>) -> Result<Value<'v>> {
        if usize::from(value.depth()) > self.limits.value_depth { Err(self.too_deep()) } else { Ok(value) }
    }

    #[cold]
    fn too_deep(&self) -> Box<Diagnostic> {
        Limit::ValueDepth.error(self.limits.value_depth as u64)
    }

    /// Deep equality that spends a step for each pair of values it compares.
    pub fn equal(&self, a: Value<'v>, b: Value<'v>) -> Result<bool> {
        equal(a, b, &mut || self.spend(1))
    }

    /// The compiled form of `pattern`, on a linear engine with bounded size.
    pub fn regex(&self, pattern: &str) -> Result<Arc<Regex>> {
        if pattern.len() > self.limits.regex_bytes {
            return Err(Limit::Regex.error(self.limits.regex_bytes as u64));
        }
        if let Some(regex) = self.patterns.get().and_then(|patterns| patterns.borrow().get(pattern).cloned()) {
            return Ok(regex);
        }
        self.charge(pattern.len() * 64)?;
        self.spend(search_steps(pattern, REGEX_COMPILATION))?;
        let regex = self.compiled(pattern)?;
        self.patterns.get_or_init(Rc::default).borrow_mut().insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }

    /// The compiled form of `pattern`, from the session where it has it.
    fn compiled(&self, pattern: &str) -> Result<Arc<Regex>> {
        if let Some(regex) = self.caches.compiled.borrow().get(pattern) {
            return Ok(regex.clone());
        }
        let mut builder = regex::RegexBuilder::new(pattern);
        let built = builder.size_limit(REGEX_SIZE).dfa_size_limit(REGEX_CACHE).nest_limit(50).build();
        let regex = built.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => Limit::Regex.error(REGEX_SIZE as u64),
            _ => self.fault(Code::BadArgument, format!("`{pattern}` is not a regular expression: {error}")),
        })?;
        let regex = Arc::new(regex);
        let mut compiled = self.caches.compiled.borrow_mut();
        if compiled.len() < REGEXES {
            compiled.insert(pattern.to_owned(), regex.clone());
        }
        Ok(regex)
    }

    /// The schemas of the text that a program carries of them. A step is spent for each 64 bytes of it, compiled or not:
    /// they are a part of the program.
    pub fn schemas(&self, text: &str) -> Result<Arc<Schemas>> {
        self.spend(text.len() as u64 / 64)?;
        if let Some(schemas) = self.caches.schemas.borrow().get(text) {
            return Ok(schemas.clone());
        }
        let schemas = Schemas::read(text).map(Arc::new);
        let schemas = schemas.ok_or_else(|| self.fault(Code::CorruptProgram, "a schema cannot be read"))?;
        let mut kept = self.caches.schemas.borrow_mut();
        if kept.len() < SCHEMAS {
            kept.insert(text.to_owned(), schemas.clone());
        }
        Ok(schemas)
    }

    /// An error at the instruction that runs; [`CULPRIT`] in the message becomes its source text.
    pub fn fault(&self, code: Code, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(code, message)
    }

    /// The error of a body that got another number of values than its row has parameters.
    pub fn arity(&self) -> Box<Diagnostic> {
        self.fault(Code::BadArgument, format!("{CULPRIT}: wrong number of arguments"))
    }
}
