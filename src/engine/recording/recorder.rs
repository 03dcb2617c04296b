//! The hook that records a run.
//!
//! A hook sees the machine before each instruction. So an instruction is taken note of in two steps: what it uses when it
//! begins, and what it did when the next one begins. The origins of values are kept in a copy of the machine's stacks.

use std::ops::Range;

use super::Recording;
use super::changed::{Changes, Origin};
use super::event::{Captured, Detail, Edge, Event, Gathered, Member, Part, indexes, members_built, tested};
use super::frames::{Frames, OUTERMOST};
use super::known::{Arguments, step_of};
use crate::instance::language;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::mask::Mask;
use dropforge_base::stdlib::strings::abridged;
use dropforge_machine::bytecode::{Control, Dialect, Instruction, Op, Operand, Place, Provenance, Root};
use dropforge_machine::function::excerpt_in;
use dropforge_machine::vm::{Beginning, Heights, Moment, Observer};
use dropforge_value::{JsonStyle, Step, Value};

/// Maximum number of events, and of bytes of the texts that are kept of them.
const EVENTS: usize = 2 << 20;
const BYTES: usize = 512 << 20;

/// Maximum number of bytes of text in an excerpt.
const SHOWN: usize = 60;

/// Records a run: what wrote each part of its output, within what, and the values that flowed into it.
///
/// It observes one run. An instruction that a run repeats is recorded each time, up to about two million instructions and
/// half a gibibyte of captured texts.
#[derive(Debug)]
pub struct Recorder {
    recording: Recording,
    /// The number of events and bytes that may follow.
    events: usize,
    bytes: usize,
    frames: Frames,
    /// The origins of the values of each program: inputs, memos, slots and stacks.
    origins: Vec<Vec<Edge>>,
    gathered: Gathered,
    changes: Changes,
    running: Option<Running>,
    failed: bool,
}

/// An instruction that has begun.
#[derive(Debug)]
struct Running {
    unit: u32,
    /// The style of excerpts of values.
    style: JsonStyle,
    at: u32,
    op: Op,
    heights: Heights,
    base: usize,
    /// The top of the stack without what it pops.
    top: usize,
    output: usize,
    /// The bytes of text that it writes before a value.
    text: usize,
    /// The word after it, and that of its label.
    next: u32,
    label: Option<u32>,
    /// The slots that it sets.
    slots: Range<u32>,
    names: u32,
    /// The origins of what it uses.
    inputs: Vec<Edge>,
    arguments: Arguments,
    /// The value that it tests, loops over or writes.
    tested: Option<Box<str>>,
    /// The computed steps of its path.
    indexes: Vec<Step>,
    /// The members of what it builds or gathers.
    members: Vec<Member>,
    /// What was put into the maps that it uses.
    changed: Vec<Origin>,
}

/// What an instruction did.
#[derive(Debug, Clone, Copy)]
struct Did {
    jumped: bool,
    pushed: bool,
    wrote: bool,
    decided: bool,
    called: bool,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new(EVENTS, BYTES)
    }
}

impl Observer for Recorder {
    fn step(&mut self, at: usize, _: Op, now: &Moment<'_>) {
        let at = at as u32;
        if let Some(running) = self.running.take() {
            self.finish(&running, at, now);
        }
        self.recording.know(now.unit, &now.code);
        self.frames.enter(now, at);
        if self.recording.events.len() >= self.events || self.bytes == 0 {
            // A capture that ends takes back what was written within it.
            let cut = self.recording.cut.get_or_insert(now.output.len());
            *cut = now.output.len().min(*cut);
        } else if let Some(instruction) = now.code.instruction(at) {
            self.running = Some(self.begun(instruction, now));
        }
    }

    fn failed(&mut self, _: &Diagnostic) {
        self.failed = true;
    }
}

impl Recorder {
    /// Creates a recorder of up to so many instructions and bytes of captured texts.
    pub fn new(events: usize, bytes: usize) -> Self {
        let (recording, frames, origins, gathered, changes) = Default::default();
        Self { recording, events, bytes, frames, origins, gathered, changes, running: None, failed: false }
    }

