//! Writes patched documents. Keys keep their order and scalars their notation. Each part notes where it came from.

use dropforge_value::yaml::{Kind, Style};
use dropforge_value::{Data, yaml};

use super::tree::{At, Entry, Part, Scalar, Tree};

/// The place of a byte of a written document, and of those up to the next mark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    /// The byte.
    pub byte: usize,
    pub at: At,
}

/// A writer of a document.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub text: String,
    pub marks: Vec<Mark>,
    /// The items of lists stand deeper than the key.
    is_indented: bool,
}

/// The spaces of a level.
const LEVEL: usize = 2;

impl Writer {
    /// Creates a writer in the style of a document.
    pub fn like(document: &Tree, text: &str) -> Self {
        Self { is_indented: is_indented(document, text).unwrap_or(true), ..Self::default() }
    }

    /// Appends a document as YAML, with a final newline.
    pub fn yaml(&mut self, tree: &Tree) {
        match &tree.part {
            Part::Map(entries) if !entries.is_empty() && tree.tag.is_none() => self.entries(entries, 0, false),
            Part::List(items) if !items.is_empty() && tree.tag.is_none() => self.items(items, 0, false),
            _ => self.value(tree, 0, false),
        }
        self.text.push('\n');
    }

    fn mark(&mut self, at: At) {
        self.marks.push(Mark { byte: self.text.len(), at });
    }

    fn line(&mut self, indent: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
    }

    /// Writes the entries of a map, the first of them in a new line if `apart`.
    fn entries(&mut self, entries: &[Entry], indent: usize, apart: bool) {
        for (nth, Entry { key, value, .. }) in entries.iter().enumerate() {
            if apart || nth > 0 {
                self.line(indent);
            }
            self.mark(key.at);
            let start = self.text.len();
            self.scalar_of(key, None);
            if self.text.len() - start > LONGEST_KEY {
                self.text.insert_str(start, "? ");
                self.line(indent);
            }
            self.text.push(':');
            self.below(value, indent, self.is_indented);
        }
    }

    fn items(&mut self, items: &[Tree], indent: usize, apart: bool) {
        for (nth, item) in items.iter().enumerate() {
            if apart || nth > 0 {
                self.line(indent);
            }
            self.mark(item.at);
            self.text.push('-');
            match &item.part {
                Part::Map(entries) if !entries.is_empty() && item.tag.is_none() => {
                    self.text.push(' ');
                    self.entries(entries, indent + LEVEL, false);
                }
                Part::List(items) if !items.is_empty() && item.tag.is_none() => {
                    self.text.push(' ');
                    self.items(items, indent + LEVEL, false);
                }
                _ => self.below(item, indent, true),
            }
        }
    }

    /// Writes a value behind a key or a dash.
    fn below(&mut self, value: &Tree, indent: usize, deeper: bool) {
        if let Some(tag) = value.tag.as_ref().filter(|_| !matches!(value.part, Part::Scalar(_))) {
            self.text.push(' ');
            self.text.push_str(tag);
        }
        match &value.part {
            Part::Map(entries) if !entries.is_empty() => self.entries(entries, indent + LEVEL, true),
            Part::List(items) if !items.is_empty() => {
                self.items(items, if deeper { indent + LEVEL } else { indent }, true);
            }
            _ => self.value(value, indent + LEVEL, true),
        }
    }

    /// Writes a scalar, or a list or a map without content. The lines of a text have this indentation.
    fn value(&mut self, value: &Tree, indent: usize, apart: bool) {
        let before = self.text.len();
        self.text.push_str(if apart { " " } else { "" });
        self.mark(value.at);
        match &value.part {
            Part::Map(_) => self.text.push_str("{}"),
            Part::List(_) => self.text.push_str("[]"),
            Part::Scalar(_) => self.scalar_of(value, Some(indent)),
        }
        // A null may have no text.
        if self.text.len() == before + 1 && apart {
            self.text.pop();
        }
    }

    fn scalar_of(&mut self, tree: &Tree, indent: Option<usize>) {
        let Part::Scalar(scalar) = &tree.part else { return };
        if let Some(tag) = &tree.tag {
            self.text.push_str(tag);
            self.text.push(' ');
        }
        scalar.write(&mut self.text, indent);
    }

    /// Appends a document as JSON, with a final newline.
    pub fn json(&mut self, tree: &Tree) {
        self.json_value(tree, 0);
        self.text.push('\n');
    }

