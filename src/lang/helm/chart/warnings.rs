//! Documents that Helm accepts but that are most often a mistake: those with a key twice, and empty ones.

use super::documents::documents;
use super::invalid;
use super::plan::is_partial;
use dropforge_base::diagnostics::{Code, Diagnostic, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::{Scanner, yaml};

/// Finds such documents and keeps its memory between texts.
#[derive(Debug, Default)]
pub struct DocumentLints {
    scanner: Scanner,
}

impl DocumentLints {
    /// Returns a warning for each key that a document of a rendered template has twice, and one for its first document with
    /// nothing but comments. Their places are in the rendered text.
    pub fn of(&mut self, name: &str, text: &str) -> Vec<Box<Diagnostic>> {
        if is_partial(name) || name.ends_with("NOTES.txt") {
            return Vec::new();
        }
        let (mut found, mut is_empty_known) = (Vec::new(), false);
        for document in documents(text) {
            let source = || Source::new(name.to_owned(), document.to_owned());
            let lints = if is_blank(document) {
                let message = format!("a document of `{name}` is empty");
                let lint = (!is_empty_known).then(|| Diagnostic::new(Code::InvalidOutput, message));
                is_empty_known = true;
                lint.into_iter().map(|lint| lint.at(&source(), Span::default(), "")).collect()
            } else if self.scanner.is_yaml(document) {
                Vec::new()
            } else {
                let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
                let errors = yaml::read(&source(), &limits).err().unwrap_or_default();
                errors.into_iter().filter(|error| error.code == Code::DuplicateKey).collect()
            };
            found.extend(lints.into_iter().map(|lint| warning(invalid::within(lint, text, document))));
        }
        found
    }
}

fn warning(mut lint: Box<Diagnostic>) -> Box<Diagnostic> {
    lint.severity = Severity::Warning;
    lint
}

/// Returns `true` for a document of comments and white space.
fn is_blank(document: &str) -> bool {
    document.lines().map(str::trim_start).all(|line| line.is_empty() || line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lints(text: &str) -> Vec<String> {
        let lints = DocumentLints::default().of("c/templates/x.yaml", text);
        lints.iter().map(|lint| lint.to_string()).collect()
    }

    #[test]
    fn keys_given_twice_and_empty_documents_are_found() {
        assert!(lints("a: 1\n---\n# c\nb: 2\n---\n\n").is_empty());
        let twice = lints("a: 1\n---\nb: 2\nb: 3\n");
        assert!(twice[0].contains("the key `b` is given twice (c/templates/x.yaml:4:1)"), "{twice:?}");
        let empty = lints("# license\n---\n # none\n---\na: 1\n");
        assert_eq!(empty, ["E0906: a document of `c/templates/x.yaml` is empty (c/templates/x.yaml:1:1)"]);
        assert!(DocumentLints::default().of("c/templates/NOTES.txt", "a: 1\na: 2\n").is_empty());
    }
}
