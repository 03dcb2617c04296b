//! Control dependence: the branches that decide whether an instruction runs.
//!
//! An instruction depends on a branch if it runs after one of the branch's outcomes and may not run after the other. That
//! follows from the post-dominators of the control flow graph (Ferrante, Ottenstein and Warren, 1987), which are found as
//! by Cooper, Harvey and Kennedy (2001).

use crate::bytecode::code::CodeView;
use crate::bytecode::isa::Control;
use crate::bytecode::operands::Operand;
use crate::bytecode::rows::ChunkInfo;

/// The branches that the instructions of a chunk depend on.
#[derive(Debug, Default)]
pub struct ControlDependence {
    /// The first word of each instruction, in order.
    words: Vec<u32>,
    /// For each instruction the branches that it depends on directly, as indexes of instructions.
    branches: Vec<Vec<u32>>,
}

/// A node without a post-dominator: no way leads from it out of the chunk.
const NONE: u32 = u32::MAX;

impl ControlDependence {
    /// Finds the dependences in a chunk.
    pub fn of(code: CodeView<'_>, chunk: ChunkInfo) -> Self {
        let words: Vec<u32> = code.instructions(chunk).map(|instruction| instruction.at).collect();
        let graph = Graph::of(code, chunk, &words);
        let after = graph.post_dominators();
        let mut branches = vec![Vec::new(); words.len()];
        for (branch, successors) in (0..).zip(&graph.successors) {
            let [Some(one), Some(other)] = *successors else { continue };
            let end = after.get(branch as usize).copied().unwrap_or(NONE);
            for mut node in [one, other] {
                while node != end
                    && let Some(own) = branches.get_mut(node as usize)
                {
                    if !own.contains(&branch) {
                        own.push(branch);
                    }
                    node = after.get(node as usize).copied().unwrap_or(NONE);
                }
            }
        }
        Self { words, branches }
    }

    /// Returns the words of the branches that the instruction at word `at` depends on directly.
    pub fn direct(&self, at: u32) -> impl Iterator<Item = u32> {
        let node = self.words.binary_search(&at).ok();
        let branches = node.and_then(|node| self.branches.get(node)).map_or(&[][..], Vec::as_slice);
        branches.iter().filter_map(|branch| self.words.get(*branch as usize).copied())
    }

    /// Returns the words of the branches that the instruction at word `at` depends on: directly, or because the branches
    /// depend on them.
    pub fn branches(&self, at: u32) -> Vec<u32> {
        let direct = |node: u32| self.branches.get(node as usize).map_or(&[][..], Vec::as_slice);
        let Some(node) = self.words.binary_search(&at).ok().and_then(|node| u32::try_from(node).ok()) else {
            return Vec::new();
        };
        let (mut found, mut next) = (direct(node).to_vec(), 0);
        let mut seen: hashbrown::HashSet<u32> = found.iter().copied().collect();
        while let Some(branch) = found.get(next).copied() {
            found.extend(direct(branch).iter().copied().filter(|branch| seen.insert(*branch)));
            next += 1;
        }
        found.sort_unstable();
        found.into_iter().filter_map(|branch| self.words.get(branch as usize).copied()).collect()
    }
}

/// The control flow between the instructions of a chunk, and from those that leave it to a last node.
struct Graph {
    successors: Vec<[Option<u32>; 2]>,
    predecessors: Vec<Vec<u32>>,
}

impl Graph {
    fn of(code: CodeView<'_>, chunk: ChunkInfo, words: &[u32]) -> Self {
        let exit = words.len() as u32;
        let node = |at: u32| words.binary_search(&at).map_or(exit, |node| node as u32);
        let next_of = |instruction: crate::bytecode::Instruction<'_>| {
            let control = instruction.op.info().control;
            let next = (!control.ends()).then(|| node(instruction.end()));
            let label = instruction.operand(Operand::Label).map(node).filter(|label| Some(*label) != next);
            match (next, label, control) {
                (None, None, Control::Return | Control::Fail) => [Some(exit), None],
                (None, label, _) => [label, None],
                (next, label, _) => [next, label],
            }
        };
        let successors: Vec<_> = code.instructions(chunk).map(next_of).collect();
        let mut predecessors = vec![Vec::new(); words.len() + 1];
        for (at, nodes) in (0..).zip(&successors) {
            for node in nodes.iter().flatten() {
                if let Some(from) = predecessors.get_mut(*node as usize) {
                    from.push(at);
                }
            }
        }
        Self { successors, predecessors }
    }

    /// Returns the nodes from which ways lead to the last one, each after at least one of its successors, and the place of
    /// each node in this order.
    fn order(&self) -> (Vec<u32>, Vec<u32>) {
        let exit = self.successors.len() as u32;
        let (mut seen, mut finished) = (vec![false; self.predecessors.len()], Vec::new());
        let mut open = vec![(exit, 0)];
        while let Some((node, next)) = open.last_mut() {
            let from = self.predecessors.get(*node as usize).and_then(|from| from.get(*next)).copied();
            *next += 1;
            match from {
                Some(from) => {
                    if let Some(seen) = seen.get_mut(from as usize).filter(|seen| !**seen) {
                        *seen = true;
                        open.push((from, 0));
                    }
                }
                None => {
                    finished.push(*node);
                    open.pop();
                }
            }
        }
        finished.reverse();
        let mut places = vec![NONE; self.predecessors.len()];
        for (place, node) in (0..).zip(&finished) {
            if let Some(known) = places.get_mut(*node as usize) {
                *known = place;
            }
        }
        (finished, places)
    }

    /// Returns the nearest post-dominator of each node: the next one on all ways to the last node.
    fn post_dominators(&self) -> Vec<u32> {
        let (order, places) = self.order();
        let exit = self.successors.len() as u32;
        let mut after = vec![NONE; self.predecessors.len()];
        if let Some(last) = after.last_mut() {
            *last = exit;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for node in order.iter().skip(1) {
                let Some(successors) = self.successors.get(*node as usize) else { continue };
                let known = |next: &&u32| after.get(**next as usize).is_some_and(|after| *after != NONE);
                let found = successors.iter().flatten().filter(known).copied();
                let Some(found) = found.reduce(|a, b| common(a, b, &after, &places)) else { continue };
                if let Some(was) = after.get_mut(*node as usize).filter(|was| **was != found) {
                    (*was, changed) = (found, true);
                }
            }
        }
        after
    }
}

/// Returns the nearest node that post-dominates both.
fn common(mut a: u32, mut b: u32, after: &[u32], places: &[u32]) -> u32 {
    let (place, next) = (|node: u32| places.get(node as usize), |node: u32| after.get(node as usize).copied());
    while a != b {
        let further = if place(a) > place(b) { &mut a } else { &mut b };
        *further = next(*further).unwrap_or(*further);
    }
    a
}
