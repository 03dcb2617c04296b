//! The result of a render, and the places that wrote its parts.

use super::template::{ChartTemplate, run};
use crate::diagnostics::{Diagnostic, Label, Result};
use crate::dialect::helm::chart::{DocumentLints, Output, Plan};
use crate::engine::written::Written;
use crate::vm::Session;

/// The rendered templates of a chart.
#[derive(Debug, Clone)]
pub struct ChartRender {
    pub(super) template: ChartTemplate,
    pub(super) plan: Plan,
    pub(super) files: Vec<(String, String)>,
}

impl ChartRender {
    /// Returns the names of the rendered templates and their texts, in the order of rendering.
    pub fn files(&self) -> &[(String, String)] {
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
        self.plan.assemble(self.files.iter().cloned()).map_err(|mut error| {
            self.show_writers(std::slice::from_mut(&mut error));
            error
        })
    }

    /// Returns a warning for each key that a document has twice, and for each template with an empty document.
    pub fn warnings(&self) -> Vec<Box<Diagnostic>> {
        let mut lints = DocumentLints::default();
        let mut found: Vec<_> = self.files.iter().flat_map(|(name, text)| lints.of(name, text)).collect();
        if !found.is_empty() {
            self.show_writers(&mut found);
        }
        found
    }

    /// Replaces the places of errors in rendered texts by those in the templates that wrote them. Renders again to find
    /// them; errors of a text that comes out different stay as they are.
    fn show_writers(&self, errors: &mut [Box<Diagnostic>]) {
        let mut written = Written::of_texts();
        let again = self.template.compile(&self.plan).ok().and_then(|template| {
            let texts = run(&mut Session::new(), &template, &self.plan, &mut written).ok()?;
            Some((template, texts))
        });
        let Some((template, texts)) = again else { return };
        for error in errors {
            for label in &mut error.labels {
                let nth = self.files.iter().position(|(name, _)| name == label.source.name());
                let same = nth.filter(|nth| texts.get(*nth).is_some_and(|text| text == label.source.text()));
                // Removed text of missing values moves what is behind it.
                let whole = same.and_then(|nth| written.text(nth)).filter(|one| one.len() == label.source.text().len());
                let place = whole.and_then(|one| one.place(template.program(), label.span.start as usize));
                let Some((source, span)) = place else { continue };
                let text = if label.text.is_empty() { "written here" } else { label.text.as_str() };
                *label = Label { source: source.clone(), span, text: text.to_owned() };
            }
        }
    }
}
