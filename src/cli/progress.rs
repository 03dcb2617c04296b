//! A progress bar, on a terminal's standard error only.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use super::args::ErrorFormat;
use super::console::Console;

/// A bar over `clusters`; it shows nothing where standard error is no terminal, or quiet is asked for.
pub(super) fn bar(clusters: usize, console: &Console) -> ProgressBar {
    if console.quiet || console.format == ErrorFormat::Json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(clusters as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} clusters, {eta} left") {
        bar.set_style(style);
    }
    bar
}
