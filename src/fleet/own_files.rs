//! Files of dropforge's own in the place that a run writes to, such as the manifest.

use std::fs::File;

use super::output_files::{Change, WriteParts};
use dropforge_base::diagnostics::Result;

/// The files of dropforge's own in a place. Their names begin with `.dropforge-`, which no output's does.
pub trait OwnFiles: Sync {
    /// Opens a file for reading, if it exists.
    ///
    /// # Errors
    /// `file.read_failed`, `file.symbolic_link`; errors of the store.
    fn open_own(&self, name: &str) -> Result<Option<File>>;

    /// Replaces a file at once, unless it has this content. With `fsync` it survives a power failure.
    ///
    /// # Errors
    /// `file.write_failed`; errors of the store; errors of `write`.
    fn write_own(&self, name: &str, fsync: bool, write: WriteParts<'_>) -> Result<Change>;

    /// Calls `each` with the path of every file below `directory`, which may be missing.
    ///
    /// # Errors
    /// Errors of reading, and of `each`.
    fn each_own(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// `file.write_failed`; errors of the store.
    fn remove_own(&self, name: &str) -> Result<()>;
}
