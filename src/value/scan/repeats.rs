//! Lines that were scanned before. Outputs of one template consist mostly of lines that the output for another cluster had
//! in the same place, or of lines in which only a value differs.
//!
//! A line is taken again only if it has the same bytes in the same state of the scan, which decides all that a scan does.

use std::ops::Range;

use super::block::is_gap;
use super::scalar::{FIRST, INNER, OUTER, is, plain_end};
use super::{Mark, Nest, PartSink, Scan, is_usual};
use dropforge_base::stdlib::byte_search::common_length;

/// Maximum size of a text that is remembered, and of the text that is kept, in bytes.
const LONGEST: usize = 1 << 21;
/// Maximum number of lines and of nodes that are kept.
const LINES: usize = 1 << 16;
const NODES: usize = 1 << 17;
/// The number of lines after an expected one that are looked at.
const NEAR: usize = 24;
/// The number of equal bytes of texts that begin alike, and the number of texts from which on every one counts as like another.
const ALIKE: usize = 32;
const STARTS: usize = 16;
/// The number of bytes that are compared at a time, unless a line is longer.
const AHEAD: usize = 1 << 10;
/// Maximum number of scalars that are kept of a line.
const LINE_SLOTS: usize = 256;
/// No line.
const NONE: u32 = u32::MAX;
/// The number of lines that are found by how they begin, a power of two.
const SLOTS: usize = 1 << 12;

/// The state of a scan at the start of a line, or of a value: the node, and two flags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct State(u32);

/// A place in a line from which on it may differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Branch {
    at: usize,
    state: State,
}

/// The place of a scalar that may be another one, and the state of the scan before and after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    at: u32,
    end: u32,
    state: State,
    within: Within,
}

/// What a scalar that may be another one is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    /// A line of which it is the only value.
    Line,
    /// A flow collection, with the depth around the outermost one.
    Flow(u32),
    /// A comment, which has any text.
    Text,
}

/// A line, or several that belong together.
#[derive(Debug, Clone, Copy)]
struct Line {
    before: State,
    after: State,
    /// The place of the bytes.
    start: u32,
    len: u32,
    /// The length of the part before a value, and the state there. 0 if there is none.
    prefix: u32,
    value: State,
    /// Its scalars that may be others.
    slots: (u32, u32),
    /// The mark in the line, with places from its start on.
    mark: Option<Mark>,
    /// `true` if the bytes alone decide, not those after them.
    is_whole: bool,
    /// The line that came next the last time, and another one that came before.
    next: u32,
    other: u32,
}

/// The memory of scans.
#[derive(Debug)]
pub(super) struct Repeats {
    pub nest: Nest,
    lines: Lines,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { nest: Nest::remembering(), lines: Lines::default() }
    }
}

impl Repeats {
    /// Returns the memory for the scan of a text that is short enough.
    pub fn prepare(&mut self, text: &str) -> Option<(&mut Nest, &mut Lines)> {
        if text.len() > LONGEST {
            return None;
        }
        if self.nest.len() > NODES || self.lines.is_full() {
            *self = Self::default();
        }
        Some((&mut self.nest, &mut self.lines))
    }
}

/// The lines that are known.
#[derive(Debug)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    slots: Vec<Slot>,
    /// The lines by state and beginning.
    table: Vec<u32>,
    /// The first lines of texts, and the one that was taken last.
    starts: Vec<u32>,
    start: usize,
    /// The line before, and the one that is expected where there is none.
    last: u32,
    first: u32,
    /// `true` in a text that begins like none before.
    is_new: bool,
    /// The line that was expected where the text last differed.
    home: u32,
}

impl Default for Lines {
    fn default() -> Self {
        let (bytes, lines, slots, starts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (start, first, is_new) = (0, NONE, false);
        Self { bytes, lines, slots, starts, start, first, is_new, table: vec![NONE; SLOTS], last: NONE, home: NONE }
    }
}

impl Lines {
    fn is_full(&self) -> bool {
        self.lines.len() >= LINES || self.slots.len() >= 2 * LINES || self.bytes.len() >= LONGEST
    }

