//! Source text, byte spans and positions.
//!
//! A [`Span`] is a pair of byte offsets. Lines and columns are computed from its [`Source`] only for output. Both count
//! from 1; columns count grapheme clusters.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::mask;
use crate::stdlib::characters;

/// A half-open range of byte offsets into one source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from `start` to `end`, in bytes.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Converts a `usize` range. Offsets beyond 4 GiB saturate; sources are much smaller.
    pub fn of(range: std::ops::Range<usize>) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self::new(clamp(range.start), clamp(range.end))
    }

    /// Returns the smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// Returns `true` if the span is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the smallest span that covers both, ignoring an empty one.
    #[doc(hidden)]
    pub fn over(self, other: Span) -> Span {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => self.to(other),
        }
    }

    /// Returns the overlap of both. Without any, it is the empty span at the start of this one.
    #[doc(hidden)]
    pub fn overlap(self, other: Span) -> Span {
        let common = Span::new(self.start.max(other.start), self.end.min(other.end));
        if common.start < common.end { common } else { Span::new(self.start, self.start) }
    }

    /// Returns the parts of this span before, inside and after its overlap with `other`. Without an overlap, all three are the
    /// empty span at the start of this one.
    #[doc(hidden)]
    pub fn partition_around(self, other: Span) -> [Span; 3] {
        let common = self.overlap(other);
        if common.is_empty() {
            return [common; 3];
        }
        [Span::new(self.start, common.start), common, Span::new(common.end, self.end)]
    }

    /// Returns the span `by` bytes later.
    #[doc(hidden)]
    pub const fn moved(self, by: u32) -> Span {
        Span::new(self.start.saturating_add(by), self.end.saturating_add(by))
    }

    /// Returns the span relative to the offset `base`, which is not after its start.
    #[doc(hidden)]
    pub const fn relative(self, base: u32) -> Span {
        Span::new(self.start.saturating_sub(base), self.end.saturating_sub(base))
    }

    /// Returns the span as a `usize` range.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A line and column of a source, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column in grapheme clusters.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Owned, static or shared text.
#[derive(Debug, Clone)]
pub enum Text {
    /// Owned text.
    Own(String),
    /// Static text.
    Static(&'static str),
    /// A range of a shared text.
    Shared(Arc<String>, std::ops::Range<usize>),
}

impl Text {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match self {
            Text::Own(text) => text,
            Text::Static(text) => text,
            Text::Shared(text, range) => text.get(range.clone()).unwrap_or(""),
        }
    }

    /// Returns a part of this text as a text, which shares the bytes of a shared one.
    ///
    /// ```
    /// use dropforge::text::Text;
    /// let text = Text::Shared(String::from("kind: Pod\n").into(), 6..10);
    /// assert_eq!(text.part(0..3), Text::from("Pod"));
    /// ```
    #[doc(hidden)]
    pub fn part(&self, range: std::ops::Range<usize>) -> Text {
        match self {
            Text::Shared(text, whole) => Text::Shared(text.clone(), whole.start + range.start..whole.start + range.end),
            other => Text::from(other.as_str().get(range).unwrap_or("")),
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl<S: Into<String>> From<S> for Text {
    fn from(text: S) -> Self {
        Text::Own(text.into())
    }
}

/// Returns the place and the mark of a tag that is open at byte `at` and has no closing mark before the next tag, if `at` is on
/// a later line than the mark. Parsers find such an error where the text after the tag is no expression.
///
/// ```
/// use dropforge::text::unclosed_tag;
/// let marks = [("{{", "}}"), ("{%", "%}")];
/// assert_eq!(unclosed_tag("a: {{ x\nb: {{ y }}", 8, &marks), Some((3, "{{")));
/// assert_eq!(unclosed_tag("a: {{ x\ny }}", 8, &marks), None);
/// ```
pub fn unclosed_tag<'m>(text: &str, at: usize, marks: &[(&'m str, &str)]) -> Option<(usize, &'m str)> {
    let (before, after) = text.split_at_checked(at)?;
    let (open, mark) = marks.iter().filter_map(|(mark, _)| Some((before.rfind(mark)?, *mark))).max()?;
    let inside = before.get(open..)?;
    let close = marks.iter().filter_map(|(_, mark)| after.find(mark)).min();
    let next = marks.iter().filter_map(|(mark, _)| after.find(mark)).min();
    let is_open = close.is_none_or(|close| next.is_some_and(|next| next < close));
    let is_inside = inside.contains('\n') && !marks.iter().any(|(_, close)| inside.contains(close));
    (is_open && is_inside).then_some((open, mark))
}

