//! The inputs that flowed into a value.

use dropforge_value::Step;
use std::collections::HashSet;

use super::Recording;
use super::changed::Origin;
use super::event::{Detail, Edge, Event, Member};
use dropforge_machine::bytecode::{Operand, Provenance, Segment};

/// Maximum number of inputs of a value, and of origins that are looked at.
const FLOWS: usize = 64;
const ORIGINS: usize = 1 << 14;

/// An input that flowed into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The path of the input. Empty for all inputs, any of which may have flowed into a value with many.
    pub path: Vec<Step>,
    /// An excerpt of its value, if the template read it under this path.
    pub value: Option<String>,
    /// `true` if the value is the input itself. Otherwise it was computed from it.
    pub is_direct: bool,
    /// `true` for any secret among the inputs: its text was in the value on the way. The path is empty.
    pub is_secret: bool,
    /// `true` if it was put into a map under a key that was read later, perhaps of another map.
    pub is_put: bool,
    /// The recording that it belongs to, of an output that several recordings explain. 0 is that of the template.
    pub recording: usize,
}

impl Flow {
    /// Returns the flow of any inputs: of secrets, or of too many to name.
    fn any(is_secret: bool, is_put: bool) -> Self {
        Self { path: Vec::new(), value: None, is_direct: false, is_secret, is_put, recording: 0 }
    }
}

/// A member of an origin whose inputs are wanted.
#[derive(Debug, PartialEq, Eq, Hash, Clone)]
struct Wanted {
    edge: Edge,
    steps: Vec<Step>,
    is_direct: bool,
    is_put: bool,
}

impl Recording {
    /// Returns the inputs that flowed into the member at `steps` of an origin, in the order of their use.
    pub(super) fn flows(&self, edges: &[Edge], steps: &[Step], is_direct: bool) -> Vec<Flow> {
        let (mut flows, mut seen): (Vec<Flow>, HashSet<Wanted>) = (Vec::new(), HashSet::new());
        let wanted = |edge: &Edge| (Wanted { edge: *edge, steps: steps.to_vec(), is_direct, is_put: false }, None);
        let mut open: Vec<(Wanted, Option<&str>)> = edges.iter().rev().map(wanted).collect();
        while let Some((wanted, shown)) = open.pop() {
            if flows.iter().filter(|flow| !flow.is_put).count() >= FLOWS || seen.len() >= ORIGINS {
                flows = without_wholes(flows);
                flows.push(Flow::any(false, false));
                // What was not looked at may have been put into a map.
                flows.extend((!self.changed.is_empty()).then(|| Flow::any(false, true)));
                return flows;
            }
            if !seen.insert(wanted.clone()) {
                continue;
            }
            let Wanted { edge, steps, is_direct, is_put } = wanted;
            match edge {
                Edge::None => {}
                Edge::Any => add(&mut flows, Flow::any(false, is_put)),
                Edge::Input(name) => {
                    let name = self.names.get(name as usize).cloned().map(Step::Key);
                    add_input(&mut flows, name.into_iter().chain(steps).collect(), shown, (is_direct, is_put));
                }
                Edge::Event(event) => {
                    let number = event;
                    if let Some(event) = self.event(event) {
                        // The members of a text, such as one in JSON, are followed to its arguments.
                        if event.is_secret && (steps.is_empty() || !matches!(event.detail, Detail::Text(_))) {
                            add(&mut flows, Flow::any(true, is_put));
                        }
                        if self.is_input(event, &steps) {
                            add_input(&mut flows, steps, shown, (is_direct, is_put));
                            continue;
                        }
                        let mut from = self.origins(event, &steps, is_direct, shown);
                        from.iter_mut().for_each(|(wanted, _)| wanted.is_put = is_put);
                        from.extend(self.changed_origins(number, event, &steps));
                        from.reverse();
                        open.append(&mut from);
                    }
                }
            }
        }
        without_wholes(flows)
    }

    /// Returns the inputs that flowed into what the event with this number used, read or wrote.
    pub(super) fn flows_of(&self, number: u32) -> Vec<Flow> {
        let mut flows = self.flows(&self.inputs_of(number), &[], true);
        if self.event(number).is_some_and(|event| event.is_secret) {
            add(&mut flows, Flow::any(true, false));
        }
        flows
    }

    /// Returns `true` if the member at `steps` of a map of all visible names is an input.
    fn is_input(&self, event: &Event, steps: &[Step]) -> bool {
        let members = if let Detail::Members(members) = &event.detail { members.as_slice() } else { &[] };
        let is_first = |member: &Member| steps.first().is_some_and(|first| matches(&member.step, first));
        event.op.info().provenance == Provenance::Names && !steps.is_empty() && !members.iter().any(is_first)
    }