    #[inline(always)]
    fn line(&self, at: u32) -> Option<&Line> {
        self.lines.get(at as usize)
    }

    /// Returns the line that came next the last time.
    #[inline(always)]
    fn next(&self) -> u32 {
        self.line(self.last).map_or(self.first, |line| line.next)
    }

    /// Makes `line` the one that is expected next.
    #[inline(always)]
    fn link(&mut self, line: u32) {
        match self.lines.get_mut(self.last as usize) {
            Some(last) if last.next == line => {}
            Some(last) => (last.next, last.other) = (line, last.next),
            None => self.first = line,
        }
    }

    /// Makes `line` the one after the last.
    #[inline(always)]
    fn follow(&mut self, line: u32) {
        self.link(line);
        self.last = line;
    }

    /// Returns the bytes of a line from `at` on, with some of the lines added after it. All of them would be compared again and
    /// again in a text that repeats itself.
    #[inline(always)]
    fn bytes(&self, line: &Line, at: usize) -> &[u8] {
        let rest = self.bytes.get(line.start as usize + at..).unwrap_or(&[]);
        rest.get(..AHEAD.max(line.len as usize - at)).unwrap_or(rest)
    }

    /// Returns the scalars of a line that may be others.
    fn slots(&self, line: &Line) -> &[Slot] {
        self.slots.get(line.slots.0 as usize..line.slots.1 as usize).unwrap_or(&[])
    }

    /// Returns the number of bytes that are the same from `at` in a line on, and `true` if more may be.
    #[inline(always)]
    fn compare(&self, line: u32, at: usize, rest: &[u8]) -> (usize, bool) {
        let bytes = self.line(line).map_or(&[][..], |line| self.bytes(line, at));
        let same = common_length(bytes, rest);
        (same, same == bytes.len())
    }

    /// Chooses the line that a text is expected to begin with: that of a text that begins alike.
    fn begin(&mut self, text: &[u8]) {
        let next = if self.start + 1 < self.starts.len() { self.start + 1 } else { 0 };
        let text = text.get(..ALIKE).unwrap_or(text);
        let same = |at: usize| self.line(*self.starts.get(at)?).map(|line| common_length(self.bytes(line, 0), text));
        let (same, at) = match same(next) {
            Some(same) if same >= ALIKE => (same, next),
            _ => (0..self.starts.len()).filter_map(|at| Some((same(at)?, at))).max().unwrap_or_default(),
        };
        (self.start, self.last, self.home) = (at, NONE, NONE);
        self.is_new = same < ALIKE && self.starts.len() < STARTS;
        self.first = if self.is_new { NONE } else { self.starts.get(at).copied().unwrap_or(NONE) };
    }

    /// Returns a line that the text goes on with instead of the one expected.
    fn find(&mut self, rest: &[u8], state: State) -> Option<u32> {
        let is_like = |at: &u32| self.line(*at).is_some_and(|line| line.before == state);
        let same = |at: u32| {
            let line = self.line(at)?;
            let same = common_length(self.bytes(line, 0), rest);
            let len = if line.prefix > 0 { line.prefix } else { line.len };
            (same >= len as usize && (line.prefix > 0 || line.is_whole)).then_some(at)
        };
        let (next, other) = self.line(self.last).map_or((self.first, NONE), |last| (last.next, last.other));
        let home = if next == NONE { self.home } else { next };
        let listed = || self.table.get(place(rest, state)).copied().filter(|_| !self.is_new);
        let near = (home as usize..home as usize + NEAR).map_while(|at| u32::try_from(at).ok());
        let found = Some(other).filter(is_like).and_then(same);
        let found = found.or_else(|| listed().filter(is_like).and_then(same));
        let found = found.or_else(|| near.filter(is_like).find_map(same));
        self.home = home;
        found
    }

