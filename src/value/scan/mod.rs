//! Recognises text as valid YAML or JSON without building values.
//!
//! A [`Scanner`] knows the everyday subset of YAML: block and flow collections, plain and quoted scalars on one or several
//! lines, block scalars, comments, document markers, anchors and local tags. It never takes text that
//! [`yaml::read`](super::yaml::read), [`libyaml::read`](super::yaml::libyaml::read) or a JSON reader refuses, duplicate keys
//! included. Of text outside the subset it says nothing: a full reader has to decide.

mod block;
mod bytes;
mod flow;
mod json;
mod lookup;
mod nest;
mod scalar;

#[cfg(test)]
mod tests;

pub(super) use self::bytes::is_usual;
pub use self::lookup::word_at;
use self::nest::Nest;

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
    outline: Vec<Outlined>,
}

/// An entry of a map in column 0.
#[derive(Debug, Clone, Copy)]
struct Outlined {
    /// The start of its line.
    line: usize,
    /// The length of its key.
    key: usize,
}

impl Scanner {
    /// Creates a scanner.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns `true` if all documents of `text` are certainly valid YAML without duplicate keys, `false` if the scanner
    /// cannot say.
    pub fn is_yaml(&mut self, text: &str) -> bool {
        self.documents(text).is_some()
    }

    /// Scans YAML. Returns the number of document markers.
    fn documents(&mut self, text: &str) -> Option<usize> {
        if !is_usual(text) {
            return None;
        }
        self.outline.clear();
        let mut scan = Scan::new(text, &mut self.nest, &mut self.outline);
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
        let markers = self.documents(text)?;
        if markers > 0 || self.outline.is_empty() {
            return None;
        }
        let ends = self.outline.iter().skip(1).map(|next| next.line).chain([text.len()]);
        Some(self.outline.iter().zip(ends).map(|(entry, end)| {
            let lines = text.get(entry.line..end).unwrap_or("");
            let start = usize::from(lines.starts_with(['"', '\'']));
            (lines.get(start..start + entry.key).unwrap_or(""), lines)
        }))
    }

    /// Returns `true` if `text` is certainly one JSON value without duplicate keys, `false` if the scanner cannot say.
    pub fn is_json(&mut self, text: &str) -> bool {
        Scan::new(text, &mut self.nest, &mut self.outline).json().is_some()
    }
}

/// One scan. Its methods return `None` if the text is invalid or outside the subset.
struct Scan<'s> {
    bytes: &'s [u8],
    text: &'s str,
    at: usize,
    /// The start of the current line.
    line: usize,
    /// `true` if the innermost block collection, or the document, waits for a value.
    pending: bool,
    /// `true` if the line before ended in a plain scalar.
    open: bool,
    /// The number of document markers.
    markers: usize,
    nest: &'s mut Nest,
    outline: &'s mut Vec<Outlined>,
}

impl<'s> Scan<'s> {
    fn new(text: &'s str, nest: &'s mut Nest, outline: &'s mut Vec<Outlined>) -> Self {
        nest.clear();
        Self { bytes: text.as_bytes(), text, at: 0, line: 0, pending: true, open: false, markers: 0, nest, outline }
    }
}
