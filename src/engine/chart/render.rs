//! The result of a render, and the places that wrote its parts.

use std::ops::Range;

use super::template::{ChartTemplate, Texts, ends, run};
use crate::Template;
use crate::recording::{Recorder, Recording, Why};
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Label, Result, Severity};
use dropforge_base::text::{Source, Text};
use dropforge_helm::chart::{DocumentLints, OpenBase, OpenInputs, Output, Plan};
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::function::Cx;
use dropforge_machine::vm::Session;
use dropforge_value::{InputBuilder, Inputs, Value};

/// The rendered templates of a chart.
#[derive(Debug, Clone)]
pub struct ChartRender {
    pub(super) template: ChartTemplate,
    pub(super) plan: Plan,
    pub(super) files: Vec<(String, Text)>,
}

impl ChartRender {
    /// Returns the names of the rendered templates and their texts, in the order of rendering.
    #[doc(hidden)]
    pub fn files(&self) -> &[(String, Text)] {
        &self.files
    }

    /// Returns the plan that was rendered.
    #[doc(hidden)]
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

    /// Returns a warning for each key that a document has twice.
    pub fn warnings(&self) -> Vec<Box<Diagnostic>> {
        self.warnings_in(&|_| true)
    }

    /// Returns the warnings about the documents of the templates for whose names `is_shown` holds.
    #[doc(hidden)]
    pub fn warnings_in(&self, is_shown: &dyn Fn(&str) -> bool) -> Vec<Box<Diagnostic>> {
        let mut lints = DocumentLints::default();
        let shown = self.files.iter().filter(|(name, _)| is_shown(name));
        let mut found: Vec<_> = shown.flat_map(|(name, text)| lints.of(name, text.as_str())).collect();
        if !found.is_empty() {
            self.show_writers(&mut found);
        }
        found
    }

    /// Replaces the places of errors in rendered texts by those in the templates that wrote them. Renders again to find
    /// them; the errors of a text that comes out different keep their places in it.
    fn show_writers(&self, errors: &mut [Box<Diagnostic>]) {
        let recording = self.record(&mut Session::new(), Recorder::default()).ok();
        for error in errors {
            let mut around = Vec::new();
            for label in &mut error.labels {
                let Some(nth) = self.files.iter().position(|(name, _)| name == label.source.name()) else { continue };
                let text = label.source.text();
                // An error at the end is about the last line.
                let at = (label.span.start as usize).min(text.len().saturating_sub(1));
                let why = recording.as_ref().and_then(|recording| recording.why(nth, text, at));
                if error.severity == Severity::Error {
                    let fix = why.as_ref().and_then(|why| why.fix(Dialect::Helm, text, at));
                    error.help = fix.or(error.help.take());
                }
                let mut writers = why.map(Why::into_labels).unwrap_or_default().into_iter();
                match writers.next() {
                    Some(writer) => {
                        let text = if label.text.is_empty() { writer.text } else { std::mem::take(&mut label.text) };
                        *label = Label { text, ..writer };
                        around.extend(writers);
                    }
                    None => {
                        let name = format!("{} (rendered)", label.source.name());
                        label.source = Source::new(name, text.to_owned());
                    }
                }
            }
            error.labels.append(&mut around);
        }
    }

    /// Renders again with the whole program of the chart, and records what wrote each part of the texts.
    ///
    /// # Errors
    /// Those of compiling and rendering.
    #[doc(hidden)]
    pub fn record(
        &self,
        session: &mut Session,
        mut recorder: Recorder,
    ) -> std::result::Result<ChartRecording, Diagnostics> {
        let template = self.template.compile(&self.plan)?;
        let texts = run(session, &template, &self.plan, Some(&mut recorder))?;
        let ranges = texts.ranges().collect();
        Ok(ChartRecording { recording: recorder.end(texts.whole), ranges })
    }
}

/// The recorded render of a chart.
#[derive(Debug)]
pub struct ChartRecording {
    recording: Recording,
    /// The place of each text in the output of the run.
    ranges: Vec<Range<usize>>,
}

impl ChartRecording {
    /// Returns the recording of all templates.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Returns why byte `at` of the text of a template is there: of the `nth` of [`ChartRender::files`].
    pub fn why(&self, nth: usize, text: &str, at: usize) -> Option<Why> {
        self.recording.why_part(self.ranges.get(nth)?.clone(), text, at)
    }
}

/// A chart's program with the inputs that releases of one form share.
#[derive(Debug)]
pub struct OpenChart<'v> {
    /// The program.
    pub program: Template,
    /// The shared inputs.
    pub base: OpenBase<'v>,
}

/// The result of a run.
#[derive(Debug)]
pub struct OpenTexts {
    /// The texts of the templates, in the order of rendering. Those left out are empty.
    pub texts: Vec<String>,
    /// The keys that the run has added to the maps of charts and that were not known to be added. `None` if it has changed
    /// other values of the release.
    pub added: Option<Vec<String>>,
    /// `true` if it has changed any value of the release.
    pub changes: bool,
}

impl<'v> OpenChart<'v> {
    /// Runs the program for one release with these inputs, without the templates that `skips` leaves out. `probes` is `true`
    /// if the open values are not known, and nothing may depend on them.
    ///
    /// # Errors
    /// The first error of the templates; `internal` if something depends on a value that is not known.
    pub fn run<'r, 'w: 'r>(
        &self,
        session: &mut Session,
        builder: &InputBuilder<'r, 'w>,
        inputs: &OpenInputs<'r>,
        (skips, probes): (&[bool], bool),
    ) -> Result<OpenTexts>
    where
        'v: 'r,
    {
        let all = Inputs::new(self.base.inputs(builder, inputs, skips));
        let (mut added, mut changes) = (None, false);
        let mut texts = Texts::of(session, self.program.program(), |session, whole| {
            let mut found = None;
            let mut end = |cx: &Cx<'_>, answer: Value<'_>| {
                added = self.base.added(cx, inputs);
                changes = added.is_none() || self.base.adds(cx, inputs);
                found = Some(ends(answer));
            };
            self.program.shared.language.machine().end(session, self.program.run(all), probes, whole, &mut end)?;
            found.unwrap_or_else(|| ends(Value::Undefined))
        })?;
        texts.finish(&self.program);
        let of_each = texts.ranges().map(|range| texts.whole.get(range).unwrap_or("").to_owned()).collect();
        session.text = texts.whole;
        Ok(OpenTexts { texts: of_each, added, changes })
    }
}