    fn add(&mut self, bytes: &[u8], line: Line, slots: &[Slot]) {
        if self.is_full() {
            self.last = NONE;
            return;
        }
        let (Ok(at), Ok(start)) = (u32::try_from(self.lines.len()), u32::try_from(self.bytes.len())) else { return };
        let Ok(len) = u32::try_from(bytes.len()) else { return };
        let first = self.slots.len() as u32;
        self.slots.extend_from_slice(slots);
        let slots = (first, self.slots.len() as u32);
        self.bytes.extend_from_slice(bytes);
        self.lines.push(Line { start, len, slots, ..line });
        if let Some(listed) = self.table.get_mut(place(bytes, line.before)) {
            *listed = at;
        }
        if self.last == NONE && self.is_new {
            self.start = self.starts.len();
            self.starts.push(at);
        }
        self.follow(at);
    }
}

/// Returns `true` if all bytes are printable ASCII.
#[inline(always)]
fn is_printable(bytes: &[u8]) -> bool {
    use dropforge_base::stdlib::byte_search::{all, first_special, last_word};
    let is_odd = |word: u64| (first_special(word, 0x7F, 0x7F) | word & all(0x80)) != 0;
    let mut at = 0;
    while let Some(word) = word(bytes, at) {
        if is_odd(word) {
            return false;
        }
        at += 8;
    }
    let used = 8 * (bytes.len() - at);
    !is_odd(last_word(bytes, at) | all(b' ').checked_shl(used as u32).unwrap_or(0))
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// Returns the place of a line in a table by its state and its beginning: up to a colon, or to a dash.
#[inline]
fn place(rest: &[u8], state: State) -> usize {
    use dropforge_base::stdlib::byte_search::{first_place, first_special, last_word};
    let indent = rest.iter().take_while(|byte| **byte == b' ').count();
    let content = rest.get(indent..).unwrap_or(&[]);
    let eight = content.first_chunk().map_or_else(|| last_word(content, 0), |bytes| u64::from_le_bytes(*bytes));
    let end = first_place(first_special(eight, b':', b'\n'));
    let begin = match end {
        8 if eight & 0xFFFF == u64::from(u16::from_le_bytes(*b"- ")) => eight & 0xFFFF,
        8 => eight,
        end => eight & ((1 << (8 * end)) - 1),
    };
    let mixed = (begin ^ (u64::from(state.0) << 32 | indent as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize % SLOTS
}

impl<S: PartSink> Scan<'_, S> {
    #[inline(always)]
    fn state(&self) -> State {
        State(self.nest.node() << 2 | u32::from(self.pending) << 1 | u32::from(self.open))
    }

    #[inline(always)]
    fn enter(&mut self, state: State) {
        self.nest.enter(state.0 >> 2);
        (self.pending, self.open) = (state.0 & 2 != 0, state.0 & 1 != 0);
    }

    /// Notes that the rest of the line may be another value.
    #[inline(always)]
    pub(super) fn branch(&mut self) {
        if !S::READS {
            self.branch = Some(Branch { at: self.at, state: self.state() });
        }
    }

    /// Notes the scalar that began at `start` and ends here.
    #[inline(always)]
    pub(super) fn slot(&mut self, start: usize, within: Within) {
        if self.notes {
            let state = self.state();
            // Texts that are remembered are short enough.
            self.slots.push(Slot { at: start as u32, end: self.at as u32, state, within });
            self.notes = self.slots.len() < LINE_SLOTS;
        }
    }

    /// Moves past a line whose rest is any text.
    #[inline(always)]
    pub(super) fn skip_text(&mut self) {
        let start = self.at;
        self.skip_line();
        if self.notes {
            let next = self.at;
            self.at = start.max(next - 1);
            self.slot(start, Within::Text);
            self.at = next;
        }
    }

    /// Scans all documents, of which some lines are known.
    pub(super) fn repeated(&mut self, known: &mut Lines) -> Option<()> {
        known.begin(self.bytes);
        while self.at < self.bytes.len() {
            if !self.is_known(known)? && self.at < self.bytes.len() && !self.is_found(known)? {
                self.new_line(known)?;
            }
        }
        self.end_document()
    }

    /// Scans a line like the one that is expected. Returns `false` if it is another one.
    #[inline(always)]
    fn is_known(&mut self, known: &mut Lines) -> Option<bool> {
        let start = self.at;
        let same = self.skip(known);
        Some(self.at > start || self.differs(known, known.next(), same)?)
    }

    /// Scans a line like another known one. Returns `false` if there is none.
    fn is_found(&mut self, known: &mut Lines) -> Option<bool> {
        let Some(line) = known.find(self.rest(), self.state()) else { return Some(false) };
        known.link(line);
        self.is_known(known)
    }

    /// Skips the lines that come in the same order as the last time, if they are the same or have only other scalars. Returns how
    /// much of the next line is the same.
    #[inline]
    fn skip(&mut self, known: &mut Lines) -> usize {
        let (mut next, mut state) = (known.next(), self.state());
        let (mut same, mut is_cut) = known.compare(next, 0, self.rest());
        while let Some(line) = known.line(next)
            && line.before == state
        {
            let (start, len) = (self.at, line.len as usize);
            if !line.is_whole || same < len {
                match self.replaced(known, next, line, same) {
                    Some(more) => (same, is_cut) = more,
                    None => {
                        self.enter(state);
                        return same;
                    }
                }
            } else {
                self.at += len;
                same -= len;
            }
            if let Some(mark) = line.mark {
                self.marks.push(mark.map(|place| start + place));
            }
            state = line.after;
            let is_after = line.next == next + 1;
            (known.last, next) = (next, line.next);
            // The bytes that were compared may end in the next line.
            if !is_after || is_cut && known.line(next).is_some_and(|line| same < line.len as usize) {
                (same, is_cut) = known.compare(next, 0, self.rest());
            }
        }
        self.enter(state);
        0
    }

    /// Moves past a line that differs from a known one only in scalars. Returns how much after it is the same, and `true` if more
    /// may be. `None` if it differs in something else.
    #[inline]
    fn replaced(&mut self, known: &Lines, at: u32, line: &Line, same: usize) -> Option<(usize, bool)> {
        let start = self.at;
        let replaced = self.replaced_slots(known, at, line, same);
        if replaced.is_none() {
            self.at = start;
        }
        replaced
    }

    #[inline]
    fn replaced_slots(&mut self, known: &Lines, at: u32, line: &Line, same: usize) -> Option<(usize, bool)> {
        let (mut old, mut slots) = (same, known.slots(line).iter());
        self.at += same;
        loop {
            let slot = slots.find(|slot| slot.end as usize >= old)?;
            let before = old.checked_sub(slot.at as usize)?;
            self.at -= before;
            if matches!(line.mark, Some(Mark::Marker(_, place) | Mark::Kind(place, _)) if place > slot.at as usize) {
                return None;
            }
            self.scalar(*known.bytes(line, slot.at as usize).first()?, slot.within)?;
            let (same, is_cut) = known.compare(at, slot.end as usize, self.rest());
            old = slot.end as usize + same;
            self.at += same;
            if let Some(more) = old.checked_sub(line.len as usize) {
                self.at -= more;
                return Some((more, is_cut));
            }
        }
    }

    /// Moves past a usual scalar of the form of one that begins with `first`.
    #[inline(always)]
    fn scalar(&mut self, first: u8, within: Within) -> Option<()> {
        let (start, here) = (self.at, self.here());
        if within == Within::Text || matches!(first, b'"' | b'\'') {
            let (end, escape) = if within == Within::Text { (b'\n', b'\n') } else { (first, b'\\') };
            self.at += 1;
            let is_end = here == first && self.skip_until(end, escape) == end;
            self.at += usize::from(end == first);
            return (is_end && is_printable(self.bytes.get(start..self.at)?)).then_some(());
        }
        // Infinity and other odd numbers begin with these.
        let begins = is(here, FIRST) && !matches!(here, b'.' | b'+');
        self.at += plain_end(self.rest(), if within == Within::Line { INNER | OUTER } else { INNER });
        begins.then_some(())
    }

    /// Scans the rest of a line that is the same as a known one up to a value. Returns `false` if it is not.
    #[inline(always)]
    fn differs(&mut self, known: &mut Lines, at: u32, same: usize) -> Option<bool> {
        let Some(&line) = known.line(at) else { return Some(false) };
        let flow = |slot: &Slot| match slot.within {
            Within::Flow(around) if slot.at as usize <= same => Some((*slot, around as usize)),
            _ => None,
        };
        if let Some((slot, around)) = known.slots(&line).iter().rev().find_map(flow) {
            known.follow(at);
            return self.differs_in_flow(&line, &slot, around).map(|()| true);
        }
        let (prefix, value, start) = (line.prefix as usize, line.value, self.at + line.prefix as usize);
        if prefix == 0 || same < prefix || !self.is_value(start) {
            return Some(false);
        }
        known.follow(at);
        self.mark_of(&line, 0..prefix + 1);
        (self.line, self.at) = (self.at, start);
        self.enter(value);
        match self.byte(start - 1) {
            b':' => self.after_colon()?,
            _ => self.entry_or_scalar(prefix)?,
        }
        self.check_usual(start).map(|()| true)
    }

    /// Scans the rest of a line that is the same as a known one up to a scalar in a flow collection.
    fn differs_in_flow(&mut self, line: &Line, slot: &Slot, around: usize) -> Option<()> {
        self.mark_of(line, 0..slot.at as usize + 1);
        self.at += slot.at as usize;
        self.enter(slot.state);
        let start = self.at;
        let parent = self.parent().filter(|_| around > 0);
        if self.nest.top()?.is_map {
            self.skip_spaces();
            self.flow_value(parent, around)?;
        }
        self.rest_of_flow(parent, around)?;
        self.end_line()?;
        self.check_usual(start)
    }

    /// Notes the mark of a known line, if it is in the part `range` of the line, which the text has from here on.
    #[inline(always)]
    fn mark_of(&mut self, line: &Line, range: Range<usize>) {
        if let Some(mark @ (Mark::Marker(place, _) | Mark::Kind(place, _))) = line.mark
            && range.contains(&place)
        {
            self.marks.push(mark.map(|place| self.at + place - range.start));
        }
    }

    /// Checks the characters from `start` on to the current place.
    #[inline(always)]
    fn check_usual(&self, start: usize) -> Option<()> {
        let bytes = self.bytes.get(start..self.at)?;
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        (line.len() < 64 && is_printable(line) || is_usual(self.text.get(start..self.at)?)).then_some(())
    }

    /// Returns `true` if a value may begin at `at`, after the beginning of a line that is known.
    fn is_value(&self, at: usize) -> bool {
        let byte = self.byte(at);
        if self.byte(at - 1) == b':' {
            return is_gap(byte);
        }
        let is_item = byte == b'-' && is_gap(self.byte(at + 1));
        !is_item && !is_gap(byte) && byte != b'#'
    }

    /// Scans a line that is not known, and remembers it.
    fn new_line(&mut self, known: &mut Lines) -> Option<()> {
        let (start, before, marks) = (self.at, self.state(), self.marks.len());
        (self.branch, self.ahead) = (None, false);
        self.notes = true;
        self.slots.clear();
        self.any_line()?;
        self.notes = false;
        if self.at == start {
            return None;
        }
        self.check_usual(start)?;
        let bytes = self.bytes.get(start..self.at)?;
        let value = self.branch.unwrap_or(Branch { at: start, state: before });
        let prefix = u32::try_from(value.at - start).ok()?;
        if bytes.ends_with(b"\n") && (prefix > 0 || !self.ahead) {
            let is_whole = !self.ahead;
            let bytes = if is_whole { bytes } else { bytes.get(..prefix as usize)? };
            let (after, value, slots) = (self.state(), value.state, (0, 0));
            let mark = self.marks.get(marks).map(|mark| mark.map(|place| place - start));
            let line =
                Line { before, after, start: 0, len: 0, prefix, value, slots, mark, is_whole, next: NONE, other: NONE };
            let found = if is_whole { self.slots.as_mut_slice() } else { &mut [] };
            for slot in found.iter_mut() {
                (slot.at, slot.end) = (slot.at - start as u32, slot.end - start as u32);
            }
            known.add(bytes, line, found);
        } else {
            known.last = NONE;
        }
        Some(())
    }
}