    fn json_value(&mut self, tree: &Tree, indent: usize) {
        self.mark(tree.at);
        match &tree.part {
            Part::Map(entries) if !entries.is_empty() => {
                for (nth, entry) in entries.iter().enumerate() {
                    self.text.push(if nth == 0 { '{' } else { ',' });
                    self.line(indent + LEVEL);
                    self.mark(entry.key.at);
                    self.text.push_str(&json(&Data::Str(entry.name.to_string())));
                    self.text.push_str(": ");
                    self.json_value(&entry.value, indent + LEVEL);
                }
                self.line(indent);
                self.text.push('}');
            }
            Part::List(items) if !items.is_empty() => {
                for (nth, item) in items.iter().enumerate() {
                    self.text.push(if nth == 0 { '[' } else { ',' });
                    self.line(indent + LEVEL);
                    self.json_value(item, indent + LEVEL);
                }
                self.line(indent);
                self.text.push(']');
            }
            _ => self.text.push_str(&json(&tree.to_data())),
        }
    }
}

/// Maximum length of a key in one line: parsers look no further ahead for its end.
const LONGEST_KEY: usize = 1_000;

fn json(data: &Data) -> String {
    serde_json::to_string(data).unwrap_or_default()
}

/// Returns `true` if the first list of a document stands deeper than its key. `None` without one.
fn is_indented(tree: &Tree, text: &str) -> Option<bool> {
    tree.entries().iter().find_map(|entry| match &entry.value.part {
        Part::List(items) => match items.first().and_then(|item| dash_before(item.at, text)) {
            Some(dash) => Some(dash > indent(entry.key.at, text)),
            None => items.iter().find_map(|item| is_indented(item, text)),
        },
        _ => is_indented(&entry.value, text),
    })
}

/// Returns the text of a line before a place.
fn before(at: At, text: &str) -> &str {
    let before = text.get(..at.span.start as usize).unwrap_or("");
    before.get(before.rfind('\n').map_or(0, |end| end + 1)..).unwrap_or("")
}

/// Returns the column of the dash before an item. `None` for an item of a list in brackets.
fn dash_before(item: At, text: &str) -> Option<usize> {
    let before = before(item, text).trim_end();
    before.ends_with('-').then(|| before.len() - 1)
}

/// Returns the column of a key, or that of the dash before it.
fn indent(key: At, text: &str) -> usize {
    before(key, text).len()
}

impl Scalar {
    /// Appends the scalar in its notation. The lines of a text have this indentation. Without one, it is written in one line.
    fn write(&self, out: &mut String, indent: Option<usize>) {
        let text = &*self.text;
        let is_line = !text.contains(['\n', '\r']);
        match (&self.kind, self.style) {
            // A number that was quoted and had a tag.
            (Kind::Str, Some(Style::Plain)) if is_line => out.push_str(text),
            (Kind::Str, Some(Style::SingleQuoted)) if is_line => {
                out.push('\'');
                out.push_str(&text.replace('\'', "''"));
                out.push('\'');
            }
            (Kind::Str, Some(Style::Literal | Style::Folded)) if is_block(text) => match indent {
                Some(indent) => block(text, out, indent),
                None => out.push_str(&yaml::in_quotes(text)),
            },
            (Kind::Str, None) => chosen(text, out, indent),
            (Kind::Str, _) => out.push_str(&yaml::in_quotes(text)),
            _ => out.push_str(text),
        }
    }
}

/// Returns `true` for a text that a literal block can have.
fn is_block(text: &str) -> bool {
    let content = text.trim_end_matches('\n');
    !content.is_empty() && !content.starts_with([' ', '\t', '\n']) && !text.contains('\r')
}

fn block(text: &str, out: &mut String, indent: usize) {
    let content = text.trim_end_matches('\n');
    out.push_str(match text.len() - content.len() {
        0 => "|-",
        1 => "|",
        _ => "|+",
    });
    for line in content.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(' ', indent));
            out.push_str(line);
        }
    }
    out.extend(std::iter::repeat_n('\n', (text.len() - content.len()).saturating_sub(1)));
}

/// Appends a text in the notation of our own writer.
fn chosen(text: &str, out: &mut String, indent: Option<usize>) {
    let written = yaml::to_string(&Data::Str(text.to_owned()));
    let written = written.strip_suffix('\n').unwrap_or(&written);
    match indent {
        Some(indent) if written.starts_with('|') => block(text, out, indent),
        None if written.starts_with('|') => out.push_str(&yaml::in_quotes(text)),
        _ => out.push_str(written),
    }
}
