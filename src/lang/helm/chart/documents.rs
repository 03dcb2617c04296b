//! Documents of a rendered text: their kinds, names and annotations, splitting, errors and their places, and warnings about documents that Helm accepts but
//! that are most often a mistake (those with a key twice, and those of unknown hooks).

use std::sync::Arc;

use super::Stage;
use super::manifests::{EVENTS, HOOK, HookEvent, words};
use super::metadata::{Fields, Refused};
use super::plan::is_partial;
use super::read::{first, head};
use crate::error::GO_MESSAGE;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::strings::prefix;
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, Scanner, yaml};

/// The lines of an excerpt before and after the faulty one.
const AROUND: [usize; 2] = [3, 1];

/// Maximum number of bytes of a line of an excerpt.
const LINE: usize = 120;

/// The field with the line of the rendered text.
const RENDERED_LINE: &str = "rendered_line";

/// Returns the error of a document that is not YAML: `first` is that of Helm's reader.
pub(super) fn not_yaml(name: &str, document: &Arc<Source>, first: Option<Box<Diagnostic>>) -> Box<Diagnostic> {
    let first = first.unwrap_or_else(|| Diagnostic::new(Code::InputSyntax, "the document is not YAML"));
    let why = first.fields.get(GO_MESSAGE).unwrap_or(&first.message).clone();
    // A fix with a value of one cluster is not the fix of its template.
    let (what, help) = yaml::common_words(&first);
    let error = Diagnostic::new(Code::InvalidOutput, format!("the output of `{name}` is not valid YAML: {what}"));
    let span = exact(document).or_else(|| first.primary().map(|label| label.span)).unwrap_or_default();
    let mut error = error.at(document, span, "");
    error.help = help;
    with_message(name, error, &why)
}

/// Returns the error of a document that is YAML but no object of Kubernetes: what it is, or the first value that does not
/// fit.
pub(super) fn no_object(name: &str, document: &Arc<Source>, data: &Data, refused: &[Refused<'_>]) -> Box<Diagnostic> {
    let path = refused.first().and_then(|refused| path_to(data, refused.value)).unwrap_or_default();
    let what = match refused.first() {
        Some(Refused { value, wanted, .. }) if !path.is_empty() => {
            let wanted = if *wanted == "string" { "string" } else { "map" };
            format!("`{}` has to be a {wanted}, found {}", path.join("."), value.kind())
        }
        _ => format!("found {}", data.kind()),
    };
    let message = format!("a document of `{name}` is not a Kubernetes object: {what}");
    let span = field(document, &path).unwrap_or_default();
    let error = Diagnostic::new(Code::InvalidOutput, message).at(document, span, "");
    let why = refused.first().map_or("", |refused| &refused.why);
    with_message(name, error, &format!("error unmarshaling JSON: while decoding JSON: json: {why}"))
}

/// Returns the keys that lead to a value in `data`.
fn path_to<'d>(data: &'d Data, value: &Data) -> Option<Vec<&'d str>> {
    data.as_map()?.iter().find_map(|(key, below)| {
        let rest = if std::ptr::eq(below, value) { Vec::new() } else { path_to(below, value)? };
        Some(std::iter::once(key.as_str()).chain(rest).collect())
    })
}

/// Returns the place of the key of a field.
fn field(document: &Arc<Source>, path: &[&str]) -> Option<Span> {
    let (last, above) = path.split_last()?;
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    let read = yaml::read(document, &limits).ok()?;
    let around = above.iter().try_fold(read.first()?, |node, key| node.get(key))?;
    around.entry(last).map(|entry| entry.key.span)
}

/// Adds Helm's message.
fn with_message(name: &str, error: Box<Diagnostic>, why: &str) -> Box<Diagnostic> {
    Stage::Sort.of(error).with_field(GO_MESSAGE, format!("YAML parse error on {name}: {why}"))
}

/// Returns the place of the first error that the exact reader finds. Helm's reader only reports a line near it.
fn exact(document: &Arc<Source>) -> Option<Span> {
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    let errors = yaml::read(document, &limits).err()?;
    let syntax = errors.iter().find(|error| error.code != Code::DuplicateKey)?;
    syntax.primary().map(|label| label.span)
}

