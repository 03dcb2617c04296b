//! Maps offsets in the text of a scalar to offsets in the file, across quotes, escapes, folding and indentation.

use smallvec::SmallVec;

use super::{Node, Style};
use dropforge_base::text::{Source, Span};

/// A map from offsets in a text to offsets in the file, as runs of bytes that are contiguous in both.
///
/// ```
/// use dropforge::{limits::Limits, text::{Source, Span}, value::yaml};
/// let source = Source::new("in.yaml", "cmd: >-\n  one\n  two\n");
/// let root = yaml::read_one(&source, &Limits::default()).unwrap();
/// let cmd = root.get("cmd").unwrap();
/// assert_eq!(&*cmd.text, "one two");
/// let places = cmd.places(&source).unwrap();
/// assert_eq!(source.slice(places.span(Span::new(4, 7))), "two");
/// assert_eq!(source.slice(places.part(Span::new(4, 7)).span(Span::new(1, 2))), "w");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The start of each run as offsets in the text and in the file, ascending in both. Not empty.
    runs: SmallVec<[(u32, u32); 1]>,
    /// The span of the whole text, if nothing more precise is known.
    whole: Option<Span>,
}

impl Places {
    /// Returns the map of a text that is verbatim in the file from offset `file`.
    pub fn at(file: u32) -> Self {
        Self { runs: SmallVec::from_buf([(0, file)]), whole: None }
    }

    /// Returns the map of a text that is somewhere within `span`.
    pub fn whole(span: Span) -> Self {
        Self { whole: Some(span), ..Self::at(span.start) }
    }

    /// Records that offset `text` of the text is at offset `file` of the file.
    fn add(&mut self, text: usize, file: usize) {
        let Span { start: text, end: file } = Span { start: Span::of(text..text).start, end: Span::of(file..file).end };
        match self.runs.last() {
            Some(&(t, f)) if u64::from(f) + u64::from(text) == u64::from(file) + u64::from(t) => {}
            Some(&(t, _)) if t == text => {
                self.runs.pop();
                self.runs.push((text, file));
            }
            _ => self.runs.push((text, file)),
        }
    }

    /// Maps an offset in the text to the file.
    pub fn offset(&self, at: u32) -> u32 {
        if let Some(whole) = self.whole {
            return whole.start;
        }
        let behind = self.runs.partition_point(|&(text, _)| text <= at);
        let (text, file) = self.runs.get(behind.saturating_sub(1)).copied().unwrap_or_default();
        file.saturating_add(at.saturating_sub(text))
    }

    /// Maps a span in the text to the file.
    pub fn span(&self, within: Span) -> Span {
        if let Some(whole) = self.whole {
            return whole;
        }
        let (start, end) = (self.offset(within.start), self.offset(within.end));
        Span::new(start, end.max(start))
    }

    /// Returns the map of a part of the text.
    pub fn part(&self, within: Span) -> Places {
        if self.whole.is_some() {
            return self.clone();
        }
        let first = self.runs.partition_point(|&(text, _)| text <= within.start);
        let last = self.runs.partition_point(|&(text, _)| text <= within.end);
        let rest = self.runs.get(first..last.max(first)).unwrap_or(&[]);
        let mut runs = SmallVec::from_buf([(0, self.offset(within.start))]);
        runs.extend(rest.iter().map(|&(text, file)| (text - within.start, file)));
        Places { runs, whole: None }
    }
}

impl Node {
    /// Returns the offset map of this scalar's text. `None` if the text is not at the node's span, as for an alias.
    pub fn places(&self, source: &Source) -> Option<Places> {
        let raw = source.slice(self.span);
        let start = self.span.start as usize;
        match self.style {
            Style::Plain if raw == &*self.text => Some(Places::at(self.span.start)),
            Style::SingleQuoted | Style::DoubleQuoted if raw.get(1..raw.len().max(2) - 1) == Some(&*self.text) => {
                Some(Places::at(self.span.start + 1))
            }
            Style::Plain => Flow { raw, start, text: &self.text, escapes: plain }.places(0),
            Style::SingleQuoted => Flow { raw, start, text: &self.text, escapes: single }.places(1),
            Style::DoubleQuoted => Flow { raw, start, text: &self.text, escapes: double }.places(1),
            Style::Literal | Style::Folded => block(source.text(), start, &self.text, self.style),
        }
    }

    /// Maps a span in this scalar's text to the file. Falls back to the span of the scalar.
    ///
    /// ```
    /// use dropforge::{limits::Limits, text::{Source, Span}, value::yaml};
    /// let source = Source::new("in.yaml", "cmd: \"say \\\"x\\\"\"\n");
    /// let root = yaml::read_one(&source, &Limits::default()).unwrap();
    /// let x = root.get("cmd").unwrap().locate(&source, Span::new(5, 6));
    /// assert_eq!(source.slice(x), "x");
    /// ```
    pub fn locate(&self, source: &Source, within: Span) -> Span {
        let inside = |at: u32| self.text.is_char_boundary(at as usize);
        let places = if inside(within.start) && inside(within.end) { self.places(source) } else { None };
        places.map_or(self.span, |places| places.span(within))
    }
}

/// An escape: its lengths in the file and in the text; without the second one it continues the text in the next line.
type Escape = Option<(usize, Option<usize>)>;

