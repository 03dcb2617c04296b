//! Capabilities: permissions to read more than the inputs, such as files.

use std::fs::{self, File, FileType};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{fmt, io};

use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Permissions to read more than the inputs. An engine grants none by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities<'r> {
    set: u8,
    files: Option<&'r Files>,
    moment: Option<SystemTime>,
}

impl Capabilities<'static> {
    /// No capability.
    pub const NONE: Self = Self::of(0);
    /// The current time.
    pub const CLOCK: Self = Self::of(1);
    /// Random numbers.
    pub const RANDOM: Self = Self::of(2);
    /// Environment variables.
    pub const ENVIRONMENT: Self = Self::of(4);
    /// Files below a directory, set by [`Capabilities::with_files`]. Without a directory, no file is found.
    pub const FILES: Self = Self::of(8);
    /// All capabilities.
    pub const ALL: Self = Self::of(15);

    const fn of(set: u8) -> Self {
        Self { set, files: None, moment: None }
    }
}

impl<'r> Capabilities<'r> {
    /// Returns the union of both.
    pub const fn and(self, other: Self) -> Self {
        let files = if self.files.is_some() { self.files } else { other.files };
        let moment = if self.moment.is_some() { self.moment } else { other.moment };
        Self { set: self.set | other.set, files, moment }
    }

    /// Adds the files below a directory.
    pub const fn with_files(self, files: &'r Files) -> Self {
        Self { set: self.set | Capabilities::FILES.set, files: Some(files), ..self }
    }

    /// Sets the time that the clock returns.
    pub const fn with_moment(self, moment: SystemTime) -> Self {
        Self { moment: Some(moment), ..self }
    }

    /// Returns the fixed time of the clock, if set.
    pub const fn moment(self) -> Option<SystemTime> {
        self.moment
    }

    /// Returns the readable files.
    pub const fn files(self) -> Option<&'r Files> {
        self.files
    }

    /// Returns `true` if every capability of `other` is included.
    pub const fn include(self, other: Capabilities<'_>) -> bool {
        self.set & other.set == other.set
    }

    /// Returns the names of the included capabilities on the command line.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("clock", Capabilities::CLOCK),
            ("random", Capabilities::RANDOM),
            ("environment", Capabilities::ENVIRONMENT),
            ("files", Capabilities::FILES),
        ];
        all.into_iter().filter(move |(_, one)| self.include(*one)).map(|(name, _)| name)
    }

    /// Returns `true` if no capability is included.
    pub const fn is_none(self) -> bool {
        self.set == 0
    }
}

/// The files below a directory.
///
/// A path is relative to the directory, or begins with it. `..` and links are followed within it. A path that leads out
/// is refused with the same error whether or not something is there. This holds for any path and any tree of files, but
/// not against concurrent changes of the tree.
///
/// ```
/// use dropforge::function::{FileError, Files};
/// let files = Files::below(env!("CARGO_MANIFEST_DIR"))?;
/// assert!(files.find("vm/../lib.rs").is_ok());
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
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the files being rendered as templates, outermost first.
    pub fn within(&self) -> &[String] {
        &self.within
    }

    /// Returns the same files for a template in the file `name`.
    pub fn entered(&self, name: &str) -> Self {
        let within = self.within.iter().cloned().chain([name.to_owned()]).collect();
        Self { root: self.root.clone(), within }
    }

    /// Removes the directory from the front of a path.
    pub fn relative<'p>(&self, path: &'p str) -> &'p Path {
        let path = Path::new(path);
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Resolves `path` and its links.
    ///
    /// # Errors
    /// [`FileError::Outside`], [`FileError::Missing`], errors of the system.
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
    pub fn open(&self, path: &str) -> std::result::Result<(File, u64), FileError> {
        let found = self.find(path)?;
        // Opening a pipe waits for its writer, so check the type before opening too.
        is_file(fs::metadata(&found)?.file_type())?;
        let file = File::open(found)?;
        let metadata = file.metadata()?;
        is_file(metadata.file_type())?;
        Ok((file, metadata.len()))
    }

    /// Returns `true` if the file `path` exists.
    ///
    /// # Errors
    /// The errors of [`Files::open`], except for a missing file.
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
