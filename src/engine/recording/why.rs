//! The answer to why a part of an output is there.

use std::ops::Range;
use std::sync::{Arc, PoisonError};

use super::Recording;
use super::event::{Captured, Detail, Edge, Event, Part};
use super::flow::Flow;
use super::frames::OUTERMOST;
use crate::instance::language;
use dropforge_base::diagnostics::Label;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Control, Dialect, Place, Provenance};
use dropforge_machine::language::InvalidOutput;
use dropforge_value::yaml::{Node, Tags};
use dropforge_value::{Step, yaml};

/// Maximum number of captures that a text is followed through, and of calls that one goes through.
const CAPTURES: usize = 64;
const CALLS: usize = 16;

/// Why a part of an output is there.
#[derive(Debug, Clone, Default)]
pub struct Why {
    /// The places that wrote it, the innermost first. The others captured what the one before wrote and wrote it again.
    pub written: Vec<Writer>,
    /// `true` if it is text of the template.
    pub is_text: bool,
    /// What the writer ran within, the outermost first.
    pub within: Vec<Within>,
    /// The inputs that flowed into it.
    pub inputs: Vec<Flow>,
    /// The inputs that gave the texts that the run compiled as templates.
    pub texts: Vec<Flow>,
}

impl Why {
    /// Returns the likely fix in a template of this language for an error at a byte of the output.
    pub(crate) fn fix(&self, dialect: Dialect, output: &str, at: usize) -> Option<String> {
        let language = language(dialect).ok()?;
        self.written.iter().enumerate().find_map(|(nth, Writer { source, span })| {
            let (code, before) = (source.slice(*span), source.text().get(..span.start as usize)?);
            let before = before.get(before.rfind('\n').map_or(0, |end| end + 1)..)?;
            language.output_fix(&InvalidOutput { code, before, is_text: self.is_text && nth == 0, output, at })
        })
    }

    /// Returns labels of the places that wrote it.
    pub fn into_labels(self) -> Vec<Label> {
        let texts = std::iter::once("written here").chain(std::iter::repeat("passed on here"));
        let label = |(Writer { source, span }, text): (Writer, &str)| Label { source, span, text: text.to_owned() };
        self.written.into_iter().zip(texts).map(label).collect()
    }
}

/// A place in a template that wrote something.
#[derive(Debug, Clone)]
pub struct Writer {
    /// The source.
    pub source: Arc<Source>,
    /// The span of the expression, or that of the line of text.
    pub span: Span,
}

impl Writer {
    /// Returns the place as `file:line:column`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.source.name(), self.source.position(self.span.start))
    }
}

/// What a part of a template ran within.
#[derive(Debug, Clone)]
pub enum Within {
    /// A call of a macro, a block, an include or a named template.
    Call(Writer),
    /// An iteration of a loop.
    Turn {
        /// What it loops over.
        at: Writer,
        /// The index or key of the item.
        step: Option<Step>,
        /// The item, if it is an input, or the inputs that it was computed from.
        inputs: Vec<Flow>,
    },
    /// A branch that was taken.
    Branch {
        /// The condition.
        at: Writer,
        /// The outcome.
        holds: bool,
        /// The inputs that decided.
        inputs: Vec<Flow>,
    },
}

/// What a part of an output is followed to.
struct Found<'r> {
    number: u32,
    event: &'r Event,
    /// What the event wrote, and the byte of it.
    piece: &'r str,
    nth: usize,
}

impl Recording {
    /// Returns why byte `at` of the output `text` is there. `None` without such a byte, if the run gave another output, or
    /// if the recording was cut before it.
    pub fn why(&self, text: &str, at: usize) -> Option<Why> {
        let at = self.written_at(0..self.text.len(), text, at)?;
        if self.parts.is_empty() { self.why_document(at) } else { self.why_text(at) }
    }

    /// Returns why byte `at` of one of several outputs is there: `text`, which the run wrote to `range` of its output.
    #[cfg(feature = "helm")]
    pub(crate) fn why_part(&self, range: Range<usize>, text: &str, at: usize) -> Option<Why> {
        self.why_text(self.written_at(range, text, at)?)
    }

