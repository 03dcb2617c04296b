//! Reading input files. `-` is standard input.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use dropforge::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge::text::Source;

/// Reads the input files of a command. Standard input can be read once.
#[derive(Debug, Default)]
pub(crate) struct InputFiles {
    stdin_used: bool,
}

impl InputFiles {
    /// Reads a text file.
    ///
    /// # Errors
    /// Errors of [`InputFiles::bytes`] and [`source`].
    pub(crate) fn read(&mut self, path: &Path) -> Result<Arc<Source>> {
        source(path, self.bytes(path)?)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// `file.read_failed`; `usage` for a second `-`.
    pub(crate) fn bytes(&mut self, path: &Path) -> Result<Vec<u8>> {
        if !is_dash(path) {
            return std::fs::read(path).map_err(|error| unreadable(path, error));
        }
        if std::mem::replace(&mut self.stdin_used, true) {
            return Err(Diagnostic::new(Code::Usage, "`-` is used twice, but standard input can be read only once"));
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(|error| unreadable(path, error))?;
        Ok(bytes)
    }
}

/// Returns `true` for `-`, which is standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Decodes the content of `path` as text.
///
/// # Errors
/// `syntax.not_utf8`.
pub(crate) fn source(path: &Path, bytes: Vec<u8>) -> Result<Arc<Source>> {
    let name = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Diagnostic::new(Code::NotUtf8, format!("`{name}` is not valid UTF-8 at byte {}", thousands(at))))
        }
    }
}

/// Returns the error of a file or directory that cannot be read.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", path.display())).caused_by(error)
}
