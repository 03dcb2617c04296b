//! The result of a render, and the places that wrote its parts.

use std::sync::Arc;

use super::template::{ChartTemplate, Texts, run};
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::helm;
use crate::dialect::helm::chart::{DocumentLints, Output, Plan};
use crate::engine::Template;
use crate::engine::written::Written;
use crate::text::{Source, Span, Text};
use crate::vm::Session;

/// The rendered templates of a chart.
#[derive(Debug, Clone)]
pub struct ChartRender {
    pub(super) template: ChartTemplate,
    pub(super) plan: Plan,
    pub(super) files: Vec<(String, Text)>,
}

impl ChartRender {
    /// Returns the names of the rendered templates and their texts, in the order of rendering.
    pub fn files(&self) -> &[(String, Text)] {
        &self.files
    }

    /// Returns the plan that was rendered.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the documents in the order of installation, the hooks and the notes.
    ///
    /// # Errors
    /// `file.invalid_output` for a document that is not a YAML map, at the line of the template that wrote it.
    pub fn output(&self) -> Result<Output> {
        self.plan.assemble(self.files.iter().map(|(name, text)| (name, text.clone()))).map_err(|mut error| {
            self.show_writers(std::slice::from_mut(&mut error));
            error
        })
    }

    /// Returns a warning for each key that a document has twice, and for each template with an empty document.
    pub fn warnings(&self) -> Vec<Box<Diagnostic>> {
        let mut lints = DocumentLints::default();
        let mut found: Vec<_> = self.files.iter().flat_map(|(name, text)| lints.of(name, text.as_str())).collect();
        if !found.is_empty() {
            self.show_writers(&mut found);
        }
        found
    }

    /// Replaces the places of errors in rendered texts by those in the templates that wrote them. Renders again to find
    /// them; the errors of a text that comes out different keep their places in it.
    fn show_writers(&self, errors: &mut [Box<Diagnostic>]) {
        let again = self.template.compile(&self.plan).ok().and_then(|template| self.again(template));
        for error in errors {
            for label in &mut error.labels {
                let Some(nth) = self.files.iter().position(|(name, _)| name == label.source.name()) else { continue };
                let text = label.source.text();
                let place = again.as_ref().and_then(|again| again.place(nth, text, label.span));
                label.source = match place {
                    Some((source, span)) => {
                        label.span = span;
                        if label.text.is_empty() {
                            label.text.push_str("written here");
                        }
                        source
                    }
                    None => Source::new(format!("{} (rendered)", label.source.name()), text.to_owned()),
                };
            }
        }
    }

    /// Renders again with a program of this chart.
    fn again(&self, template: Template) -> Option<Again> {
        let mut written = Written::default();
        let texts = run(&mut Session::new(), &template, &self.plan, &mut written).ok()?;
        written.end(texts.whole.len());
        Some(Again { template, texts, written })
    }
}

/// A second render, and what wrote its texts.
struct Again {
    template: Template,
    texts: Texts,
    written: Written,
}

impl Again {
    /// Returns the place in a template that wrote the start of a span in the text `nth`, which is `text` without the texts
    /// of missing values.
    fn place(&self, nth: usize, text: &str, span: Span) -> Option<(Arc<Source>, Span)> {
        let range = self.texts.ranges().nth(nth)?;
        let whole = self.texts.whole.get(range.clone())?;
        // An error at the end is about the last line.
        let at = (span.start as usize).min(text.len().saturating_sub(1));
        let at = helm::with_no_values(whole, text, at)?;
        let (source, span) = self.written.place(self.template.program(), range.start + at)?;
        Some((source.clone(), span))
    }
}
