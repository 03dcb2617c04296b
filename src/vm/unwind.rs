//! The one door through which errors leave the loop: absorbed by a handler, or placed in the source.

use super::access::Access;
use super::machine::Machine;
use crate::bytecode::Spanned;
use crate::diagnostics::{CULPRIT, Diagnostic};
use crate::value::Value;

/// How many characters of source text a message quotes.
const QUOTED: usize = 80;

/// How many calls an error names.
const CALLS: usize = 16;

/// An index of a word as the tables store it.
pub(super) fn word(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<A: Access> Machine<'_, '_, A> {
    /// Absorbs the error and says where the code goes on, or gives it back with its places. Reached limits are
    /// never absorbed.
    #[cold]
    pub(super) fn unwind(&mut self, error: Box<Diagnostic>) -> Result<usize, Box<Diagnostic>> {
        if error.code.is_limit() {
            return Err(self.placed(error));
        }
        let depth = (1..=self.frames.len()).rev().find(|depth| self.handles(*depth));
        match depth {
            Some(depth) => Ok(self.absorb(depth)),
            None => Err(self.placed(error)),
        }
    }

    /// The word that runs in the frame at `depth` (1 is the outermost).
    fn word_in(&self, depth: usize) -> u32 {
        match self.frames.get(depth) {
            Some(callee) => word(callee.back.saturating_sub(1)),
            None => word(self.at),
        }
    }

    fn handles(&self, depth: usize) -> bool {
        self.program.handler(self.word_in(depth)).is_some()
    }

    fn absorb(&mut self, depth: usize) -> usize {
        let at = self.word_in(depth);
        while self.frames.len() > depth {
            self.leave();
        }
        let (Some(handler), Some(frame)) = (self.program.handler(at), self.frames.last().copied()) else {
            return self.at;
        };
        let captures = frame.captures + handler.captures as usize;
        if let Some(start) = self.captures.get(captures).copied() {
            self.out.truncate(start);
        }
        self.captures.truncate(captures);
        self.top = frame.stack + handler.height as usize;
        self.loops.truncate(frame.loops + handler.iters as usize);
        self.push(Value::Undefined);
        handler.to as usize
    }

    /// The error with the place of the running instruction and of the calls that led there.
    fn placed(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let mut calls: Vec<Spanned> = Vec::new();
        for depth in (1..=self.frames.len()).rev() {
            let at = self.word_in(depth);
            calls.extend(self.program.place(at));
            calls.extend(self.program.inlined_at(at));
        }
        let mut calls = calls.into_iter();
        if let Some((source, place)) = calls.next().and_then(|place| Some((self.program.source(place)?, place))) {
            let culprit = quoted(source.slice(place.span));
            error.message = error.message.replace(CULPRIT, &culprit);
            error = error.at_if_nowhere(source, place.span);
        }
        for place in calls.take(CALLS) {
            if let Some(source) = self.program.source(place) {
                error = error.at(source, place.span, "called from here");
            }
        }
        error
    }
}

/// Source text on one line, cut where it is long.
fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(QUOTED) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or("")),
        None => line,
    }
}
