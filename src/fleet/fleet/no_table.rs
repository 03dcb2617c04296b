//! Parquet and Arrow files as fleets, in a build without the feature `arrow`.

use std::fs::File;

use super::collector::Collector;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Refuses a table.
///
/// # Errors
/// `usage`.
pub(super) fn lines(name: &str, _: File, _: &mut Collector) -> Result<File> {
    let message = format!("cannot read `{name}`: this build of dropforge reads no Parquet and Arrow files");
    Err(Diagnostic::new(Code::Usage, message)
        .with_help("install a build with them: `cargo install --locked --path cli --profile dist --features arrow`"))
}
