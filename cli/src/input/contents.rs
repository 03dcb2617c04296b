//! The contents of inputs that were read, and the files that they may be. An input is read once in a run, however many parts
//! of a command ask for it.

use std::collections::HashMap;
use std::io::{Cursor, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;
use std::{io, thread};

use dropforge::diagnostics::{Code, Diagnostic, Result, not_utf8};
use dropforge::files;
use dropforge::files::{FileError, Files, unreadable};
use dropforge::text::Source;

use super::{InputFiles, is_dash, is_url};
use crate::remote;

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

/// The number of bytes that are read at once.
const CHUNK: usize = 1 << 16;
/// Chunks that wait for their reader.
const WAITING: usize = 16;
/// The time after which a read without bytes is interrupted.
const PAUSE: Duration = Duration::from_millis(100);

/// A reader that never waits for long: it fails with [`ErrorKind::Interrupted`] instead.
pub(crate) struct Pipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    rest: Cursor<Vec<u8>>,
}

impl Pipe {
    /// Starts to read `input`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(mut input: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(WAITING);
        let read = move || {
            let mut next = || {
                let mut chunk = vec![0; CHUNK];
                let read = input.by_ref().read(&mut chunk)?;
                chunk.truncate(read);
                Ok(chunk)
            };
            loop {
                let chunk = next();
                let is_last = chunk
                    .as_ref()
                    .map_or_else(|error: &io::Error| error.kind() != ErrorKind::Interrupted, Vec::is_empty);
                if sender.send(chunk).is_err() || is_last {
                    break;
                }
            }
        };
        thread::Builder::new().name("stdin".to_owned()).spawn(read)?;
        Ok(Self { chunks, rest: Cursor::default() })
    }
}

impl Read for Pipe {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.rest.position() == self.rest.get_ref().len() as u64 {
            self.rest = match self.chunks.recv_timeout(PAUSE) {
                Ok(chunk) => Cursor::new(chunk?),
                Err(RecvTimeoutError::Timeout) => return Err(ErrorKind::Interrupted.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            };
        }
        self.rest.read(to)
    }
}

/// The inputs that may be read.
#[derive(Debug, Clone, Default)]
pub(super) enum Reach {
    /// Files, pipes and standard input.
    #[default]
    All,
    /// Regular files below a directory, and standard input.
    Below(Files),
    /// Regular files. An editor writes to standard input, and does not wait.
    #[cfg(feature = "lsp")]
    RegularFiles,
}

impl InputFiles {
    /// Checks that an input may be read.
    ///
    /// # Errors
    /// `file.read_failed`, `template.outside_root`.
    pub(super) fn admit(&self, path: &Path) -> Result<()> {
        let file = local(path);
        match &self.reach {
            Reach::All => Ok(()),
            #[cfg(feature = "lsp")]
            Reach::RegularFiles if is_dash(path) => {
                Err(Diagnostic::new(Code::ReadFailed, "cannot read standard input: the editor uses it")
                    .with_help("name a file"))
            }
            Reach::Below(_) if is_dash(path) => Ok(()),
            _ if is_url(&file) => Ok(()),
            // A copy of an object that a URL names is one of ours.
            Reach::Below(root) if !is_below(root, &file) && self.fetched.url_of(path).is_none() => {
                Err(outside(path, root))
            }
            _ => files::open(&file).map(drop).map_err(|error| unreadable(path, error)),
        }
    }
}

/// Returns the path of a file. The URL of a file is one.
pub(super) fn local(path: &Path) -> PathBuf {
    path.to_str().and_then(|text| remote::output(text).ok()).unwrap_or_else(|| path.to_owned())
}

/// Returns a path that does not stand for standard input.
pub(super) fn beyond_dash(path: &Path) -> PathBuf {
    if is_dash(path) { Path::new(".").join(path) } else { path.to_owned() }
}

/// Returns `true` if a path leads to a place below `root`, whether or not there is a file.
pub(crate) fn is_below(root: &Files, path: &Path) -> bool {
    let local = local(path);
    if let Ok(real) = local.canonicalize() {
        return real.starts_with(root.root());
    }
    let path = std::path::absolute(&local).unwrap_or(local);
    !matches!(path.to_str().map(|path| root.find(path)), None | Some(Err(FileError::Outside)))
}

/// Returns the folder of the Git repository that a file or folder is in.
pub(crate) fn repository(place: &Path) -> Option<PathBuf> {
    let place = place.canonicalize().ok()?;
    place.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// Returns the error of a path that leads out of the files that may be read.
pub(crate) fn outside(path: &Path, root: &Files) -> Box<Diagnostic> {
    let message = format!("`{}` leads out of `{}`, whose files may be read", path.display(), root.root().display());
    Diagnostic::new(Code::OutsideRoot, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive() {
        let text: Vec<u8> = (0..CHUNK * 40 + 7).map(|at| (at % 251) as u8).collect();
        let mut found = Vec::new();
        Pipe::start(Cursor::new(text.clone())).unwrap().read_to_end(&mut found).unwrap();
        assert!(found == text);
        let mut empty = Pipe::start(io::empty()).unwrap();
        assert_eq!(empty.read(&mut [0; 8]).unwrap(), 0);
        assert_eq!(empty.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn a_wait_is_interrupted() {
        let (reader, writer) = io::pipe().unwrap();
        let mut pipe = Pipe::start(reader).unwrap();
        assert_eq!(pipe.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::Interrupted);
        drop(writer);
        while pipe.read(&mut [0; 8]).is_err() {}
    }
}
