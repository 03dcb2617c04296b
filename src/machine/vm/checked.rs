//! The checking machine, which checks every index and panics on an invalid one, and an audit that compares the effects
//! of instructions with their rows. Tests use them to check the machine and the verifier.

use std::cmp::Ordering;

use super::access::Access;
use super::hooks::{Contents, Heights, Moment, NoHooks, Observer};
use super::run::{Run, Session, run_by};
use super::semantics::Semantics;
use crate::bytecode::{CodeView, Control, Fails, ISA, Op, OpInfo, Places};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_value::Value;

/// Checks every index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checking;

impl Access for Checking {
    fn at<T: Copy>(slice: &[T], at: usize) -> T {
        slice[at]
    }

    fn place<T>(slice: &mut [T], at: usize) -> &mut T {
        &mut slice[at]
    }

    fn borrow<T>(slice: &[T], at: usize) -> &T {
        &slice[at]
    }

    fn slice<T>(slice: &[T], start: usize, end: usize) -> &[T] {
        &slice[start..end]
    }

    fn text(pool: &str, start: usize, end: usize) -> &str {
        &pool[start..end]
    }

    fn op(word: u32) -> Op {
        ISA[(word & 0xFF) as usize].op
    }

    fn require(fact: impl FnOnce() -> bool) {
        assert!(fact(), "a fact that the verifier guarantees");
    }
}

/// Calls `run` on the checking machine.
pub fn run_checked<S: Semantics + Default>(session: &mut Session, run: Run<'_>, out: &mut String) -> Result<()> {
    run_by::<_, _, Checking>(&S::default(), session, run, Some(out), &mut NoHooks).map(drop)
}

/// Calls [`answer`](super::answer) on the checking machine.
///
/// # Errors
/// The errors of the run.
pub fn answer_checked<'s, S: Semantics + Default>(session: &'s mut Session, run: Run<'s>) -> Result<Value<'s>> {
    run_by::<_, _, Checking>(&S::default(), session, run, None, &mut NoHooks)
}

/// An instruction and the heights before it.
#[derive(Debug, Clone, Copy)]
struct AuditStep {
    at: u32,
    op: Op,
    heights: Heights,
    contents: Contents,
}

/// The outcome that continues with the next instruction, or leaves the chunk.
const CONTINUES: u8 = 1;

/// The outcome that continues with the next instruction where a chunk might have been called.
const PASSES: u8 = 4;

/// The outcome that continues elsewhere: at the label, or in another chunk.
const JUMPS: u8 = 2;

/// Two successive steps of a run, or in one frame a call and the step after it.
#[derive(Debug)]
pub struct Transition<'p> {
    code: CodeView<'p>,
    before: AuditStep,
    after: AuditStep,
    /// The last step of the frame of `after`.
    frame: Option<AuditStep>,
    /// `true` if a chunk was called in between.
    returned: bool,
}

impl Transition<'_> {
    /// Returns the opcode of the first step.
    pub fn op(&self) -> Op {
        self.before.op
    }

    /// Returns the state that the instruction changed, besides the stack. `None` if a chunk ran or ended, or if a handler
    /// absorbed an error.
    pub fn changes(&self) -> Option<Places> {
        let within = self.before.heights.frames == self.after.heights.frames && !self.returned && !self.is_absorbed();
        within.then(|| self.before.contents.changes(&self.after.contents))
    }

    /// Returns the outcomes of an instruction with this row that are observed here, as bits of
    /// [`Transition::outcomes`]; none if a handler absorbed an error. `None` if the row does not allow this transition.
    pub fn outcome(&self, row: &OpInfo) -> Option<u8> {
        let (before, after) = (self.before.heights, self.after.heights);
        if !self.returned && self.is_absorbed() {
            return Some(0);
        }
        let (outcome, holds) = match before.frames.cmp(&after.frames) {
            Ordering::Less => (JUMPS, row.control.calls() && after.values == 0),
            Ordering::Greater => (CONTINUES, row.control == Control::Return && before.values == 0),
            Ordering::Equal if row.control == Control::MayCall && !self.returned => {
                return self.effect(row).map(|outcome| if outcome == CONTINUES { PASSES } else { outcome });
            }
            Ordering::Equal if row.control.calls() != self.returned => return None,
            Ordering::Equal => return self.effect(row),
        };
        holds.then_some(outcome)
    }

    /// Returns all outcomes of instructions with this effect on control flow. Each should occur once.
    pub fn outcomes(control: Control) -> u8 {
        match control {
            Control::Jump => JUMPS,
            Control::Branch | Control::BranchWithTop | Control::OpenLoop | Control::NextItem | Control::Call => {
                CONTINUES | JUMPS
            }
            Control::MayCall => CONTINUES | JUMPS | PASSES,
            Control::Fail => 0,
            _ => CONTINUES,
        }
    }

    /// Returns `true` if a handler absorbed an error.
    fn is_absorbed(&self) -> bool {
        let handler = self.frame.and_then(|step| self.code.handler(step.at));
        handler.is_some_and(|handler| {
            handler.to == self.after.at && handler.height as usize + 1 == self.after.heights.values
        })
    }

    /// Returns the outcome within a frame.
    fn effect(&self, row: &OpInfo) -> Option<u8> {
        let (before, after) = (self.before.heights, self.after.heights);
        let word = |nth: usize| self.code.words.get(self.before.at as usize + nth).copied().unwrap_or(0);
        let label = row.label().map(|nth| if nth == 0 { word(0) >> 8 } else { word(nth) });
        let popped = self.code.pops(row, word(0) >> 8) as usize;
        let values = before.values.checked_sub(popped)? + usize::from(row.pushes);
        // Changes with the next instruction: loops, captures, gathering captures.
        let (opened, gathered) = match row.control {
            Control::Return | Control::Fail => return None,
            Control::OpenLoop => ([1, 0, 0], Ordering::Equal),
            Control::NextItem | Control::CloseLoop => ([-1, 0, 0], Ordering::Equal),
            Control::OpenText => ([0, 1, 0], Ordering::Equal),
            Control::CloseText => ([0, -1, 0], Ordering::Equal),
            Control::OpenValues => ([0, 1, 1], Ordering::Equal),
            Control::CloseValues => ([0, -1, -1], Ordering::Greater),
            Control::Gather => ([0; 3], Ordering::Less),
            _ => ([0; 3], Ordering::Equal),
        };
        let blocks = |heights: Heights| [heights.loops, heights.captures, heights.gathers].map(usize::cast_signed);
        let change = [0, 1, 2].map(|nth: usize| blocks(after)[nth] - blocks(before)[nth]);
        let found = before.gathered.cmp(&after.gathered);
        let next = row.control != Control::Jump
            && (self.after.at, after.values, change) == (self.before.at + row.words() as u32, values, opened)
            && (found == gathered
                || found == Ordering::Equal && (row.control != Control::Gather || before.gathers > 0));
        if next && label == Some(self.after.at) {
            return Some(0); // both outcomes lead here
        }
        if next {
            return Some(if found == gathered || row.control == Control::CloseValues { CONTINUES } else { 0 });
        }
        let carried = usize::from(row.control == Control::BranchWithTop);
        let jumped = Some(self.after.at) == label && after.values == values + carried && change == [0; 3];
        (jumped && found == Ordering::Equal && Self::outcomes(row.control) & JUMPS != 0).then_some(JUMPS)
    }
}

