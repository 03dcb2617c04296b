//! Templates made at render time: a text becomes a program, which runs in frames of the same machine.
//!
//! A made program must outlive every value of the run, because values borrow its constants. A space therefore keeps the
//! programs of its runs in a list that only grows, until it is reset together with its arena. Besides, it caches
//! programs by their text for later runs.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::{Equivalent, HashMap};

use super::access::Access;
use super::machine::Interpreter;
use super::memory::{Memory, ProgramState};
use super::semantics::Semantics;
use super::units::{CallTarget, Suspended};
use crate::function::{Link, Made, MakerBody, Making, Registry, Request};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_value::Value;

/// Steps charged for compiling a text, and for each of its bytes. The cost does not depend on what is cached.
const COMPILE: u64 = 256;
const COMPILE_BYTE: u64 = 8;

/// Maximum number of cached programs, and of their bytes.
const PROGRAMS: usize = 4096;
const BYTES: usize = 16 << 20;

/// The made programs of a space.
#[derive(Debug, Default)]
pub(super) struct MadePrograms {
    cache: RefCell<ProgramCache>,
    /// The programs of the runs since the last reset.
    first: OnceCell<Box<KeptProgram>>,
}

/// A program that runs may borrow from.
#[derive(Debug)]
pub(super) struct KeptProgram {
    made: Arc<Made>,
    state: Option<Box<ProgramState>>,
    next: OnceCell<Box<KeptProgram>>,
}

impl MadePrograms {
    /// Keeps a program until the next reset. `last` is the one kept before, if it is known.
    fn keep<'r>(&'r self, last: Option<&'r KeptProgram>, made: Arc<Made>, state: Box<ProgramState>) -> &'r KeptProgram {
        let mut place = last.map_or(&self.first, |kept| &kept.next);
        while let Some(next) = place.get() {
            place = &next.next;
        }
        place.get_or_init(|| Box::new(KeptProgram { made, state: Some(state), next: OnceCell::new() }))
    }

    /// Drops the programs that were kept, and returns their states to `memory`.
    pub fn release(&mut self, memory: &Memory) {
        while let Some(mut kept) = self.first.take() {
            if let Some(state) = kept.state.take() {
                memory.put(state);
            }
            self.first = std::mem::take(&mut kept.next);
        }
    }
}

impl Drop for MadePrograms {
    fn drop(&mut self) {
        // One after another: a long list must not be dropped recursively.
        while let Some(mut kept) = self.first.take() {
            self.first = std::mem::take(&mut kept.next);
        }
    }
}

/// The key of a cached program: the id of the program whose names it sees first, and its text.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TextKey(u64, Box<str>);

/// A borrowed [`TextKey`].
#[derive(Hash)]
struct Sought<'k>(u64, &'k str);

impl Equivalent<Arc<TextKey>> for Sought<'_> {
    fn equivalent(&self, key: &Arc<TextKey>) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

/// Programs by their text. The least recently used are dropped first.
#[derive(Debug, Default)]
struct ProgramCache {
    entries: HashMap<Arc<TextKey>, CachedProgram>,
    /// The keys by their last use.
    uses: BTreeMap<u64, Arc<TextKey>>,
    next: u64,
    bytes: usize,
}

#[derive(Debug)]
struct CachedProgram {
    made: Arc<Made>,
    /// The functions and limits that it was compiled with.
    registry: Registry,
    limits: Limits,
    used: u64,
    bytes: usize,
}

impl ProgramCache {
    /// Returns the program of a text.
    fn get(&mut self, request: &Request<'_>, parent: u64) -> Option<Arc<Made>> {
        let entry = self.entries.get_mut(&Sought(parent, request.text))?;
        if !entry.registry.is(request.registry) || entry.limits != *request.limits {
            return None;
        }
        if let Some(key) = self.uses.remove(&entry.used) {
            (entry.used, self.next) = (self.next, self.next + 1);
            self.uses.insert(entry.used, key);
        }
        Some(entry.made.clone())
    }

    /// Adds the program of a text.
    fn put(&mut self, request: &Request<'_>, parent: u64, made: &Arc<Made>) {
        let bytes = size_of::<CachedProgram>() + request.text.len() + cost(made);
        if bytes > BYTES {
            return;
        }
        let (key, used) = (Arc::new(TextKey(parent, request.text.into())), self.next);
        self.remove(&key);
        while self.entries.len() >= PROGRAMS || self.bytes + bytes > BYTES {
            let Some((_, oldest)) = self.uses.pop_first() else { break };
            self.remove(&oldest);
        }
        let (made, registry, limits) = (made.clone(), request.registry.clone(), request.limits.clone());
        self.uses.insert(used, key.clone());
        self.entries.insert(key, CachedProgram { made, registry, limits, used, bytes });
        (self.next, self.bytes) = (used + 1, self.bytes + bytes);
    }

