//! What instructions run within: calls, iterations of loops and outcomes of branches.

use std::rc::Rc;

use hashbrown::HashMap;

use super::Recording;
use super::event::{Edge, Event};
use dropforge_machine::bytecode::Control;
use dropforge_machine::bytecode::analysis::ControlDependence;
use dropforge_machine::vm::{Heights, Moment};

/// Maximum number of contexts around an outcome that are looked at.
const NEAR: usize = 16;

/// The context of what runs outside all branches and loops of the first chunk.
pub(super) const OUTERMOST: u32 = 0;

/// A call, turn or branch within another one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Context {
    pub around: u32,
    pub event: u32,
}

/// The running chunks and loops.
#[derive(Debug, Default)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    loops: Vec<Looping>,
    /// The event that enters the next frame, and its context.
    calling: Option<(u32, u32)>,
    contexts: Vec<Context>,
    known: HashMap<(u32, u32), u32>,
    /// The control dependences of chunks, by their programs and first words.
    dependences: HashMap<(u32, u32), Rc<ControlDependence>>,
    /// The branches that instructions depend on, by their programs and words.
    branches: HashMap<(u32, u32), Rc<[u32]>>,
}

#[derive(Debug)]
struct Frame {
    /// The first word of its chunk.
    entry: u32,
    /// The context of its call.
    context: u32,
    loops: usize,
    /// The latest outcome of each branch, by its word.
    outcomes: HashMap<u32, u32>,
}

/// A running loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looping {
    /// The word of the instruction that opened it.
    at: u32,
    /// The number of loop variables.
    pub names: u32,
    /// The origin of what it loops over.
    pub over: Edge,
    /// The number of iterations.
    pub begun: usize,
    /// The event that opened it.
    pub opened: u32,
    /// The event of the current turn.
    turn: u32,
    /// What the loop runs within.
    context: u32,
}

impl Frames {
    pub fn into_contexts(self) -> Vec<Context> {
        self.contexts
    }

    /// Enters a frame that has begun.
    pub fn enter(&mut self, moment: &Moment<'_>, at: u32) {
        let calling = self.calling.take();
        if self.frames.len() >= moment.heights.frames {
            return;
        }
        let context = calling.map_or(OUTERMOST, |(event, around)| self.within(around, event));
        self.frames.push(Frame { entry: at, context, loops: moment.heights.loops, outcomes: HashMap::new() });
    }

    /// Takes note that an event in this context calls a chunk.
    pub fn call(&mut self, event: u32, context: u32) {
        self.calling = Some((event, context));
    }

    /// Leaves frames and loops that have ended.
    pub fn leave(&mut self, heights: &Heights) {
        self.frames.truncate(heights.frames);
        self.loops.truncate(heights.loops);
    }

