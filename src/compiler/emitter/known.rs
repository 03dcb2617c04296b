//! What is known of values before anything runs: which of them stay the same for a whole render.
//!
//! A constant does, and so does what a path of inputs alone names: nothing in a program changes an input. A pure
//! function of such values does, too, so its answer is kept in a memo: wherever the same function is applied to
//! the same values, it is called once for each render.

use smallvec::SmallVec;

use super::{Emitter, OPERAND};
use crate::bytecode::{ImportKind, Op, Signature};
use crate::compiler::tables::index;

/// What is known of a value: the instruction that pushes it and its operand, where it stays the same for a whole
/// render; else [`Known::NOTHING`]. Two values with the same entry are the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Known(u32);

impl Known {
    pub const NOTHING: Known = Known(u32::MAX);

    fn by(op: Op, operand: u32) -> Known {
        Known((op as u32) << 24 | operand & OPERAND)
    }
}

/// A function (its import) and for each argument its parameter and its value.
pub(super) type Application = (u32, SmallVec<[(u32, Known); 4]>);

impl Emitter<'_> {
    /// Says that the frame's part of the stack holds `height` values of which no more is known than before.
    pub(super) fn set_values(&mut self, height: u32) {
        self.values.resize(height as usize, Known::NOTHING);
    }

    /// Code may come here from elsewhere: of no value it is known where it came from.
    pub(super) fn forget_values(&mut self) {
        self.values.fill(Known::NOTHING);
    }

    /// Takes the values an instruction pops, and notes what it pushes.
    pub(super) fn note_values(&mut self, op: Op, operand: u32) {
        let known = match op {
            Op::Str | Op::Num | Op::Int | Op::Lit => Known::by(op, operand),
            Op::LoadPath | Op::PeekPath if self.of_inputs(operand) => Known::by(op, operand),
            _ => Known::NOTHING,
        };
        self.count(op, self.pops(op, operand) as usize, known);
    }

    fn count(&mut self, op: Op, pops: usize, known: Known) {
        self.values.truncate(self.values.len().saturating_sub(pops));
        (0..op.info().pushes).for_each(|_| self.values.push(known));
    }

    /// Whether nothing leads here. An instruction that takes `pops` values is counted then, and no table gets
    /// what it would have named.
    pub(super) fn is_dead(&mut self, op: Op, pops: usize) -> bool {
        self.flush();
        if self.open.dead {
            self.count(op, pops, Known::NOTHING);
        }
        self.open.dead
    }

    /// Calls a function with the topmost values; `params` says for each of them, the first one first, which
    /// parameter it is (or, for a function of open parameters, the string id of its name). Of a `pure` function
    /// the same arguments always give the same value.
    pub fn call(&mut self, kind: ImportKind, name: &str, signature: Signature, params: &[u32], pure: bool) {
        if self.is_dead(Op::Call, params.len()) {
            return;
        }
        let import = self.tables.import(kind, name, signature);
        let at = index(self.records.sites.len());
        self.records.sites.extend([import, index(params.len())]);
        self.records.sites.extend(params);
        self.oversized |= params.len() > usize::from(u16::MAX);
        match self.memo(import, params).filter(|_| pure) {
            Some(memo) => {
                self.emit(Op::CallMemo, &[at, memo]);
                if let Some(top) = self.values.last_mut() {
                    *top = Known::by(Op::CallMemo, memo);
                }
            }
            None => self.emit(Op::Call, &[at]),
        }
    }

    /// Renders the template `name`, of whatever language, with the map on top as its inputs: its text takes the map's
    /// place.
    pub fn call_template(&mut self, name: &str) {
        self.call(ImportKind::Template, name, Signature::TEMPLATE, &[0], false);
    }

    /// Calls a function with the topmost `count` values, which are the arguments of its parameters in their order.
    /// Of such a function the body itself judges its arguments: no gate is between.
    pub fn apply(&mut self, kind: ImportKind, name: &str, signature: Signature, count: u32) {
        if self.is_dead(Op::Apply, count as usize) {
            return;
        }
        let import = self.tables.import(kind, name, signature);
        self.emit(Op::Apply, &[count, import]);
    }

    /// The memo for calls of a function with the topmost values, where they stay the same for a whole render.
    fn memo(&mut self, import: u32, params: &[u32]) -> Option<u32> {
        if !self.optimise {
            return None;
        }
        let given = self.values.get(self.values.len().checked_sub(params.len())?..)?;
        let arguments: SmallVec<[_; 4]> = params.iter().copied().zip(given.iter().copied()).collect();
        if arguments.is_empty() || arguments.iter().any(|(_, known)| *known == Known::NOTHING) {
            return None;
        }
        let fresh = index(self.memos.len());
        Some(*self.memos.entry((import, arguments)).or_insert(fresh))
    }
}