    /// Sets the secrets among the inputs of the run. Values that have one in them are known to come from secrets, whatever
    /// way they took.
    #[must_use]
    pub fn hiding(mut self, mask: Mask) -> Self {
        self.recording.mask = mask;
        self
    }

    /// Ends the recording of a run that wrote `text`.
    pub fn end(mut self, mut text: String) -> Recording {
        // An instruction that fails may have written text before, which belongs to no event.
        if let Some(running) = self.running.as_ref().filter(|_| self.failed) {
            text.truncate(running.output);
        }
        self.recording.text = text;
        self.recording.contexts = self.frames.into_contexts();
        self.recording
    }

    /// Takes note of what an instruction uses.
    fn begun(&mut self, instruction: Instruction<'_>, moment: &Moment<'_>) -> Running {
        let Moment { code, unit, heights, base, top, .. } = *moment;
        let (op, info) = (instruction.op, instruction.op.info());
        let operand = instruction.operands().next().map_or(0, |(_, value)| value);
        let below = top.saturating_sub(code.pops(info, operand) as usize);
        let values = moment.values.get(below..top).unwrap_or(&[]);
        let mut inputs: Vec<Edge> = (below..top).map(|at| self.origin(moment, at)).collect();
        let members = match info.provenance {
            Provenance::Names => self.visible(moment, operand),
            _ => members_built(&instruction, moment, values, &inputs),
        };
        let arguments = match info.provenance {
            Provenance::Call => Arguments::of(values, &inputs),
            Provenance::Converted => Arguments::of_one(values.first(), inputs.first()),
            _ => Arguments::default(),
        };
        let changed = self.changes.within(values);
        if self.changes_maps(&instruction, moment) {
            self.changes.note(values, &inputs);
        }
        if info.first() == Some(Operand::Path) {
            inputs.insert(0, self.beginning(moment));
        }
        if info.provenance == Provenance::Answer {
            inputs.push(self.recording.answer);
        }
        if info.writes.contains(Place::Result) {
            self.recording.answer = inputs.first().copied().unwrap_or_default();
        }
        let tests =
            matches!(info.control, Control::Branch | Control::BranchWithTop | Control::OpenLoop) || info.writes_path();
        Running {
            unit,
            style: style_of(code.dialect()),
            at: instruction.at,
            op,
            heights,
            base,
            top: below,
            output: moment.output.len(),
            text: instruction.operand(Operand::Str).map_or(0, |text| code.str(text).len()),
            next: instruction.end(),
            label: instruction.operand(Operand::Label),
            slots: instruction.slots_set(),
            names: instruction.operand(Operand::Names).unwrap_or(0),
            inputs,
            arguments,
            tested: tested(&instruction, moment, values)
                .filter(|_| tests)
                .map(|value| excerpt_in(style_of(code.dialect()), value).into()),
            indexes: indexes(moment, operand, values),
            members,
            changed,
        }
    }

    /// Returns where the value at an index of the running program comes from.
    fn origin(&mut self, moment: &Moment<'_>, at: usize) -> Edge {
        match moment.code.globals().get(at) {
            Some(name) => Edge::Input(self.recording.name(moment.code.str(*name))),
            None => self.origins.get(moment.unit as usize).and_then(|all| all.get(at)).copied().unwrap_or_default(),
        }
    }

    /// Returns the names in the slots of the running chunk that a scope shows. The others are inputs, or names of callers.
    fn visible(&mut self, moment: &Moment<'_>, scope: u32) -> Vec<Member> {
        let entries = moment.code.scope(scope).entries().filter_map(|(name, root)| match root {
            Root::Slot(slot) => Some((moment.code.str(name), moment.base + slot as usize)),
            _ => None,
        });
        let set = entries.filter(|(_, at)| moment.values.get(*at).is_some_and(|value| !value.is_undefined()));
        let set: Vec<_> = set.collect();
        let member = |(name, at): (&str, usize)| Member {
            step: Step::Key(name.to_owned()),
            from: self.origin(moment, at),
            within: None,
        };
        set.into_iter().map(member).collect()
    }