/// Moves the place of an error from a document to the text that the document is a part of. Adds the lines around it.
pub(super) fn within(mut error: Box<Diagnostic>, text: &str, document: &str) -> Box<Diagnostic> {
    let start = document.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    let Some(name) = error.primary().map(|label| label.source.name().to_owned()) else { return error };
    let whole = Source::new(name, text.to_owned());
    for label in &mut error.labels {
        label.source = whole.clone();
        label.span = Span::of(start + label.span.start as usize..start + label.span.end as usize);
    }
    let line = error.position().map_or(1, |at| at.line as usize);
    error.with_note(excerpt(text, line)).with_field(RENDERED_LINE, line.to_string())
}

/// Returns the lines around a line of a text, with their numbers.
fn excerpt(text: &str, line: usize) -> String {
    let [before, behind] = AROUND;
    let first = line.saturating_sub(before).max(1);
    let width = (line + behind).to_string().len();
    let lines = text.lines().enumerate().skip(first - 1).take(line + behind + 1 - first);
    let shown = lines.map(|(at, shown)| {
        let mark = if at + 1 == line { '>' } else { ' ' };
        format!("\n{mark} {:width$} | {}", at + 1, prefix(shown, LINE))
    });
    shown.fold(format!("line {line} of the rendered text:"), |text, line| text + &line)
}

/// The beginning of a line between two documents.
const MARKER: &str = "---";

/// Returns the documents of a text: the parts between lines that begin with `---`. Parts of only white space are left
/// out. White space before a document is removed, that after it stays.
pub(super) fn documents(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let first = text.starts_with(MARKER).then_some(0);
    let others = memchr::memmem::find_iter(text.as_bytes(), "\n---").map(|end| end + 1);
    for marker in first.into_iter().chain(others) {
        found.push(text.get(start..marker).unwrap_or(""));
        start = marker + MARKER.len();
    }
    found.push(text.get(start..).unwrap_or(""));
    found.into_iter().map(str::trim_start).filter(|document| !document.is_empty()).collect()
}

/// Finds such documents and keeps its memory between texts.
#[derive(Debug, Default)]
pub struct DocumentLints {
    scanner: Scanner,
}

impl DocumentLints {
    /// Returns a warning for each key that a document of a rendered template has twice, and for each hook that is unknown, in
    /// the rendered text. Documents of nothing but comments are common: those of a condition that does not hold.
    pub fn of(&mut self, name: &str, text: &str) -> Vec<Box<Diagnostic>> {
        if is_partial(name) || name.ends_with("NOTES.txt") {
            return Vec::new();
        }
        let mut found = Vec::new();
        for document in documents(text) {
            let hook = self.unknown_hook(name, document);
            found.extend(hook.map(|lint| warning(within(lint, text, document))));
            if self.scanner.is_yaml(document) {
                continue;
            }
            let source = Source::new(name.to_owned(), document.to_owned());
            let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
            let errors = yaml::read(&source, &limits).err().unwrap_or_default();
            let lints = errors.into_iter().filter(|error| error.code == Code::DuplicateKey);
            found.extend(lints.map(|lint| warning(within(lint, text, document))));
        }
        found
    }
}

impl DocumentLints {
    /// Returns the warning about a document that is left out because no hook has the name that it gives.
    fn unknown_hook(&mut self, name: &str, document: &str) -> Option<Box<Diagnostic>> {
        memchr::memmem::find(document.as_bytes(), HOOK.as_bytes())?;
        let head = Head::scan(&mut self.scanner, document).or_else(|| Head::read(name, document).ok())?;
        let unknown = words(head.annotation(HOOK)?).find(|word| HookEvent::named(word).is_none())?;
        let source = Source::new(name.to_owned(), document.to_owned());
        let span = field(&source, &["metadata", "annotations", HOOK]).unwrap_or_default();
        let message = format!("no hook is named `{unknown}`, so the document is left out");
        let names = || EVENTS.iter().map(|(name, _)| *name);
        let lint = Diagnostic::new(Code::InvalidOutput, message).at(&source, span, "").with_available(names());
        Some(lint.with_suggestion(&unknown, names()))
    }
}

