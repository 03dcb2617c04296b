//! Diagnostics of the protocol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::diagnostics::{Diagnostic, Label, Severity};
use dropforge::text::Source;
use lsp_types::{
    Diagnostic as Finding, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, TextEdit,
    Uri,
};
use serde::{Deserialize, Serialize};

use super::content::{Content, uri_of};
use super::values::file_of;

/// Maximum number of places beside the first one.
const RELATED: usize = 16;

/// The edit that mends an error. The client keeps it with the diagnostic.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FixData {
    pub(super) uri: Uri,
    pub(super) edit: TextEdit,
}

/// Makes diagnostics of the protocol.
pub(super) struct Findings<'f> {
    /// The chart whose files are named by their paths in it.
    chart: Option<&'f Path>,
    /// The file of what has no place.
    nowhere: &'f Path,
    uris: &'f dyn Fn(&Path) -> Option<Uri>,
    contents: Vec<(Arc<Source>, Arc<Content>)>,
    found: BTreeMap<PathBuf, Vec<Finding>>,
}

impl<'f> Findings<'f> {
    /// Creates an empty list. `uris` has the URIs of open documents.
    pub(super) fn new(chart: Option<&'f Path>, nowhere: &'f Path, uris: &'f dyn Fn(&Path) -> Option<Uri>) -> Self {
        Self { chart, nowhere, uris, contents: Vec::new(), found: BTreeMap::new() }
    }

    /// Returns the diagnostics of each file.
    pub(super) fn finish(self) -> BTreeMap<PathBuf, Vec<Finding>> {
        self.found
    }

    /// Adds a diagnostic, and those that it carries.
    pub(super) fn add(&mut self, diagnostic: &Diagnostic) {
        let label = diagnostic.labels.iter().find_map(|label| Some((label, self.file(&label.source)?)));
        let (path, range) = match &label {
            Some((label, path)) => (path.clone(), self.content(&label.source).range(label.span)),
            None => (self.nowhere.to_owned(), Range::default()),
        };
        let first = label.map(|(label, _)| label);
        let finding = Finding {
            range,
            severity: Some(match diagnostic.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: Some(NumberOrString::String(diagnostic.code.id().to_owned())),
            source: Some("dropforge".to_owned()),
            message: message(diagnostic, first),
            related_information: Some(self.related(diagnostic, first)).filter(|related| !related.is_empty()),
            data: self.fix(diagnostic).and_then(|fix| serde_json::to_value(fix).ok()),
            ..Finding::default()
        };
        self.found.entry(path).or_default().push(finding);
        diagnostic.also.iter().for_each(|other| self.add(other));
    }

    fn file(&self, source: &Source) -> Option<PathBuf> {
        file_of(source, self.chart)
    }

    fn uri(&self, path: &Path) -> Option<Uri> {
        (self.uris)(path).or_else(|| uri_of(path))
    }

    /// Returns the text of a source with its lines.
    fn content(&mut self, source: &Arc<Source>) -> Arc<Content> {
        if let Some((_, content)) = self.contents.iter().find(|(known, _)| Arc::ptr_eq(known, source)) {
            return content.clone();
        }
        let content = Arc::new(Content::new(source.text().to_owned()));
        self.contents.push((source.clone(), content.clone()));
        content
    }

    fn related(&mut self, diagnostic: &Diagnostic, first: Option<&Label>) -> Vec<DiagnosticRelatedInformation> {
        let is_other = |label: &&Label| first.is_none_or(|first| !std::ptr::eq(first, *label));
        let others = diagnostic.labels.iter().filter(is_other).take(RELATED);
        let related = |label: &Label| {
            let path = self.file(&label.source)?;
            let range = self.content(&label.source).range(label.span);
            let message = if label.text.is_empty() { "from here".to_owned() } else { label.text.clone() };
            Some(DiagnosticRelatedInformation { location: Location::new(self.uri(&path)?, range), message })
        };
        others.filter_map(related).collect()
    }

    fn fix(&mut self, diagnostic: &Diagnostic) -> Option<FixData> {
        let fix = diagnostic.fix()?;
        let range = self.content(&fix.source).range(fix.span);
        let uri = self.uri(&self.file(&fix.source)?)?;
        Some(FixData { uri, edit: TextEdit::new(range, fix.text) })
    }
}

/// Returns the message with all that is known.
fn message(diagnostic: &Diagnostic, label: Option<&Label>) -> String {
    let mut lines = vec![diagnostic.message.clone()];
    lines.extend(label.map(|label| label.text.clone()).filter(|text| !text.is_empty()));
    lines.extend(diagnostic.detail.clone());
    lines.extend(diagnostic.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(diagnostic.cluster.iter().map(|cluster| format!("cluster: {cluster}")));
    lines.extend(diagnostic.help.iter().map(|help| format!("help: {help}")));
    lines.join("\n")
}
