//! Looks up words in the text of a document without reading all of it.

use std::ops::Range;

use super::{PartSink, Scanner};
use crate::yaml::Style;

/// Returns the text at a dotted `path` of a YAML document. `None` says nothing: a full reader has to look.
///
/// Only values that are one plain or quoted word are known. The document has to be valid.
///
/// ```
/// use dropforge::value::word_at;
/// let document = "kind: Service\nmetadata:\n  labels: {a: b}\n  name: web\n";
/// assert_eq!(word_at(document, "metadata.name"), Some("web"));
/// assert_eq!(word_at(document, "metadata.labels.a"), Some("b"));
/// ```
pub fn word_at<'t>(document: &'t str, path: &str) -> Option<&'t str> {
    find_word(document, path).flatten()
}

/// Returns the word after the colon of an entry of a document's root, which begins at `value`. `None` if it is not certainly
/// one word. The document has to be valid YAML.
pub fn word_of_entry(document: &str, value: usize, is_flow: bool) -> Option<&str> {
    let (line, below) = first_line(document.get(value..)?);
    if !is_flow {
        return word((0, line, below));
    }
    let end = line.find([',', '}']).unwrap_or(line.len());
    word((0, line.get(..end)?, ""))
}

/// Works like [`word_at`]. Returns `Some(None)` if the document certainly has no such entry.
pub fn find_word<'t>(document: &'t str, path: &str) -> Option<Option<&'t str>> {
    if let Some(word) = usual_word(document, path) {
        return Some(Some(word));
    }
    let mut lookup = Lookup { document, path, within: 0, depth: 0, is_key: false, is_wanted: false, found: None };
    // The search ends the scan.
    let _ = Scanner::new().documents(document, &mut lookup);
    match lookup.found {
        Some(Found::Word(range)) => Some(document.get(range)),
        Some(Found::Nothing) => Some(None),
        _ => None,
    }
}

/// The result of a lookup.
enum Found {
    /// The place of a word. A plain one may still go on in the next line.
    MaybeWord(Range<usize>),
    Word(Range<usize>),
    /// A value that is not a word.
    Other,
    Nothing,
}

/// A search for a word among the parts of a document.
struct Lookup<'t, 'p> {
    document: &'t str,
    /// The keys that are not found yet.
    path: &'p str,
    /// The number of keys that are found, and of open collections.
    within: usize,
    depth: usize,
    /// `true` if the next part of the innermost map on the path is a key, or the value of the key that is wanted.
    is_key: bool,
    is_wanted: bool,
    found: Option<Found>,
}

impl Lookup<'_, '_> {
    /// Takes a part that begins after all before it. Ends the search if it has a result.
    fn goes_on(&mut self) -> Option<()> {
        self.found = match self.found.take() {
            Some(Found::MaybeWord(range)) => Some(Found::Word(range)),
            found => found,
        };
        self.found.is_none().then_some(())
    }

    /// Returns the key that is searched, and `true` for the last one.
    fn key(&self) -> (&str, bool) {
        self.path.split_once('.').map_or((self.path, true), |(key, _)| (key, false))
    }

    /// Returns `true` directly within the innermost map on the path.
    fn is_near(&self) -> bool {
        self.depth == self.within + 1
    }

    /// Takes a value that is no word.
    fn other(&mut self) -> Option<()> {
        self.goes_on()?;
        if self.depth == 0 || self.is_near() && (self.is_key || self.is_wanted) {
            self.found = Some(Found::Other);
            return None;
        }
        self.is_key |= self.is_near();
        Some(())
    }

    fn word(&self, text: &str, style: Style, range: &Range<usize>) -> Option<Range<usize>> {
        let quotes = usize::from(style != Style::Plain);
        let range = range.start + quotes..range.end.checked_sub(quotes)?;
        (is_word(text, quotes > 0) && self.document.get(range.clone()) == Some(text)).then_some(range)
    }
}

impl PartSink for Lookup<'_, '_> {
    const READS: bool = true;

    fn scalar(&mut self, text: &str, style: Style, range: Range<usize>) -> Option<()> {
        if self.is_near() && self.is_key {
            self.goes_on()?;
            (self.is_key, self.is_wanted) = (false, text == self.key().0);
            // A merged map may have any key.
            self.found = (text == "<<").then_some(Found::Other);
            return Some(());
        }
        if self.is_near() && self.is_wanted && self.key().1 {
            self.goes_on()?;
            self.found = Some(self.word(text, style, &range).map_or(Found::Other, Found::MaybeWord));
            return Some(());
        }
        self.other()
    }