fn warning(mut lint: Box<Diagnostic>) -> Box<Diagnostic> {
    lint.severity = Severity::Warning;
    lint
}

/// The beginning of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The kind; empty if it has none.
    pub kind: String,
    /// The name in the metadata; empty if it has none.
    pub name: String,
    /// The annotations in the metadata.
    pub annotations: Vec<(String, String)>,
}

/// The metadata of a document without any.
static NOTHING: Data = Data::Null;

/// The keys of the beginning of a document.
const KEYS: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl Head {
    /// Returns an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Reads the beginning of a usual document, without building the rest of it. `None` says nothing.
    pub fn scan(scanner: &mut Scanner, document: &str) -> Option<Head> {
        let entries = scanner.entries(document)?;
        let needed: Vec<_> =
            entries.filter(|(key, _)| KEYS.iter().any(|known| known.eq_ignore_ascii_case(key))).collect();
        plain(&needed).or_else(|| {
            let text: String = needed.iter().map(|(_, lines)| *lines).collect();
            Self::of(&first(&text).ok()?).ok()
        })
    }

    /// Reads the beginning of a document.
    ///
    /// # Errors
    /// `file.invalid_output` for a document that is not a YAML map, or that is no object.
    pub fn read(source: &str, document: &str) -> Result<Head> {
        let text = Source::new(source.to_owned(), document.to_owned());
        let data = head(&text).map_err(|errors| not_yaml(source, &text, errors.into_iter().next()))?;
        Self::of(&data).map_err(|refused| no_object(source, &text, &data, &refused))
    }

    fn of(data: &Data) -> std::result::Result<Head, Vec<Refused<'_>>> {
        let kind = if data.as_map().is_some() { "SimpleHead" } else { "util.SimpleHead" };
        let mut fields = Fields::of(data, kind)?;
        let (_, kind) = (fields.text("apiVersion"), fields.text("kind"));
        let metadata = fields.get("metadata").unwrap_or(&NOTHING);
        fields.finish(())?;
        let mut metadata = Fields::of(metadata, "SimpleHead.metadata")?;
        let (name, annotations) = (metadata.text("name"), metadata.entries("annotations"));
        metadata.finish(Head { kind, name, annotations })
    }
}

/// Returns the beginning of a valid document in plain notation, from its entries with the names of [`KEYS`]. `None` says
/// nothing.
fn plain(entries: &[(&str, &str)]) -> Option<Head> {
    let mut found = Head::default();
    for (key, text) in entries {
        let mut lines = lines(text);
        let (_, value) = entry(lines.next()?.1)?;
        match *key {
            "kind" => found.kind = scalar(value)?.to_owned(),
            "apiVersion" => _ = scalar(value)?,
            "metadata" if value.is_empty() => {
                metadata(lines, &mut found)?;
                continue;
            }
            _ => return None,
        }
        // A further line belongs to the scalar.
        if lines.next().is_some() {
            return None;
        }
    }
    found.annotations.sort_unstable();
    Some(found)
}

/// The entry of the metadata whose lines are read.
enum Inside {
    /// One with a scalar.
    Scalar,
    /// The annotations, and the column of their keys.
    Annotations(Option<usize>),
    /// One that does not count.
    Other,
}

/// Reads the metadata from its lines. `None` for another notation.
fn metadata<'t>(lines: impl Iterator<Item = (usize, &'t str)>, found: &mut Head) -> Option<()> {
    let (mut keys, mut inside) = (None, Inside::Scalar);
    for (column, line) in lines {
        let keys = *keys.get_or_insert(column);
        let is_below = column > keys || line.starts_with('-');
        match &mut inside {
            Inside::Scalar if is_below => return None,
            Inside::Other if is_below => closed(line)?,
            Inside::Annotations(None) if line == "{}" => inside = Inside::Scalar,
            Inside::Annotations(names) if is_below => {
                let (key, value) = entry(line).filter(|_| *names.get_or_insert(column) == column)?;
                found.annotations.push((key.to_owned(), scalar(value)?.to_owned()));
            }
            _ if column < keys => return None,
            _ => inside = below(line, found)?,
        }
    }
    Some(())
}

