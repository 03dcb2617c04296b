//! The names of one scope, and the slots and inputs that a name may refer to at one point of a template.
//!
//! The `set` variables of a frame have one slot each. They are collected before the frame's code is emitted, because a
//! loop may set a variable that an earlier line reads. A read tries the frames from the inside out, then (in a separate
//! chunk) the callers' names, then the top-level inputs: a slot may be unset, and a path that leads nowhere in one
//! frame is looked up further out.

use hashbrown::{HashMap, HashSet};
use smallvec::{SmallVec, smallvec};

use super::Lower;
use crate::syntax::tree::{Node, Path, Segment};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::{LoopField, Op, Scope};
use dropforge_machine::compiler::{LoopMark, PathSpec, RootSpec, SegmentSpec};

/// The scope around the frames of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    /// The top-level inputs.
    Inputs,
    /// The callers' names, then the top-level inputs.
    Callers,
    /// The top-level inputs. A dump of all names leaves them out.
    Macro,
}

/// The names of a loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoopNames<'a> {
    pub key: Option<(&'a str, u32)>,
    pub value: (&'a str, u32),
    pub mark: LoopMark,
}

/// The names of one scope.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    /// Variables set in this scope, in slot order.
    pub sets: Vec<(&'a str, u32)>,
    index: HashMap<&'a str, u32>,
    /// The loop, if the frame is one.
    pub looped: Option<LoopNames<'a>>,
}

impl<'a> Frame<'a> {
    /// Returns the frame of a loop.
    pub(crate) fn of_loop(names: LoopNames<'a>) -> Self {
        Self { looped: Some(names), ..Self::default() }
    }

    /// Adds a slot for the variable `name`.
    pub fn add(&mut self, name: &'a str, slot: u32) {
        if self.index.insert(name, slot).is_none() {
            self.sets.push((name, slot));
        }
    }

    /// Returns the slot of the variable `name`.
    pub fn slot(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }
}

/// The roots that may hold a name, in lookup order.
pub(super) type Roots<'a> = SmallVec<[RootSpec<'a>; 2]>;

/// One way to read a path: roots to try in order.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub roots: Roots<'a>,
    /// `true` if the path's steps are taken from the root.
    pub steps: bool,
}

impl<'a> Candidate<'a> {
    /// Returns the specification of the path `name` with these steps.
    pub fn spec<'p>(&'p self, name: &'p str, steps: &'p [SegmentSpec<'a>]) -> PathSpec<'p> {
        PathSpec { name, roots: &self.roots, segments: if self.steps { steps } else { &[] } }
    }
}

/// Maximum number of roots of a read, of steps of a path, and of computed steps.
const ROOTS: usize = 200;
const SEGMENTS: usize = 60_000;
const INDEXES: usize = 200;

impl<'a> Lower<'_, 'a> {
    /// Lowers `body` in `frame`, with slots for every variable set there.
    pub(super) fn frame_around(&mut self, mut frame: Frame<'a>, body: &'a [Node<'a>]) -> Result<()> {
        let first = self.add_sets(&mut frame, body);
        // The slots may still hold values from the previous iteration.
        if !self.frames.is_empty()
            && let Some((first, count)) = first
        {
            self.emitter.op(Op::ClearSlots, &[first, count]);
        }
        self.frames.push(frame);
        let result = self.body(body);
        self.frames.pop();
        result
    }

    /// Adds consecutive slots for the variables that `body` sets in its own frame. Returns the first slot and their
    /// number.
    fn add_sets(&mut self, frame: &mut Frame<'a>, body: &'a [Node<'a>]) -> Option<(u32, u32)> {
        let names = self.names_set(body, frame.looped.is_some());
        let names: Vec<_> = names.into_iter().filter(|name| frame.slot(name).is_none()).collect();
        let count = u32::try_from(names.len()).unwrap_or(0);
        let first = self.emitter.new_slots(count);
        for (name, slot) in names.into_iter().zip(first..) {
            frame.add(name, slot);
        }
        (count > 0).then_some((first, count))
    }

    /// Returns the variables that `body` may set in its own frame, in order of appearance: by `set` outside inner
    /// loops, and by `set_global` anywhere, unless the frame is a loop itself.
    fn names_set(&self, body: &'a [Node<'a>], is_loop: bool) -> Vec<&'a str> {
        if !self.templates.sets {
            return Vec::new();
        }
        let (mut names, mut known, mut blocks) = (Vec::new(), HashSet::new(), HashSet::new());
        let mut bodies: SmallVec<[_; 8]> = smallvec![(body, false, false)];
        while let Some((body, inner_loop, of_block)) = bodies.pop() {
            if of_block && !blocks.insert((body.as_ptr(), body.len(), inner_loop)) {
                continue;
            }
            for node in body {
                match node {
                    Node::Set { name, global, .. } => {
                        let here = if *global { !is_loop } else { !inner_loop };
                        if here && known.insert(name.text) {
                            names.push(name.text);
                        }
                    }
                    Node::For(one) => {
                        bodies.push((one.body, true, false));
                        bodies.extend(one.otherwise.map(|body| (body, inner_loop, false)));
                    }
                    Node::Block(block) => {
                        bodies.push((block.body, inner_loop, true));
                        bodies.extend(self.definitions(block.name.text).map(|body| (body, inner_loop, true)));
                    }
                    node => node.visit_bodies(|body| bodies.push((body, inner_loop, false))),
                }
            }
        }
        names
    }