    fn null(&mut self, _: usize) -> Option<()> {
        self.other()
    }

    fn alias(&mut self, _: &str, _: Range<usize>) -> Option<()> {
        self.other()
    }

    fn anchor(&mut self, _: &str) -> Option<()> {
        self.goes_on()
    }

    fn begin(&mut self, is_list: bool, _: Range<usize>) -> Option<()> {
        let is_wanted = !is_list && self.is_near() && self.is_wanted && !self.key().1;
        if is_wanted {
            self.goes_on()?;
            self.path = self.path.split_once('.').map_or("", |(_, rest)| rest);
            self.within += 1;
        } else if self.depth > 0 || is_list {
            self.other()?;
        }
        if is_wanted || self.depth == 0 {
            (self.is_key, self.is_wanted) = (true, false);
        }
        self.depth += 1;
        Some(())
    }

    fn end(&mut self) -> Option<()> {
        self.goes_on()?;
        self.depth -= 1;
        if self.depth == self.within {
            self.found = Some(Found::Nothing);
        }
        Some(())
    }

    fn end_document(&mut self) {
        let _ = self.goes_on();
    }
}

/// Returns the text at a dotted path, in block maps with plain keys.
fn usual_word<'t>(document: &'t str, path: &str) -> Option<&'t str> {
    let (mut rest, mut parent) = (document, None);
    let mut keys = path.split('.').peekable();
    while let Some(key) = keys.next() {
        let entry = entry(rest, parent, key)?;
        if keys.peek().is_none() {
            return word(entry);
        }
        let (column, value, below) = entry;
        if !without_comment(value).is_empty() {
            return None;
        }
        (rest, parent) = (below, Some(column));
    }
    None
}

/// An entry of a block map: its column, the rest of its line, and the lines below.
type KeyLine<'t> = (usize, &'t str, &'t str);

/// Returns the entry `key` of the map that begins in `text`, deeper than the column `parent`.
fn entry<'t>(text: &'t str, parent: Option<usize>, key: &str) -> Option<KeyLine<'t>> {
    let (mut rest, mut column) = (text, None);
    while !rest.is_empty() {
        let (line, behind) = first_line(rest);
        rest = behind;
        let indent = line.bytes().take_while(|byte| *byte == b' ').count();
        let content = line.get(indent..).unwrap_or("");
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if column.is_none() && (parent.is_some_and(|parent| indent <= parent) || !begins_with_key(content)) {
            return None;
        }
        let own = *column.get_or_insert(indent);
        if indent < own || content.starts_with('\t') {
            return None;
        }
        let value = content.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
        if let Some(value) = value.filter(|value| indent == own && (value.is_empty() || value.starts_with(' '))) {
            return Some((own, value, rest));
        }
    }
    None
}

/// Splits off the first line, without its end.
fn first_line(text: &str) -> (&str, &str) {
    let (line, rest) = match memchr::memchr(b'\n', text.as_bytes()) {
        Some(end) => (text.get(..end).unwrap_or(""), text.get(end + 1..).unwrap_or("")),
        None => (text, ""),
    };
    (line.strip_suffix('\r').unwrap_or(line), rest)
}

/// Returns `true` if the line begins with a plain key.
fn begins_with_key(line: &str) -> bool {
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let (key, rest) = line.as_bytes().split_at(line.bytes().take_while(is_key).count());
    key.first().is_some_and(u8::is_ascii_alphanumeric) && matches!(rest, [b':'] | [b':', b' ', ..])
}

/// Returns the value of an entry if it is one word.
fn word<'t>((column, value, below): KeyLine<'t>) -> Option<&'t str> {
    let value = without_comment(value);
    let quoted = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let word = quoted.unwrap_or(value);
    if !is_word(word, quoted.is_some()) {
        return None;
    }
    (quoted.is_some() || !goes_on(column, below)).then_some(word)
}

/// Returns `true` for a text that is one word, and as a plain scalar nothing else.
fn is_word(text: &str, is_quoted: bool) -> bool {
    let is_word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-'));
    let is_text = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["null", "true", "false"].iter().any(|other| text.eq_ignore_ascii_case(other));
    is_word && (is_text || is_quoted && !text.is_empty())
}

/// Returns `true` if lines below may belong to the value.
fn goes_on(parent: usize, below: &str) -> bool {
    let mut column = 0;
    for byte in below.bytes() {
        match byte {
            b' ' | b'\t' => column += 1,
            b'\n' | b'\r' => column = 0,
            _ => return column > parent,
        }
    }
    false
}

