//! The lines and branches of a program.

use std::collections::HashMap;

use super::BranchKind;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Control, Instruction, Jumps, Operand, Program};

/// An instruction with its place.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The number of the file.
    pub file: usize,
    /// The lines that it stands for.
    pub lines: Vec<u32>,
    pub jump: Option<Jump>,
}

/// A branch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jump {
    pub span: Span,
    pub kind: BranchKind,
    /// The word that it may jump to, and the outcome if it does.
    pub target: u32,
    pub taken: usize,
    /// The word behind it.
    pub next: u32,
}

impl Jump {
    /// Returns the outcome that leads to the word `at`.
    pub fn outcome(&self, at: u32) -> Option<usize> {
        match at {
            _ if self.target == self.next => None,
            at if at == self.target => Some(self.taken),
            at if at == self.next => Some(1 - self.taken),
            _ => None,
        }
    }
}

/// Returns the instructions of a program that have a place in a file, by their words. `file_of` numbers the files.
pub(super) fn steps(program: &Program, file_of: &dyn Fn(&Source) -> Option<usize>) -> HashMap<u32, Step> {
    let code = program.code();
    let all = program.chunks().flat_map(|chunk| code.instructions(chunk));
    all.filter_map(|one| Some((one.at, step(program, one, file_of)?))).collect()
}

fn step(program: &Program, one: Instruction<'_>, file_of: &dyn Fn(&Source) -> Option<usize>) -> Option<Step> {
    let moves =
        matches!(one.op.info().control, Control::Jump | Control::Return | Control::NextItem | Control::CloseLoop);
    let place = program.whole_place(one.at).filter(|_| !moves)?;
    let source = program.source(place)?;
    let file = file_of(source)?;
    let lines = match program.text_written(one.at) {
        Some((text, true)) => lines_of(source, text, place.span, true),
        // The value has a line of its own.
        Some((text, false)) => {
            let mut lines = lines_of(source, text, place.span, false);
            lines.push(source.position(place.span.start).line);
            lines
        }
        None => vec![source.position(place.span.start).line],
    };
    Some(Step { file, lines, jump: jump(one, place.span) })
}

fn jump(one: Instruction<'_>, span: Span) -> Option<Jump> {
    let (kind, taken) = match (one.truth_if_taken(), one.op.info().jumps) {
        (Some(truth), _) => (BranchKind::Condition, usize::from(!truth)),
        (None, Jumps::Literal) => (BranchKind::Presence, 1),
        (None, Jumps::Present) => (BranchKind::Presence, 0),
        (None, Jumps::Empty) => (BranchKind::Loop, 1),
        (None, Jumps::Never | Jumps::Always | Jumps::True | Jumps::False | Jumps::Test | Jumps::More) => return None,
    };
    Some(Jump { span, kind, target: one.operand(Operand::Label)?, taken, next: one.end() })
}

/// Returns the lines of a text that are not blank. It begins at `place`, or stands before it.
fn lines_of(source: &Source, text: &str, place: Span, is_behind: bool) -> Vec<u32> {
    let (whole, start) = (source.text(), place.start as usize);
    let find = |text: &str| match is_behind {
        true => whole.get(start..)?.find(text).map(|found| start + found),
        false => whole.get(..start)?.rfind(text),
    };
    let is_blank = text.trim().is_empty();
    let found = find(text).or_else(|| find(text.trim()).filter(|_| !is_blank));
    let Some(found) = found.filter(|_| !is_blank) else { return Vec::new() };
    let first = source.position(u32::try_from(found).unwrap_or(u32::MAX)).line;
    let written = if whole.get(found..).is_some_and(|rest| rest.starts_with(text)) { text } else { text.trim() };
    let numbered = (first..).zip(written.split('\n'));
    numbered.filter(|(_, line)| !line.trim().is_empty()).map(|(number, _)| number).collect()
}
