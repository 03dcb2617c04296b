//! Recognises text as valid YAML or JSON without building values, and the parts of YAML for a reader.
//!
//! A [`Scanner`] knows the everyday subset of YAML: block and flow collections, plain and quoted scalars on one or several
//! lines, block scalars, comments, document markers, anchors and local tags. It never takes text that
//! [`yaml::read`](super::yaml::read), [`libyaml::read`](super::yaml::libyaml::read) or a JSON reader refuses, duplicate keys
//! included. Of text outside the subset it says nothing: a full reader has to decide. In the same pass a [`PartSink`] receives
//! the parts of most documents.

mod block;
mod lookup;
mod nest;
mod parts;
mod repeats;
mod scalar;

use crate::json_lexer;

use self::nest::Nest;
use self::repeats::{Branch, Repeats, Slot};

pub use self::lookup::{find_word, word_at, word_of_entry};
pub(super) use self::parts::PartSink;
pub(super) use self::scalar::is_usual;

/// Scans texts one after another and keeps its memory between them.
///
/// ```
/// use dropforge::value::Scanner;
/// let mut scanner = Scanner::new();
/// assert!(scanner.is_yaml("kind: Service\nports: [{port: 80}]\n---\n- 'a'\n"));
/// assert!(!scanner.is_yaml("a: 1\na: 2\n"));
/// assert!(!scanner.is_yaml("? a complex key is outside the subset\n"));
/// assert!(scanner.is_json("{\"a\": [1.5e3, null]}\n"));
/// assert!(!scanner.is_json("{\"a\": 1,}"));
/// ```
#[derive(Debug, Default)]
pub struct Scanner {
    nest: Nest,
    /// For each entry of a map in column 0, the start of its line and the length of its key.
    outline: Vec<(usize, usize)>,
    marks: Vec<Mark>,
    /// The lines of texts before, if they are remembered.
    repeats: Option<Box<Repeats>>,
}

/// A place that divides a text into documents, or says what one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line with a document marker: its start, and the start of the next line.
    Marker(usize, usize),
    /// The entry `kind` of a map that is a document: the place after its colon, and `true` in a flow map.
    Kind(usize, bool),
}

impl Mark {
    /// Returns the mark with other places.
    fn map(self, place: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Marker(line, next) => Self::Marker(place(line), place(next)),
            Self::Kind(value, is_flow) => Self::Kind(place(value), is_flow),
        }
    }
}

impl Scanner {
    /// Creates a scanner.
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers the lines of further texts. They are not scanned again in a text that has them in the same place.
    pub fn remember(&mut self) {
        self.repeats.get_or_insert_default();
    }

    /// Returns `true` if all documents of `text` are certainly valid YAML without duplicate keys, `false` if the scanner
    /// cannot say.
    pub fn is_yaml(&mut self, text: &str) -> bool {
        match self.repeats.as_mut().and_then(|repeats| repeats.prepare(text)) {
            Some((nest, lines)) => {
                self.outline.clear();
                Scan::new(text, nest, (&mut self.outline, &mut self.marks), &mut ()).repeated(lines).is_some()
            }
            None => self.documents(text, &mut ()).is_some(),
        }
    }

    /// Returns the marks of the last text, in order, if [`Scanner::is_yaml`] returned `true` for it.
    ///
    /// ```
    /// use dropforge::value::{Mark, Scanner};
    /// let mut scanner = Scanner::new();
    /// assert!(scanner.is_yaml("kind: A\n---\n{kind: B}\n"));
    /// assert_eq!(scanner.marks(), [Mark::Kind(5, false), Mark::Marker(8, 12), Mark::Kind(18, true)]);
    /// ```
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Scans YAML. Returns the number of document markers. `None` if the text is outside the subset, or if the sink ended the
    /// scan.
    pub(super) fn documents(&mut self, text: &str, sink: &mut impl PartSink) -> Option<usize> {
        if !is_usual(text) {
            return None;
        }
        self.outline.clear();
        let mut scan = Scan::new(text, &mut self.nest, (&mut self.outline, &mut self.marks), sink);
        scan.documents().map(|()| scan.markers)
    }

