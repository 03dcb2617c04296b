//! Writing results to standard output.

use std::io::{self, Write};

use dropforge::diagnostics::{Code, Diagnostic, Result};

/// Writes to standard output.
///
/// # Errors
/// `file.closed_pipe`, `file.write_failed`.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes.as_ref()).and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error))
}

/// Returns the error of writing to standard output.
pub(crate) fn stdout_error(error: &io::Error) -> Box<Diagnostic> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Diagnostic::new(Code::ClosedPipe, "the output pipe was closed"),
        _ => Diagnostic::new(Code::WriteFailed, format!("cannot write to standard output: {error}")),
    }
}