/// Calls a function for every transition of the runs that it watches.
#[derive(Debug)]
pub struct Audit<F> {
    each: F,
    /// The last step of each frame.
    steps: Vec<AuditStep>,
    /// The state before the next step.
    contents: Option<Contents>,
    /// The errors that each instruction raised.
    raised: [Fails; ISA.len()],
    /// The last instruction that ran.
    last: Option<Op>,
}

impl<F: FnMut(&Transition<'_>)> Audit<F> {
    /// Returns an audit that calls `each`.
    pub fn new(each: F) -> Self {
        Self { each, steps: Vec::new(), contents: None, raised: [Fails::Never; ISA.len()], last: None }
    }

    /// Returns the errors that instructions raised, in opcode order.
    pub fn raised(&self) -> &[Fails] {
        &self.raised
    }
}

impl<F: FnMut(&Transition<'_>)> Observer for Audit<F> {
    fn step(&mut self, at: usize, op: Op, moment: &Moment<'_>) {
        let Moment { code, heights, .. } = *moment;
        self.last = Some(op);
        let Some(contents) = self.contents else { return };
        let (after, depth) = (AuditStep { at: at as u32, op, heights, contents }, heights.frames);
        if depth == 1 && code.chunks().any(|chunk| chunk.entry == after.at) {
            self.steps.clear(); // another run
        }
        if let Some(before) = self.steps.last().copied() {
            let frame = self.steps.get(depth - 1).copied();
            let transition = Transition { code, before, after, frame, returned: false };
            (self.each)(&transition);
            if let (Control::Return, Some(caller)) = (before.op.info().control, frame) {
                (self.each)(&Transition { before: caller, returned: true, ..transition });
            }
        }
        self.steps.truncate(depth - 1);
        self.steps.push(after);
    }

    fn contents(&mut self, contents: &dyn Fn() -> Contents) {
        self.contents = Some(contents());
    }

    fn failed(&mut self, error: &Diagnostic) {
        let Some(op) = self.last else { return };
        let fails = if error.code.is_limit() { Fails::Limit } else { Fails::Error };
        self.raised[op as usize] = self.raised[op as usize].max(fails);
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::Trusting;
    use super::*;

    #[test]
    fn both_ways_of_access_agree() {
        let (items, pool) = ([3_u32, 5, 7], "aéb");
        for at in 0..3 {
            assert_eq!(Trusting::at(&items, at), Checking::at(&items, at));
            assert_eq!(Trusting::borrow(&items, at), Checking::borrow(&items, at));
        }
        assert_eq!(Trusting::slice(&items, 1, 3), Checking::slice(&items, 1, 3));
        let mut places = items;
        *Trusting::place(&mut places, 1) = 9;
        *Checking::place(&mut places, 2) = 11;
        assert_eq!(places, [3, 9, 11]);
        assert_eq!(Trusting::text(pool, 1, 3), Checking::text(pool, 1, 3));
        for row in ISA {
            assert_eq!(Trusting::op(row.op as u32 | 0xABCD00), row.op);
            assert_eq!(Checking::op(row.op as u32 | 0xABCD00), row.op);
        }
    }
}
