//! Names and the places of what a run records: events, the members of gathered values, and what an instruction uses.

use std::ops::Range;
use std::sync::Arc;

use super::Recording;
use super::known::{members_of, step_of};
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Instruction, Op, Operand, PieceKind, Provenance, Segment, TextPiece};
use dropforge_machine::vm::{Beginning, Moment};
use dropforge_value::{Step, Value};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Edge {
    /// Not known, or nowhere.
    #[default]
    None,
    /// The input with this number.
    Input(u32),
    /// The result of an event.
    Event(u32),
    /// Any inputs: there were too many places to look at.
    Any,
}

/// An instruction that ran and pushed a value, wrote output, called, or chose between branches.
#[derive(Debug)]
pub(super) struct Event {
    /// The program.
    pub unit: u32,
    /// The word of the instruction.
    pub at: u32,
    pub op: Op,
    /// `true` if it went to its label.
    pub jumped: bool,
    /// What it ran within.
    pub context: u32,
    /// The origins of what it used, among those of all events. Those of a path begin with that of its root.
    pub inputs: Range<u32>,
    /// The value that it read, computed or tested, as an excerpt.
    pub shown: Option<Box<str>>,
    /// The value that it used, computed or wrote has the text of a secret in it.
    pub is_secret: bool,
    pub detail: Detail,
}

/// What is known of an event besides.
#[derive(Debug, Default)]
pub(super) enum Detail {
    #[default]
    None,
    /// The computed steps of a path.
    Indexes(Vec<Step>),
    /// A loop went on to the item at this step.
    Turn(Step),
    /// The members of the result.
    Members(Vec<Member>),
    /// The result is that of the origin, or a member of it.
    Same(Edge, Option<Step>),
    /// The result is this text. A capture has the parts of it.
    Text(Captured),
}

/// A member of a list or map.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub step: Step,
    pub from: Edge,
    /// The step within the origin.
    pub within: Option<Step>,
}

/// A text and what wrote it.
#[derive(Debug)]
pub(super) struct Captured {
    pub text: Box<str>,
    pub parts: Vec<Part>,
}

/// A part of a text, up to the next one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub start: usize,
    pub event: u32,
}

/// What is gathered, and where each open gathering begins.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    members: Vec<Member>,
    starts: Vec<usize>,
}

impl Gathered {
    /// Returns the members of the innermost gathering.
    pub fn innermost(&self) -> &[Member] {
        self.members.get(self.starts.last().copied().unwrap_or(0)..).unwrap_or(&[])
    }

    /// Begins a gathering, or ends those beyond `open`.
    pub fn follow(&mut self, open: usize) {
        if open > self.starts.len() {
            self.starts.push(self.members.len());
        }
        if let Some(start) = self.starts.get(open).copied() {
            self.starts.truncate(open);
            self.members.truncate(start);
        }
    }

    /// Adds members to the innermost gathering. Items get the next index.
    pub fn add(&mut self, members: &[Member], are_items: bool) {
        let next = self.innermost().len();
        let added = members.iter().cloned().map(|member| match are_items {
            true => Member { step: Step::Index(next), ..member },
            false => member,
        });
        self.members.extend(added);
    }
}

