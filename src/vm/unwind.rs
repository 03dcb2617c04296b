//! The one door through which errors leave the loop: absorbed by a handler, or placed in the source.

use super::access::Access;
use super::machine::{Capture, Machine};
use super::semantics::Semantics;
use crate::bytecode::Spanned;
use crate::diagnostics::{CULPRIT, Code, Diagnostic};
use crate::function::{Noted, Subject};
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
    pub(super) fn unwind<S: Semantics>(&mut self, error: Box<Diagnostic>) -> Result<usize, Box<Diagnostic>> {
        if error.code.is_limit() {
            return Err(self.placed(error));
        }
        let depth = (1..=self.frames.len()).rev().find(|depth| self.handles(*depth));
        match depth {
            Some(depth) => {
                S::absorbed(&self.cx, || self.placed(error));
                Ok(self.absorb(depth))
            }
            None => Err(self.placed(error)),
        }
    }

    /// The word that runs in the frame at `depth` (1 is the outermost).
    fn word_in(&self, depth: usize) -> u32 {
        match self.frames.get(depth) {
            Some(callee) => word(callee.back.saturating_sub(1)),
            None => word(self.cx.at()),
        }
    }

    fn handles(&self, depth: usize) -> bool {
        self.program.handler(self.word_in(depth)).is_some()
    }

    fn absorb(&mut self, depth: usize) -> usize {
        let at = self.word_in(depth);
        let frame = depth.checked_sub(1).and_then(|at| self.frames.get(at)).copied();
        let (Some(handler), Some(frame)) = (self.program.handler(at), frame) else { return self.cx.at() };
        let captures = frame.captures + handler.captures as usize;
        for capture in self.captures.get(captures..).unwrap_or(&[]).iter().rev() {
            match *capture {
                Capture::Text(start) => self.out.truncate(start),
                Capture::Values(start) => self.gathered.truncate(start),
            }
        }
        while self.frames.len() > depth {
            self.leave();
        }
        self.captures.truncate(captures);
        self.top = frame.stack + handler.height as usize;
        self.loops.truncate(frame.loops + handler.iters as usize);
        self.push(Value::Undefined);
        handler.to as usize
    }

    /// The end of a run that writes: the errors that were noted, and where what was asked has no answer, that.
    pub(super) fn settled(&self) -> Result<(), Box<Diagnostic>> {
        if self.cx.notes().count() == 0 {
            return Ok(());
        }
        let unanswered = self.cx.notes().first_unanswered();
        let mut errors = self.noted().into_iter();
        let Some(mut first) = errors.next() else {
            let Some(at) = unanswered else { return Ok(()) };
            let error = Diagnostic::new(Code::TypeMismatch, "a value that is written is not known");
            return Err(self.placed_at(error, word(at), Subject::Whole));
        };
        first.also = errors.collect();
        Err(first)
    }

    /// The errors that were noted, each at its place. What else was noted and nobody asked for is dropped.
    #[inline]
    pub(super) fn noted(&self) -> Vec<Box<Diagnostic>> {
        if self.cx.notes().count() == 0 { Vec::new() } else { self.some_noted() }
    }

    #[cold]
    fn some_noted(&self) -> Vec<Box<Diagnostic>> {
        let notes = self.cx.notes().take(0).into_iter();
        let errors = notes.filter_map(|note| match note.what {
            Noted::Error(error, subject) => Some(self.placed_at(error, word(note.at), subject)),
            Noted::Unanswered | Noted::Marks(_) => None,
        });
        errors.collect()
    }

    /// A noted error at its place: a part of what the instruction at word `at` comes from, in its context.
    fn placed_at(&self, error: Box<Diagnostic>, at: u32, subject: Subject) -> Box<Diagnostic> {
        let whole = self.program.place(at);
        let part = match subject {
            Subject::Whole => None,
            Subject::Part(part) => self.program.detail(at, part),
            Subject::Root => self.program.root(at),
        };
        let Some(place) = part.or(whole) else { return error };
        let Some(source) = self.program.source(place) else { return error };
        let mut error = error.at_if_nowhere(source, place.span);
        let within = matches!(subject, Subject::Part(_));
        if let (true, Some(whole), None) = (within, whole, error.context) {
            error.context = Some(whole.span);
        }
        error
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
