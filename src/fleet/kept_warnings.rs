//! Warnings in the note of a run, to repeat them when the run is left out.

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic, Severity};
use dropforge_base::text::{Source, Span};
use serde::{Deserialize, Serialize};

/// Maximum number of bytes of the warnings of a run, with the texts that they show.
const BYTES: usize = 1 << 20;

/// A warning.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptWarning {
    code: u32,
    message: String,
    labels: Vec<KeptLabel>,
    available: Option<Vec<String>>,
    notes: Vec<String>,
    help: Option<String>,
    replacement: Option<(String, String)>,
    cluster: Option<String>,
    template: Option<String>,
}

/// A place that a warning shows.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptLabel {
    name: String,
    source: String,
    span: (u32, u32),
    text: String,
}

/// Returns warnings as they can be kept. `None` if one shows more than a file that `is_shown` allows, or if they are many.
pub(super) fn keep(warnings: &[Box<Diagnostic>], is_shown: &dyn Fn(&Source) -> bool) -> Option<Vec<KeptWarning>> {
    let kept: Vec<_> = warnings.iter().map(|warning| KeptWarning::of(warning, is_shown)).collect::<Option<_>>()?;
    let bytes =
        |warning: &KeptWarning| warning.message.len() + warning.labels.iter().map(KeptLabel::bytes).sum::<usize>();
    (kept.iter().map(bytes).sum::<usize>() <= BYTES).then_some(kept)
}

impl KeptLabel {
    fn bytes(&self) -> usize {
        self.name.len() + self.source.len() + self.text.len()
    }
}

impl KeptWarning {
    fn of(warning: &Diagnostic, is_shown: &dyn Fn(&Source) -> bool) -> Option<Self> {
        let Diagnostic { code, severity, message, detail, labels, also, .. } = warning;
        let Diagnostic { available, notes, help, replacement, cluster, template, .. } = warning.clone();
        let is_simple =
            *severity == Severity::Warning && detail.is_none() && also.is_empty() && warning.cause.is_none();
        if !is_simple || !labels.iter().all(|label| is_shown(&label.source)) {
            return None;
        }
        let label = |label: &dropforge_base::diagnostics::Label| KeptLabel {
            name: label.source.name().to_owned(),
            source: label.source.text().to_owned(),
            span: (label.span.start, label.span.end),
            text: label.text.clone(),
        };
        let labels = labels.iter().map(label).collect();
        let (code, message) = (code.number(), message.clone());
        Some(Self { code, message, labels, available, notes, help, replacement, cluster, template })
    }

    /// Returns the warning. `None` for a code of another version.
    pub(super) fn restore(self) -> Option<Box<Diagnostic>> {
        let Self { code, message, labels, available, notes, help, replacement, cluster, template } = self;
        let mut warning = Diagnostic::warning(Code::from_number(code)?, message);
        for KeptLabel { name, source, span: (start, end), text } in labels {
            let source: Arc<Source> = Source::new(name, source);
            warning = warning.at(&source, Span::new(start, end), text);
        }
        Some(Box::new(Diagnostic { available, notes, help, replacement, cluster, template, ..*warning }))
    }
}