    /// Returns every body that inheritance may substitute for the block `name` here.
    fn definitions(&self, name: &str) -> impl Iterator<Item = &'a [Node<'a>]> {
        let chain = |id: usize| std::iter::once(id).chain(self.templates.list[id].parents.iter().copied());
        let templates = chain(self.active).chain(chain(0));
        let bodies: Vec<_> =
            templates.filter_map(|id| self.templates.list[id].block(name)).map(|block| block.body).collect();
        bodies.into_iter()
    }

    /// Returns the number of loops among the frames up to `at`.
    fn loops_to(&self, at: usize) -> u32 {
        let loops = self.frames.iter().take(at).filter(|frame| frame.looped.is_some()).count();
        u32::try_from(loops).unwrap_or(u32::MAX)
    }

    /// Returns the candidates for reading `path` in the reference's lookup order. There are several only if they take
    /// different steps.
    pub(super) fn candidates(&self, path: &Path<'a>) -> SmallVec<[Candidate<'a>; 1]> {
        let field = LoopField::ALL.into_iter().find(|field| path.text == loop_path(*field));
        let whole = |roots| Candidate { roots, steps: true };
        let bare = |root| Candidate { roots: smallvec![root], steps: false };
        let mut candidates = SmallVec::new();
        match (field, self.frames.iter().rposition(|frame| frame.looped.is_some())) {
            (Some(field), Some(nearest)) => {
                let level = self.loops_to(self.frames.len()) - self.loops_to(nearest) - 1;
                candidates.extend(Some(whole(self.slots_of(path, nearest))).filter(|one| !one.roots.is_empty()));
                candidates.push(bare(RootSpec::Loop(level, field)));
            }
            (Some(_), None) if self.outside == Outside::Callers => {
                candidates.extend(Some(whole(self.slots_of(path, 0))).filter(|one| !one.roots.is_empty()));
                candidates.extend([bare(RootSpec::Callers(path.text)), whole(self.roots(path))]);
            }
            _ => candidates.push(whole(self.roots(path))),
        }
        candidates
    }

    /// Returns the roots that the first name of a path may refer to.
    pub(super) fn roots(&self, path: &Path<'a>) -> Roots<'a> {
        let mut roots = self.slots_of(path, 0);
        roots.truncate(ROOTS);
        if self.outside == Outside::Callers {
            roots.push(RootSpec::Callers(path.root.text));
        }
        roots.push(RootSpec::Global(path.root.text));
        roots
    }

    /// Returns the slots that the root of a path may refer to, in the frames from the innermost to `outermost`.
    fn slots_of(&self, path: &Path<'a>, outermost: usize) -> Roots<'a> {
        let name = path.root.text;
        let mut slots = Roots::new();
        for frame in self.frames.iter().skip(outermost).rev() {
            if let Some(slot) = frame.slot(name) {
                slots.push(RootSpec::Slot(slot));
            }
            let Some(looped) = &frame.looped else { continue };
            match looped.key {
                Some((key, slot)) if key == name && path.segments.is_empty() => slots.push(RootSpec::Slot(slot)),
                _ if looped.value.0 == name && name != "loop" => slots.push(RootSpec::Slot(looped.value.1)),
                _ => {}
            }
        }
        slots
    }

    /// Returns the steps of a path.
    pub(super) fn steps(path: &Path<'a>) -> SmallVec<[SegmentSpec<'a>; 4]> {
        let steps = path.segments.iter().filter(|step| !matches!(step, Segment::Key(name) if name.text.is_empty()));
        let mut specs = SmallVec::new();
        for step in steps.take(SEGMENTS) {
            specs.push(match step {
                Segment::Key(name) | Segment::Negative(name) => SegmentSpec::Attr(name.text, name.span),
                Segment::Lookup(path) => SegmentSpec::Index(path.span),
            });
        }
        specs
    }

    /// Returns `true` if a path is longer than the tables can hold.
    pub(super) fn too_long(path: &Path<'_>) -> bool {
        let lookups = || path.segments.iter().filter(|step| matches!(step, Segment::Lookup(_))).count();
        path.segments.len() > INDEXES && (path.segments.len() > SEGMENTS || lookups() > INDEXES)
    }

    /// Returns the scope visible to a chunk called from here: every name with its root, innermost first.
    pub(super) fn scope_for_callee(&mut self) -> u32 {
        let mut entries = Vec::new();
        for at in (0..self.frames.len()).rev() {
            let Some(frame) = self.frames.get(at) else { continue };
            entries.extend(frame.sets.iter().map(|(name, slot)| (*name, RootSpec::Slot(*slot))));
            let Some(looped) = &frame.looped else { continue };
            let names = looped.key.into_iter().chain([looped.value]);
            entries.extend(names.map(|(name, slot)| (name, RootSpec::Slot(slot))));
            let level = self.loops_to(self.frames.len()) - self.loops_to(at) - 1;
            let field = |field: LoopField| (loop_path(field), RootSpec::Loop(level, field));
            entries.extend(LoopField::ALL.map(field));
        }
        let callers = if self.outside == Outside::Callers { Scope::CALLERS } else { 0 };
        self.emitter.scope(Scope::INPUTS | callers, &entries)
    }

    /// Returns the scope shown by a dump of all names. If several frames have a name, the outermost wins, and a loop's
    /// own names win over variables set in it.
    pub(super) fn scope_for_dump(&mut self) -> u32 {
        let slot = |(name, slot): (&'a str, u32)| (name, RootSpec::Slot(slot));
        let of_frame = |frame: &Frame<'a>| {
            let looped = frame.looped.as_ref().map(|looped| looped.key.into_iter().chain([looped.value]));
            looped.into_iter().flatten().chain(frame.sets.iter().copied()).map(slot).collect::<Vec<_>>()
        };
        let entries: Vec<_> = self.frames.iter().flat_map(of_frame).collect();
        let flags = match self.outside {
            Outside::Inputs => Scope::INPUTS,
            Outside::Callers => Scope::INPUTS | Scope::CALLERS,
            Outside::Macro => 0,
        };
        self.emitter.scope(flags, &entries)
    }
}

/// Returns the path that templates use to read a property of a loop.
fn loop_path(field: LoopField) -> &'static str {
    match field {
        LoopField::Index => "loop.index",
        LoopField::Index0 => "loop.index0",
        LoopField::First => "loop.first",
        LoopField::Last => "loop.last",
    }
}
