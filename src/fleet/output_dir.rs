//! The output directory as a handle. Paths below it are opened part by part, never through a symbolic link.
//!
//! The root is opened once. Each directory on the way to a file is opened relative to its parent's handle with
//! `O_NOFOLLOW|O_DIRECTORY`, so no link, created at any moment, can redirect a write. A [`Walker`] (one per thread)
//! keeps the handles of the last path, because the outputs of a cluster are close together.

use std::cell::Cell;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::state::STATE;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The suffix of temporary files.
const TEMPORARY: &str = ".dropforge.tmp";
/// Maximum bytes of the name of an output in that of a temporary file.
const TEMPORARY_NAME: usize = 128;
/// Maximum attempts to find a free name for a temporary file.
const TRIES: usize = 100;

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open output directory.
#[derive(Debug)]
pub struct OutputDir {
    fd: OwnedFd,
    path: PathBuf,
    /// Created by this run and still empty.
    fresh: AtomicBool,
    serial: AtomicU64,
    process: u32,
}

/// An open directory below an [`OutputDir`].
#[derive(Debug)]
pub(super) struct Handle {
    fd: OwnedFd,
    /// Created by this run and still empty, so it has no files to compare with.
    pub(super) fresh: Cell<bool>,
}

impl AsFd for Handle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsFd for OutputDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl OutputDir {
    /// Opens the directory, creating it if it is missing. It must not be a symbolic link.
    ///
    /// # Errors
    /// `file.write_failed`, `file.symbolic_link`.
    pub fn create(path: &Path) -> Result<Self> {
        let path = without_trailing(path);
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(|error| cannot("create", &path, error))?;
        }
        let fresh = match rustix::fs::mkdirat(CWD, &path, Mode::from_raw_mode(0o777)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            // Paths such as `/` and `.` fail in other ways.
            Err(error) if path.is_dir() || error == Errno::ISDIR => false,
            Err(error) => return Err(cannot("create", &path, error.into())),
        };
        Self::open_root(path, fresh)?
            .ok_or_else(|| Diagnostic::new(Code::WriteFailed, "the output directory was removed while it was opened"))
    }

    /// Opens the directory if it exists, for reading.
    ///
    /// # Errors
    /// `file.read_failed`, `file.symbolic_link`.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        Self::open_root(without_trailing(path), false)
    }

    fn open_root(path: PathBuf, fresh: bool) -> Result<Option<Self>> {
        match rustix::fs::openat(CWD, &path, DIRECTORY, Mode::empty()) {
            Ok(fd) => {
                let (fresh, serial) = (AtomicBool::new(fresh), AtomicU64::new(0));
                Ok(Some(Self { fd, path, fresh, serial, process: std::process::id() }))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(_) if path.is_symlink() => Err(Diagnostic::new(
                Code::SymbolicLink,
                format!("output directory `{}` is a symbolic link", path.display()),
            )
            .with_help("use the directory that it points to")),
            Err(error) => Err(cannot("open", &path, error.into())),
        }
    }

    /// Locks the directory until this value is dropped, for one writer or any number of readers.
    ///
    /// # Errors
    /// `file.locked` if another run holds the lock.
    pub fn lock(&self, exclusive: bool) -> Result<()> {
        let operation = match exclusive {
            true => FlockOperation::NonBlockingLockExclusive,
            false => FlockOperation::NonBlockingLockShared,
        };
        match rustix::fs::flock(&self.fd, operation) {
            Ok(()) => Ok(()),
            Err(Errno::WOULDBLOCK) => {
                let message = format!("output directory `{}` is locked by another run", self.path.display());
                Err(Diagnostic::new(Code::OutputLocked, message).with_help("wait for the other run to end"))
            }
            Err(error) => Err(cannot("lock", &self.path, error.into())),
        }
    }

    /// Removes the temporary files of killed runs in the whole tree, and nothing else.
    ///
    /// # Errors
    /// `file.write_failed`, `file.read_failed`.
    pub(super) fn sweep(&self) -> Result<()> {
        self.each_file("", &mut |path, handle| {
            let name = path.rsplit('/').next().unwrap_or(path);
            if !is_temporary(name) {
                return Ok(());
            }
            rustix::fs::unlinkat(handle, name, AtFlags::empty())
                .map_err(|error| cannot("remove", &self.full_path(path), error.into()))
        })
    }

    /// Calls `each` with the path and the directory of every regular file below `directory`, which may be missing.
    ///
    /// # Errors
    /// `file.write_failed`, `file.read_failed`, `file.symbolic_link`; errors of `each`.
    pub(super) fn each_file(
        &self,
        directory: &str,
        each: &mut dyn FnMut(&str, BorrowedFd<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut walker = Walker::new(self, false);
        let mut left = vec![directory.to_owned()];
        while let Some(directory) = left.pop() {
            let inside =
                |name: &str| if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
            let Some((handle, _)) = walker.parent(&inside("x"))? else { continue };
            let unreadable = |error: Errno| cannot("read", &self.full_path(&directory), error.into());
            for entry in Dir::read_from(&*handle).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                let Ok(name) = entry.file_name().to_str() else { continue };
                if name == "." || name == ".." {
                    continue;
                }
                match kind_of(&*handle, name) {
                    Some(FileType::Directory) => left.push(inside(name)),
                    Some(FileType::RegularFile) => each(&inside(name), handle.as_fd())?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with the handle of `directory`, which may be missing, and the name of every regular file in it that ends
    /// with `extension`, by name.
    ///
    /// # Errors
    /// `file.write_failed`, `file.read_failed`, `file.symbolic_link`; errors of `each`.
    pub(super) fn each_name(
        &self,
        directory: &str,
        extension: &str,
        each: &mut dyn FnMut(BorrowedFd<'_>, &str) -> Result<()>,
    ) -> Result<()> {
        let (mut walker, mut names) = (Walker::new(self, false), Vec::new());
        let Some((handle, _)) = walker.parent(&format!("{directory}/x"))? else { return Ok(()) };
        let unreadable = |error: Errno| cannot("read", &self.full_path(directory), error.into());
        for entry in Dir::read_from(&*handle).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if !name.ends_with(extension) || name.starts_with('.') {
                continue;
            }
            match entry.file_type() {
                FileType::RegularFile => names.push(name.to_owned()),
                FileType::Symlink => return Err(through_link(&self.full_path(directory).join(name), name)),
                FileType::Unknown if kind_of(&*handle, name) == Some(FileType::RegularFile) => {
                    names.push(name.to_owned());
                }
                _ => {}
            }
        }
        names.sort_unstable();
        names.iter().try_for_each(|name| each(handle.as_fd(), name))
    }

    /// Returns `true` if this run created the directory and has written no file.
    pub(super) fn is_fresh(&self) -> bool {
        self.fresh.load(Ordering::Relaxed)
    }

    /// Notes that the directory is no longer empty.
    pub(super) fn used(&self) {
        self.fresh.store(false, Ordering::Relaxed);
    }

    /// Returns the path in the form the user gave it, for messages.
    pub(super) fn full_path(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    /// Creates an empty temporary file next to the one at `path` and returns it with its name, which tells the process. A
    /// file of dropforge's own has always the same one, as only one run writes it at a time: so the next run replaces what one
    /// left behind that was killed before it had a record.
    pub(super) fn temporary(
        &self,
        parent: impl AsFd,
        path: &str,
        mode: Mode,
    ) -> std::result::Result<(File, String), Errno> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if path.split('/').next() == Some(STATE) {
            let temporary = format!(".{name}.0.0{TEMPORARY}");
            let open = || rustix::fs::openat(parent.as_fd(), &temporary, NEW_FILE, mode);
            let file = open().or_else(|_| {
                rustix::fs::unlinkat(parent.as_fd(), &temporary, AtFlags::empty())?;
                open()
            })?;
            return Ok((file.into(), temporary));
        }
        // A name may be as long as a file system allows.
        let name = name.get(..TEMPORARY_NAME).unwrap_or(name);
        for _ in 0..TRIES {
            let serial = self.serial.fetch_add(1, Ordering::Relaxed);
            let temporary = format!(".{name}.{}.{serial}{TEMPORARY}", self.process);
            match rustix::fs::openat(parent.as_fd(), &temporary, NEW_FILE, mode) {
                Ok(file) => return Ok((file.into(), temporary)),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Errno::EXIST)
    }
}

/// Returns the type of a file, without following a link.
pub(super) fn kind_of(parent: impl AsFd, name: &str) -> Option<FileType> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

/// Removes a trailing `/` or `/.`, which would follow a link.
fn without_trailing(path: &Path) -> PathBuf {
    let path: PathBuf = path.components().collect();
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
}

/// Returns `true` for the names of our temporary files: `.NAME.PID.SERIAL.dropforge.tmp`.
pub(super) fn is_temporary(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(TEMPORARY)) else { return false };
    let mut parts = rest.rsplit('.');
    let is_number =
        |part: Option<&str>| part.is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_some()
}

/// Opens the directories of paths. Keeps the handles of the last path.
#[derive(Debug)]
pub(super) struct Walker<'d> {
    pub(super) dir: &'d OutputDir,
    create: bool,
    root: Option<Rc<Handle>>,
    open: Vec<(String, Rc<Handle>)>,
}

impl<'d> Walker<'d> {
    /// Creates a walker. With `create` it creates missing directories.
    pub(super) fn new(dir: &'d OutputDir, create: bool) -> Self {
        Self { dir, create, root: None, open: Vec::new() }
    }

    /// Opens the parent directory of `path` and returns it with the file name. Returns `None` if it does not exist.
    pub(super) fn parent<'p>(&mut self, path: &'p str) -> Result<Option<(Rc<Handle>, &'p str)>> {
        let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
        let parts = || directories.split('/').filter(|part| !part.is_empty());
        let common = parts().zip(&self.open).take_while(|(part, (open, _))| part == open).count();
        self.open.truncate(common);
        let mut here = match self.open.last() {
            Some((_, handle)) => handle.clone(),
            None => self.root()?,
        };
        for part in parts().skip(common) {
            let Some(next) = self.step(&here, part, path)? else { return Ok(None) };
            here = Rc::new(next);
            self.open.push((part.to_owned(), here.clone()));
        }
        Ok(Some((here, name)))
    }

    fn root(&mut self) -> Result<Rc<Handle>> {
        if let Some(root) = &self.root {
            return Ok(root.clone());
        }
        let fd = self.dir.fd.try_clone().map_err(|error| cannot("open", &self.dir.path, error))?;
        let root = Rc::new(Handle { fd, fresh: Cell::new(self.dir.fresh.load(Ordering::Relaxed)) });
        self.root = Some(root.clone());
        Ok(root)
    }

    fn step(&self, here: &Handle, part: &str, path: &str) -> Result<Option<Handle>> {
        let fail = |verb: &str, error: Errno| Err(cannot(verb, &self.dir.full_path(path), error.into()));
        let mut fresh = false;
        if self.create {
            match rustix::fs::mkdirat(here, part, Mode::from_raw_mode(0o777)) {
                Ok(()) => fresh = true,
                Err(Errno::EXIST) => {}
                Err(error) => return fail("write", error),
            }
        }
        match rustix::fs::openat(here, part, DIRECTORY, Mode::empty()) {
            Ok(fd) => Ok(Some(Handle { fd, fresh: Cell::new(fresh) })),
            Err(Errno::NOENT) if !self.create => Ok(None),
            Err(_) if kind_of(here, part) == Some(FileType::Symlink) => {
                Err(through_link(&self.dir.full_path(path), part))
            }
            Err(error) => fail("write", error),
        }
    }
}

/// Returns the error for an output behind a symbolic link.
pub(super) fn through_link(path: &Path, part: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::SymbolicLink, format!("`{part}` in an output path is a symbolic link"))
        .with_note(format!("path: {}", path.display()))
        .with_help("remove the link; outputs are not written through symbolic links")
}

/// Returns the error of a failed system call. The path is a note, so that one cause has one message.
pub(super) fn cannot(verb: &str, path: &Path, error: std::io::Error) -> Box<Diagnostic> {
    let code = if matches!(verb, "read") { Code::ReadFailed } else { Code::WriteFailed };
    let is_blocked = matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::AlreadyExists);
    if let Some(file) = path.ancestors().find(|path| is_blocked && path.is_file()) {
        return Diagnostic::new(code, format!("cannot {verb}: it is a file, not a directory"))
            .with_note(format!("path: {}", file.display()))
            .with_help("remove it, or write to another directory with `-o`")
            .caused_by(error);
    }
    let missing = path.parent().filter(|parent| error.kind() == ErrorKind::NotFound && !parent.exists());
    let failed =
        Diagnostic::new(code, format!("cannot {verb}: {error}")).with_note(format!("path: {}", path.display()));
    let failed = match missing {
        Some(parent) => failed.with_help(format!("create the directory `{}` first", parent.display())),
        None => failed,
    };
    failed.caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_temporary() {
        assert!(is_temporary(".a.yaml.123.0.dropforge.tmp"));
        for name in
            ["a.yaml.1.0.dropforge.tmp", ".a.tmp", ".1.0.dropforge.tmp", ".a..0.dropforge.tmp", ".a.x.0.dropforge.tmp"]
        {
            assert!(!is_temporary(name), "{name}");
        }
    }

    #[test]
    fn a_link_as_root_or_on_the_way_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let (real, link) = (temp.path().join("real"), temp.path().join("link"));
        std::fs::create_dir_all(real.join("in")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for path in [link.clone(), link.join("."), temp.path().join("link/")] {
            assert_eq!(OutputDir::create(&path).unwrap_err().code, Code::SymbolicLink);
            assert_eq!(OutputDir::open(&path).unwrap_err().code, Code::SymbolicLink);
        }
        std::os::unix::fs::symlink(real.join("in"), real.join("sub")).unwrap();
        let dir = OutputDir::create(&real).unwrap();
        assert_eq!(Walker::new(&dir, true).parent("sub/x").unwrap_err().code, Code::SymbolicLink);
        assert_eq!(Walker::new(&dir, true).parent("in/../../x").unwrap().unwrap().1, "x");
        assert!(OutputDir::open(&temp.path().join("none")).unwrap().is_none());
    }

    #[test]
    fn two_writers_exclude_each_other() {
        let temp = tempfile::tempdir().unwrap();
        let first = OutputDir::create(temp.path()).unwrap();
        first.lock(true).unwrap();
        let second = OutputDir::create(temp.path()).unwrap();
        assert_eq!(second.lock(true).unwrap_err().code, Code::OutputLocked);
        assert_eq!(second.lock(false).unwrap_err().code, Code::OutputLocked);
        drop(first);
        second.lock(true).unwrap();
    }

    #[test]
    fn a_run_replaces_what_one_left_behind_that_had_no_record_yet() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let names =
            || [0, 1].map(|_| dir.temporary(&dir, ".dropforge/unfinished", Mode::from_raw_mode(0o600)).unwrap().1);
        let [first, second] = names();
        assert!(first == second && is_temporary(&first));
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_temporary_files_are_swept() {
        let temp = tempfile::tempdir().unwrap();
        let put = |name: &str| {
            let path = temp.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        let dir = OutputDir::create(temp.path()).unwrap();
        ["a/b/.x.yaml.7.1.dropforge.tmp", ".y.7.2.dropforge.tmp", "a/.z.tmp", "a/x.yaml"].into_iter().for_each(put);
        std::os::unix::fs::symlink("nowhere", temp.path().join(".l.1.2.dropforge.tmp")).unwrap();
        dir.sweep().unwrap();
        let there = |name: &str| temp.path().join(name).is_symlink() || temp.path().join(name).exists();
        assert!(!there("a/b/.x.yaml.7.1.dropforge.tmp") && !there(".y.7.2.dropforge.tmp"));
        assert!(there("a/.z.tmp") && there("a/x.yaml") && there(".l.1.2.dropforge.tmp"));
    }
}
