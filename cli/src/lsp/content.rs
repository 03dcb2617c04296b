//! Texts with the positions of the protocol, and paths as URIs.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::{Arc, OnceLock};

use dropforge::text::Span;
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The bytes of a path that a URI has as escapes.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// A text with the starts of its lines.
#[derive(Debug, Default)]
pub(super) struct DocumentText {
    text: Arc<String>,
    starts: OnceLock<Vec<usize>>,
}

impl DocumentText {
    /// Takes a text.
    pub(super) fn new(text: impl Into<Arc<String>>) -> Self {
        Self { text: text.into(), starts: OnceLock::new() }
    }

    /// Returns the text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the shared text.
    pub(super) fn shared(&self) -> Arc<String> {
        self.text.clone()
    }

    fn starts(&self) -> &[usize] {
        let after = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect::<Vec<_>>();
        self.starts.get_or_init(|| std::iter::once(0).chain(after(&self.text)).collect())
    }

    /// Returns a line without its line break.
    fn line(&self, line: usize) -> &str {
        let (start, end) = (self.starts().get(line), self.starts().get(line + 1));
        let text = start.and_then(|start| self.text.get(*start..end.copied().unwrap_or(self.text.len())));
        text.unwrap_or("").trim_end_matches(['\n', '\r'])
    }

    /// Returns the byte at a position. Positions beyond the end of a line or of the text are clamped, and those within a
    /// character are at its start.
    pub(super) fn offset(&self, at: Position) -> usize {
        let Some(start) = self.starts().get(at.line as usize) else { return self.text.len() };
        let (mut units, line) = (0, self.line(at.line as usize));
        for (byte, char) in line.char_indices() {
            units += char.len_utf16();
            if units > at.character as usize {
                return start + byte;
            }
        }
        start + line.len()
    }

    /// Returns the position of a byte.
    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts().partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts().get(line).copied().unwrap_or(0);
        let end = (start..=offset).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(start);
        let units = self.text.get(start..end).map_or(0, |text| text.encode_utf16().count());
        Position::new(line as u32, units as u32)
    }

    /// Returns the span of a range.
    pub(super) fn span(&self, range: Range) -> Span {
        let start = self.offset(range.start);
        Span::of(start..self.offset(range.end).max(start))
    }

    /// Returns the range of a span.
    pub(super) fn range(&self, span: Span) -> Range {
        Range::new(self.position(span.start as usize), self.position(span.end.max(span.start) as usize))
    }

    /// Returns the range of the whole text.
    pub(super) fn whole(&self) -> Range {
        Range::new(Position::default(), self.position(self.text.len()))
    }

    /// Returns the text after changes, each of the result of the one before.
    pub(super) fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>) -> DocumentText {
        changes.into_iter().fold(DocumentText::new(self.shared()), |content, change| {
            let Some(range) = change.range else { return DocumentText::new(change.text) };
            let mut text = content.text().to_owned();
            text.replace_range(content.span(range).range(), &change.text);
            DocumentText::new(text)
        })
    }
}

/// Places in one text and in a changed form of it: equal beginnings and ends have the same places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shift {
    before: usize,
    /// The start of the equal end in each text.
    ends: [usize; 2],
}

impl Shift {
    /// Compares texts.
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (a, b) = (old.as_bytes(), new.as_bytes());
        let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let most = a.len().min(b.len()) - before;
        let after = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        Self { before, ends: [a.len() - after, b.len() - after] }
    }

    /// Returns the place in the new text.
    pub(super) fn forward(self, span: Span) -> Option<Span> {
        let [old, new] = self.ends;
        self.moved(span, old, new)
    }

    /// Returns the place in the old text.
    pub(super) fn back(self, at: usize) -> Option<usize> {
        let [old, new] = self.ends;
        self.moved(Span::of(at..at), new, old).map(|span| span.start as usize)
    }

    fn moved(self, span: Span, from: usize, to: usize) -> Option<Span> {
        let range = span.range();
        if range.end <= self.before {
            return Some(span);
        }
        (range.start >= from).then(|| Span::of(range.start - from + to..range.end - from + to))
    }
}

/// Returns the path of a `file:` URI.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = rest.get(rest.find('/')?..)?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    Some(canonical(Path::new(&*path)))
}

/// Returns the `file:` URI of a path.
pub(super) fn uri_of(path: &Path) -> Option<Uri> {
    let text = path.to_str()?;
    Uri::from_str(&format!("file://{}", utf8_percent_encode(text, ESCAPED))).ok()
}

/// Returns a path without links, also that of a file which does not exist.
pub(super) fn canonical(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_units_of_utf_16() {
        let content = DocumentText::new("añ\u{1F600}b\r\n\nx".to_owned());
        let at = |line, character| content.offset(Position::new(line, character));
        assert_eq!([at(0, 0), at(0, 2), at(0, 3), at(0, 4), at(0, 5), at(0, 99)], [0, 3, 3, 7, 8, 8]);
        assert_eq!([at(1, 0), at(1, 7), at(2, 1), at(9, 0)], [10, 10, 12, 12]);
        for offset in [0, 1, 3, 7, 8, 10, 11, 12] {
            assert_eq!(content.offset(content.position(offset)), offset);
        }
        assert_eq!(content.position(5), content.position(3));
    }

    #[test]
    fn changes_apply_in_order() {
        let range = |line, from, to| Some(Range::new(Position::new(line, from), Position::new(line, to)));
        let change =
            |range, text: &str| TextDocumentContentChangeEvent { range, range_length: None, text: text.into() };
        let content = DocumentText::new("ab\ncd".to_owned());
        let changed = content.changed(vec![change(range(1, 0, 1), "x\ny"), change(range(2, 0, 9), "z")]);
        assert_eq!(changed.text(), "ab\nx\nz");
        assert_eq!(changed.changed(vec![change(None, "new")]).text(), "new");
        assert_eq!(content.changed(vec![change(range(7, 3, 1), "!")]).text(), "ab\ncd!");
    }

    #[test]
    fn equal_ends_keep_their_places() {
        let shift = Shift::between("{{ a }} {{ b }}", "{{ a.x }} {{ b }}");
        assert_eq!(shift.forward(Span::new(3, 4)), Some(Span::new(3, 4)));
        assert_eq!(shift.forward(Span::new(11, 12)), Some(Span::new(13, 14)));
        assert_eq!((shift.back(13), shift.back(5)), (Some(11), None));
    }

    #[test]
    fn uris_escape_paths() {
        let path = Path::new("/none/a b%20c/é#.tera");
        let uri = uri_of(path).unwrap();
        assert_eq!(uri.as_str(), "file:///none/a%20b%2520c/%C3%A9%23.tera");
        assert_eq!(path_of(&uri).as_deref(), Some(path));
        assert_eq!(path_of(&Uri::from_str("untitled:x").unwrap()), None);
    }
}