    /// Returns where the root of a path comes from.
    fn beginning(&mut self, moment: &Moment<'_>) -> Edge {
        match moment.root {
            Some(Beginning::Value(at)) => self.origin(moment, at),
            Some(Beginning::Loop(_)) | None => Edge::None,
        }
    }

    /// Takes note of what an instruction did before the one at `at`.
    fn finish(&mut self, running: &Running, at: u32, now: &Moment<'_>) {
        let failed = std::mem::take(&mut self.failed);
        let control = running.op.info().control;
        let is_same = !failed && (now.unit, now.heights.frames) == (running.unit, running.heights.frames);
        let did = Did {
            jumped: !failed && running.label == Some(at) && running.next != at,
            pushed: is_same && now.top > running.top && control != Control::BranchWithTop && control != Control::Branch,
            wrote: now.output.len() > running.output,
            decided: control.decides(),
            called: now.heights.frames > running.heights.frames,
        };
        let recorded = did.pushed || did.wrote || did.decided || did.called;
        let event = recorded.then(|| self.add(running, did, now));
        self.frames.leave(&now.heights);
        self.move_output(running, event.filter(|_| did.wrote), now);
        self.move_gathered(running, now);
        let edge = event.map_or(Edge::None, Edge::Event);
        match event {
            Some(event) if did.decided => self.decide(running, event, did, now),
            Some(event) if did.called => self.call(running, event, now),
            _ if !running.slots.is_empty() => self.store(running, now),
            _ if failed => self.set(now, now.top.saturating_sub(1), None),
            _ if did.pushed => (running.top..now.top).for_each(|at| self.set(now, at, Some(&edge))),
            _ => {}
        }
    }

    /// Passes the popped value to the slot that an instruction sets. Others get a value of no origin.
    fn store(&mut self, running: &Running, now: &Moment<'_>) {
        let value = running.inputs.first().filter(|_| running.op.info().stores_popped());
        if let Some(Edge::Event(number)) = value {
            self.recording.assigned.push(*number);
        }
        running.slots.clone().for_each(|slot| self.set(now, running.base + slot as usize, value));
    }

    /// Sets where the value at an index of the running program comes from.
    fn set(&mut self, moment: &Moment<'_>, at: usize, edge: Option<&Edge>) {
        let unit = moment.unit as usize;
        if self.origins.len() <= unit {
            self.origins.resize_with(unit + 1, Vec::new);
        }
        let Some(origins) = self.origins.get_mut(unit) else { return };
        if origins.len() <= at {
            origins.resize(at + 1, Edge::None);
        }
        if let Some(origin) = origins.get_mut(at) {
            *origin = edge.copied().unwrap_or_default();
        }
    }

    /// Adds the event of an instruction.
    fn add(&mut self, running: &Running, did: Did, now: &Moment<'_>) -> u32 {
        let context = self.frames.context(&self.recording, running.unit, running.at, running.heights);
        let edges = &mut self.recording.edges;
        let start = edges.len() as u32;
        edges.extend_from_slice(&running.inputs);
        let result = now.top.checked_sub(1).and_then(|at| now.values.get(at)).copied().filter(|_| did.pushed);
        let inputs = start..edges.len() as u32;
        let detail = self.detail(running, result, now);
        let shown = self.shown(running, result, now);
        let is_secret = self.has_secret(running, result, now);
        let (&Running { unit, at, op, .. }, jumped) = (running, did.jumped);
        let event = Event { unit, at, op, jumped, context, inputs, shown, is_secret, detail };
        let number = self.recording.events.len() as u32;
        let mut changed = self.recording.path(&event).map_or_else(Vec::new, |path| self.changes.along(&path));
        changed.extend_from_slice(&running.changed);
        if !changed.is_empty() {
            self.recording.changed.insert(number, changed);
        }
        self.recording.events.push(event);
        number
    }

