//! Scopes while lowering: which slots and inputs a name may mean at a place.
//!
//! A frame is a template, a macro, an include or a loop; its `set` variables have one slot each, found before
//! the frame's code is emitted because a loop may set what an earlier line reads. A read tries the frames from
//! the inside out, then (in a chunk of its own) the callers' names, then the top-level inputs: a slot may be
//! unset, and a path that does not lead on in one frame's value is looked for further out.

use hashbrown::{HashMap, HashSet};
use smallvec::{SmallVec, smallvec};

use super::Lower;
use crate::bytecode::{LoopField, Op, Scope};
use crate::compiler::{LoopMark, PathSpec, RootSpec, SegmentSpec};
use crate::diagnostics::Result;
use crate::dialect::tera::ast::{Node, Path, Segment};
use crate::dialect::tera::templates::inner_bodies;

/// What lies outside the frames of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outside {
    /// The top-level inputs.
    Inputs,
    /// The callers' names, then the top-level inputs.
    Callers,
    /// The top-level inputs, which a dump of all names leaves out.
    Macro,
}

/// A loop's part of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn<'a> {
    pub key: Option<(&'a str, u32)>,
    pub value: (&'a str, u32),
    pub mark: LoopMark,
}

/// The names of one scope.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    /// Variables that are set here, in the order of their slots.
    pub sets: Vec<(&'a str, u32)>,
    index: HashMap<&'a str, u32>,
    /// The loop, where the frame is one.
    pub turn: Option<Turn<'a>>,
}

impl<'a> Frame<'a> {
    /// The frame of a loop.
    pub fn of_loop(turn: Turn<'a>) -> Self {
        Self { turn: Some(turn), ..Self::default() }
    }

    /// A slot for the variable `name`.
    pub fn add(&mut self, name: &'a str, slot: u32) {
        if self.index.insert(name, slot).is_none() {
            self.sets.push((name, slot));
        }
    }

    /// The slot of the variable `name`.
    pub fn slot(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }
}

/// Where a name may be found.
pub(super) type Roots<'a> = SmallVec<[RootSpec<'a>; 2]>;

/// One place where a path may be found: roots that are tried in order, and whether its steps are taken from there.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub roots: Roots<'a>,
    pub steps: bool,
}

impl<'a> Place<'a> {
    /// The specification of the path `name` with these steps, read from here.
    pub fn spec<'p>(&'p self, name: &'p str, steps: &'p [SegmentSpec<'a>]) -> PathSpec<'p> {
        PathSpec { name, roots: &self.roots, segments: if self.steps { steps } else { &[] } }
    }
}

/// How templates write a fact about a loop.
fn loop_path(field: LoopField) -> &'static str {
    match field {
        LoopField::Index => "loop.index",
        LoopField::Index0 => "loop.index0",
        LoopField::First => "loop.first",
        LoopField::Last => "loop.last",
    }
}

/// The most places a read looks in, and the most steps of one path.
const ROOTS: usize = 200;
const SEGMENTS: usize = 60_000;
const INDEXES: usize = 200;

