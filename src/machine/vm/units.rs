//! The programs of one run: the entry program, and those that are made at render time.
//!
//! Each has values of its own: inputs, memos, and the slots and stacks of its frames. The machine holds the state of the
//! running one; the others are suspended here. A program runs frames above its suspended ones, so its values are one stack
//! however the programs call each other.

use hashbrown::HashMap;

use super::access::Access;
use super::machine::Interpreter;
use super::made::KeptProgram;
use super::memory::Feedback;
use super::semantics::Semantics;
use crate::bytecode::CodeView;
use crate::function::Linked;
use dropforge_value::{Shape, Text, Value};

/// The number of call sites whose last names are known.
const SITES: usize = 64;

/// The programs of a run.
#[derive(Default)]
pub(super) struct Units<'r, 'o> {
    /// The programs, the entry program first.
    units: Vec<RunningProgram<'r, 'o>>,
    /// Made programs by the visible names and their text. `None` for a text that is output as it is.
    pub made: HashMap<(u32, &'r str), Option<CallTarget>>,
    /// The program whose names the running code sees first.
    pub visible: u32,
    /// The running calls by name, outermost first.
    pub calls: Vec<Called>,
    /// The names that were called, with the number of their running calls.
    counts: Vec<usize>,
    names: HashMap<&'r str, u32>,
    /// The last names of call sites.
    sites: Vec<Option<Site<'r>>>,
    /// The latest program that was kept for this run.
    pub last: Option<&'r KeptProgram>,
}

/// A program of the run.
struct RunningProgram<'r, 'o> {
    program: CodeView<'r>,
    /// The program whose names it sees after its own.
    around: Option<u32>,
    /// `None` while it runs.
    state: Option<Suspended<'r, 'o>>,
}

/// The machine's state of a program that does not run.
pub(super) struct Suspended<'r, 'o> {
    pub linked: &'r Linked,
    pub feedback: &'o Feedback,
    pub texts: &'r [Text<'r>],
    pub shapes: &'r [Option<Shape<'r>>],
    pub values: &'r mut [Value<'r>],
    pub top: usize,
}

/// A chunk to call.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallTarget {
    /// The program.
    pub unit: u32,
    /// The chunk.
    pub chunk: u32,
    /// The index of its name. `None` for a made template.
    pub name: Option<u32>,
}

/// A running call by name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called {
    /// The index of the name. `None` for a made template.
    pub name: Option<u32>,
    /// The caller's program.
    pub back: u32,
    /// The program whose names the caller sees first.
    pub visible: u32,
}

/// The last name that a call site called.
#[derive(Debug, Clone, Copy)]
struct Site<'r> {
    at: usize,
    unit: u32,
    visible: u32,
    name: &'r str,
    target: CallTarget,
}

impl<'r, 'o> Units<'r, 'o> {
    /// Returns the programs of a run that has only the entry program.
    fn of(program: CodeView<'r>) -> Box<Self> {
        let units = vec![RunningProgram { program, around: None, state: None }];
        Box::new(Self { units, sites: vec![None; SITES], ..Self::default() })
    }

    /// Adds a program. It sees the names of the visible ones after its own.
    pub fn add(&mut self, program: CodeView<'r>, state: Suspended<'r, 'o>) -> u32 {
        self.units.push(RunningProgram { program, around: Some(self.visible), state: Some(state) });
        u32::try_from(self.units.len() - 1).unwrap_or(u32::MAX)
    }

    /// Returns the program whose names the code of a made program sees first: its own, or the one around it if it has no
    /// names. So templates that are made in it are those that are made around it.
    pub(crate) fn first_visible(&self, unit: u32) -> u32 {
        match self.units.get(unit as usize) {
            Some(RunningProgram { program, around: Some(around), .. }) if program.named_chunks().len() == 0 => *around,
            _ => unit,
        }
    }

