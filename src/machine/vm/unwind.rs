//! Errors that leave the loop: absorbed by a handler, or reported with their position in the source.

use std::sync::Arc;

use super::access::Access;
use super::machine::{Capture, Interpreter, NAMED};
use super::semantics::Semantics;
use crate::bytecode::{CodeView, Region, Spanned};
use crate::function::{Noted, Subject, excerpt};
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Label, counted, joined};
use dropforge_base::text::{Source, one_line};
use dropforge_value::Value;

/// Maximum number of source characters quoted in a message.
const QUOTED: usize = 80;

/// Maximum number of calls that an error lists.
const CALLS: usize = 16;

/// The number of them that are the outermost ones.
const OUTERMOST: usize = 4;

/// Bytes charged for a recorded error.
const NOTE: usize = size_of::<Diagnostic>();

/// Returns the index of a word as stored in tables.
fn word(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'r, A: Access, S: Semantics + ?Sized> Interpreter<'r, '_, A, S> {
    /// Absorbs the error and returns the word to continue at, or returns the error with its positions. Limits are never
    /// absorbed.
    #[cold]
    pub(super) fn unwind(&mut self, error: Box<Diagnostic>) -> Result<usize, Box<Diagnostic>> {
        if error.code.is_limit() {
            return Err(self.placed(error, self.rules.called()));
        }
        match self.absorbing() {
            Some(depth) => {
                let noted = self.cx.notes().count();
                if !self.rules.forgets() {
                    self.rules.absorbed(&self.cx, self.placed(error, self.rules.called()));
                }
                if self.cx.notes().count() > noted {
                    // A loop may record an error for each item.
                    self.cx.charge(NOTE).map_err(|error| self.placed(error, self.rules.called()))?;
                }
                Ok(self.absorb(depth))
            }
            None => Err(self.placed(error, self.rules.called())),
        }
    }

    /// Returns the depth of the innermost frame whose handler absorbs an error of the running instruction.
    fn absorbing(&self) -> Option<usize> {
        (1..=self.frames.len()).rev().find(|depth| self.handles(*depth))
    }

    /// Returns `true` if a handler absorbs an error of the running instruction.
    pub(super) fn is_absorbed(&self) -> bool {
        self.absorbing().is_some()
    }

    /// Returns the current word of the frame at `depth` (1 is the outermost).
    fn word_in(&self, depth: usize) -> u32 {
        match self.frames.get(depth) {
            Some(callee) => word(callee.back.saturating_sub(1)),
            None => word(self.cx.at()),
        }
    }

    /// Returns the program of the frame at `depth`.
    fn program_in(&self, depth: usize) -> CodeView<'r> {
        let frame = depth.checked_sub(1).and_then(|at| self.frames.get(at));
        frame.map_or(self.program, |frame| self.program_of(frame.unit & !NAMED))
    }

    fn handles(&self, depth: usize) -> bool {
        self.program_in(depth).handler(self.word_in(depth)).is_some()
    }

    fn absorb(&mut self, depth: usize) -> usize {
        let at = self.word_in(depth);
        let frame = depth.checked_sub(1).and_then(|at| self.frames.get(at)).copied();
        let (Some(handler), Some(frame)) = (self.program_in(depth).handler(at), frame) else { return self.cx.at() };
        let captures = frame.captures + handler.captures as usize;
        for capture in self.captures.get(captures..).unwrap_or(&[]).iter().rev() {
            match *capture {
                Capture::Text(start) => {
                    self.out.end_capture();
                    self.out.truncate(start);
                }
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

    /// Raises the first error recorded after the number of notes in the slot. Drops the other notes.
    #[inline]
    pub(super) fn raise(&self, slot: u32) -> Result<(), Box<Diagnostic>> {
        if self.cx.notes().count() == 0 { Ok(()) } else { self.raise_noted(slot) }
    }

    #[cold]
    fn raise_noted(&self, slot: u32) -> Result<(), Box<Diagnostic>> {
        let from = if let Value::Int(from) = self.slot(slot) { usize::try_from(from).ok() } else { None };
        let Some(from) = from else { return Err(self.corrupt()) };
        let error = self.cx.notes().take(from).into_iter().find_map(|note| match note.what {
            Noted::Error(error, _) => Some(error),
            Noted::Unanswered | Noted::Marks(_) => None,
        });
        error.map_or(Ok(()), Err)
    }

    /// Ends a run: returns the recorded errors, or the error of a decision that stayed open.
    pub(super) fn settled(&self) -> Result<(), Box<Diagnostic>> {
        if self.cx.notes().count() == 0 {
            return Ok(());
        }
        let unanswered = self.cx.notes().first_unanswered();
        let open = || {
            let error = Diagnostic::new(Code::TypeMismatch, "a value that is written is not known");
            unanswered.map(|at| self.placed_at(error, word(at), Subject::Whole))
        };
        joined(self.noted()).or_else(open).map_or(Ok(()), Err)
    }

    /// Takes the recorded errors with their positions. Drops the other notes.
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

    /// Adds the position of the instruction at word `at`, or of a part of it with the whole as context.
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

    /// Returns `true` if the error's position is in another program, a template called by this one.
    fn is_foreign(&self, error: &Diagnostic) -> bool {
        error.primary().is_some_and(|label| !self.is_own(label))
    }

    fn is_own(&self, label: &Label) -> bool {
        let is_of = |program: CodeView<'_>| program.sources().iter().any(|source| Arc::ptr_eq(source, &label.source));
        is_of(self.program) || self.units.iter().flat_map(|units| units.programs()).any(is_of)
    }

    /// Adds the positions of the running instruction and of the calls around it to the error and the errors in `also`.
    /// `called` labels calls.
    fn placed(&self, mut error: Box<Diagnostic>, called: &'static str) -> Box<Diagnostic> {
        let also = std::mem::take(&mut error.also).into_iter();
        error.also = also.map(|other| self.placed(other, called)).collect();
        self.placed_alone(error, called)
    }

    fn placed_alone(&self, mut error: Box<Diagnostic>, called: &'static str) -> Box<Diagnostic> {
        if error.labels.iter().any(|label| label.text == called && self.is_own(label)) {
            return error; // placed when it was absorbed
        }
        let mut calls: Vec<(&Arc<Source>, Spanned)> = Vec::new();
        let depths = (1..=self.frames.len()).rev().map(|depth| (self.word_in(depth), self.program_in(depth)));
        let programs: Vec<_> = depths.collect();
        for (at, program) in &programs {
            let places = program.place(*at).into_iter().chain(program.inlined_at(*at));
            calls.extend(places.filter_map(|place| Some((program.source(place)?, place))));
        }
        let mut calls = calls.into_iter();
        if let Some((source, mut place)) = calls.next() {
            let culprit = one_line(source.slice(place.span), QUOTED);
            let part = error.part.take();
            place = part.and_then(|part| self.program.detail(self.word_in(self.frames.len()), part)).unwrap_or(place);
            error.message = error.message.replace(CULPRIT, &culprit);
            error.help = error.help.map(|help| help.replace(CULPRIT, &culprit));
            error = match self.is_foreign(&error) {
                true => error.at(source, place.span, called),
                false => error.at_if_nowhere(source, place.span),
            };
        }
        error = self.within_regions(error);
        let calls: Vec<_> = calls.collect();
        let outer = calls.len().saturating_sub(OUTERMOST);
        for (at, (source, place)) in calls.iter().enumerate() {
            if at < CALLS - OUTERMOST || at >= outer {
                error = error.at(source, place.span, called);
            }
        }
        match calls.len().checked_sub(CALLS) {
            None | Some(0) => error,
            Some(left_out) => error.with_note(format!("{} between them are not listed", counted(left_out, "call"))),
        }
    }

    /// Adds the position of the instruction at word `at`.
    #[cold]
    pub(super) fn placed_at_word(&self, error: Box<Diagnostic>, at: usize) -> Box<Diagnostic> {
        self.placed_at(error, word(at), Subject::Whole)
    }

    /// Adds the path of the value being built by the running code, and the visible names.
    #[cold]
    fn within_regions(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        if let Some(path) = error.fields.get("path") {
            if let Some(label) = error.labels.first_mut().filter(|label| label.text.is_empty()) {
                label.text = format!("in `{path}`");
            }
            return error;
        }
        let depth = self.frames.len();
        let mut path = String::new();
        for region in self.program.regions_at(self.word_in(depth)) {
            match region {
                Region::Step(name) => add_step(&mut path, self.program.str(name)),
                Region::Element(nth) => add_step(&mut path, &format!("[{}]", self.gathered_by(depth, nth))),
                Region::Name(name, slot) => {
                    let at = self.frames.get(depth.wrapping_sub(1)).map_or(0, |frame| frame.slots + slot as usize);
                    let value = self.values.get(at).copied().unwrap_or_default();
                    error.notes.push(note_of_name(self.program.str(name), value));
                }
                Region::Note(text) => error.notes.push(self.program.str(text).to_owned()),
            }
        }
        if path.is_empty() {
            return error;
        }
        if let Some(label) = error.labels.first_mut().filter(|label| label.text.is_empty()) {
            label.text = format!("in `{path}`");
        }
        error.with_field("path", path)
    }

    /// Returns the number of values gathered by the nth capture of the frame at `depth`.
    fn gathered_by(&self, depth: usize, nth: u32) -> usize {
        let first = self.frames.get(depth.wrapping_sub(1)).map_or(0, |frame| frame.captures) + nth as usize;
        let starts = |at: usize| match self.captures.get(at) {
            Some(Capture::Values(start)) => Some(*start),
            _ => None,
        };
        let end = (first + 1..self.captures.len()).find_map(starts).unwrap_or(self.gathered.len());
        end.saturating_sub(starts(first).unwrap_or(end))
    }

    /// Adds the position of a part of the running instruction, if it is known.
    #[cold]
    pub(super) fn placed_in_part(&self, error: Box<Diagnostic>, part: usize) -> Box<Diagnostic> {
        let place = self.program.detail(word(self.cx.at()), word(part));
        match place.and_then(|place| Some((self.program.source(place)?, place.span))) {
            Some((source, span)) => error.at_if_nowhere(source, span),
            None => error,
        }
    }
}

/// Returns the note about a visible name.
pub(crate) fn note_of_name(name: &str, value: Value<'_>) -> String {
    format!("`{name}` is {}", excerpt(value))
}

/// Adds a step to a path: an index in brackets, or a name.
fn add_step(path: &mut String, step: &str) {
    if !path.is_empty() && !step.starts_with('[') {
        path.push('.');
    }
    path.push_str(step);
}