    /// Returns the origins of the member at `steps` of the result of an event.
    fn origins<'e>(
        &'e self,
        event: &'e Event,
        steps: &[Step],
        is_direct: bool,
        shown: Option<&'e str>,
    ) -> Vec<(Wanted, Option<&'e str>)> {
        let inputs = self.inputs(event);
        let joined = |within: Option<&Step>, rest: &[Step]| within.into_iter().chain(rest).cloned().collect::<Vec<_>>();
        let is_put = false;
        let direct = |edge: Edge, steps| (Wanted { edge, steps, is_direct, is_put }, shown);
        let derived = |edge: &Edge| (Wanted { edge: *edge, steps: Vec::new(), is_direct: false, is_put }, None);
        if let Some(mut path) = self.path(event) {
            path.extend_from_slice(steps);
            let shown = if steps.is_empty() { event.shown.as_deref() } else { shown };
            let root = inputs.first().map(|edge| (Wanted { edge: *edge, steps: path, is_direct, is_put }, shown));
            return root.into_iter().chain(inputs.iter().skip(1).map(derived)).collect();
        }
        match (&event.detail, steps) {
            (Detail::Turn(step), _) => {
                inputs.first().map(|edge| direct(*edge, joined(Some(step), steps))).into_iter().collect()
            }
            (Detail::Same(edge, within), _) => vec![direct(*edge, joined(within.as_ref(), steps))],
            (Detail::Members(members), [first, rest @ ..]) => {
                let found = members.iter().rfind(|member| matches(&member.step, first));
                match found {
                    Some(member) => vec![direct(member.from, joined(member.within.as_ref(), rest))],
                    // Only those members of a result are known that are members of arguments.
                    None if event.op.info().provenance == Provenance::Call => inputs.iter().map(derived).collect(),
                    None => Vec::new(),
                }
            }
            (Detail::Members(members), []) if !members.is_empty() => {
                members.iter().map(|member| direct(member.from, joined(member.within.as_ref(), &[]))).collect()
            }
            (Detail::Text(text), _) if !text.parts.is_empty() => {
                text.parts.iter().flat_map(|part| self.inputs_of(part.event)).map(|edge| derived(&edge)).collect()
            }
            (Detail::Text(_), [_, ..]) => inputs.iter().map(|edge| direct(*edge, steps.to_vec())).collect(),
            _ => inputs.iter().map(derived).collect(),
        }
    }

    /// Returns what was put into maps that an event read.
    fn changed_origins(&self, number: u32, event: &Event, steps: &[Step]) -> Vec<(Wanted, Option<&str>)> {
        let changed = self.changed.get(&number).map(Vec::as_slice).unwrap_or_default();
        let steps = if changed.is_empty() || self.path(event).is_none() { &[] } else { steps };
        let wanted = |(edge, within): &Origin| {
            let steps = within.iter().chain(steps).cloned().collect();
            (Wanted { edge: *edge, steps, is_direct: false, is_put: true }, None)
        };
        changed.iter().map(wanted).collect()
    }

    /// Returns the origins of what the event with this number used: of the value itself, if it reads a path or gathered the
    /// value.
    pub(super) fn inputs_of(&self, number: u32) -> Vec<Edge> {
        let is_gathered =
            |event: &Event| event.inputs.is_empty() && matches!(event.detail, Detail::Members(_) | Detail::Text(_));
        match self.event(number) {
            Some(event) if self.path(event).is_some() || is_gathered(event) => vec![Edge::Event(number)],
            Some(event) => self.inputs(event).to_vec(),
            None => Vec::new(),
        }
    }

    /// Returns the steps of the path that an event reads.
    pub(super) fn path(&self, event: &Event) -> Option<Vec<Step>> {
        if event.op.info().first() != Some(Operand::Path) {
            return None;
        }
        let code = self.program(event.unit)?.code();
        let path = code.path(code.instruction(event.at)?.operand(Operand::Path)?);
        let computed = if let Detail::Indexes(computed) = &event.detail { computed.as_slice() } else { &[] };
        let step = |segment| match segment {
            (Segment::Attr(name), _) => Some(Step::Key(code.str(name).to_owned())),
            (Segment::Index(nth), _) => computed.get(nth as usize).cloned(),
        };
        path.segments().map(step).collect()
    }

    /// Follows the member at `steps` of an origin to the event that made it. Returns the event and the steps that are
    /// left.
    pub(super) fn maker(&self, edge: Edge, steps: &[Step]) -> Option<(u32, Vec<Step>)> {
        let (mut edge, mut steps, mut last) = (edge, steps.to_vec(), None);
        for _ in 0..ORIGINS {
            let Edge::Event(number) = edge else { break };
            last = Some((number, steps.clone()));
            match (&self.event(number)?.detail, steps.as_slice()) {
                (Detail::Same(from, within), rest) => {
                    steps = within.iter().chain(rest).cloned().collect();
                    edge = *from;
                }
                (Detail::Members(members), [first, rest @ ..]) => {
                    let Some(member) = members.iter().rfind(|member| matches(&member.step, first)) else { break };
                    steps = member.within.iter().chain(rest).cloned().collect();
                    edge = member.from;
                }
                _ => break,
            }
        }
        last
    }
}

/// Adds an input unless it is there.
fn add_input(flows: &mut Vec<Flow>, path: Vec<Step>, shown: Option<&str>, (is_direct, is_put): (bool, bool)) {
    add(flows, Flow { path, value: shown.map(str::to_owned), is_direct, is_secret: false, is_put, recording: 0 });
}

fn add(flows: &mut Vec<Flow>, new: Flow) {
    let kind = |flow: &Flow| (flow.is_secret, flow.is_put);
    if !flows.iter().any(|flow| flow.path == new.path && kind(flow) == kind(&new)) {
        flows.push(new);
    }
}

/// Returns `true` if two steps may lead to the same member: a key may be a number.
fn matches(one: &Step, other: &Step) -> bool {
    match (one, other) {
        (Step::Key(key), Step::Index(at)) | (Step::Index(at), Step::Key(key)) => key.parse() == Ok(*at),
        _ => one == other,
    }
}

/// Leaves out inputs that others are members of, if the value was only computed from something in them.
fn without_wholes(flows: Vec<Flow>) -> Vec<Flow> {
    let is_whole = |flow: &Flow| {
        let above =
            |other: &Flow| !other.is_put && other.path.len() > flow.path.len() && other.path.starts_with(&flow.path);
        !flow.is_direct && !flow.is_secret && !flow.is_put && flows.iter().any(above)
    };
    flows.iter().filter(|flow| !is_whole(flow)).cloned().collect()
}