    /// Returns a program.
    pub fn program(&self, unit: u32) -> Option<CodeView<'r>> {
        self.units.get(unit as usize).map(|unit| unit.program)
    }

    /// Returns all programs.
    pub fn programs(&self) -> impl Iterator<Item = CodeView<'r>> {
        self.units.iter().map(|unit| unit.program)
    }

    /// Returns the observations of the programs that do not run.
    pub(crate) fn feedbacks(&self) -> impl Iterator<Item = &'o Feedback> {
        self.units.iter().filter_map(|unit| unit.state.as_ref()).map(|state| state.feedback)
    }

    /// Returns the visible programs, the nearest first.
    pub fn visible(&self) -> impl Iterator<Item = (u32, CodeView<'r>)> {
        let of = |unit: u32| Some((unit, self.units.get(unit as usize)?));
        let around = move |(_, at): &(u32, &RunningProgram<'r, 'o>)| at.around.and_then(of);
        std::iter::successors(of(self.visible), around).map(|(unit, of)| (unit, of.program))
    }

    /// Finds the chunk that the call site at word `at` of the program `unit` calls as `name`.
    pub fn target(&mut self, at: usize, unit: u32, name: &'r str) -> Option<CallTarget> {
        let (visible, place) = (self.visible, at % SITES);
        if let Some(Some(site)) = self.sites.get(place)
            && (site.at, site.unit, site.visible) == (at, unit, visible)
            && (std::ptr::eq(site.name, name) || site.name == name)
        {
            return Some(site.target);
        }
        let found = self.visible().find_map(|(unit, program)| Some((unit, program.named_chunk(name)?)));
        let (of, chunk) = found?;
        let target = CallTarget { unit: of, chunk, name: Some(self.name(name)) };
        if let Some(site) = self.sites.get_mut(place) {
            *site = Some(Site { at, unit, visible, name, target });
        }
        Some(target)
    }

    /// Returns the index of a name that is called.
    fn name(&mut self, name: &'r str) -> u32 {
        let fresh = u32::try_from(self.counts.len()).unwrap_or(u32::MAX);
        let id = *self.names.entry(name).or_insert(fresh);
        if id == fresh {
            self.counts.push(0);
        }
        id
    }

    /// Returns the number of running calls of a name.
    pub fn count(&self, name: Option<u32>) -> usize {
        name.and_then(|name| self.counts.get(name as usize)).copied().unwrap_or(0)
    }

    /// Begins a call.
    fn begin(&mut self, call: Called, visible: u32) {
        self.calls.push(call);
        self.visible = visible;
        if let Some(count) = call.name.and_then(|name| self.counts.get_mut(name as usize)) {
            *count += 1;
        }
    }

    /// Ends the latest call. Returns the caller's program.
    fn end(&mut self) -> Option<u32> {
        let call = self.calls.pop()?;
        self.visible = call.visible;
        if let Some(count) = call.name.and_then(|name| self.counts.get_mut(name as usize)) {
            *count = count.saturating_sub(1);
        }
        Some(call.back)
    }
}

impl<'r, 'o, A: Access, S: Semantics + ?Sized> Interpreter<'r, 'o, A, S> {
    /// Returns the programs of the run.
    pub(super) fn units(&mut self) -> &mut Units<'r, 'o> {
        let program = self.program;
        self.units.get_or_insert_with(|| Units::of(program))
    }

    /// Returns a program of the run.
    pub(super) fn program_of(&self, unit: u32) -> CodeView<'r> {
        self.units.as_ref().and_then(|units| units.program(unit)).unwrap_or(self.program)
    }

    /// Begins a call of a chunk of the program `unit`, which sees the names of `visible` first.
    pub(super) fn begin_call(&mut self, CallTarget { unit, name, .. }: CallTarget, visible: u32) {
        let back = self.unit;
        let units = self.units();
        let was = units.visible;
        units.begin(Called { name, back, visible: was }, visible);
        self.named += 1;
        self.switch(unit);
    }

    /// Ends the latest call by name.
    #[inline(never)]
    pub(super) fn end_call(&mut self) {
        let back = self.units.as_mut().and_then(|units| units.end());
        self.named = self.named.saturating_sub(1);
        if let Some(back) = back {
            self.switch(back);
        }
    }

    /// Continues in another program.
    fn switch(&mut self, to: u32) {
        if to == self.unit {
            return;
        }
        let Some(units) = &mut self.units else { return };
        let Some(unit) = units.units.get_mut(to as usize) else { return };
        let (program, Some(next)) = (unit.program, unit.state.take()) else { return };
        let last = Suspended {
            linked: std::mem::replace(&mut self.linked, next.linked),
            feedback: std::mem::replace(&mut self.feedback, next.feedback),
            texts: std::mem::replace(&mut self.texts, next.texts),
            shapes: std::mem::replace(&mut self.shapes, next.shapes),
            values: std::mem::replace(&mut self.values, next.values),
            top: std::mem::replace(&mut self.top, next.top),
        };
        (self.program, self.caches) = (program, &self.feedback.caches);
        let from = std::mem::replace(&mut self.unit, to);
        if let Some(unit) = units.units.get_mut(from as usize) {
            unit.state = Some(last);
        }
    }
}