/// Reads the line of an entry of the metadata.
fn below(line: &str, found: &mut Head) -> Option<Inside> {
    let (key, value) = entry(line)?;
    Some(match key {
        "name" => {
            scalar(value)?.clone_into(&mut found.name);
            Inside::Scalar
        }
        "annotations" if value.is_empty() => Inside::Annotations(None),
        "annotations" if value == "{}" => Inside::Scalar,
        _ if key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("annotations") => return None,
        _ => {
            closed(value)?;
            Inside::Other
        }
    })
}

/// Returns the lines of a text without indentation, and their columns. Blank lines and comments are left out.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(|line| (line, line.trim_start_matches(' ')));
    let lines = lines.filter(|(_, content)| !content.is_empty() && !content.starts_with('#'));
    lines.map(|(line, content)| (line.len() - content.len(), content.trim_end_matches(' ')))
}

/// Returns the key of a line, plain or quoted, and the rest of the line after the colon.
fn entry(line: &str) -> Option<(&str, &str)> {
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let quote = line.bytes().next().filter(|byte| matches!(byte, b'"' | b'\''));
    let start = usize::from(quote.is_some());
    let end = start + line.bytes().skip(start).position(|byte| !is_key(byte))?;
    let key = line.get(start..end)?;
    let rest = match quote {
        Some(quote) => line.get(end..)?.strip_prefix(char::from(quote))?,
        None => line.get(end..).filter(|_| is_text(key))?,
    };
    let value = rest.strip_prefix(':')?;
    (value.is_empty() || value.starts_with(' ')).then(|| (key, value.trim_start_matches(' ')))
}

/// Returns the text of a plain or quoted scalar in one line. `None` for other notations, and for scalars of other types.
fn scalar(value: &str) -> Option<&str> {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.strip_suffix(quote).filter(|text| !text.contains([quote, '\\']));
        }
    }
    let is_plain = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'@' | b'+' | b',' | b'=' | b' ')
    };
    (value.bytes().all(is_plain) && is_text(value)).then_some(value)
}

/// Returns `true` if a plain scalar is a text, not a number or a word with a meaning.
fn is_text(plain: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    plain.starts_with(|first: char| first.is_ascii_alphabetic())
        && !WORDS.iter().any(|word| plain.eq_ignore_ascii_case(word))
}

/// `None` if a quote or a bracket may be open at the end of a line. Then the next one may have any column.
fn closed(line: &str) -> Option<()> {
    let (mut quotes, mut brackets) = ([0_usize; 2], [0_isize; 2]);
    for byte in line.bytes() {
        match byte {
            b'"' => quotes[0] += 1,
            b'\'' => quotes[1] += 1,
            b'{' => brackets[0] += 1,
            b'}' => brackets[0] -= 1,
            b'[' => brackets[1] += 1,
            b']' => brackets[1] -= 1,
            _ => {}
        }
    }
    (quotes.iter().all(|count| count.is_multiple_of(2)) && brackets == [0, 0]).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excerpt_has_the_lines_around_the_fault() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
        assert_eq!(excerpt(text, 9), "line 9 of the rendered text:\n   6 | 6\n   7 | 7\n   8 | 8\n>  9 | 9\n  10 | 10");
        assert_eq!(excerpt("a: b: c", 1), "line 1 of the rendered text:\n> 1 | a: b: c");
        assert_eq!(excerpt("", 1), "line 1 of the rendered text:");
    }

    #[test]
    fn places_move_to_the_whole_text() {
        let text = "---\na: 1\n---\nb: c: d\n";
        let document = &text[13..];
        let source = Source::new("x.yaml", document.to_owned());
        let error = within(not_yaml("x.yaml", &source, None), text, document);
        assert_eq!(error.position().map(|at| at.line), Some(4));
        assert_eq!(error.fields[RENDERED_LINE], "4");
    }

    #[test]
    fn documents_of_a_text() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n---\n \n", &[]),
            ("a: 1\n", &["a: 1\n"]),
            ("---\na: 1\n\n---\nb: 2", &["a: 1\n\n", "b: 2"]),
            ("a: 1\n--- # c\nb: 2\n", &["a: 1\n", "# c\nb: 2\n"]),
            ("x: |\n  ---\n  y\n", &["x: |\n  ---\n  y\n"]),
        ] {
            assert_eq!(documents(text), expected, "{text:?}");
        }
    }

    fn lints(text: &str) -> Vec<String> {
        let lints = DocumentLints::default().of("c/templates/x.yaml", text);
        lints.iter().map(|lint| lint.to_string()).collect()
    }

    #[test]
    fn keys_given_twice_and_unknown_hooks_are_found() {
        assert!(lints("# license\n---\na: 1\n---\n# c\nb: 2\n---\n # none\n").is_empty());
        let twice = lints("a: 1\n---\nb: 2\nb: 3\n");
        assert!(twice[0].contains("the key `b` is given twice (c/templates/x.yaml:4:1)"), "{twice:?}");
        let hook = |hook: &str| lints(&format!("a: 1\n---\nmetadata:\n  annotations:\n    helm.sh/hook: {hook}\n"));
        let unknown = "E0906: no hook is named `pre-instal`, so the document is left out (c/templates/x.yaml:5:5)";
        assert_eq!(hook("pre-install, test"), [""; 0]);
        assert_eq!(hook("test,pre-instal"), [unknown]);
        assert_eq!(lints("a: helm.sh/hook\n"), [""; 0]);
        assert!(DocumentLints::default().of("c/templates/NOTES.txt", "a: 1\na: 2\n").is_empty());
    }
}