impl<'a> Lower<'_, 'a> {
    /// Lowers `body` in `frame` with slots for everything that is set there.
    pub(super) fn frame_around(&mut self, mut frame: Frame<'a>, body: &'a [Node<'a>]) -> Result<()> {
        let first = self.add_sets(&mut frame, body);
        // The slots may hold what they were set to when the code was last run through.
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

    /// Slots in a row for the variables that `body` sets in its own frame and the frame does not have: the
    /// first and how many.
    fn add_sets(&mut self, frame: &mut Frame<'a>, body: &'a [Node<'a>]) -> Option<(u32, u32)> {
        let names = self.names_set(body, frame.turn.is_some());
        let names: Vec<_> = names.into_iter().filter(|name| frame.slot(name).is_none()).collect();
        let count = u32::try_from(names.len()).unwrap_or(0);
        let first = self.emitter.new_slots(count);
        for (name, slot) in names.into_iter().zip(first..) {
            frame.add(name, slot);
        }
        (count > 0).then_some((first, count))
    }

    /// The variables that `body` may set in its own frame, in order of appearance: by `set` outside of inner
    /// loops, and by `set_global` anywhere unless the frame is a loop itself.
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
                    node => inner_bodies(node, |body| bodies.push((body, inner_loop, false))),
                }
            }
        }
        names
    }

    /// Every body that inheritance may put in the place of the block `name` here.
    fn definitions(&self, name: &str) -> impl Iterator<Item = &'a [Node<'a>]> {
        let chain = |id: usize| std::iter::once(id).chain(self.templates.list[id].parents.iter().copied());
        let templates = chain(self.active).chain(chain(0));
        let bodies: Vec<_> =
            templates.filter_map(|id| self.templates.list[id].block(name)).map(|block| block.body).collect();
        bodies.into_iter()
    }

    /// How many loops of this chunk are open, of the frames up to `at`.
    fn loops_to(&self, at: usize) -> u32 {
        let loops = self.frames.iter().take(at).filter(|frame| frame.turn.is_some()).count();
        u32::try_from(loops).unwrap_or(u32::MAX)
    }

    /// Where `path` may be found, in the order in which the reference looks. More than one place only where they
    /// take different steps.
    pub(super) fn places(&self, path: &Path<'a>) -> SmallVec<[Place<'a>; 1]> {
        let field = LoopField::ALL.into_iter().find(|field| path.text == loop_path(*field));
        let whole = |roots| Place { roots, steps: true };
        let bare = |root| Place { roots: smallvec![root], steps: false };
        let mut places = SmallVec::new();
        match (field, self.frames.iter().rposition(|frame| frame.turn.is_some())) {
            (Some(field), Some(nearest)) => {
                let level = self.loops_to(self.frames.len()) - self.loops_to(nearest) - 1;
                places.extend(Some(whole(self.slots_of(path, nearest))).filter(|place| !place.roots.is_empty()));
                places.push(bare(RootSpec::Loop(level, field)));
            }
            (Some(_), None) if self.outside == Outside::Callers => {
                places.extend(Some(whole(self.slots_of(path, 0))).filter(|place| !place.roots.is_empty()));
                places.extend([bare(RootSpec::Callers(path.text)), whole(self.roots(path))]);
            }
            _ => places.push(whole(self.roots(path))),
        }
        places
    }

    pub(super) fn roots(&self, path: &Path<'a>) -> Roots<'a> {
        let mut roots = self.slots_of(path, 0);
        roots.truncate(ROOTS);
        if self.outside == Outside::Callers {
            roots.push(RootSpec::Callers(path.root.text));
        }
        roots.push(RootSpec::Global(path.root.text));
        roots
    }

    /// The slots that a path's root may mean in the frames from the innermost to `outermost`.
    fn slots_of(&self, path: &Path<'a>, outermost: usize) -> Roots<'a> {
        let name = path.root.text;
        let mut slots = Roots::new();
        for frame in self.frames.iter().skip(outermost).rev() {
            if let Some(slot) = frame.slot(name) {
                slots.push(RootSpec::Slot(slot));
            }
            let Some(turn) = &frame.turn else { continue };
            match turn.key {
                Some((key, slot)) if key == name && path.segments.is_empty() => slots.push(RootSpec::Slot(slot)),
                _ if turn.value.0 == name && name != "loop" => slots.push(RootSpec::Slot(turn.value.1)),
                _ => {}
            }
        }
        slots
    }

    /// The steps of a path.
    pub(super) fn steps(path: &Path<'a>) -> SmallVec<[SegmentSpec<'a>; 4]> {
        let steps = path.segments.iter().filter(|step| !matches!(step, Segment::Key(name) if name.text.is_empty()));
        let spec = |step: &Segment<'a>| match step {
            Segment::Key(name) | Segment::Negative(name) => SegmentSpec::Attr(name.text, name.span),
            Segment::Lookup(path) => SegmentSpec::Index(path.span),
        };
        steps.take(SEGMENTS).map(spec).collect()
    }

    /// Whether a path is longer than the tables can hold.
    pub(super) fn too_long(path: &Path<'_>) -> bool {
        let lookups = path.segments.iter().filter(|step| matches!(step, Segment::Lookup(_))).count();
        path.segments.len() > SEGMENTS || lookups > INDEXES
    }

    /// The scope that a chunk called from here sees: every name with its place, the innermost first.
    pub(super) fn scope_for_callee(&mut self) -> u32 {
        let mut entries = Vec::new();
        for at in (0..self.frames.len()).rev() {
            let Some(frame) = self.frames.get(at) else { continue };
            entries.extend(frame.sets.iter().map(|(name, slot)| (*name, RootSpec::Slot(*slot))));
            let Some(turn) = &frame.turn else { continue };
            let names = turn.key.into_iter().chain([turn.value]);
            entries.extend(names.map(|(name, slot)| (name, RootSpec::Slot(slot))));
            let level = self.loops_to(self.frames.len()) - self.loops_to(at) - 1;
            let field = |field: LoopField| (loop_path(field), RootSpec::Loop(level, field));
            entries.extend(LoopField::ALL.map(field));
        }
        let callers = if self.outside == Outside::Callers { Scope::CALLERS } else { 0 };
        self.emitter.scope(Scope::INPUTS | callers, &entries)
    }

    /// The scope that a dump of all names shows: of one name in several frames the outermost wins, and a loop's
    /// own names win over what is set in it.
    pub(super) fn scope_for_dump(&mut self) -> u32 {
        let slot = |(name, slot): (&'a str, u32)| (name, RootSpec::Slot(slot));
        let of_frame = |frame: &Frame<'a>| {
            let turn = frame.turn.as_ref().map(|turn| turn.key.into_iter().chain([turn.value]));
            turn.into_iter().flatten().chain(frame.sets.iter().copied()).map(slot).collect::<Vec<_>>()
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
