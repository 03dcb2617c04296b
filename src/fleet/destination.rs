//! The place that a run writes to: a directory, or a prefix of an object store.

use std::sync::Mutex;

use super::job::Job;
use super::key_set::KeySet;
use super::known_files::KnownFiles;
use super::report::Report;
use super::state::{Entry, OwnFiles, Rows};
use super::workers::Sink;
use dropforge_base::diagnostics::Result;

/// A place that holds the files of runs, by paths with `/`.
pub trait Destination: OwnFiles {
    /// Reads outputs. Each thread has its own reader.
    type Reader<'d>: FileReader
    where
        Self: 'd;
    /// Writes the outputs of a worker.
    type Sink<'d>: Sink<Done = Report>
    where
        Self: 'd;

    /// Removes what a killed run left behind that is neither an output nor a file of dropforge's own.
    ///
    /// # Errors
    /// `file.write_failed`; errors of the store.
    fn sweep(&self) -> Result<()>;

    /// Returns `true` if this run created the place and has written no output.
    fn is_fresh(&self) -> bool;

    /// Calls `each` with the path of every file below `directory`, which may be missing. Files that the state lists may
    /// be left out.
    ///
    /// # Errors
    /// Errors of reading, and of `each`.
    fn each_file(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()>;

    /// Returns a reader of outputs.
    fn reader(&self) -> Self::Reader<'_>;

    /// Returns a sink for one worker. It adds what it has written to `files`.
    fn sink<'d>(&'d self, job: &Job<'d>, known: &'d KnownFiles<'d>, files: &'d Mutex<Files>) -> Self::Sink<'d>;

    /// Removes an output if it is as a run has written it. Returns `Some(true)` if it was removed and `None` if it did
    /// not exist.
    ///
    /// # Errors
    /// Errors of reading and of removing.
    fn remove(&self, entry: Entry<'_>) -> Result<Option<bool>>;
}

/// Reads outputs.
pub trait FileReader {
    /// Returns `true` if there is a file at `path`.
    ///
    /// # Errors
    /// Errors of temporary files.
    fn exists(&mut self, path: &str) -> Result<bool>;

    /// Returns `true` if it is known without reading it that the file at `path` has this content.
    ///
    /// # Errors
    /// Errors of temporary files.
    fn is_current(&mut self, _path: &str, _content: &[u8]) -> Result<bool> {
        Ok(false)
    }

    /// Reads the file at `path` if it exists, and whether its owner may execute it, if the place keeps that.
    ///
    /// # Errors
    /// Errors of reading, and those that writing to `path` would have.
    fn read(&mut self, path: &str) -> Result<Option<(&[u8], Option<bool>)>>;
}

/// A place that does not exist has no files.
impl<R: FileReader> FileReader for Option<R> {
    fn exists(&mut self, path: &str) -> Result<bool> {
        self.as_mut().map_or(Ok(false), |reader| reader.exists(path))
    }

    fn is_current(&mut self, path: &str, content: &[u8]) -> Result<bool> {
        self.as_mut().map_or(Ok(false), |reader| reader.is_current(path, content))
    }

    fn read(&mut self, path: &str) -> Result<Option<(&[u8], Option<bool>)>> {
        self.as_mut().map_or(Ok(None), |reader| reader.read(path))
    }
}

/// The files of a run.
#[derive(Default)]
pub struct Files {
    /// The files that were written, or that already had their content. Templates are the indexes of outputs.
    pub rows: Rows,
    /// The paths that the clusters make.
    pub made: KeySet,
}