    /// Returns the entries of the map that is the only document of `text`: their keys and their lines. The lines of some
    /// entries are a document with only these. `None` if the scanner cannot say that the document is valid YAML, or if it is
    /// no block map in column 0.
    ///
    /// ```
    /// use dropforge::value::Scanner;
    /// let mut scanner = Scanner::new();
    /// let entries: Option<Vec<_>> = scanner.entries("# c\nkind: A\nmetadata:\n  name: b\n").map(Iterator::collect);
    /// assert_eq!(entries, Some(vec![("kind", "kind: A\n"), ("metadata", "metadata:\n  name: b\n")]));
    /// assert!(scanner.entries("- kind: A\n").is_none());
    /// ```
    pub fn entries<'t>(&mut self, text: &'t str) -> Option<impl Iterator<Item = (&'t str, &'t str)>> {
        let markers = self.documents(text, &mut ())?;
        if markers > 0 || self.outline.is_empty() {
            return None;
        }
        let ends = self.outline.iter().skip(1).map(|next| next.0).chain([text.len()]);
        Some(self.outline.iter().zip(ends).map(|((line, key), end)| {
            let lines = text.get(*line..end).unwrap_or("");
            let start = usize::from(lines.starts_with(['"', '\'']));
            (lines.get(start..start + key).unwrap_or(""), lines)
        }))
    }

    /// Returns `true` if `text` is certainly one JSON value without duplicate keys, `false` if the scanner cannot say.
    pub fn is_json(&mut self, text: &str) -> bool {
        Scan::new(text, &mut self.nest, (&mut self.outline, &mut self.marks), &mut ()).json().is_some()
    }
}

/// One scan. Its methods return `None` if the text is invalid or outside the subset.
struct Scan<'s, S> {
    bytes: &'s [u8],
    text: &'s str,
    at: usize,
    /// The start of the current line.
    line: usize,
    /// `true` if the innermost block collection, or the document, waits for a value.
    pending: bool,
    /// The place of a null that stands for this value.
    null: usize,
    /// `true` if the line before ended in a plain scalar.
    open: bool,
    /// The number of document markers.
    markers: usize,
    nest: &'s mut Nest,
    outline: &'s mut Vec<(usize, usize)>,
    marks: &'s mut Vec<Mark>,
    sink: &'s mut S,
    /// The last place in the line from which on it may differ.
    branch: Option<Branch>,
    /// The scalars that may be others, if they are noted.
    slots: Vec<Slot>,
    notes: bool,
    /// `true` if later lines were looked at.
    ahead: bool,
}

impl<'s, S> Scan<'s, S> {
    fn new(
        text: &'s str,
        nest: &'s mut Nest,
        (outline, marks): (&'s mut Vec<(usize, usize)>, &'s mut Vec<Mark>),
        sink: &'s mut S,
    ) -> Self {
        nest.clear();
        marks.clear();
        let bytes = text.as_bytes();
        let (at, line, null, markers, ahead) = (0, 0, 0, 0, false);
        let (pending, open, branch, slots, notes) = (true, false, None, Vec::new(), false);
        Self {
            bytes,
            text,
            at,
            line,
            pending,
            null,
            open,
            markers,
            nest,
            outline,
            marks,
            sink,
            branch,
            slots,
            notes,
            ahead,
        }
    }
}

impl<'s, S: PartSink> Scan<'s, S> {
    /// Scans one value.
    fn json(&mut self) -> Option<()> {
        self.skip_white();
        self.json_value()?;
        while let Some(top) = self.nest.top() {
            self.skip_white();
            match (self.here(), top.is_map) {
                (b'}', true) | (b']', false) => {
                    self.at += 1;
                    self.nest.close()?;
                }
                (b',', _) if !self.pending => {
                    self.at += 1;
                    self.skip_white();
                    self.json_entry(top.is_map)?;
                    continue;
                }
                (_, is_map) if self.pending => {
                    self.json_entry(is_map)?;
                    continue;
                }
                _ => return None,
            }
            self.pending = false;
        }
        self.skip_white();
        (self.at == self.bytes.len()).then_some(())
    }

    fn rest(&self) -> &'s [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    /// Moves to the bytes `rest`, which are the last ones.
    fn skip_to(&mut self, rest: &[u8]) {
        self.at = self.bytes.len() - rest.len();
    }

    fn skip_white(&mut self) {
        self.skip_to(json_lexer::white(self.rest()));
    }

    fn json_entry(&mut self, is_map: bool) -> Option<()> {
        if is_map {
            let (key, after) = json_lexer::key(self.rest())?;
            // A key with escapes may be the same as another one.
            self.nest.key(Some(key).filter(|name| !name.contains(&b'\\'))?)?;
            self.skip_to(json_lexer::white(after));
        }
        self.json_value()
    }

    /// Scans a scalar, or the start of a collection, which is then `pending`.
    fn json_value(&mut self) -> Option<()> {
        self.pending = matches!(self.here(), b'{' | b'[');
        if !self.pending {
            return json_lexer::scalar(self.rest()).map(|rest| self.skip_to(rest));
        }
        let is_map = self.here() == b'{';
        self.at += 1;
        self.nest.open(is_map, 0)
    }
}

#[cfg(test)]
mod tests;
