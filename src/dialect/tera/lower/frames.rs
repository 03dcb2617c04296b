//! Scopes while lowering: which slots and inputs a name may mean at a place.
//!
//! A frame is a template, a macro, an include or a loop; its `set` variables have one slot each, found before
//! the frame's code is emitted because a loop may set what an earlier line reads. A read tries the frames from
//! the inside out, then (in a chunk of its own) the callers' names, then the top-level inputs: a slot may be
//! unset, and a path that does not lead on in one frame's value is looked for further out.

use hashbrown::{HashMap, HashSet};

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
        let (mut names, mut known, mut seen) = (Vec::new(), HashSet::new(), HashSet::new());
        let mut bodies = vec![(body, false)];
        while let Some((body, inner_loop)) = bodies.pop() {
            if !seen.insert((body.as_ptr(), body.len(), inner_loop)) {
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
                        bodies.push((one.body, true));
                        bodies.extend(one.otherwise.map(|body| (body, inner_loop)));
                    }
                    Node::Block(block) => {
                        bodies.push((block.body, inner_loop));
                        bodies.extend(self.definitions(block.name.text).map(|body| (body, inner_loop)));
                    }
                    node => bodies.extend(inner_bodies(node).into_iter().map(|body| (body, inner_loop))),
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

    /// Where `path` may be found, in the order in which the reference looks. More than one specification only
    /// where they take different steps.
    pub(super) fn specs(&mut self, path: &Path<'a>) -> Vec<PathSpec> {
        let segments = self.segments(path);
        let field = LoopField::ALL.into_iter().find(|field| path.text.strip_prefix("loop.") == Some(field.name()));
        let nearest = self.frames.iter().rposition(|frame| frame.turn.is_some());
        let name = path.text.to_owned();
        let spec = |roots: Vec<RootSpec>| PathSpec { name: name.clone(), roots, segments: segments.clone() };
        let bare = |root: RootSpec| PathSpec { name: name.clone(), roots: vec![root], segments: Vec::new() };
        match (field, nearest) {
            (Some(field), Some(nearest)) => {
                let level = self.loops_to(self.frames.len()) - self.loops_to(nearest) - 1;
                let set = self.slots_of(path, nearest);
                let set = (!set.is_empty()).then(|| spec(set));
                set.into_iter().chain([bare(RootSpec::Loop(level, field))]).collect()
            }
            (Some(_), None) if self.outside == Outside::Callers => {
                let mut specs = vec![bare(RootSpec::Callers(path.text.to_owned())), spec(self.roots(path))];
                let set = self.slots_of(path, 0);
                if !set.is_empty() {
                    specs.insert(0, spec(set));
                }
                specs
            }
            _ => vec![spec(self.roots(path))],
        }
    }

    fn roots(&self, path: &Path<'a>) -> Vec<RootSpec> {
        let mut roots = self.slots_of(path, 0);
        roots.truncate(ROOTS);
        if self.outside == Outside::Callers {
            roots.push(RootSpec::Callers(path.root.text.to_owned()));
        }
        roots.push(RootSpec::Global(path.root.text.to_owned()));
        roots
    }

    /// The slots that a path's root may mean in the frames from the innermost to `outermost`.
    fn slots_of(&self, path: &Path<'a>, outermost: usize) -> Vec<RootSpec> {
        let name = path.root.text;
        let mut slots = Vec::new();
        for frame in self.frames.iter().skip(outermost).rev() {
            slots.extend(frame.slot(name));
            let Some(turn) = &frame.turn else { continue };
            match turn.key {
                Some((key, slot)) if key == name && path.segments.is_empty() => slots.push(slot),
                _ if turn.value.0 == name && name != "loop" => slots.push(turn.value.1),
                _ => {}
            }
        }
        slots.into_iter().map(RootSpec::Slot).collect()
    }

    fn segments(&self, path: &Path<'a>) -> Vec<SegmentSpec> {
        let steps = path.segments.iter().filter(|step| !matches!(step, Segment::Key(name) if name.text.is_empty()));
        let spec = |step: &Segment<'a>| match step {
            Segment::Key(name) | Segment::Negative(name) => SegmentSpec::Attr(name.text.to_owned(), name.span),
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
            entries.extend(frame.sets.iter().map(|(name, slot)| ((*name).to_owned(), RootSpec::Slot(*slot))));
            let Some(turn) = &frame.turn else { continue };
            let names = turn.key.into_iter().chain([turn.value]);
            entries.extend(names.map(|(name, slot)| (name.to_owned(), RootSpec::Slot(slot))));
            let level = self.loops_to(self.frames.len()) - self.loops_to(at) - 1;
            let field = |field: LoopField| (format!("loop.{}", field.name()), RootSpec::Loop(level, field));
            entries.extend(LoopField::ALL.map(field));
        }
        let callers = if self.outside == Outside::Callers { Scope::CALLERS } else { 0 };
        self.emitter.scope(Scope::INPUTS | callers, &entries)
    }

    /// The scope that a dump of all names shows: of one name in several frames the outermost wins, and a loop's
    /// own names win over what is set in it.
    pub(super) fn scope_for_dump(&mut self) -> u32 {
        let slot = |(name, slot): (&str, u32)| (name.to_owned(), RootSpec::Slot(slot));
        let of_frame = |frame: &Frame<'a>| {
            let turn = frame.turn.as_ref().map(|turn| turn.key.into_iter().chain([turn.value]));
            let names: Vec<_> = turn.into_iter().flatten().chain(frame.sets.iter().copied()).map(slot).collect();
            names
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
