//! The origins of variables. Loop variables are items of lists; others may hold inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::super::code::{CodeView, Instruction};
use super::super::isa::Op;
use super::super::operands::Operand;
use super::super::records::{Root, Segment};
use super::super::rows::ChunkInfo;

/// The step from a list to any of its items.
pub const ITEM: &str = "[]";

/// Maximum number of steps to a variable. A thousand variables may each derive from the one before.
const STEPS: usize = 64;

/// A path from an input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct InputPath<'p> {
    /// The input, and the steps from it.
    pub names: Vec<&'p str>,
    /// The inputs that are read instead if the path has no value.
    pub or: Vec<&'p str>,
}

impl fmt::Display for InputPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&display_path(&self.names))
    }
}

/// Formats the names of a path: `containers[].ports`.
pub fn display_path(names: &[&str]) -> String {
    names.join(".").replace(&format!(".{ITEM}"), ITEM)
}

/// The top of the stack.
#[derive(Debug, Default)]
enum Top<'p> {
    #[default]
    Unknown,
    /// A list without items.
    Empty,
    At(InputPath<'p>),
}

/// Tracks the inputs in slots and on top of the stack while the code of a chunk is read in order.
#[derive(Debug)]
pub(super) struct Origins<'p> {
    code: CodeView<'p>,
    /// Slots that are set once. The values of others depend on the branch taken.
    once: BTreeSet<u32>,
    /// The number of jumps to a word.
    jumps: BTreeMap<u32, usize>,
    slots: BTreeMap<u32, InputPath<'p>>,
    top: Top<'p>,
    /// The top of the stack at the target of a jump.
    carried: BTreeMap<u32, InputPath<'p>>,
}

impl<'p> Origins<'p> {
    pub fn of(code: CodeView<'p>, chunk: ChunkInfo) -> Self {
        let (mut sets, mut jumps) = (BTreeMap::<u32, usize>::new(), BTreeMap::new());
        for instruction in code.instructions(chunk) {
            set_by(instruction).for_each(|slot| *sets.entry(slot).or_default() += 1);
            if let Some(label) = instruction.operand(Operand::Label) {
                *jumps.entry(label).or_default() += 1;
            }
        }
        let once = sets.into_iter().filter_map(|(slot, times)| (times == 1).then_some(slot)).collect();
        Self { code, once, jumps, slots: BTreeMap::new(), top: Top::Unknown, carried: BTreeMap::new() }
    }

    /// Follows the next instruction.
    pub fn follow(&mut self, instruction: Instruction<'p>) {
        let top = self.top_at(instruction.at);
        let operand = |kind| instruction.operand(kind).unwrap_or_default();
        match (instruction.op, top) {
            (Op::LoadPath | Op::PeekPath, _) => {
                let (path, whole) = self.read(operand(Operand::Path));
                self.top = path.filter(|_| whole).map_or(Top::Unknown, Top::At);
            }
            (Op::List, _) if operand(Operand::Count) == 0 => self.top = Top::Empty,
            (Op::JumpPresent, Top::At(path)) => drop(self.carried.insert(operand(Operand::Label), path)),
            (Op::StoreSlot, Top::At(path)) => self.keep(operand(Operand::Slot), path),
            (Op::Iter, Top::At(mut path)) if operand(Operand::Names) == 1 => {
                path.names.push(ITEM);
                self.keep(operand(Operand::LoopSlots), path);
            }
            _ => {}
        }
    }

    /// Returns the input path that the path at offset `path` reads, and `true` if all of its steps are known.
    pub fn read(&self, path: u32) -> (Option<InputPath<'p>>, bool) {
        let path = self.code.path(path);
        let mut roots = path.roots();
        let mut from = match roots.next() {
            Some(Root::Global(input)) => self.input(input).map(|name| InputPath { names: vec![name], or: Vec::new() }),
            Some(Root::Slot(slot)) => self.slots.get(&slot).cloned(),
            _ => None,
        };
        for other in roots {
            match (other, &mut from) {
                (Root::Global(input), Some(from)) => from.or.extend(self.input(input)),
                _ => from = None,
            }
        }
        let names = |(segment, _)| match segment {
            Segment::Attr(name) => Some(self.code.str(name)),
            Segment::Index(_) => None,
        };
        let steps: Vec<_> = path.segments().map_while(names).collect();
        let whole = steps.len() == path.len();
        if let Some(from) = &mut from {
            from.names.extend(steps);
        }
        (from, whole)
    }

    fn input(&self, global: u32) -> Option<&'p str> {
        self.code.globals().get(global as usize).map(|&name| self.code.str(name))
    }

    /// Takes the top of the stack at this word.
    fn top_at(&mut self, at: u32) -> Top<'p> {
        let top = std::mem::take(&mut self.top);
        match (self.jumps.get(&at), self.carried.remove(&at), top) {
            (None, _, top) => top,
            // `x | default(value=[])`: if there is an item, it is one of `x`.
            (Some(1), Some(path), Top::Empty) => Top::At(path),
            _ => Top::Unknown,
        }
    }

    fn keep(&mut self, slot: u32, path: InputPath<'p>) {
        if self.once.contains(&slot) && path.names.len() + path.or.len() <= STEPS {
            self.slots.insert(slot, path);
        }
    }
}

/// Returns the slots that an instruction sets to a new value.
fn set_by(instruction: Instruction<'_>) -> std::ops::Range<u32> {
    let (first, count) = match instruction.op {
        Op::Iter => (instruction.operand(Operand::LoopSlots), instruction.operand(Operand::Names)),
        Op::StoreSlot => (instruction.operand(Operand::Slot), Some(1)),
        _ => (None, None),
    };
    let first = first.unwrap_or_default();
    first..first.saturating_add(count.unwrap_or_default())
}
