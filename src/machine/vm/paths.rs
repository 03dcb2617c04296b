//! Paths, with an inline cache at each step.

use super::access::Access;
use super::hooks::Beginning;
use super::machine::Interpreter;
use super::memory::{ABSENT, CHANGED};
use super::semantics::{Missing, Semantics};
use crate::bytecode::{
    EscapeMode, LoopField, Path, QUICK, QUICK_GLOBAL, QUICK_MOST, QUICK_ROOT, QUICK_STEPS, Root, Scope, Segment,
    looping,
};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::{Map, Value};

/// The last step that a path was followed to, and the value before it. `None` before the first step.
type Reached<'r> = Option<(usize, Value<'r>)>;

impl<'r, A: Access, S: Semantics + ?Sized> Interpreter<'r, '_, A, S> {
    /// Finds the value of the path at `at`, or undefined, popping its computed indexes. Comes after [`Interpreter::quick`].
    #[inline(never)]
    pub(super) fn find_slow(&mut self, at: u32) -> Result<Value<'r>> {
        let near = self.near(at);
        if !near.is_undefined() {
            return Ok(near);
        }
        let path = self.program.path(at);
        let found = self.find_path(&path, &mut None);
        self.top -= path.indexes as usize;
        found.map(Option::unwrap_or_default)
    }

    /// Finds the value of the path at `at`, or the language's replacement for a missing one.
    #[inline(always)]
    pub(super) fn load(&mut self, at: u32) -> Result<Value<'r>> {
        let value = self.quick(at);
        if value.is_undefined() { self.load_slow(at) } else { Ok(value) }
    }

    #[inline(never)]
    pub(super) fn load_slow(&mut self, at: u32) -> Result<Value<'r>> {
        let near = self.near(at);
        if near.is_undefined() { self.load_far(at, None) } else { Ok(near) }
    }

    /// Finds the value of the path at `at` in the general way, or the language's replacement for a missing one. With a
    /// mode, values that cannot be written count as missing.
    #[inline(never)]
    pub(super) fn load_far(&mut self, at: u32, mode: Option<EscapeMode>) -> Result<Value<'r>> {
        let path = self.program.path(at);
        let fits = |value: &Value<'r>| mode.is_none_or(|mode| self.rules.writable(*value, mode));
        let mut reached = None;
        let found = match self.find_path(&path, &mut reached)?.filter(fits) {
            Some(value) => value,
            None => self.missing(&path, reached, mode)?,
        };
        self.top -= path.indexes as usize;
        Ok(found)
    }

    /// Finds the value in the common case: the first root is a slot or an input that is set, and every step is an
    /// attribute of a map with the cached shape. Returns undefined otherwise.
    #[inline(always)]
    pub(super) fn quick(&self, at: u32) -> Value<'r> {
        let quick = A::at(self.program.paths, at as usize);
        if quick & QUICK == 0 {
            return Value::Undefined;
        }
        let base = if quick & QUICK_GLOBAL == 0 { self.base } else { 0 };
        let mut value = A::at(self.values, base + (quick & QUICK_ROOT) as usize);
        let steps = quick >> QUICK_STEPS & QUICK_MOST;
        if steps > 0 {
            let mut cache = A::at(self.program.paths, at as usize + 1) as usize;
            let end = cache + steps as usize;
            while cache < end {
                let Value::Map(map) = value else { return Value::Undefined };
                let (id, index) = A::borrow(self.caches, cache).get();
                if id != map.shape_id() {
                    return Value::Undefined;
                }
                value = A::at(map.values(), index as usize);
                cache += 1;
            }
        }
        value
    }

    /// Finds the value in cases that are nearly as common as those of [`Interpreter::quick`], which come after it: a property of
    /// a loop, maps of the second cached shape, items of lists. Returns undefined otherwise.
    #[inline(always)]
    pub(super) fn near(&self, at: u32) -> Value<'r> {
        let word = A::at(self.program.paths, at as usize);
        match looping(word) {
            Some((level, field)) => self.loop_field(self.loops.len(), level, field),
            None if word & QUICK == 0 => Value::Undefined,
            None => self.near_steps(at, word),
        }
    }

    /// Pushes the value of the path at `at` if it is a property of a loop. Returns `false` otherwise.
    #[inline(always)]
    pub(super) fn push_looping(&mut self, at: u32) -> bool {
        let Some((level, field)) = looping(A::at(self.program.paths, at as usize)) else { return false };
        let running = self.loops.len().checked_sub(level as usize + 1).and_then(|at| self.loops.get(at));
        let Some(running) = running else { return false };
        let value = running.field(field);
        self.push(value);
        true
    }

    #[inline(never)]
    fn near_steps(&self, at: u32, word: u32) -> Value<'r> {
        let base = if word & QUICK_GLOBAL == 0 { self.base } else { 0 };
        let mut value = A::at(self.values, base + (word & QUICK_ROOT) as usize);
        for (step, cache) in self.program.path(at).segments() {
            let next = match (value, step) {
                (Value::Map(map), Segment::Attr(name)) => self.cached_entry(map, name, cache).flatten(),
                (Value::List(_), Segment::Attr(name)) => self.rules.attr(&self.cx, value, self.program.str(name)),
                _ => None,
            };
            value = next.unwrap_or_default();
        }
        value
    }

    /// Returns the cached index of a step's key in the shape `id`, [`ABSENT`] if the shape is known to lack it, after the
    /// id, which may be flagged.
    #[inline]
    fn cached(&self, id: u32, cache: u32) -> Option<(u32, u32)> {
        let is_known = |entry: &(u32, u32)| entry.0 & !CHANGED == id;
        let first = self.caches.get(cache as usize)?.get();
        if is_known(&first) {
            return Some(first);
        }
        Some(self.feedback.others.get(cache as usize)?.get()).filter(is_known)
    }

    /// Returns the value under a key of a map of a cached shape, if there is one. `None` for other shapes.
    #[inline]
    fn cached_entry(&self, map: &'r Map<'r>, name: u32, cache: u32) -> Option<Option<Value<'r>>> {
        let id = map.shape_id();
        let (known, at) = self.cached(id, cache)?;
        if known == id {
            return Some(map.values().get(at as usize).copied());
        }
        Some(self.cx.entry_at(map, at, self.program.str(name)))
    }

    /// Returns a top-level input.
    fn global(&self, global: u32) -> Value<'r> {
        A::at(self.values, global as usize)
    }

    /// Finds the value of a path. If there are several roots, `reached` is the furthest step.
    #[inline]
    fn find_path(&self, path: &Path<'r>, reached: &mut Reached<'r>) -> Result<Option<Value<'r>>> {
        for root in path.roots() {
            let value = match root {
                Root::Slot(slot) => self.slot(slot),
                Root::Global(global) => self.global(global),
                Root::Loop(level, field) => self.loop_field(self.loops.len(), level, field),
                Root::Callers(name) => match self.find_in_callers(name, path)? {
                    Some(found) => return Ok(Some(found)),
                    None => continue,
                },
            };
            if !value.is_undefined()
                && let Some(found) = self.walk(value, path, reached)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    #[inline]
    fn walk(&self, root: Value<'r>, path: &Path<'r>, reached: &mut Reached<'r>) -> Result<Option<Value<'r>>> {
        let mut value = root;
        for (at, (segment, cache)) in path.segments().enumerate() {
            if reached.is_none_or(|(furthest, _)| at >= furthest) {
                *reached = Some((at, value));
            }
            match self.step(value, segment, cache, path)? {
                Some(next) => value = next,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    #[inline]
    fn step(&self, value: Value<'r>, segment: Segment, cache: u32, path: &Path<'r>) -> Result<Option<Value<'r>>> {
        match (segment, value) {
            (Segment::Attr(name), Value::Map(map)) => match self.cached_get(map, name, cache) {
                Some(found) => Ok(Some(found)),
                None => Ok(self.rules.attr(&self.cx, value, self.program.str(name))),
            },
            (Segment::Attr(name), _) => Ok(self.rules.attr(&self.cx, value, self.program.str(name))),
            (Segment::Index(nth), _) => self.rules.index(&self.cx, value, self.computed_index(nth, path)),
        }
    }

    fn computed_index(&self, nth: u32, path: &Path<'r>) -> Value<'r> {
        self.topmost(path.indexes as usize).get(nth as usize).copied().unwrap_or_default()
    }

    /// Looks up a key of a map through the inline cache, which also knows shapes without the key.
    #[inline]
    fn cached_get(&self, map: &'r Map<'r>, name: u32, cache: u32) -> Option<Value<'r>> {
        if let Some(known) = self.cached_entry(map, name, cache) {
            return known;
        }
        let (first, second) = (self.caches.get(cache as usize)?, self.feedback.others.get(cache as usize)?);
        let key = self.program.str(name);
        let at = map.shape().find(key).and_then(|at| u32::try_from(at).ok()).unwrap_or(ABSENT);
        let id = match map.shape_id() {
            id if self.cx.has_changed_shape(id) || self.feedback.is_flagged(id) => id | CHANGED,
            id => id,
        };
        match at {
            _ if id == 0 => {}
            ABSENT => second.set((id, ABSENT)),
            at => second.set(first.replace((id, at))),
        }
        self.cx.entry_at(map, at, key)
    }

    /// Returns a property of a loop. Level 0 is the innermost of the first `open` loops.
    #[inline]
    fn loop_field(&self, open: usize, level: u32, field: LoopField) -> Value<'r> {
        let at = open.checked_sub(level as usize + 1);
        at.and_then(|at| self.loops.get(at)).map_or(Value::Undefined, |running| running.field(field))
    }

    /// Finds the value of a path that begins with `name` in the nearest caller's scope that has it.
    #[cold]
    fn find_in_callers(&self, name: u32, path: &Path<'r>) -> Result<Option<Value<'r>>> {
        for (at, scope) in self.scopes_of_callers() {
            for (entry, root) in scope.entries() {
                if entry == name
                    && let value = self.root_in(root, at)
                    && !value.is_undefined()
                    && let Some(found) = self.walk(value, path, &mut None)?
                {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Returns the scopes of the callers that the running code sees, the nearest first, each with the index of the frame
    /// that it was given to.
    fn scopes_of_callers(&self) -> impl Iterator<Item = (usize, Scope<'r>)> {
        let mut seen = true;
        let frames = (0..self.frames.len()).rev().map(|at| (at, self.scope_of_caller(at)));
        frames.take_while(move |(_, scope)| std::mem::replace(&mut seen, scope.sees_callers()))
    }

    fn scope_of_caller(&self, frame: usize) -> Scope<'r> {
        self.program.scope(self.frames.get(frame).map_or(0, |frame| frame.scope))
    }

    /// Returns the value of a root in the frame that called `frame`; the running one is `self.frames.len()` deep.
    fn root_in(&self, root: Root, frame: usize) -> Value<'r> {
        match (root, self.beginning_in(root, frame)) {
            (_, Some(Beginning::Value(at))) => self.values.get(at).copied().unwrap_or_default(),
            (Root::Loop(_, field), Some(Beginning::Loop(at))) => {
                self.loops.get(at).map_or(Value::Undefined, |running| running.field(field))
            }
            _ => Value::Undefined,
        }
    }

    /// Returns what a root stands for in the frame that called `frame`. Names of callers are not looked up.
    fn beginning_in(&self, root: Root, frame: usize) -> Option<Beginning> {
        let open = self.frames.get(frame).map_or(self.loops.len(), |frame| frame.loops);
        let base = frame.checked_sub(1).and_then(|at| self.frames.get(at)).map_or(0, |frame| frame.slots);
        match root {
            Root::Slot(slot) => Some(Beginning::Value(base + slot as usize)),
            Root::Global(global) => Some(Beginning::Value(global as usize)),
            Root::Loop(level, _) => open.checked_sub(level as usize + 1).map(Beginning::Loop),
            Root::Callers(_) => None,
        }
    }

    /// Returns the value that a path begins with: the first of its roots that is set.
    #[cold]
    pub(super) fn beginning(&self, path: &Path<'r>) -> Option<Beginning> {
        let running = self.frames.len();
        path.roots().find_map(|root| match root {
            Root::Callers(name) => self.scopes_of_callers().find_map(|(at, scope)| {
                let mut entries = scope.entries().filter(|(entry, _)| *entry == name);
                entries
                    .find(|(_, root)| !self.root_in(*root, at).is_undefined())
                    .and_then(|(_, root)| self.beginning_in(root, at))
            }),
            root if self.root_in(root, running).is_undefined() => None,
            root => self.beginning_in(root, running),
        })
    }

    /// Builds a map of all names visible in the scope at `at`: the entries that are set, then those of the callers, then
    /// the inputs.
    #[cold]
    pub(super) fn visible(&self, at: u32) -> Result<Value<'r>> {
        let mut names: indexmap::IndexMap<&'r str, Value<'r>> = indexmap::IndexMap::new();
        let mut scope = self.program.scope(at);
        let mut frame = self.frames.len();
        loop {
            for (name, root) in scope.entries() {
                let value = self.root_in(root, frame);
                if !value.is_undefined() {
                    names.entry(self.program.str(name)).or_insert(value);
                }
            }
            match frame.checked_sub(1) {
                Some(caller) if scope.sees_callers() => (frame, scope) = (caller, self.scope_of_caller(caller)),
                _ => break,
            }
        }
        if scope.sees_inputs() {
            for (name, value) in self.cx.inputs().iter() {
                names.entry(name).or_insert(value);
            }
        }
        self.cx.map(&names.into_iter().collect::<Vec<_>>())
    }

    /// Asks the language for the value of a missing path, which was followed to the step that it has `reached`.
    #[cold]
    fn missing(&mut self, path: &Path<'r>, reached: Reached<'r>, mode: Option<EscapeMode>) -> Result<Value<'r>> {
        if self.rules.forgets() && self.is_absorbed() {
            return Err(Diagnostic::new(Code::UndefinedVariable, String::new()));
        }
        let whole = self.program.str(path.name);
        let (deepest, parent) = reached.unzip();
        let failed = deepest.and_then(|deepest| path.segments().nth(deepest));
        let (name, index) = match failed {
            Some((Segment::Attr(name), _)) => (self.program.str(name), None),
            Some((Segment::Index(nth), _)) => (whole, Some(self.computed_index(nth, path))),
            None => (whole.split(['.', '[']).next().unwrap_or(whole), None),
        };
        let step = deepest.and_then(|deepest| u32::try_from(deepest).ok());
        let value = self.rules.missing(&self.cx, &Missing { step, path: whole, name, parent, index, mode });
        value.map_err(|error| match deepest {
            Some(deepest) => self.placed_in_part(error, deepest),
            None => error,
        })
    }
}

// Inline caches know maps by their shapes. When the first map of a shape is changed, the caches flag the shape. Reads of
// its maps look for changes from then on. So programs that change nothing pay nothing.

impl<A: Access, S: Semantics + ?Sized> Interpreter<'_, '_, A, S> {
    /// Makes the inline caches flag the shapes whose maps were changed since the last call.
    #[inline(never)]
    pub(super) fn flag_changed(&mut self) -> Result<()> {
        let shapes = self.cx.changed_shapes(self.flagged);
        if shapes.is_empty() {
            return Ok(());
        }
        self.flagged += shapes.len();
        let others = self.units.iter().flat_map(|units| units.feedbacks());
        for feedback in others.chain([self.feedback]) {
            // Whatever earlier runs have flagged.
            self.cx.spend(feedback.caches.len() as u64 / 4)?;
            feedback.flag(&shapes);
        }
        Ok(())
    }
}
