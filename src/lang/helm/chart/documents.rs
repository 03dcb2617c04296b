//! Documents of a rendered text: splitting, errors and their places, and warnings about documents that Helm accepts but
//! that are most often a mistake (those with a key twice, and those of unknown hooks).

use std::sync::Arc;

use super::Stage;
use super::head::Head;
use super::manifests::{EVENTS, HOOK, HookEvent, words};
use super::metadata::Refused;
use super::plan::is_partial;
use crate::error::GO_MESSAGE;
use dropforge_base::diagnostics::{Code, Diagnostic, Severity};
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