/// A flow scalar: plain or quoted, possibly on several lines.
struct Flow<'s> {
    raw: &'s str,
    /// Its offset in the file.
    start: usize,
    text: &'s str,
    /// Parses an escape at the start.
    escapes: fn(&str) -> Escape,
}

impl Flow<'_> {
    /// Walks the file and the text in parallel. `from` is the offset after the quote.
    fn places(&self, from: usize) -> Option<Places> {
        let mut places = Places::at(Span::of(self.start + from..self.start).start);
        let (mut in_raw, mut in_text) = (from, 0);
        while in_text < self.text.len() {
            places.add(in_text, self.start + in_raw);
            let (taken, made) = self.step(in_raw, in_text)?;
            (in_raw, in_text) = (in_raw + taken, in_text + made);
        }
        places.add(in_text, self.start + in_raw);
        (in_text == self.text.len()).then_some(places)
    }

    /// Returns the lengths of the next step in the file and in the text.
    fn step(&self, in_raw: usize, in_text: usize) -> Option<(usize, usize)> {
        let (rest, text) = (self.raw.get(in_raw..)?, self.text.get(in_text..)?);
        match (self.escapes)(rest) {
            Some((taken, Some(made))) => return Some((taken, made)),
            Some((taken, None)) => {
                let (more, breaks) = breaks(rest.get(taken..)?);
                return Some((taken + more, newlines(text, breaks)?));
            }
            None => {}
        }
        let (folded, breaks) = breaks(rest);
        match breaks {
            0 if folded > 0 => text.starts_with(rest.get(..folded)?).then_some((folded, folded)),
            0 => {
                let first = rest.chars().next()?;
                text.starts_with(first).then_some((first.len_utf8(), first.len_utf8()))
            }
            1 => text.starts_with(' ').then_some((folded, 1)),
            more => Some((folded, newlines(text, more - 1)?)),
        }
    }
}

fn newlines(text: &str, count: usize) -> Option<usize> {
    text.bytes().take(count).all(|byte| byte == b'\n').then_some(count)
}

/// Returns the length of the white space at the start of `rest`, and the number of line breaks in it.
fn breaks(rest: &str) -> (usize, usize) {
    let bytes = rest.as_bytes();
    let (mut at, mut count) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
            b'\n' | b'\r' => count += 1,
            b' ' | b'\t' => {}
            _ => break,
        }
        at += 1;
    }
    (at, count)
}

fn plain(_: &str) -> Escape {
    None
}

fn single(rest: &str) -> Escape {
    rest.starts_with("''").then_some((2, Some(1)))
}

fn double(rest: &str) -> Escape {
    let escaped = rest.strip_prefix('\\')?.chars().next()?;
    let digits = match escaped {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        'N' | '_' => return Some((2, Some(2))),
        'L' | 'P' => return Some((2, Some(3))),
        '\r' if rest.get(2..).is_some_and(|rest| rest.starts_with('\n')) => return Some((3, None)),
        '\n' | '\r' => return Some((2, None)),
        other => return Some((1 + other.len_utf8(), Some(1))),
    };
    let code = |rest: &str| u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok();
    let first = code(rest)?;
    // A surrogate pair is one character.
    if matches!(first, 0xD800..=0xDBFF) {
        return Some((2 * (2 + digits), Some(4)));
    }
    Some((2 + digits, Some(char::from_u32(first)?.len_utf8())))
}

/// Returns the offset map of a block scalar whose first line of text is at `start`.
fn block(file: &str, start: usize, text: &str, style: Style) -> Option<Places> {
    let mut line_start = file.get(..start)?.rfind('\n').map_or(0, |n| n + 1);
    let indent = start - line_start;
    // Empty lines may precede the first line of text.
    for _ in text.bytes().take_while(|&byte| byte == b'\n') {
        line_start = file.get(..line_start.checked_sub(1)?)?.rfind('\n').map_or(0, |n| n + 1);
    }
    let mut places = Places::at(Span::of(start..start).start);
    let mut at = 0;
    for line in file.get(line_start..)?.split_inclusive('\n') {
        let begins = line_start + indent.min(line.trim_end_matches(['\n', '\r']).len());
        let written = line.get(indent..).unwrap_or("").trim_end_matches(['\n', '\r']);
        if style == Style::Folded && !written.is_empty() {
            at += separator(text.get(at..)?);
        }
        let begun = text.get(at..)?.starts_with(written);
        if !begun && (style == Style::Folded || !written.trim_matches(' ').is_empty()) {
            return None;
        }
        if !written.is_empty() || style == Style::Literal {
            places.add(at, begins);
        }
        if begun && !written.is_empty() {
            at += written.len();
            places.add(at, begins + written.len());
        }
        if style == Style::Literal && text.get(at..)?.starts_with('\n') {
            at += 1;
        }
        if text.get(at..)?.bytes().all(|byte| byte == b'\n') {
            if places.offset(Span::of(text.len()..text.len()).start) as usize > file.len() {
                // The text has a final newline that the file lacks.
                places.add(text.len(), file.len());
            }
            return Some(places);
        }
        line_start += line.len();
    }
    None
}

/// Returns the length of the separator between two lines of a folded text.
fn separator(text: &str) -> usize {
    match text.bytes().take_while(|&byte| byte == b'\n').count() {
        0 => usize::from(text.starts_with(' ')),
        newlines => newlines,
    }
}
