//! Which inputs variables of a template come from: those of loops are items of lists, those of `set` may be inputs.

use std::collections::{BTreeMap, BTreeSet};

use crate::bytecode::{ChunkInfo, CodeView, Instruction, Op, Operand, Root, Segment};

/// A step from a list to whichever of its items.
pub(super) const ITEM: &str = "[]";

/// How many steps of a variable are followed: of a thousand that are made one from another each has a way longer than
/// the one before.
const FOLLOWED: usize = 64;

/// Where a value is among the inputs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way<'p> {
    /// The input, and the steps from it.
    pub names: Vec<&'p str>,
    /// The inputs that stand in where there is nothing at the end of the steps.
    pub or: Vec<&'p str>,
}

/// What is on top of the stack.
#[derive(Debug, Default)]
enum Top<'p> {
    #[default]
    Unknown,
    /// A list without items.
    Nothing,
    At(Way<'p>),
}

/// What the code of a chunk, read in its order, leaves in slots and on top of the stack.
#[derive(Debug)]
pub(super) struct Origins<'p> {
    code: CodeView<'p>,
    /// The slots that are set in one place; what is in others depends on the way that was taken.
    once: BTreeSet<u32>,
    /// How many jumps lead to a place.
    targets: BTreeMap<u32, usize>,
    slots: BTreeMap<u32, Way<'p>>,
    top: Top<'p>,
    /// What jumps take with them to where they lead.
    carried: BTreeMap<u32, Way<'p>>,
}

impl<'p> Origins<'p> {
    pub(super) fn of(code: CodeView<'p>, chunk: ChunkInfo) -> Self {
        let (mut sets, mut targets) = (BTreeMap::<u32, usize>::new(), BTreeMap::new());
        for instruction in code.instructions(chunk) {
            for slot in set_by(instruction) {
                *sets.entry(slot).or_default() += 1;
            }
            for (_, label) in instruction.operands().filter(|(operand, _)| *operand == Operand::Label) {
                *targets.entry(label).or_default() += 1;
            }
        }
        let once = sets.into_iter().filter_map(|(slot, times)| (times == 1).then_some(slot)).collect();
        Self { code, once, targets, slots: BTreeMap::new(), top: Top::Unknown, carried: BTreeMap::new() }
    }

    /// Follows the instruction that comes next in the code.
    pub(super) fn pass(&mut self, instruction: Instruction<'p>) {
        let top = self.top_at(instruction.at);
        let operand = |kind| instruction.operand(kind).unwrap_or_default();
        match (instruction.op, top) {
            (Op::LoadPath | Op::PeekPath, _) => {
                let (way, whole) = self.read(operand(Operand::Path));
                self.top = way.filter(|_| whole).map_or(Top::Unknown, Top::At);
            }
            (Op::List, _) if operand(Operand::Count) == 0 => self.top = Top::Nothing,
            (Op::JumpPresent, Top::At(way)) => drop(self.carried.insert(operand(Operand::Label), way)),
            (Op::StoreSlot, Top::At(way)) => self.keep(operand(Operand::Slot), way),
            (Op::Iter, Top::At(mut way)) if operand(Operand::Count) == 1 => {
                way.names.push(ITEM);
                self.keep(operand(Operand::Slot), way);
            }
            _ => {}
        }
    }

    /// Where a path leads, if it begins with an input or with what is known to come from one; and whether all of its
    /// steps are told.
    pub(super) fn read(&self, path: u32) -> (Option<Way<'p>>, bool) {
        let path = self.code.path(path);
        let mut roots = path.roots();
        let mut way = match roots.next() {
            Some(Root::Global(input)) => self.input(input).map(|name| Way { names: vec![name], or: Vec::new() }),
            Some(Root::Slot(slot)) => self.slots.get(&slot).cloned(),
            _ => None,
        };
        for other in roots {
            match (other, &mut way) {
                (Root::Global(input), Some(way)) => way.or.extend(self.input(input)),
                _ => way = None,
            }
        }
        let names = |(segment, _)| match segment {
            Segment::Attr(name) => Some(self.code.str(name)),
            Segment::Index(_) => None,
        };
        let steps: Vec<_> = path.segments().map_while(names).collect();
        let whole = steps.len() == path.len();
        if let Some(way) = &mut way {
            way.names.extend(steps);
        }
        (way, whole)
    }

    fn input(&self, global: u32) -> Option<&'p str> {
        self.code.globals().get(global as usize).map(|&name| self.code.str(name))
    }

    /// What is on top when this place is reached.
    fn top_at(&mut self, at: u32) -> Top<'p> {
        let top = std::mem::take(&mut self.top);
        match (self.targets.get(&at), self.carried.remove(&at), top) {
            (None, _, top) => top,
            // `x | default(value=[])`: if there is an item, it is one of `x`.
            (Some(1), Some(way), Top::Nothing) => Top::At(way),
            _ => Top::Unknown,
        }
    }

    fn keep(&mut self, slot: u32, way: Way<'p>) {
        if self.once.contains(&slot) && way.names.len() + way.or.len() <= FOLLOWED {
            self.slots.insert(slot, way);
        }
    }
}

/// The slots that an instruction sets to something new.
fn set_by(instruction: Instruction<'_>) -> std::ops::Range<u32> {
    let count = match instruction.op {
        Op::Iter => instruction.operand(Operand::Count).unwrap_or_default(),
        Op::StoreSlot => 1,
        _ => 0,
    };
    let first = instruction.operand(Operand::Slot).unwrap_or_default();
    first..first.saturating_add(count)
}
