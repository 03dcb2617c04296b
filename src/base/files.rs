//! The only door to files that somebody named: in an option, in a template, or in a file of a repository.
//!
//! [`open`] and [`read`] take regular files and never wait. [`open_input`] and [`stdin`] also take pipes: they are for the
//! inputs that the user of a command names. [`Files`] takes only what is below a directory.

mod unreadable;

use std::fmt;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, IsTerminal, Read};
use std::path::{Component, Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic, Result};
use humansize::{BINARY, format_size};

pub use unreadable::{names, unreadable, unusable};

/// Opens a regular file. A pipe could wait for its writer, and a device may have no end: they are errors.
///
/// # Errors
/// Errors of the system, and `InvalidInput` for another kind of file.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(open_file(path)?)
}

fn open_file(path: &Path) -> std::result::Result<File, FileError> {
    // Opening a pipe waits, so check the kind before opening, too.
    is_file(fs::metadata(path)?.file_type())?;
    let file = File::open(path)?;
    is_file(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a regular file of at most `max` bytes.
///
/// # Errors
/// Errors of [`open`], and `FileTooLarge`.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let message = format!("it is larger than {}", format_size(max, BINARY));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads a regular file of at most `max` bytes as text.
///
/// # Errors
/// Errors of [`read`], and `InvalidData` if it is not UTF-8.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    String::from_utf8(read(path, max)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Opens an input that the user names: a regular file or a pipe, for whose writer it waits. Of devices, only terminals and
/// `/dev/null` are sure to end.
///
/// # Errors
/// Errors of the system, and `InvalidInput` for another kind of file.
pub fn open_input(path: &Path) -> io::Result<File> {
    let opened = || -> std::result::Result<File, FileError> {
        let file = File::open(path)?;
        ends(&file.metadata()?, file.is_terminal())?;
        Ok(file)
    };
    Ok(opened()?)
}

/// Returns standard input, under the rules of [`open_input`].
///
/// # Errors
/// Same as [`open_input`].
pub fn stdin() -> io::Result<io::Stdin> {
    let stdin = io::stdin();
    #[cfg(unix)]
    {
        let file = File::from(std::os::fd::AsFd::as_fd(&stdin).try_clone_to_owned()?);
        ends(&file.metadata()?, file.is_terminal())?;
    }
    Ok(stdin)
}

/// Refuses directories and endless devices.
fn ends(meta: &Metadata, is_terminal: bool) -> std::result::Result<(), FileError> {
    let kind = meta.file_type();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};
        let is_null = || fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == meta.rdev());
        if kind.is_fifo() || kind.is_socket() || kind.is_char_device() && (is_terminal || is_null()) {
            return Ok(());
        }
    }
    if is_terminal { Ok(()) } else { is_file(kind) }
}

/// Returns `true` if both paths lead to one file: through links, or as two names of it.
pub fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino()));
        matches!((identity(a), identity(b)), (Ok(a), Ok(b)) if a == b)
    }
    #[cfg(not(unix))]
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// The files below a directory.
///
/// A path is relative to the directory, or begins with it. `..` and links are followed within it. A path that leads out
/// is refused with the same error whether or not something is there. This holds for any path and any tree of files, but
/// not against concurrent changes of the tree.
///
/// ```
/// use dropforge::files::{FileError, Files};
/// let files = Files::below(env!("CARGO_MANIFEST_DIR"))?;
/// assert!(files.find("stdlib/../lib.rs").is_ok());
/// assert!(matches!(files.find("../anything"), Err(FileError::Outside)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    root: PathBuf,
    within: Vec<String>,
}

/// The error of a file that cannot be read.
#[derive(Debug)]
pub enum FileError {
    /// The path leads out of the directory.
    Outside,
    /// The path does not exist.
    Missing,
    /// The path leads to something that is not a regular file.
    NoFile(&'static str),
    /// The system denies reading it.
    Unreadable(io::Error),
}

/// The maximum number of bytes of a path, as in operating systems.
const LONGEST: usize = 4096;

impl Files {
    /// Allows the files below `root`, which must be a directory.
    ///
    /// # Errors
    /// `file.read_failed`.
    pub fn below(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        let failed = |why: &dyn fmt::Display| {
            Diagnostic::new(Code::ReadFailed, format!("the directory `{}` cannot be read: {why}", root.display()))
        };
        let canonical = fs::canonicalize(root).map_err(|error| failed(&error))?;
        if !canonical.is_dir() {
            return Err(failed(&"it is no directory"));
        }
        Ok(Self { root: canonical, within: Vec::new() })
    }

    /// Returns the directory, without links.
    #[doc(hidden)]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the files being rendered as templates, outermost first.
    #[doc(hidden)]
    pub fn within(&self) -> &[String] {
        &self.within
    }

    /// Returns the same files for a template in the file `name`.
    #[doc(hidden)]
    pub fn entered(&self, name: &str) -> Self {
        let within = self.within.iter().cloned().chain([name.to_owned()]).collect();
        Self { root: self.root.clone(), within }
    }

