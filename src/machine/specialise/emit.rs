//! Writing code and text to the residual.

use std::rc::Rc;

use super::residual::Piece;
use super::state::{Joined, Recipe, Step};
use super::walk::Walk;
use crate::bytecode::{Fails, Op, PieceKind, Spanned};

impl<'v> Walk<'v> {
    /// Emits the code that pushes a known value.
    pub(super) fn push(&mut self, recipe: &Recipe) {
        match recipe {
            Recipe::Constant(instr) => self.emit_quietly(&instr.words, instr.at),
            Recipe::Input(global, steps) => {
                for step in steps.iter() {
                    if let Step::Index(nth) = step {
                        self.emit_quietly(&[Op::Int as u32 | nth << 8], self.pc);
                    }
                }
                let path = self.out.input_path(*global, steps);
                self.emit_quietly(&[Op::LoadPath as u32 | path << 8], self.pc);
            }
            Recipe::Slot(slot) => {
                let path = self.out.slot_path(*slot);
                self.emit_quietly(&[Op::LoadPath as u32 | path << 8], self.pc);
            }
            Recipe::Code(code) => code.iter().for_each(|instr| self.emit_quietly(&instr.words, instr.at)),
        }
    }

    /// Emits an instruction without the positions of its parts.
    pub fn emit_quietly(&mut self, words: &[u32], at: u32) {
        let fails = words.first().is_some_and(|word| Op::of(*word).info().fails != Fails::Never);
        if fails {
            self.set_regions(at);
        }
        let (place, calls) = (self.program.place(at), self.calls_at(at));
        self.out.emit(words, place, &calls);
    }

    /// Emits an instruction in the place of the original's at `at`.
    pub fn emit(&mut self, words: &[u32], at: u32) {
        self.out.details_of(at);
        self.emit_quietly(words, at);
    }

    fn calls_at(&self, at: u32) -> Rc<[Spanned]> {
        let own = self.program.inlined_at(at);
        if own.is_empty() {
            return self.frame.calls.clone();
        }
        own.into_iter().chain(self.frame.calls.iter().copied()).collect()
    }

    /// Adds text to write, from the original's instruction at `at`.
    pub fn write(&mut self, text: &str, kind: PieceKind, at: u32) {
        let place = self.program.place(at);
        if let Some(pending) = self.state.texts.last_mut().filter(|_| !text.is_empty()) {
            pending.pieces.push(Piece { start: pending.text.len(), place, kind });
            pending.text.push_str(text);
        }
    }

    /// Writes the pending text.
    pub fn flush(&mut self) {
        let left = self.flush_unless(|_| false);
        debug_assert!(left.is_none());
    }

    /// Writes the pending text, except for the last part if it comes from the source of `place`. Returns that part.
    pub fn flush_before(&mut self, place: Option<Spanned>) -> Option<Joined> {
        self.flush_unless(|last| last.source() == place.map(|place| place.source))
    }

    /// Writes the pending text, and opens captures, except for the last part of the innermost if it is kept.
    fn flush_unless(&mut self, keep: impl Fn(&Joined) -> bool) -> Option<Joined> {
        let innermost = self.state.texts.len().saturating_sub(1);
        let mut kept = None;
        for level in 0..=innermost {
            let Some(pending) = self.state.texts.get_mut(level).map(std::mem::take) else { break };
            if let Some(at) = pending.unopened {
                self.emit(&[Op::Capture as u32], at);
            }
            let mut parts = pending.parts();
            if level == innermost {
                kept = parts.pop_if(|last| keep(last));
            }
            for Joined { text, pieces } in parts {
                let string = self.out.string(&text);
                self.out.pieces(&pieces);
                let place = pieces.first().and_then(|piece| piece.place);
                self.out.emit(&[Op::Text as u32 | string << 8], place, &self.frame.calls);
            }
        }
        kept
    }
}