    /// Takes note of the outcome of the branch at word `at` of the running chunk.
    pub fn decide(&mut self, at: u32, event: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.outcomes.insert(at, event);
        }
    }

    /// Takes note of a loop that the instruction at a word, with this event, has opened over what `over` gives.
    pub fn open(&mut self, (at, opened): (u32, u32), names: u32, over: Edge, context: u32) {
        self.loops.push(Looping { at, names, over, begun: 0, opened, turn: 0, context });
    }

    /// Takes note of the next iteration of the innermost loop, which an event begins, and gives the event the place and the context
    /// of the loop.
    pub fn turn(&mut self, number: u32, event: &mut Event) -> Option<Looping> {
        let last = self.loops.last_mut()?;
        (last.begun, last.turn) = (last.begun + 1, number);
        (event.at, event.context) = (last.at, last.context);
        Some(*last)
    }

    /// Returns the context of the instruction at word `at`, which began at these heights.
    pub fn context(&mut self, recording: &Recording, unit: u32, at: u32, heights: Heights) -> u32 {
        let depth = heights.frames.wrapping_sub(1);
        let Some(entry) = self.frames.get(depth).map(|frame| frame.entry) else { return OUTERMOST };
        if let Some((around, event)) = self.latest(recording, (unit, at), (depth, entry), heights.loops) {
            return self.within(around, event);
        }
        let branches = self.branches_of(recording, unit, entry, at);
        let Some(frame) = self.frames.get(depth) else { return OUTERMOST };
        let is_told = |event: &u32| recording.event(*event).is_some_and(is_outcome);
        let outcomes = branches.iter().filter_map(|at| frame.outcomes.get(at)).copied().filter(is_told);
        let open = self.loops.get(frame.loops..heights.loops.min(self.loops.len())).unwrap_or(&[]);
        let mut events: Vec<u32> = outcomes.chain(open.iter().map(|each| each.turn)).collect();
        events.sort_unstable();
        events.into_iter().fold(frame.context, |around, event| self.within(around, event))
    }

    /// Returns the latest outcome that an instruction depends on, and its context, if that has everything else that the
    /// instruction runs within. So the arms of a long chain of conditions are not collected again for each of them.
    fn latest(
        &mut self,
        recording: &Recording,
        (unit, at): (u32, u32),
        (depth, entry): (usize, u32),
        loops: usize,
    ) -> Option<(u32, u32)> {
        let dependence = self.dependence(recording, unit, entry);
        let frame = self.frames.get(depth)?;
        let outcome = |branch: u32| frame.outcomes.get(&branch).copied();
        let direct: Vec<Option<u32>> = dependence.direct(at).map(outcome).collect();
        let event = direct.iter().flatten().copied().max()?;
        let open = self.loops.get(frame.loops..loops.min(self.loops.len())).unwrap_or(&[]);
        let context = recording.event(event).filter(|of| is_outcome(of))?.context;
        // An outcome of an earlier iteration has not what is open now.
        if open.iter().any(|each| each.turn > event) {
            return None;
        }
        // What did not run depends on what ran, which is near.
        let ran = |branch: u32| outcome(branch).into_iter().collect::<Vec<_>>();
        let nearest = |branch: u32| match outcome(branch) {
            Some(event) => vec![event],
            None => dependence.direct(branch).flat_map(ran).collect(),
        };
        let mut needed: Vec<u32> = dependence.direct(at).flat_map(nearest).filter(|one| *one != event).collect();
        needed.retain(|one| recording.event(*one).is_some_and(is_outcome));
        let mut next = context;
        for _ in 0..NEAR {
            if needed.is_empty() {
                return Some((context, event));
            }
            let around = self.contexts.get(next as usize).filter(|_| next != OUTERMOST)?;
            needed.retain(|one| *one != around.event);
            next = around.around;
        }
        None
    }

    /// Returns the context of an event within another context.
    fn within(&mut self, around: u32, event: u32) -> u32 {
        if self.contexts.is_empty() {
            self.contexts.push(Context::default());
        }
        let contexts = &mut self.contexts;
        *self.known.entry((around, event)).or_insert_with(|| {
            contexts.push(Context { around, event });
            contexts.len() as u32 - 1
        })
    }

    /// Returns the branches that the instruction at word `at` depends on, of the chunk that begins at `entry`.
    fn branches_of(&mut self, recording: &Recording, unit: u32, entry: u32, at: u32) -> Rc<[u32]> {
        if let Some(known) = self.branches.get(&(unit, at)) {
            return known.clone();
        }
        let found: Rc<[u32]> = self.dependence(recording, unit, entry).branches(at).into();
        self.branches.insert((unit, at), found.clone());
        found
    }

    /// Returns the control dependences of the chunk that begins at `entry`.
    fn dependence(&mut self, recording: &Recording, unit: u32, entry: u32) -> Rc<ControlDependence> {
        let made = || {
            let program = recording.program(unit);
            let chunk = program.and_then(|program| program.chunks().find(|chunk| chunk.entry == entry));
            let of = |(program, chunk): (&dropforge_machine::bytecode::Program, _)| {
                ControlDependence::of(program.code(), chunk)
            };
            Rc::new(program.zip(chunk).map(of).unwrap_or_default())
        };
        self.dependences.entry((unit, entry)).or_insert_with(made).clone()
    }
}

/// Returns `true` if an event decides whether others run: not if it begins an iteration.
fn is_outcome(event: &Event) -> bool {
    match event.op.info().control {
        Control::NextItem => false,
        Control::OpenLoop => event.jumped,
        _ => true,
    }
}
