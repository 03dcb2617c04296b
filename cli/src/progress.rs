//! The progress bar.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::console::Console;
use crate::options::ErrorFormat;

/// Creates a bar that counts clusters whose number is unknown, hidden like [`bar`].
pub(crate) fn count(console: &Console) -> ProgressBar {
    let bar = bar(0, console);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} clusters, {per_sec}") {
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
    if let Ok(style) =
        ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} clusters, {per_sec}, {eta} left")
    {
        bar.set_style(style);
    }
    bar
}