    /// Returns `true` if an instruction calls a function that puts entries into a map.
    fn changes_maps(&mut self, instruction: &Instruction<'_>, moment: &Moment<'_>) -> bool {
        let site = || moment.code.site(instruction.operand(Operand::Site)?).first().copied();
        let Some(import) = site() else { return false };
        let find = || {
            let import = self.recording.program(moment.unit)?.imports().nth(import as usize)?;
            let registry = language(moment.code.dialect()).ok()?.registry();
            registry.get(import.kind, import.name).map(|function| function.mutates)
        };
        self.changes.is_changing((moment.unit, import), || find().unwrap_or(false))
    }

    /// Returns `true` if a secret is in the text that an instruction pushed, wrote or tested.
    fn has_secret(&self, running: &Running, result: Option<Value<'_>>, now: &Moment<'_>) -> bool {
        let mask = &self.recording.mask;
        !mask.is_empty()
            && (result.is_some_and(|result| scalar_has_secret(mask, result))
                || running.tested.as_deref().is_some_and(|tested| mask.is_in(tested))
                || now.output.get(running.output..).is_some_and(|written| mask.is_in(written)))
    }

    /// Returns an excerpt of what an instruction tested, pushed or wrote.
    fn shown(&self, running: &Running, result: Option<Value<'_>>, now: &Moment<'_>) -> Option<Box<str>> {
        let value = running.tested.clone().or_else(|| result.map(|value| excerpt_in(running.style, value).into()));
        value.or_else(|| {
            let writes = running.op.info().writes_path();
            let text = now.output.get(running.output + running.text..).filter(|_| writes)?;
            Some(format!("`{}`", abridged(text, SHOWN)).into())
        })
    }

    /// Returns what is known of a result besides.
    fn detail(&mut self, running: &Running, result: Option<Value<'_>>, now: &Moment<'_>) -> Detail {
        let members = |members: &[Member]| Detail::Members(members.to_vec());
        match (running.op.info().provenance, result) {
            (Provenance::Text, Some(text)) => Detail::Text(self.captured(text, now.output.len())),
            (Provenance::Gathered, _) => members(self.gathered.innermost()),
            (Provenance::Answer, _) => Detail::Same(self.recording.answer, None),
            (Provenance::Items | Provenance::SomeItems | Provenance::Fields | Provenance::Names, _) => {
                members(&running.members)
            }
            (Provenance::Call | Provenance::Converted, Some(result)) => {
                match (running.arguments.detail(result), result) {
                    (Detail::None, Value::Str(text)) if running.arguments.structured => {
                        Detail::Text(self.kept(text.as_str(), Vec::new()))
                    }
                    (detail, _) => detail,
                }
            }
            _ if !running.indexes.is_empty() => Detail::Indexes(running.indexes.clone()),
            _ => Detail::None,
        }
    }

    /// Takes the parts of a text that was captured after `start`.
    fn captured(&mut self, text: Value<'_>, start: usize) -> Captured {
        let parts = &mut self.recording.parts;
        let mut taken = parts.split_off(parts.partition_point(|part| part.start < start));
        taken.iter_mut().for_each(|part| part.start -= start);
        self.kept(text.as_str().unwrap_or(""), taken)
    }

    fn kept(&mut self, text: &str, parts: Vec<Part>) -> Captured {
        self.bytes = self.bytes.saturating_sub(text.len());
        Captured { text: text.into(), parts }
    }

    /// Takes note of what an instruction wrote. Text that is taken back has no parts.
    fn move_output(&mut self, running: &Running, event: Option<u32>, now: &Moment<'_>) {
        let parts = &mut self.recording.parts;
        parts.truncate(parts.partition_point(|part| part.start < now.output.len()));
        parts.extend(event.map(|event| Part { start: running.output, event }));
    }

    fn move_gathered(&mut self, running: &Running, now: &Moment<'_>) {
        self.gathered.follow(now.heights.gathers);
        if now.heights.gathered > running.heights.gathered {
            let are_items = matches!(running.op.info().provenance, Provenance::Items | Provenance::SomeItems);
            self.gathered.add(&running.members, are_items);
        }
    }