/// Returns the rest of a line without spaces around it and a comment.
fn without_comment(value: &str) -> &str {
    let bytes = value.as_bytes();
    let is_comment =
        |at: &usize| at.checked_sub(1).is_none_or(|before| matches!(bytes.get(before), Some(b' ' | b'\t')));
    let end = memchr::memchr_iter(b'#', bytes).find(is_comment).unwrap_or(bytes.len());
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (start, value) = (value.bytes().take_while(is_space).count(), value.get(..end).unwrap_or(""));
    let behind = value.bytes().rev().take_while(is_space).count();
    value.get(start..value.len() - behind).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_block_maps() {
        let text = "# c\n\nkind: Pod # c\r\nmetadata: # c\n  annotations:\n    name: no\n    text: |\n      name: no\n  name: \"web-1\"\nspec:\n- name: a\n  kind: b\n";
        assert_eq!(word_at(text, "kind"), Some("Pod"));
        assert_eq!(word_at(text, "metadata.name"), Some("web-1"));
        assert_eq!(word_at(text, "metadata.annotations.name"), Some("no"));
        for path in ["metadata", "metadata.kind", "spec.name", "kind.a", "absent", "metadata.annotations.text"] {
            assert_eq!(word_at(text, path), None, "{path}");
        }
    }

    #[test]
    fn everything_else_is_left_to_a_reader() {
        let texts = [
            "- kind: Pod\n",
            "kind: two words\n",
            "kind: Pod\n  more\n",
            "kind: Pod\n\n  more\n",
            "kind: 012\n",
            "kind: null\n",
            "kind: True\n",
            "kind: !!str Pod\n",
            "kind: |\n  Pod\n",
            "kind: \"Po\\u0064\"\n",
            "kind: 'a''b'\n",
            "kind: \"\"\n",
            "kind:\n",
            "? kind\n: Pod\n",
            "kind : Pod\n",
            "--- \nkind: Pod\n",
            "a: 1\n  kind: Pod\n",
        ];
        for text in texts {
            assert_eq!(word_at(text, "kind"), None, "{text}");
        }
        assert_eq!(word_at("a:\nkind: '012'\n", "kind"), Some("012"));
        assert_eq!(word_at("a: 1\nb:\n\tkind: x\n", "b.kind"), None);
        assert_eq!(word_at("", "kind"), None);
    }

    #[test]
    fn words_are_found_in_any_notation() {
        for text in [
            "{kind: Pod}",
            "{ \"a\": {\"kind\": b}, \"kind\": \"Pod\",\n  \"c\": 1 }\n",
            "\"a\": [kind, {kind: c}]\n\"kind\": Pod\n",
            "a: &b {c: 1}\nkind: &a Pod\n",
            "'a':\nkind:\n  Pod\n",
            "a: *b\n'kind': 'Pod' # c\n",
        ] {
            assert_eq!(find_word(text, "kind"), Some(Some("Pod")), "{text}");
        }
        assert_eq!(find_word("{metadata: {labels: {name: b}, name: c}}", "metadata.name"), Some(Some("c")));
        for text in ["a: 1\n", "{a: {kind: b}}", "a:\n- kind: b\n", "'kinds': b\n"] {
            assert_eq!(find_word(text, "kind"), Some(None), "{text}");
        }
        for text in [
            "'a': 1\n<<: {kind: b}\n",
            "'a': 1\nkind: Pod\n  b\n",
            "{kind: [a]}",
            "'a': 1\nkind:\n",
            "{kind: null}",
            "a",
            "",
        ] {
            assert_eq!(find_word(text, "kind"), None, "{text}");
        }
    }

    #[test]
    fn a_reader_finds_the_same() {
        let text = "kind: A\nm:\n  a:\n  - x: 1\n  b: c\nn:\n- m: 1\no: {m: 2}\n";
        let source = dropforge_base::text::Source::new("t", text);
        let data = crate::yaml::read_data(&source, &dropforge_base::limits::Limits::default()).unwrap();
        for path in ["kind", "m", "m.a", "m.b", "n", "n.m", "o", "o.m"] {
            let found = data.at_path(path).and_then(crate::Data::as_str);
            assert!(word_at(text, path).is_none() || word_at(text, path) == found, "{path}");
        }
        assert_eq!(word_at(text, "m.b"), Some("c"));
    }
}
