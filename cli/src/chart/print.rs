//! Findings in the documents of a chart: warnings, or errors on request.

use dropforge::diagnostics::{Diagnostics, Severity};
use dropforge::engine::chart::ChartRender;

use crate::console::Console;

/// Prints the warnings about the documents of a render. With `strict` they are errors.
///
/// # Errors
/// The findings, with `strict`.
pub(super) fn unusual(render: &ChartRender, strict: bool, console: &Console) -> Result<(), Diagnostics> {
    let mut found = render.warnings();
    if strict && !found.is_empty() {
        found.iter_mut().for_each(|error| error.severity = Severity::Error);
        return Err(found.into());
    }
    found.iter().for_each(|warning| console.diagnostic(warning));
    Ok(())
}
