//! The places in templates that wrote parts of printed documents.

use crate::why::RecordedOutput;
use dropforge_base::diagnostics::Diagnostic;
use dropforge_engine::chart::ChartRender;
use dropforge_engine::recording::{Recorder, Why};
use dropforge_machine::vm::Session;

/// Adds the lines of templates to errors in `text`, which has documents of the render with the comments that name their
/// templates. Renders again to find them.
pub fn show_chart_writers(render: ChartRender, text: &str, errors: &mut [Box<Diagnostic>]) {
    let Ok(recording) = render.record(&mut Session::new(), Recorder::default()) else { return };
    let recorded = RecordedOutput::of_chart(render, recording);
    for error in errors {
        let why = error.primary().and_then(|label| recorded.why(text, label.span.start as usize));
        error.labels.extend(why.map(Why::into_labels).unwrap_or_default());
    }
}
