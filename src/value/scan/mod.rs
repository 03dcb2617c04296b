//! Recognises text as valid YAML or JSON without building values.
//!
//! A [`Scanner`] knows the everyday subset of YAML: block and flow collections, plain and quoted scalars on one or several
//! lines, block scalars, comments, document markers, anchors and local tags. It never takes text that
//! [`yaml::read`](super::yaml::read) or a JSON reader refuses, duplicate keys included. Of text outside the subset it says
//! nothing: a full reader has to decide.

mod block;
mod bytes;
mod flow;
mod json;
mod lookup;
mod nest;
mod scalar;

#[cfg(test)]
mod tests;

use self::bytes::is_usual;
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
}

impl Scanner {
    /// Creates a scanner.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns `true` if all documents of `text` are certainly valid YAML without duplicate keys, `false` if the scanner
    /// cannot say.
    pub fn is_yaml(&mut self, text: &str) -> bool {
        is_usual(text) && Scan::new(text, &mut self.nest).documents().is_some()
    }

    /// Returns `true` if `text` is certainly one JSON value without duplicate keys, `false` if the scanner cannot say.
    pub fn is_json(&mut self, text: &str) -> bool {
        Scan::new(text, &mut self.nest).json().is_some()
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
    nest: &'s mut Nest,
}

impl<'s> Scan<'s> {
    fn new(text: &'s str, nest: &'s mut Nest) -> Self {
        nest.clear();
        Self { bytes: text.as_bytes(), text, at: 0, line: 0, pending: true, open: false, nest }
    }
}
