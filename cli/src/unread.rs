//! Warnings for values that no template reads.

use clap::Args;

use dropforge::bulk::{Layers, ReadValues};
use dropforge::diagnostics::counted;

use crate::console::Console;
use crate::layers::Given;

/// Options of warnings.
#[derive(Debug, Args)]
pub(crate) struct WarningArgs {
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
}

impl WarningArgs {
    /// Returns `true` if warnings about values are to be found: they are printed, or they are errors.
    pub(crate) fn wanted(&self, console: &Console) -> bool {
        self.strict || !console.quiet
    }

    /// Returns `true` if there were warnings and they are errors.
    pub(crate) fn refuse(&self, console: &Console) -> bool {
        self.strict && console.warnings() > 0
    }

    /// Returns `true` if there were warnings and they are errors, and says that nothing is written.
    pub(crate) fn refuse_to_write(&self, console: &Console) -> bool {
        let refuse = self.refuse(console);
        if refuse {
            console.note(&format!("nothing is written: {} (--strict)", counted(console.warnings(), "warning")));
        }
        refuse
    }
}

/// Prints a warning for each name in shared values that nothing reads.
pub(crate) fn print(read: &ReadValues, given: &Given, layers: &Layers, console: &Console) {
    console.diagnostics(read.unread(&given.maps, &given.sets, layers));
}