    /// Returns the byte that the run wrote as byte `at` of an output.
    fn written_at(&self, range: Range<usize>, text: &str, at: usize) -> Option<usize> {
        let whole = self.text.get(range.clone())?;
        let at = match whole == text {
            true => at,
            // The first program is that of the template.
            false => language(self.program(0)?.dialect()).ok()?.before_finish(whole, text, at)?,
        };
        let at = range.start + at;
        (at < range.end && self.cut.is_none_or(|cut| at < cut)).then_some(at)
    }

    /// Returns the path of the value or key at a byte of a captured text. The last text is read once for all its bytes.
    fn path_in(&self, captured: &str, at: usize) -> Option<Vec<Step>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &&ReadText| known.at == captured.as_ptr().addr() && known.len == captured.len();
        if read.as_ref().filter(same).is_none() {
            let (at, len, documents) = (captured.as_ptr().addr(), captured.len(), documents(captured));
            *read = Some(ReadText { at, len, documents });
        }
        let documents = read.as_ref()?.documents.as_ref()?;
        Some(path_among(documents, captured, at)?.1)
    }

    fn why_text(&self, at: usize) -> Option<Why> {
        let mut found = self.found(&self.parts, &self.text, at)?;
        let (mut written, mut inputs) = (vec![self.writer(found.event, found.nth)], None);
        for _ in 0..CAPTURES {
            let Some((maker, captured, at)) = self.captured(&found) else { break };
            match self.found(&captured.parts, &captured.text, at) {
                Some(inner) => {
                    found = inner;
                    written.push(self.writer(found.event, found.nth));
                }
                None => {
                    let steps = self.path_in(&captured.text, at).unwrap_or_default();
                    inputs = Some(self.flows(self.inputs(maker), &steps, true));
                    break;
                }
            }
        }
        let is_text = inputs.is_none() && self.is_text(found.event, found.nth);
        let own = || if is_text { Vec::new() } else { self.flows_of(found.number) };
        let inputs = inputs.unwrap_or_else(own);
        written.reverse();
        Some(Why {
            written: written.into_iter().flatten().collect(),
            is_text,
            within: self.within(found.event),
            inputs,
            texts: self.texts(found.event),
        })
    }

    /// Finds the event that wrote byte `at` of a text.
    fn found<'r>(&'r self, parts: &[Part], text: &'r str, at: usize) -> Option<Found<'r>> {
        let nth = parts.partition_point(|part| part.start <= at).checked_sub(1)?;
        let (part, next) = (parts.get(nth)?, parts.get(nth + 1));
        let piece = text.get(part.start..next.map_or(text.len(), |next| next.start))?;
        Some(Found { number: part.event, event: self.event(part.event)?, piece, nth: at - part.start })
    }

    /// Finds the text that an event wrote as it was captured or computed before, what made it, and the byte of it.
    fn captured(&self, found: &Found<'_>) -> Option<(&Event, &Captured, usize)> {
        let row = found.event.op.info();
        if row.provenance != Provenance::Popped || !row.writes.contains(Place::Output) {
            return None;
        }
        let mut open: Vec<(Edge, usize)> = self.inputs(found.event).iter().map(|edge| (*edge, 0)).collect();
        open.reverse();
        while let Some((edge, depth)) = open.pop() {
            let Edge::Event(number) = edge else { continue };
            let event = self.event(number)?;
            if let Detail::Text(captured) = &event.detail
                && let Some(at) = matching(found.piece, found.nth, &captured.text)
            {
                return Some((event, captured, at));
            }
            let inner = self.inputs(event).iter().rev().filter(|_| depth < CALLS && open.len() < CAPTURES);
            let inner: Vec<_> = inner.map(|edge| (*edge, depth + 1)).collect();
            open.extend(inner);
        }
        None
    }

    /// Returns why a part of the written documents of the result is there.
    fn why_document(&self, at: usize) -> Option<Why> {
        let text = self.text.as_str();
        let (nth, steps) = path_at(text, at).or_else(|| {
            // JSON documents, one on each line.
            let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
            let line = text.get(start..)?.lines().next()?;
            let nth = text.get(..start)?.lines().filter(|line| !line.trim().is_empty()).count();
            path_at(line, at - start).map(|(_, steps)| (nth, steps))
        })?;
        let steps: Vec<Step> = std::iter::once(Step::Index(nth)).chain(steps).collect();
        let (number, rest) = self.maker(self.answer, &steps)?;
        let event = self.event(number)?;
        let inputs = self.flows(&[Edge::Event(number)], &rest, true);
        let (written, within) = (self.writer(event, 0).into_iter().collect(), self.within(event));
        Some(Why { written, is_text: self.inputs(event).is_empty(), within, inputs, texts: Vec::new() })
    }

    fn writer(&self, event: &Event, nth: usize) -> Option<Writer> {
        self.place(event, nth).map(|(source, span)| Writer { source, span })
    }

    /// Returns what an event ran within, the outermost first.
    fn within(&self, event: &Event) -> Vec<Within> {
        let (mut context, mut all) = (event.context, self.inlined(event));
        while context != OUTERMOST
            && let Some(of) = self.contexts.get(context as usize)
            && let Some(event) = self.event(of.event)
        {
            all.extend(self.around(of.event));
            if !matches!(event.op.info().control, Control::Branch | Control::BranchWithTop) {
                all.append(&mut self.inlined(event));
            }
            context = of.around;
        }
        all.reverse();
        all
    }

    /// Returns the inputs that gave the text of the templates which were compiled for an event to run.
    pub(super) fn texts(&self, event: &Event) -> Vec<Flow> {
        let (mut context, mut all) = (event.context, Vec::new());
        while context != OUTERMOST
            && let Some(of) = self.contexts.get(context as usize)
            && let Some(event) = self.event(of.event)
        {
            if event.op.info().control == Control::MayCall {
                all.extend(self.flows(self.inputs(event).get(..1).unwrap_or(&[]), &[], true));
            }
            context = of.around;
        }
        all
    }

    /// Returns the calls that the code of an event was inlined for, the innermost first.
    fn inlined(&self, event: &Event) -> Vec<Within> {
        let Some(program) = self.program(event.unit) else { return Vec::new() };
        let calls = program.inlined_at(event.at).into_iter();
        let writer = |place| Some(Writer { source: program.source(place)?.clone(), span: place.span });
        calls.filter_map(writer).map(Within::Call).collect()
    }

    /// Returns the call, iteration or branch that the event with this number is.
    pub(super) fn around(&self, number: u32) -> Option<Within> {
        let event = self.event(number)?;
        // Code that stands for no text is not told, such as that which renders one template of a chart after the other.
        let at = self.writer(event, 0).filter(|at| at.span.start < at.span.end)?;
        let holds = match event.op.info().control {
            Control::Branch | Control::BranchWithTop => self.truth_if_taken(event).unwrap_or(true) == event.jumped,
            Control::OpenLoop if event.jumped => false,
            Control::OpenLoop | Control::NextItem => {
                let step = if let Detail::Turn(step) = &event.detail { Some(step.clone()) } else { None };
                let steps: Vec<Step> = step.iter().cloned().collect();
                let mut inputs = self.flows(self.inputs(event), &steps, true);
                if event.is_secret && !inputs.iter().any(|input| input.is_secret) {
                    inputs.extend(self.flows_of(number).into_iter().filter(|input| input.is_secret));
                }
                let mut named = inputs.iter_mut().filter(|flow| !flow.is_put);
                if let (Some(Flow { value: value @ None, is_direct: true, .. }), None) = (named.next(), named.next()) {
                    *value = event.shown.as_deref().map(str::to_owned);
                }
                return Some(Within::Turn { at, step, inputs });
            }
            _ => return Some(Within::Call(at)),
        };
        Some(Within::Branch { at, holds, inputs: self.flows_of(number) })
    }

    /// Returns the truth of the condition of a branch that goes to its label.
    fn truth_if_taken(&self, event: &Event) -> Option<bool> {
        self.program(event.unit)?.code().instruction(event.at)?.truth_if_taken()
    }
}