/// Returns code of several lines on one, at most `limit` characters of it.
///
/// ```
/// use dropforge::text::one_line;
/// assert_eq!(one_line("a ==\n    'b  c'", 80), "a == 'b  c'");
/// assert_eq!(one_line("a ==\n    'b  c'", 4), "a ==…");
/// ```
pub fn one_line(code: &str, limit: usize) -> String {
    let lines = code.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut line = lines.collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(limit) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

/// A named source text with its line index.
///
/// ```
/// use dropforge::text::{Source, Span};
/// let source = Source::new("svc.yaml", "a: 1\nb: é x\n");
/// assert_eq!(source.position(10).to_string(), "2:5");
/// assert_eq!(source.slice(Span::new(5, 6)), "b");
/// ```
#[derive(Debug)]
pub struct Source {
    name: Text,
    /// The path in diagnostics, if it is not the name.
    path: Option<Arc<str>>,
    text: Text,
    /// The number of lines before the text, if it is a part of a longer one.
    lines_before: u32,
    /// `true` if a line is the text of a row of a binary file.
    is_of_rows: bool,
    /// `true` if all values of the text are secret.
    is_secret: bool,
    /// `true` if no excerpt is shown.
    is_unseen: bool,
    /// The text that excerpts show, if all values are secret.
    covered: OnceLock<String>,
    line_starts: OnceLock<Vec<u32>>,
    /// The start of each block, and the number of grapheme clusters before it. A text may be one long line.
    blocks: OnceLock<Vec<(usize, u32)>>,
}

/// The name of texts that are compiled while a template runs, as Go calls those of `tpl`.
const MADE: &str = "gotpl";

/// The typical number of bytes of a block.
const BLOCK: usize = 1024;

impl Source {
    /// Creates a source called `name`, usually a path.
    pub fn new(name: impl Into<Text>, text: impl Into<Text>) -> Arc<Self> {
        Self::found_at(None, name, text)
    }

    /// Creates a source that was found in `folder`, which diagnostics print before its name.
    ///
    /// ```
    /// use dropforge::text::Source;
    /// let source = Source::below(Some("site".into()), "svc.yaml", "a: 1\n");
    /// assert_eq!((source.name(), source.path()), ("svc.yaml", "site/svc.yaml"));
    /// ```
    #[doc(hidden)]
    pub fn below(folder: Option<Arc<str>>, name: impl Into<Text>, text: impl Into<Text>) -> Arc<Self> {
        let name = name.into();
        let path = folder.map(|folder| [&*folder, "/", name.as_str()].concat().into());
        Self::found_at(path, name, text)
    }

    /// Creates a source that was found at a path, which diagnostics print instead of its name.
    ///
    /// ```
    /// use dropforge::text::Source;
    /// let source = Source::found_at(Some("charts/shop-1/values.yaml".into()), "shop/values.yaml", "a: 1\n");
    /// assert_eq!((source.name(), source.path()), ("shop/values.yaml", "charts/shop-1/values.yaml"));
    /// ```
    #[doc(hidden)]
    pub fn found_at(path: Option<Arc<str>>, name: impl Into<Text>, text: impl Into<Text>) -> Arc<Self> {
        Arc::new(Self { path, ..Self::at_line(name.into(), text.into(), 0) })
    }

    /// Creates a source like another one, of a text with the same lines.
    pub(crate) fn with_text(like: &Self, text: impl Into<Text>) -> Arc<Self> {
        Arc::new(Self::alike(like, text.into()))
    }

    fn alike(like: &Self, text: Text) -> Self {
        let Self { name, path, lines_before, is_of_rows, is_secret, is_unseen, .. } = like;
        let new = Self::at_line(name.clone(), text, *lines_before);
        Self { path: path.clone(), is_of_rows: *is_of_rows, is_secret: *is_secret, is_unseen: *is_unseen, ..new }
    }

    /// Creates a source like another one, of which diagnostics show places and no text.
    #[doc(hidden)]
    pub fn unseen(like: &Self) -> Arc<Self> {
        Arc::new(Self { is_unseen: true, ..Self::alike(like, like.text.clone()) })
    }

    /// Returns `true` for a source of which no text is shown.
    #[doc(hidden)]
    pub fn is_unseen(&self) -> bool {
        self.is_unseen
    }

    /// Creates a source of a text that was decrypted: all its values are secret.
    #[doc(hidden)]
    pub fn secret(name: impl Into<Text>, text: impl Into<Text>) -> Arc<Self> {
        Arc::new(Self { is_secret: true, ..Self::at_line(name.into(), text.into(), 0) })
    }

    /// Returns `true` for a source whose values are all secret.
    #[doc(hidden)]
    pub fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// Creates a source of a text that is compiled while a template runs. It is in no file.
    #[doc(hidden)]
    pub fn made(text: impl Into<Text>) -> Arc<Self> {
        Self::new(MADE, text)
    }

    /// Returns `true` for a source that was [made](Self::made).
    #[doc(hidden)]
    pub fn is_made(&self) -> bool {
        self.name() == MADE
    }

    /// Creates a source of a part of the text called `name`, which begins after `lines_before` lines.
    ///
    /// ```
    /// use dropforge::text::Source;
    /// let source = Source::part("clusters.ndjson", 41, "{}\n{]\n");
    /// assert_eq!(source.position(4).to_string(), "43:2");
    /// ```
    #[doc(hidden)]
    pub fn part(name: impl Into<Text>, lines_before: u32, text: impl Into<Text>) -> Arc<Self> {
        Arc::new(Self::at_line(name.into(), text.into(), lines_before))
    }

    /// Creates a source like [`Source::part`] whose lines are the texts of rows of a binary file. A line is the number of
    /// its row, and a column says nothing.
    #[doc(hidden)]
    pub fn rows(name: impl Into<Text>, rows_before: u32, text: impl Into<Text>) -> Arc<Self> {
        Arc::new(Self { is_of_rows: true, ..Self::at_line(name.into(), text.into(), rows_before) })
    }

    /// Returns `true` for a source of rows.
    #[doc(hidden)]
    pub fn is_of_rows(&self) -> bool {
        self.is_of_rows
    }

    fn at_line(name: Text, text: Text, lines_before: u32) -> Self {
        let (covered, line_starts, blocks) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (is_of_rows, is_secret, is_unseen) = (false, false, false);
        Self { name, path: None, text, lines_before, is_of_rows, is_secret, is_unseen, covered, line_starts, blocks }
    }

    /// Returns the name. It is the same wherever a template lies.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Returns the path in diagnostics: that at which the source was found, or its name.
    pub fn path(&self) -> &str {
        self.path.as_deref().unwrap_or_else(|| self.name())
    }

    /// Returns `true` if the text begins with the first line.
    #[doc(hidden)]
    pub fn is_from_start(&self) -> bool {
        self.lines_before == 0
    }

    /// Returns the text for excerpts: with `*` for the characters of values that are secret.
    pub(crate) fn shown(&self) -> &str {
        match self.is_secret {
            true => self.covered.get_or_init(|| self.text().split_inclusive('\n').map(mask::covered_line).collect()),
            false => self.text(),
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        self.text.as_str()
    }

    /// Returns the span of the character at the byte `at`. It is empty at the end of the text.
    #[doc(hidden)]
    pub fn character(&self, at: usize) -> Span {
        let text = self.text();
        let start = (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let found = text.get(start..).and_then(|rest| rest.chars().next());
        Span::of(start..start + found.map_or(0, char::len_utf8))
    }

    /// Returns the text of `span`, or the empty string if it is not on character boundaries.
    pub fn slice(&self, span: Span) -> &str {
        self.text().get(span.range()).unwrap_or("")
    }

    /// Returns the line and column of a byte offset. Offsets beyond the end are clamped.
    pub fn position(&self, offset: u32) -> Position {
        let starts = self.line_starts();
        let offset = offset.min(u32::try_from(self.text().len()).unwrap_or(u32::MAX));
        let line = starts.partition_point(|&start| start <= offset);
        let start = starts.get(line.saturating_sub(1)).copied().unwrap_or(0) as usize;
        let column = self.clusters(start, offset as usize).saturating_add(1);
        let line = u32::try_from(line.max(1)).unwrap_or(u32::MAX);
        Position { line: line.saturating_add(self.lines_before), column }
    }

    /// Returns the byte offset of a line and column, the inverse of [`Source::position`]. `None` if there is no such
    /// line. Columns beyond the end of the line are clamped.
    pub fn offset(&self, at: Position) -> Option<u32> {
        let start = *self.line_starts().get(self.nth_line(at.line)?)?;
        let line = self.line(at.line);
        let column = at.column.saturating_sub(1) as usize;
        let before = characters::indices(line).nth(column).map_or(line.len(), |(offset, _)| offset);
        Some(start + before as u32)
    }

    /// Returns the text of a line, counted from 1, without its line break. Empty if there is no such line.
    pub fn line(&self, line: u32) -> &str {
        let start = |line: u32| self.line_starts().get(self.nth_line(line)?).map(|&start| start as usize);
        let Some(from) = start(line) else { return "" };
        let to = start(line.saturating_add(1)).unwrap_or(self.text().len());
        self.text().get(from..to).unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    /// Returns the index of the start of a line.
    fn nth_line(&self, line: u32) -> Option<usize> {
        line.checked_sub(self.lines_before)?.checked_sub(1).map(|nth| nth as usize)
    }

    /// Returns the number of grapheme clusters in a part of a line.
    fn clusters(&self, from: usize, to: usize) -> u32 {
        if to.saturating_sub(from) <= BLOCK {
            return clusters_in(self.text(), from, to);
        }
        let blocks = self.blocks.get_or_init(|| blocks(self.text()));
        let before = |at: usize| {
            let block = blocks.partition_point(|(start, _)| *start <= at).saturating_sub(1);
            blocks.get(block).map_or(0, |&(start, count)| count + clusters_in(self.text(), start, at))
        };
        before(to) - before(from)
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let starts = memchr::memchr_iter(b'\n', self.text().as_bytes()).map(|at| at + 1);
            std::iter::once(0).chain(starts).map(|at| u32::try_from(at).unwrap_or(u32::MAX)).collect()
        })
    }
}

/// Returns the number of grapheme clusters in a part of a text.
fn clusters_in(text: &str, from: usize, to: usize) -> u32 {
    let to = (from..=to).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(from);
    u32::try_from(text.get(from..to).map_or(0, characters::count)).unwrap_or(u32::MAX)
}

/// Divides a text into blocks. Each begins with a line or between two ASCII characters, so no cluster is divided, unless
/// a text has neither for long.
fn blocks(text: &str) -> Vec<(usize, u32)> {
    let bytes = text.as_bytes();
    let divides = |at: usize| match bytes.get(at.saturating_sub(1)..=at) {
        Some([b'\r', b'\n']) => false,
        Some([before, behind]) => *before == b'\n' || before.is_ascii() && behind.is_ascii(),
        _ => true,
    };
    let (mut blocks, mut start, mut count) = (vec![(0, 0)], 0, 0);
    while start + BLOCK < bytes.len() {
        let after = start + BLOCK..(start + 2 * BLOCK).min(bytes.len());
        let next = after.clone().find(|at| divides(*at));
        let end = next.or_else(|| after.clone().find(|at| text.is_char_boundary(*at))).unwrap_or(bytes.len());
        count += clusters_in(text, start, end);
        blocks.push((end, count));
        start = end;
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_in_long_lines_are_those_that_counting_gives() {
        for unit in ["x", "é", "x\u{1F600}é", "\n\u{1F600}", "xy\r\n"] {
            let text = format!("\n{}", &unit.repeat(3 * BLOCK)[unit.len()..]);
            let source = Source::new("t", text.clone());
            let offsets = text.char_indices().map(|(offset, _)| offset).step_by(7);
            for offset in offsets.chain([text.len()]) {
                let before = &text[..offset];
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                let counted = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
                assert_eq!(source.position(offset as u32).to_string(), format!("{}:{}", counted.0, counted.1));
            }
        }
    }

    #[test]
    fn positions_count_clusters_and_stop_at_the_end() {
        let source = Source::new("t", "añb\n\nx");
        let at = |offset| source.position(offset).to_string();
        assert_eq!([at(0), at(3), at(4), at(5), at(6), at(99)], ["1:1", "1:3", "1:4", "2:1", "3:1", "3:2"]);
        let source = Source::new("t", "e\u{301}👩\u{200d}👩x\r\ny");
        let at = |offset| source.position(offset).to_string();
        assert_eq!([at(3), at(14), at(17)], ["1:2", "1:3", "2:1"]);
    }

    #[test]
    fn offsets_are_those_of_positions() {
        let source = Source::new("t", "añb\n\nx");
        for offset in [0, 1, 3, 4, 5, 6, 7] {
            assert_eq!(source.offset(source.position(offset)), Some(offset));
        }
        let at = |line, column| source.offset(Position { line, column });
        assert_eq!([at(1, 99), at(2, 5), at(4, 1), at(0, 1), at(3, 0)], [Some(4), Some(5), None, None, Some(6)]);
    }

    #[test]
    fn lines_by_number() {
        let source = Source::new("t", "a\r\n\nb");
        assert_eq!([0, 1, 2, 3, 4].map(|line| source.line(line)), ["", "a", "", "b", ""]);
    }

    #[test]
    fn a_part_counts_lines_from_those_before_it() {
        let source = Source::part("t", 7, "a\nbc\n");
        assert_eq!((source.position(3).to_string(), source.line(9), source.line(7)), ("9:2".into(), "bc", ""));
        assert_eq!(source.offset(Position { line: 9, column: 2 }), Some(3));
        assert_eq!(source.offset(Position { line: 7, column: 1 }), None);
    }

    #[test]
    fn a_span_off_a_character_boundary_is_empty_text() {
        assert_eq!(Source::new("t", "é").slice(Span::new(1, 2)), "");
    }
}