#[cfg(test)]
mod head_tests {
    use super::*;

    #[test]
    fn a_scan_finds_what_a_reader_reads() {
        let usual = "kind: Pod\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: test}\nspec: {b: c}\n";
        for text in
            [usual, "# c\nkind: y\n", "Kind: A\nmetadata:\n  Name: 012\n  annotations:\n    a: no\n    b:\n", "a: 1\n"]
        {
            let (scanned, read) = (Head::scan(&mut Scanner::new(), text).unwrap(), Head::read("t", text).unwrap());
            assert_eq!(
                (scanned.kind, scanned.name, scanned.annotations),
                (read.kind, read.name, read.annotations),
                "{text}"
            );
        }
        for text in [
            "",
            "- a\n",
            "{kind: Pod}\n",
            "kind: [A]\n",
            "metadata: a\n",
            "kind: A\nkind: B\n",
            "a: .inf\n",
            "a: b: c\n",
        ] {
            assert!(Head::scan(&mut Scanner::new(), text).is_none(), "{text}");
        }
        assert_eq!(Head::read("t", "kind: A\nkind: B\n").map(|head| head.kind).ok(), Some("B".to_owned()));
    }

    /// Lines of metadata.
    const LINES: [&str; 31] = [
        "  name: web",
        "  name: \"web-1\"",
        "  name: 'web'",
        "  name: no",
        "  name: 012",
        "  name: a b",
        "  name:",
        "  name: web # c",
        "  Name: web",
        "  \"name\": web",
        "    more",
        "  # c",
        "",
        "  labels:",
        "  labels: {a: b}",
        "  labels: {a: b,",
        "    app: web",
        "    app: \"a",
        "    b\"",
        "    on: \"it's\"",
        "    text: |",
        "      name: x",
        "  - a",
        "  annotations:",
        "  annotations: {}",
        "    {}",
        "    helm.sh/hook: test",
        "    \"helm.sh/hook-weight\": \"-5\"",
        "    checksum: 'a: b'",
        "      deep: a",
        "   odd: a",
    ];

    #[test]
    fn plain_notation_means_what_a_reader_reads() {
        let (mut scanner, mut plainly, mut seed) = (Scanner::new(), 0, 7_u64);
        for _ in 0..20_000 {
            let mut text = "apiVersion: v1\nkind: Pod\nmetadata:\n".to_owned();
            for _ in 0..1 + seed % 6 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(LINES[(seed >> 33) as usize % LINES.len()]);
                text.push('\n');
            }
            let Some(entries) = scanner.entries(&text).map(Iterator::collect::<Vec<_>>) else { continue };
            if let Some(head) = plain(&entries) {
                assert_eq!(Some(head), Head::read("t", &text).ok(), "{text}");
                plainly += 1;
            }
        }
        assert!(plainly > 1000, "{plainly}");
    }
}