/// Returns the byte of `text` that byte `nth` of `piece` is: both are the same, one is a part of the other, or the lines of
/// one are those of the other with other white space around them.
fn matching(piece: &str, nth: usize, text: &str) -> Option<usize> {
    if let Some(start) = piece.find(text)
        && let Some(at) = nth.checked_sub(start).filter(|at| *at < text.len())
    {
        return Some(at);
    }
    let start = piece.get(..nth)?.rfind('\n').map_or(0, |end| end + 1);
    let line = piece.get(start..)?.lines().next()?;
    let (content, indent) = (line.trim(), line.len() - line.trim_start().len());
    if content.is_empty() {
        return None;
    }
    let before = piece.get(..start)?.lines().filter(|line| line.trim() == content).count();
    let mut equal = text.match_indices(content).filter(|(at, _)| {
        let start = text.get(..*at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        text.get(start..).and_then(|rest| rest.lines().next()).is_some_and(|line| line.trim() == content)
    });
    let (at, _) = equal.nth(before)?;
    Some(at + (nth - start).saturating_sub(indent).min(content.len() - 1))
}

/// The documents of a captured text.
#[derive(Debug)]
pub(super) struct ReadText {
    /// The address of the text, which the recording keeps, and its length.
    at: usize,
    len: usize,
    documents: Option<Vec<Node>>,
}

/// Returns the number of the document, from 0, and the path of the value or key at byte `at` of YAML or JSON text. A byte
/// before the first value of its line stands for that value.
fn path_at(text: &str, at: usize) -> Option<(usize, Vec<Step>)> {
    path_among(&documents(text)?, text, at)
}

/// Returns the documents of YAML or JSON text. `None` if it is not valid.
fn documents(text: &str) -> Option<Vec<Node>> {
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    yaml::read_with(&Source::new("", text), &limits, Tags::Kept).ok()
}

/// Works like [`path_at`] for a text with these documents.
fn path_among(documents: &[Node], text: &str, at: usize) -> Option<(usize, Vec<Step>)> {
    let at = content(text, at);
    let nth = documents.partition_point(|document| document.span.start as usize <= at).saturating_sub(1);
    let (mut node, mut steps) = (documents.get(nth)?, Vec::new());
    while let Some((step, below)) = member_at(node, at) {
        steps.push(step);
        node = below;
    }
    Some((nth, steps))
}

/// Returns the member of a list or map that `at` is in or after.
fn member_at(node: &Node, at: usize) -> Option<(Step, &Node)> {
    if let Some(entries) = node.as_map() {
        let entry = entries.iter().rfind(|entry| entry.key.span.start as usize <= at)?;
        return Some((Step::Key(entry.name.to_string()), &entry.value));
    }
    let items = node.as_list()?;
    let nth = items.iter().rposition(|item| item.span.start as usize <= at)?;
    Some((Step::Index(nth), items.get(nth)?))
}

/// Returns the position of the first value of the line of `at`, or `at` if it is after that.
fn content(text: &str, at: usize) -> usize {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    let mut rest = line.trim_start();
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start();
    }
    at.max(start + line.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_by_their_lines() {
        let text = "a: 1\nb:\n  a: 1\n";
        let piece = "\n    a: 1\n    b:\n      a: 1";
        let at = |part: usize| matching(piece, part, text).map(|at| &text[at..]);
        assert_eq!(at(5), Some(text));
        assert_eq!(at(piece.len() - 1), Some("1\n"));
        assert_eq!(at(piece.find('b').unwrap()), Some("b:\n  a: 1\n"));
        assert_eq!(at(0), None);
        assert_eq!(matching("\"x\"", 1, "x"), Some(0));
        assert_eq!(matching("\"x\"", 0, "x"), None);
        assert_eq!(matching("é", 0, ""), None);
    }

    #[test]
    fn positions_lead_to_paths() {
        let text = "a: 1\nb:\n  c: [x, y]\n  d:\n  - e: 1\n    f: 2\n  - g\n---\nh: |\n  text\n  more\n";
        let path = |part: &str| {
            let (nth, steps) = path_at(text, text.find(part).unwrap()).unwrap();
            format!("{nth} {}", Step::joined(&steps))
        };
        assert_eq!(path("a: 1"), "0 a");
        assert_eq!(path("y]"), "0 b.c[1]");
        assert_eq!(path("  - e"), "0 b.d[0].e");
        assert_eq!(path("f: 2"), "0 b.d[0].f");
        assert_eq!(path("  - g"), "0 b.d[1]");
        assert_eq!(path("more"), "1 h");
        assert_eq!(path_at("a: [", 0), None);
    }
}
