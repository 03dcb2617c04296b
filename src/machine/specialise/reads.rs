//! Where the slots of a chunk are read for the last time.

use std::ops::Range;
use std::rc::Rc;

use crate::bytecode::{ChunkInfo, CodeView, Control, Instruction, Operand, Program, Region, Root};

/// A loop: its body, and the slots that it sets before each turn.
struct Body {
    words: Range<u32>,
    slots: Range<u32>,
}

/// Returns the word behind the last code that may read a slot before the slot is set again, by slot.
pub(super) fn reads(program: &Program, chunk: ChunkInfo) -> Rc<[u32]> {
    let code = program.code();
    let loops: Vec<Body> = code.instructions(chunk).filter_map(body).collect();
    let back = |instruction: Instruction<'_>| Some(instruction.operand(Operand::Label)?..instruction.end());
    let repeated: Vec<Range<u32>> =
        code.instructions(chunk).filter_map(back).filter(|range| !range.is_empty()).collect();
    let mut last = vec![0; chunk.slots as usize];
    for instruction in code.instructions(chunk) {
        for slot in read_by(code, instruction, chunk.slots) {
            let own = |body: &&Body| body.slots.contains(&slot) && body.words.contains(&instruction.at);
            let end = match loops.iter().find(own) {
                Some(body) => Some(body.words.end),
                // A later turn may read it.
                None => repeated.iter().filter(|range| range.contains(&instruction.at)).map(|range| range.end).max(),
            };
            if let Some(place) = last.get_mut(slot as usize) {
                *place = instruction.end().max(end.unwrap_or(0)).max(*place);
            }
        }
    }
    for row in program.tables().regions.iter().filter(|[from, ..]| (chunk.entry..chunk.end).contains(from)) {
        if let Region::Name(_, slot) = Region::of(*row)
            && let Some(place) = last.get_mut(slot as usize)
        {
            *place = row[1].max(*place);
        }
    }
    last.into()
}

fn body(instruction: Instruction<'_>) -> Option<Body> {
    if instruction.op.info().control != Control::OpenLoop {
        return None;
    }
    let first = instruction.operand(Operand::LoopSlots)?;
    let slots = first..first + instruction.operand(Operand::Names).unwrap_or(1);
    Some(Body { words: instruction.end()..instruction.operand(Operand::Label)?, slots })
}

/// Returns the slots that an instruction may read.
fn read_by(code: CodeView<'_>, instruction: Instruction<'_>, slots: u32) -> Vec<u32> {
    let mut read = Vec::new();
    if let Some(path) = instruction.operand(Operand::Path) {
        read.extend(code.path(path).roots().filter_map(|root| match root {
            Root::Slot(slot) => Some(slot),
            Root::Loop(..) | Root::Global(_) | Root::Callers(_) => None,
        }));
    }
    read.extend(if instruction.reads_names() { 0..slots } else { instruction.slots_read() });
    read
}