/// Returns the members of the list or map that an instruction builds or adds to.
pub(super) fn members_built(
    instruction: &Instruction<'_>,
    moment: &Moment<'_>,
    values: &[Value<'_>],
    inputs: &[Edge],
) -> Vec<Member> {
    let member = |(step, from): (Step, &Edge)| Member { step, from: *from, within: None };
    let items = |edges: &mut dyn Iterator<Item = &Edge>| (0..).map(Step::Index).zip(edges).map(member).collect();
    match (instruction.op.info().provenance, values, inputs) {
        (Provenance::Items, ..) => items(&mut inputs.iter()),
        (Provenance::SomeItems, ..) => {
            let there = inputs.iter().zip(values).filter(|(_, value)| !value.is_undefined());
            items(&mut there.map(|(edge, _)| edge))
        }
        (Provenance::Fields, ..) => {
            let keys = moment.code.keys(instruction.operand(Operand::Keys).unwrap_or(0)).iter();
            keys.map(|key| Step::Key(moment.code.str(*key).to_owned())).zip(inputs).map(member).collect()
        }
        (Provenance::Entry, [key, _], [_, from]) => step_of(*key).into_iter().zip([from]).map(member).collect(),
        (Provenance::Entries, [map], [from]) => members_of(*map)
            .into_iter()
            .map(|step| Member { step: step.clone(), from: *from, within: Some(step) })
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the value that a branch, a loop or a write uses, unless it has a path with computed steps.
pub(super) fn tested<'m>(
    instruction: &Instruction<'_>,
    moment: &Moment<'m>,
    values: &[Value<'m>],
) -> Option<Value<'m>> {
    let (Some(path), Some(Beginning::Value(at))) = (instruction.operand(Operand::Path), moment.root) else {
        return values.last().copied();
    };
    moment.code.path(path).segments().try_fold(*moment.values.get(at)?, |value, (segment, _)| match segment {
        Segment::Attr(name) => value.as_map()?.get(moment.code.str(name)),
        Segment::Index(_) => None,
    })
}

/// Returns the computed steps of the path of an instruction.
pub(super) fn indexes(moment: &Moment<'_>, operand: u32, values: &[Value<'_>]) -> Vec<Step> {
    if values.is_empty() || moment.root.is_none() {
        return Vec::new();
    }
    let nth = |(segment, _)| match segment {
        Segment::Index(nth) => values.get(nth as usize).and_then(|value| step_of(*value)),
        Segment::Attr(_) => None,
    };
    moment.code.path(operand).segments().filter_map(nth).collect()
}

impl Recording {
    /// Returns the source and the span of an event. For text, the span is that of the line with the byte `nth` of it.
    pub(super) fn place(&self, event: &Event, nth: usize) -> Option<(Arc<Source>, Span)> {
        let (program, word) = (self.program(event.unit)?, event.at);
        let place = program.whole_place(word)?;
        let source = program.source(place)?;
        let Some((text, is_behind)) = program.text_written(word).filter(|(text, _)| nth < text.len()) else {
            return Some((source.clone(), place.span));
        };
        // The text of a specialised program may come from several places.
        let whole = TextPiece { start: 0, end: None, place, kind: PieceKind::of(is_behind) };
        let piece = program.text_piece(word, nth).unwrap_or(whole);
        let text = text.get(piece.start..piece.end.unwrap_or(text.len()))?;
        let span = piece.place.span;
        let line = |is_behind| line_of(text, nth - piece.start, source.text(), span, is_behind).unwrap_or(span);
        let span = match piece.kind {
            PieceKind::Text => line(true),
            PieceKind::Before => line(false),
            PieceKind::Value => span,
        };
        Some((source.clone(), span))
    }

    /// Returns `true` if byte `nth` of what an event wrote is text of the template.
    pub(super) fn is_text(&self, event: &Event, nth: usize) -> bool {
        let Some(program) = self.program(event.unit) else { return false };
        let piece = || program.text_piece(event.at, nth);
        program.text_written(event.at).is_some_and(|(text, _)| nth < text.len())
            && piece().is_none_or(|piece| piece.kind != PieceKind::Value)
    }
}

/// Returns the span in `source` of the line of `text` with the byte at `at`, without white space around it. The text begins
/// at `place`, or stands before it. Comments may divide it there.
fn line_of(text: &str, at: usize, source: &str, place: Span, is_behind: bool) -> Option<Span> {
    let line = line_at(text, at);
    let part = text.get(line.clone()).filter(|part| !part.is_empty())?;
    let start = place.start as usize;
    let find = |part: &str| match is_behind {
        true => source.get(start..)?.find(part).map(|found| start + found),
        false => source.get(..start)?.rfind(part),
    };
    let found = find(text).map(|found| found + line.start).or_else(|| find(part))?;
    Some(Span::of(found..found + part.len()))
}

/// Returns the line of `text` with the byte at `at`, without white space around it. If there is nothing else in the line,
/// returns the nearest one before it that has more.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let end = memchr::memchr(b'\n', text.as_bytes().get(at..).unwrap_or(&[])).map_or(text.len(), |end| at + end);
    let before = text.get(..end).unwrap_or(text).trim_end();
    let line = before.rsplit('\n').next().unwrap_or("").trim_start();
    before.len() - line.len()..before.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_text_are_found_beside_their_place() {
        let source = "a\nb {{ x }}\n  b {# no #}c\nb";
        let slice = |text: &str, at, place: (u32, u32), is_behind| {
            let span = line_of(text, at, source, Span::new(place.0, place.1), is_behind)?;
            Some((span.start, &source[span.range()]))
        };
        assert_eq!(slice("a\nb ", 3, (7, 8), false), Some((2, "b")));
        assert_eq!(slice("\n  b c\nb", 4, (11, 15), true), None);
        assert_eq!(slice("\n  b c\nb", 7, (11, 15), true), Some((14, "b")));
        assert_eq!(slice("\nb", 0, (24, 26), true), None);
        assert_eq!(slice("x\n\n", 2, (0, 1), true), Some((7, "x")));
    }
}