    /// Takes note of the outcome of a branch or of an iteration of a loop.
    fn decide(&mut self, running: &Running, event: u32, did: Did, now: &Moment<'_>) {
        self.frames.decide(running.at, event);
        match running.op.info().control {
            Control::OpenLoop if !did.jumped => {
                let over = running.inputs.first().copied().unwrap_or_default();
                let context = self.recording.event(event).map_or(OUTERMOST, |event| event.context);
                self.frames.open((running.at, event), running.names, over, context);
                self.turn(running, event, now);
            }
            Control::NextItem if did.jumped => self.turn(running, event, now),
            _ => {}
        }
    }

    /// Takes note of the next iteration of the innermost loop.
    fn turn(&mut self, running: &Running, number: u32, now: &Moment<'_>) {
        let Some(event) = self.recording.events.get_mut(number as usize) else { return };
        let Some(running_loop) = self.frames.turn(number, event) else { return };
        let (first, names) = (running.base + running.slots.start as usize, running_loop.names as usize);
        let item = (first + names).checked_sub(1).and_then(|at| now.values.get(at));
        let key = if names > 1 { now.values.get(first).and_then(|key| step_of(*key)) } else { None };
        let step = if names > 1 { key } else { Some(Step::Index(running_loop.begun - 1)) };
        if let Some(changed) = self.recording.changed.get(&running_loop.opened).cloned() {
            self.recording.changed.insert(number, changed);
        }
        let start = self.recording.edges.len() as u32;
        self.recording.edges.push(running_loop.over);
        (event.inputs, event.shown) = (start..start + 1, item.map(|item| excerpt_in(running.style, *item).into()));
        event.is_secret = item.is_some_and(|item| scalar_has_secret(&self.recording.mask, *item));
        event.detail = step.map_or(Detail::None, Detail::Turn);
        if names > 1 {
            // The key is not the item.
            let is_secret = now.values.get(first).is_some_and(|key| scalar_has_secret(&self.recording.mask, *key));
            let inputs = start..start + 1;
            let key = Event { op: Op::As, shown: None, is_secret, detail: Detail::None, inputs, ..*event };
            self.recording.events.push(key);
            let key = Edge::Event(self.recording.events.len() as u32 - 1);
            self.set(now, first, Some(&key));
        }
        self.set(now, (first + names).saturating_sub(1), Some(&Edge::Event(number)));
    }

    /// Passes the arguments of a call to the slots of the chunk. Those of a call by name are above the name.
    fn call(&mut self, running: &Running, event: u32, now: &Moment<'_>) {
        let context = self.recording.event(event).map_or(OUTERMOST, |event| event.context);
        self.frames.call(event, context);
        let named = usize::from(running.op.info().first() != Some(Operand::Chunk));
        let arguments = running.inputs.get(named..).unwrap_or(&[]);
        for (nth, at) in (now.base..now.top).enumerate() {
            self.set(now, at, arguments.get(nth));
        }
    }
}

/// Returns the style of excerpts of a language's values.
fn style_of(dialect: Dialect) -> JsonStyle {
    let has_only_floats = language(dialect).is_ok_and(|language| language.has_only_floats());
    if has_only_floats { JsonStyle::Whole } else { JsonStyle::Compact }
}

/// Returns `true` if a secret is in the text of a scalar. Lists and maps are looked at where their members are read.
fn scalar_has_secret(mask: &Mask, value: Value<'_>) -> bool {
    if mask.is_empty() {
        return false;
    }
    match value.unwritten() {
        Value::Undefined | Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => false,
        Value::Str(text) => mask.is_in(text.as_str()),
        Value::Int(n) => mask.is_in(&n.to_string()),
        Value::Uint(n) => mask.is_in(&n.to_string()),
        Value::Float(n) => mask.is_in(&n.to_string()),
        other => mask.is_in(&excerpt_in(JsonStyle::Compact, other)),
    }
}