    fn remove(&mut self, key: &TextKey) {
        if let Some(entry) = self.entries.remove(&Sought(key.0, &key.1)) {
            self.uses.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

/// Returns the bytes of a made program, with what a run keeps for it.
fn cost(made: &Made) -> usize {
    let caches = 2 * made.program.start().caches * size_of::<super::memory::Cache>();
    size_of::<KeptProgram>()
        + size_of::<ProgramState>()
        + made.program.bytes()
        + caches
        + made.linked.len() * size_of::<Link>()
}

impl<'r, A: Access, S: Semantics + ?Sized> Interpreter<'r, '_, A, S> {
    /// Compiles the lowest of the top `count` values and enters its program with the others as arguments, or writes it as
    /// it is. Returns the word to continue at.
    #[inline(never)]
    pub(super) fn call_made(&mut self, count: u32, import: u32, back: usize) -> Result<usize> {
        let Some(text) = self.topmost(count as usize).first().copied() else { return Err(self.corrupt()) };
        let maker = self.linked.get(import as usize).and_then(Link::maker);
        let Some((body, registry)) = maker else { return Err(self.corrupt()) };
        let Some(text) = text.as_str() else { return Err(self.rules.no_text(&self.cx, text)) };
        match self.made(text, body, registry)? {
            Some(target) => {
                let visible = self.units().first_visible(target.unit);
                self.enter_named(target, visible, count - 1, back)
            }
            None => {
                self.top -= count as usize;
                self.out.push(text)?;
                Ok(back)
            }
        }
    }

    /// Returns the chunk of a text. `None` if the text is output as it is.
    fn made(&mut self, text: &'r str, body: MakerBody, registry: &Registry) -> Result<Option<CallTarget>> {
        self.cx.spend(text.len() as u64 / 64)?;
        let visible = self.units().visible;
        if let Some(known) = self.units().made.get(&(visible, text)) {
            return Ok(*known);
        }
        self.cx.spend(COMPILE + COMPILE_BYTE.saturating_mul(text.len() as u64))?;
        let programs: Vec<_> = self.units().visible().map(|(_, program)| program).collect();
        let programs: Vec<_> = programs.iter().map(|program| &**program).collect();
        let request = Request { text, registry, limits: self.cx.limits(), visible: &programs };
        let target = match self.compiled(&request, body)? {
            Some(made) => Some(self.added(made)?),
            None => None,
        };
        self.units().made.insert((visible, text), target);
        Ok(target)
    }

    /// Returns the program of a text, from the cache if it is known. `None` if the text is output as it is.
    fn compiled(&self, request: &Request<'_>, body: MakerBody) -> Result<Option<Arc<Made>>> {
        let (cache, parent) = (&self.space.made.cache, request.visible.first().map_or(0, |program| program.id()));
        if let Some(made) = cache.borrow_mut().get(request, parent) {
            return Ok(Some(made));
        }
        let made = match body(request)? {
            Making::AsItIs => return Ok(None),
            Making::Made(made) => Arc::new(made),
        };
        cache.borrow_mut().put(request, parent, &made);
        Ok(Some(made))
    }

    /// Adds a program to the run. Returns its chunk.
    fn added(&mut self, made: Arc<Made>) -> Result<CallTarget> {
        let (program, space) = (&made.program, self.space);
        let fixed = program.start().fixed;
        self.cx.charge(cost(&made) + fixed * size_of::<Value<'_>>())?;
        let values = space.arena.bump().alloc_slice_fill_copy(fixed, Value::Undefined);
        let mut state = space.memory.take(program);
        state.bound.bind(&space.memory.bindings, program, self.cx.inputs(), values);
        state.feedback.flag(&self.cx.changed_shapes(0));
        let chunk = made.chunk;
        let last = self.units().last;
        let kept = space.made.keep(last, made, state);
        let (code, Some(state)) = (kept.made.program.code(), &kept.state) else { return Err(self.corrupt()) };
        let state = Suspended {
            linked: &kept.made.linked,
            feedback: &state.feedback,
            texts: code.known_texts(),
            shapes: &[],
            values,
            top: fixed,
        };
        let units = self.units();
        units.last = Some(kept);
        Ok(CallTarget { unit: units.add(code, state), chunk, name: None })
    }
}