    /// Removes the directory from the front of a path.
    #[doc(hidden)]
    pub fn relative<'p>(&self, path: &'p str) -> &'p Path {
        let path = Path::new(path);
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Resolves `path` and its links.
    ///
    /// # Errors
    /// [`FileError::Outside`], [`FileError::Missing`], errors of the system.
    #[doc(hidden)]
    pub fn find(&self, path: &str) -> std::result::Result<PathBuf, FileError> {
        if path.len() > LONGEST {
            return Err(FileError::Unreadable(io::Error::new(io::ErrorKind::InvalidInput, "the path is too long")));
        }
        let mut here = self.root.clone();
        for component in self.relative(path).components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir if here != self.root => {
                    here.pop();
                }
                Component::Normal(name) => {
                    here = fs::canonicalize(here.join(name))?;
                    if !here.starts_with(&self.root) {
                        return Err(FileError::Outside);
                    }
                }
                _ => return Err(FileError::Outside),
            }
        }
        Ok(here)
    }

    /// Opens the file `path`. Returns it with its length.
    ///
    /// # Errors
    /// The errors of [`Files::find`], and [`FileError::NoFile`] for a directory, a pipe or a device.
    #[doc(hidden)]
    pub fn open(&self, path: &str) -> std::result::Result<(File, u64), FileError> {
        let file = open_file(&self.find(path)?)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    }

    /// Returns `true` if the file `path` exists.
    ///
    /// # Errors
    /// The errors of [`Files::open`], except for a missing file.
    #[doc(hidden)]
    pub fn exists(&self, path: &str) -> std::result::Result<bool, FileError> {
        match self.find(path).and_then(|found| is_file(fs::metadata(found)?.file_type())) {
            Ok(()) => Ok(true),
            Err(FileError::Missing) => Ok(false),
            Err(fault) => Err(fault),
        }
    }
}

/// Checks that a file is a regular one.
///
/// # Errors
/// [`FileError::NoFile`].
pub fn is_file(kind: FileType) -> std::result::Result<(), FileError> {
    if kind.is_file() { Ok(()) } else { Err(FileError::NoFile(named(kind))) }
}

/// Describes a file type that is not a regular file.
fn named(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kinds = [
            (kind.is_fifo(), "a pipe"),
            (kind.is_socket(), "a socket"),
            (kind.is_char_device() || kind.is_block_device(), "a device"),
        ];
        if let Some((_, name)) = kinds.iter().find(|(is, _)| *is) {
            return name;
        }
    }
    if kind.is_dir() { "a directory" } else { "no regular file" }
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Unreadable(error),
        }
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Unreadable(error) => error,
            FileError::Missing => Self::new(io::ErrorKind::NotFound, "it does not exist"),
            other => Self::new(io::ErrorKind::InvalidInput, format!("it {other}")),
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => f.write_str("leads out of the directory whose files may be read"),
            Self::Missing => f.write_str("does not exist"),
            Self::NoFile(kind) => write!(f, "is {kind}, not a file"),
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn each_kind_of_file_is_opened_or_refused_by_its_door() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("f"), "four").unwrap();
        symlink("f", at("link")).unwrap();
        fs::hard_link(at("f"), at("second")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let said = |path: &Path| read(path, 4).map_err(|error| error.to_string()).err();
        for (path, why) in [
            (at("f"), None),
            (at("link"), None),
            (at("pipe"), Some("it is a pipe, not a file")),
            (at(""), Some("it is a directory, not a file")),
            (at("none"), Some("it does not exist")),
            ("/dev/zero".into(), Some("it is a device, not a file")),
            ("/dev/null".into(), Some("it is a device, not a file")),
        ] {
            assert_eq!(said(&path).as_deref(), why, "{}", path.display());
        }
        assert_eq!(read(&at("f"), 3).unwrap_err().to_string(), "it is larger than 3 B");
        assert_eq!(read_text(&at("f"), 4).unwrap(), "four");
        let input = |path: &str| open_input(Path::new(path)).map_err(|error| error.to_string()).err();
        assert_eq!(input("/dev/null"), None);
        assert_eq!(input("/dev/zero").as_deref(), Some("it is a device, not a file"));
        assert_eq!(input("/dev").as_deref(), Some("it is a directory, not a file"));
        let writer = std::thread::spawn({
            let pipe = at("pipe");
            move || fs::write(pipe, "piped")
        });
        assert_eq!(io::read_to_string(open_input(&at("pipe")).unwrap()).unwrap(), "piped");
        writer.join().unwrap().unwrap();
        for (one, same) in [("link", true), ("second", true), ("f", true), ("pipe", false), ("none", false)] {
            assert_eq!(is_same(&at("f"), &at(one)), same, "{one}");
        }
        assert!(!is_same(&at("none"), &at("none")));
    }

    #[test]
    fn nothing_leads_out_and_only_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/f"), "f").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        symlink("../../secret", root.join("a/out")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("a/f", root.join("in")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(root.join("s")).unwrap();
        let files = Files::below(&root).unwrap();
        let inside = format!("{}/a/f", files.root().display());
        for path in ["a/f", "./a//b/../f", "in", "a/../in", inside.as_str()] {
            assert_eq!(files.open(path).unwrap().1, 1, "{path}");
        }
        let sideways = format!("{}/../secret", files.root().display());
        for path in [
            "..",
            "../secret",
            "../none",
            "/etc/passwd",
            "/none",
            "a/out",
            "up",
            "up/none",
            "a/../../secret",
            &sideways,
        ] {
            assert!(matches!(files.open(path), Err(FileError::Outside)), "{path}");
        }
        let said = |path: &str| files.open(path).unwrap_err().to_string();
        assert_eq!(
            (said("a"), said("s"), said("")),
            ("is a directory, not a file".into(), "is a socket, not a file".into(), said("a"))
        );
        assert_eq!(said("none"), "does not exist");
        for path in ["a\0f", "loop", "a/f/g", &"a/../".repeat(2000), &"n".repeat(300)] {
            assert!(matches!(files.open(path), Err(FileError::Unreadable(_))), "{path}");
        }
        assert!(files.exists("in").unwrap() && !files.exists("none").unwrap() && files.exists("a").is_err());
        assert!(Files::below(root.join("a/f")).is_err() && Files::below(root.join("none")).is_err());
        drop(socket);
    }
}
