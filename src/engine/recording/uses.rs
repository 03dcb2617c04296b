//! What an instruction uses, besides the origins of its values.

use super::event::{Edge, Member};
use super::known::{members_of, step_of};
use dropforge_machine::bytecode::{Instruction, Operand, Provenance, Segment};
use dropforge_machine::vm::{Beginning, Moment};
use dropforge_value::Value;
use dropforge_value::assign::Step;

/// Returns the members of the list or map that an instruction builds or adds to.
pub(super) fn members_built(
    instruction: &Instruction<'_>,
    moment: &Moment<'_>,
    values: &[Value<'_>],
    inputs: &[Edge],
) -> Vec<Member> {
    let member = |(step, from): (Step, &Edge)| Member { step, from: *from, within: None };
    let items = |edges: &mut dyn Iterator<Item = &Edge>| (0..).map(Step::Index).zip(edges).map(member).collect();
    match (instruction.op.info().provenance, values, inputs) {
        (Provenance::Items, ..) => items(&mut inputs.iter()),
        (Provenance::SomeItems, ..) => {
            let there = inputs.iter().zip(values).filter(|(_, value)| !value.is_undefined());
            items(&mut there.map(|(edge, _)| edge))
        }
        (Provenance::Fields, ..) => {
            let keys = moment.code.keys(instruction.operand(Operand::Keys).unwrap_or(0)).iter();
            keys.map(|key| Step::Key(moment.code.str(*key).to_owned())).zip(inputs).map(member).collect()
        }
        (Provenance::Entry, [key, _], [_, from]) => step_of(*key).into_iter().zip([from]).map(member).collect(),
        (Provenance::Entries, [map], [from]) => members_of(*map)
            .into_iter()
            .map(|step| Member { step: step.clone(), from: *from, within: Some(step) })
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the value that a branch, a loop or a write uses, unless it has a path with computed steps.
pub(super) fn tested<'m>(
    instruction: &Instruction<'_>,
    moment: &Moment<'m>,
    values: &[Value<'m>],
) -> Option<Value<'m>> {
    let (Some(path), Some(Beginning::Value(at))) = (instruction.operand(Operand::Path), moment.root) else {
        return values.last().copied();
    };
    moment.code.path(path).segments().try_fold(*moment.values.get(at)?, |value, (segment, _)| match segment {
        Segment::Attr(name) => value.as_map()?.get(moment.code.str(name)),
        Segment::Index(_) => None,
    })
}

/// Returns the computed steps of the path of an instruction.
pub(super) fn indexes(moment: &Moment<'_>, operand: u32, values: &[Value<'_>]) -> Vec<Step> {
    if values.is_empty() || moment.root.is_none() {
        return Vec::new();
    }
    let nth = |(segment, _)| match segment {
        Segment::Index(nth) => values.get(nth as usize).and_then(|value| step_of(*value)),
        Segment::Attr(_) => None,
    };
    moment.code.path(operand).segments().filter_map(nth).collect()
}
