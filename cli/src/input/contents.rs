//! The contents of inputs that were read. An input is read once in a run, however many parts of a command ask for it.

use std::collections::HashMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::diagnostics::{Code, Diagnostic, Result, not_utf8};
use dropforge::text::Source;

use super::is_dash;

/// The identity of an input: that of a pipe, whatever its name, or the path of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Stdin,
    Pipe(u64, u64),
    Path(PathBuf),
}

impl Key {
    pub(super) fn of(path: &Path) -> Self {
        match is_dash(path) {
            true => pipe(Path::new("/dev/stdin")).unwrap_or(Key::Stdin),
            false => pipe(path).unwrap_or_else(|| Key::Path(path.to_owned())),
        }
    }
}

/// Returns the identity of a pipe. `None` for other paths.
fn pipe(path: &Path) -> Option<Key> {
    let meta = path.metadata().ok()?;
    let is_pipe = meta.file_type().is_fifo() || meta.file_type().is_socket();
    is_pipe.then(|| Key::Pipe(meta.dev(), meta.ino()))
}

/// Returns `true` for the name of a pipe: `/dev/fd/63`, or a FIFO.
pub(crate) fn is_pipe(path: &Path) -> bool {
    pipe(path).is_some()
}

/// The content of an input.
#[derive(Debug, Clone)]
pub(super) enum Content {
    Text(Arc<Source>),
    /// Bytes that are not UTF-8.
    Bytes(Arc<[u8]>),
}

impl Content {
    /// Decodes bytes as text, if they are.
    pub(super) fn new(path: &Path, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(Source::new(path.display().to_string(), text)),
            Err(error) => Self::Bytes(error.into_bytes().into()),
        }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(source) => source.text().as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// `syntax.not_utf8`.
    pub(super) fn text(self, path: &Path) -> Result<Arc<Source>> {
        match self {
            Self::Text(source) => Ok(source),
            Self::Bytes(bytes) => Err(not_utf8(&path.display().to_string(), &bytes, (0, 0))),
        }
    }
}

/// The contents of inputs, and the pipes that were read without keeping theirs.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// `None` for a pipe whose content is gone.
    kept: HashMap<Key, Option<Content>>,
    /// The option that reads standard input.
    stdin: Option<&'static str>,
}

impl Contents {
    /// Returns the content of an input that was read.
    ///
    /// # Errors
    /// `usage` for a pipe whose content is gone.
    pub(super) fn get(&self, key: &Key, path: &Path) -> Result<Option<Content>> {
        match self.kept.get(key) {
            Some(None) => Err(used_twice(path)),
            found => Ok(found.cloned().flatten()),
        }
    }

    /// Keeps the content of an input.
    pub(super) fn keep(&mut self, key: Key, content: Content) {
        self.kept.insert(key, Some(content));
    }

    /// Marks a pipe as read.
    ///
    /// # Errors
    /// `usage` if it was read before.
    pub(super) fn take(&mut self, key: &Key, path: &Path) -> Result<()> {
        match key {
            Key::Path(_) => Ok(()),
            pipe if self.kept.contains_key(pipe) => Err(used_twice(path)),
            pipe => {
                self.kept.insert(pipe.clone(), None);
                Ok(())
            }
        }
    }

    /// Notes that an option reads standard input.
    ///
    /// # Errors
    /// `usage` if another option does.
    pub(super) fn claim_stdin(&mut self, option: &'static str) -> Result<()> {
        match self.stdin.replace(option).filter(|first| *first != option) {
            None => Ok(()),
            Some(first) => {
                let message = format!("`{first}` and `{option}` both read standard input, which can be read only once");
                Err(Diagnostic::new(Code::Usage, message).with_help("name a file for one of them"))
            }
        }
    }

    /// Forgets files, which may have changed. Pipes cannot be read again.
    pub(super) fn forget_files(&mut self) {
        self.kept.retain(|key, _| !matches!(key, Key::Path(_)));
    }
}

/// Checks that at most one of the paths of an option is `-`.
///
/// # Errors
/// `usage`.
pub(crate) fn check_one_dash<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<()> {
    match paths.into_iter().filter(|path| is_dash(path)).nth(1) {
        Some(path) => Err(used_twice(path)),
        None => Ok(()),
    }
}

fn used_twice(path: &Path) -> Box<Diagnostic> {
    let message = format!("`{}` is used twice, but a pipe can be read only once", path.display());
    Diagnostic::new(Code::Usage, message).with_help("write the input to a file, and name that")
}
