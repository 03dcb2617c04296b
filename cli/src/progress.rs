//! The progress bar.

use std::fmt::Write;
use std::io::IsTerminal;

use indicatif::{HumanFloatCount, ProgressBar, ProgressState, ProgressStyle};

use crate::console::Console;
use crate::options::ErrorFormat;

/// Creates a bar that counts clusters whose number is unknown, hidden like [`bar`].
pub(crate) fn count(console: &Console) -> ProgressBar {
    let bar = bar(0, console);
    if let Some(style) = style("{spinner} {human_pos} clusters, {speed}") {
        bar.set_style(style);
    }
    bar.unset_length();
    bar
}

/// Creates a progress bar for `clusters`. It is hidden if standard error is not a terminal, with `--quiet` and with JSON
/// errors.
pub(crate) fn bar(clusters: usize, console: &Console) -> ProgressBar {
    if console.quiet || console.format() != ErrorFormat::Human || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(clusters as u64);
    if let Some(style) = style("{wide_bar} {human_pos}/{human_len} clusters, {speed}, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// Returns the style of a template with `{speed}`, a whole number per second.
fn style(template: &str) -> Option<ProgressStyle> {
    let speed = |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{}/s", HumanFloatCount(state.per_sec().round()));
    };
    ProgressStyle::with_template(template).ok().map(|style| style.with_key("speed", speed))
}
