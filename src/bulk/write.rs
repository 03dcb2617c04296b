//! Writing outputs so that each path holds its old or its new content in full, whatever happens.
//!
//! The files of one cluster are staged first: each goes to a temporary file in the directory it belongs to.
//! Only when all are there in full are they renamed. What has not changed is not written at all.

use std::os::fd::AsFd;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::stream::StreamFile;
use super::tree::{Handle, OutputDir, Walker, cannot, through_link};
use crate::diagnostics::{Code, Diagnostic, Result};

/// What an output means for the file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There was no such file.
    Create,
    /// The file had other content.
    Update,
    /// The file has this content already.
    Unchanged,
}

/// Writes files below an [`OutputDir`]; one for each thread.
///
/// ```
/// # let temp = tempfile::tempdir().unwrap();
/// use dropforge::bulk::{Change, OutputDir, Writer};
/// let dir = OutputDir::create(&temp.path().join("out")).unwrap();
/// let mut writer = Writer::new(&dir, false);
/// assert_eq!(writer.stage("eu-1/app.yaml", b"a: 1\n").unwrap(), Change::Create);
/// writer.commit().unwrap();
/// assert_eq!(writer.stage("eu-1/app.yaml", b"a: 1\n").unwrap(), Change::Unchanged);
/// ```
#[derive(Debug)]
pub struct Writer<'d> {
    walker: Walker<'d>,
    fsync: bool,
    staged: Vec<Staged>,
    old: Vec<u8>,
}

#[derive(Debug)]
struct Staged {
    parent: Rc<Handle>,
    temporary: String,
    /// The whole path; the name in `parent` is its last part.
    path: String,
}

impl<'d> Writer<'d> {
    /// A writer; with `fsync` what is committed survives a loss of power.
    pub fn new(dir: &'d OutputDir, fsync: bool) -> Self {
        Self { walker: Walker::new(dir, true), fsync, staged: Vec::new(), old: Vec::new() }
    }

    /// Writes `bytes` for `path` to a temporary file, unless the file holds them already.
    ///
    /// # Errors
    /// `file.write_failed`, `file.symbolic_link`; then everything staged has been taken back.
    pub fn stage(&mut self, path: &str, bytes: &[u8]) -> Result<Change> {
        let result = self.try_stage(path, bytes);
        if result.is_err() {
            self.abandon();
        }
        result
    }

    fn try_stage(&mut self, path: &str, bytes: &[u8]) -> Result<Change> {
        let Some((parent, name)) = self.walker.parent(path)? else { return Ok(Change::Unchanged) };
        let dir = self.walker.dir;
        let there = match parent.fresh.get() {
            true => None,
            false => look(&*parent, name, &dir.shown(path))?,
        };
        if let Some(there) = &there
            && there.size == bytes.len() as u64
            && read_file(&*parent, name, &dir.shown(path), &mut self.old)?
            && self.old == bytes
        {
            return Ok(Change::Unchanged);
        }
        let mode = there.as_ref().map_or(Mode::from_raw_mode(0o666), |there| there.mode);
        let fail = |error: Errno| cannot("write", &dir.shown(path), &error.into());
        let (file, temporary) = dir.temporary(&*parent, name, mode).map_err(fail)?;
        self.staged.push(Staged { parent, temporary, path: path.to_owned() });
        write_all(&file, bytes).map_err(fail)?;
        if there.is_some() {
            // The umask has cut the mode that the file had.
            rustix::fs::fchmod(&file, mode).map_err(fail)?;
        }
        if self.fsync {
            rustix::fs::fsync(&file).map_err(fail)?;
        }
        Ok(if there.is_some() { Change::Update } else { Change::Create })
    }

    /// Puts all staged files in their places.
    ///
    /// # Errors
    /// `file.write_failed`; then the files not yet in place stay as they were.
    pub fn commit(&mut self) -> Result<()> {
        self.staged.reverse();
        self.walker.dir.used();
        let mut synced: Vec<Rc<Handle>> = Vec::new();
        while let Some(staged) = self.staged.last() {
            let name = staged.path.rsplit('/').next().unwrap_or("");
            let renamed = rustix::fs::renameat(&*staged.parent, &staged.temporary, &*staged.parent, name);
            if let Err(error) = renamed {
                let error = cannot("write", &self.walker.dir.shown(&staged.path), &error.into());
                self.abandon();
                return Err(error);
            }
            staged.parent.fresh.set(false);
            if let Some(staged) = self.staged.pop()
                && self.fsync
                && !synced.iter().any(|handle| Rc::ptr_eq(handle, &staged.parent))
            {
                synced.push(staged.parent);
            }
        }
        for handle in synced {
            rustix::fs::fsync(&*handle).map_err(|error| cannot("write", Path::new("a directory"), &error.into()))?;
        }
        Ok(())
    }

    /// Takes back what is staged: the files stay as they were.
    pub fn abandon(&mut self) {
        for staged in self.staged.drain(..) {
            // What cannot be removed now is removed by the next run.
            let _ = rustix::fs::unlinkat(&*staged.parent, &staged.temporary, AtFlags::empty());
        }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.abandon();
    }
}

/// Looks at files below an [`OutputDir`] without changing anything; one for each thread.
#[derive(Debug)]
pub struct Reader<'d> {
    walker: Option<Walker<'d>>,
    old: Vec<u8>,
}

impl<'d> Reader<'d> {
    /// A reader of a directory that need not be there.
    pub fn new(dir: Option<&'d OutputDir>) -> Self {
        Self { walker: dir.map(|dir| Walker::new(dir, false)), old: Vec::new() }
    }

    /// The content of the file at `path`, where it is there.
    ///
    /// # Errors
    /// `file.read_failed`; `file.symbolic_link`, and what is no file: writing would fail there.
    pub fn read(&mut self, path: &str) -> Result<Option<&[u8]>> {
        let Some(walker) = &mut self.walker else { return Ok(None) };
        let shown = walker.dir.shown(path);
        let Some((parent, name)) = walker.parent(path)? else { return Ok(None) };
        if look(&*parent, name, &shown)?.is_none() || !read_file(&*parent, name, &shown, &mut self.old)? {
            return Ok(None);
        }
        Ok(Some(&self.old))
    }

    /// What writing `bytes` to `path` would change.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub fn compare(&mut self, path: &str, bytes: &[u8]) -> Result<Change> {
        Ok(match self.read(path)? {
            None => Change::Create,
            Some(old) if old == bytes => Change::Unchanged,
            Some(_) => Change::Update,
        })
    }
}

/// Removes the file at `path` if `is_ours` says so of its content, then the directories that are empty by it.
/// Gives whether it was removed; `None` where there was nothing.
///
/// # Errors
/// `file.read_failed`, `file.write_failed`.
pub(super) fn remove(dir: &OutputDir, path: &str, is_ours: impl Fn(&[u8]) -> bool) -> Result<Option<bool>> {
    let mut walker = Walker::new(dir, false);
    let shown = dir.shown(path);
    let Some((parent, name)) = walker.parent(path)? else { return Ok(None) };
    let mut content = Vec::new();
    match look(&*parent, name, &shown) {
        Ok(None) => return Ok(None),
        Ok(Some(_)) => {}
        Err(_) => return Ok(Some(false)),
    }
    if !read_file(&*parent, name, &shown, &mut content)? || !is_ours(&content) {
        return Ok(Some(false));
    }
    rustix::fs::unlinkat(&*parent, name, AtFlags::empty()).map_err(|error| cannot("remove", &shown, &error.into()))?;
    let mut below = path;
    while let Some((directory, _)) = below.rsplit_once('/') {
        let Some((parent, name)) = walker.parent(directory)? else { break };
        if rustix::fs::unlinkat(&*parent, name, AtFlags::REMOVEDIR).is_err() {
            break;
        }
        below = directory;
    }
    Ok(Some(true))
}

/// Writes one file that is not part of a fleet: its old content or `bytes` in full. The file itself may not
/// be a symbolic link.
///
/// # Errors
/// `file.write_failed`, `file.symbolic_link`.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<Change> {
    let mut file = StreamFile::create(path)?;
    std::io::Write::write_all(&mut file, bytes).map_err(|error| cannot("write", path, &error))?;
    file.finish()
}

pub(super) struct There {
    pub(super) size: u64,
    pub(super) mode: Mode,
}

/// The regular file that is there. Anything else in its place is an error.
pub(super) fn look(parent: impl AsFd, name: &str, shown: &Path) -> Result<Option<There>> {
    let stat = match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(cannot("write", shown, &error.into())),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
            Ok(Some(There { size, mode: Mode::from_raw_mode(stat.st_mode & 0o777) }))
        }
        FileType::Symlink => Err(through_link(shown, name)),
        FileType::Directory => Err(not_a_file(shown, "a directory")),
        _ => Err(not_a_file(shown, "no regular file")),
    }
}

fn not_a_file(shown: &Path, what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot write: there is {what} in the place of an output"))
        .with_note(format!("path: {}", shown.display()))
}

/// Reads a whole file into `to`; false where it is not there any more.
pub(super) fn read_file(parent: impl AsFd, name: &str, shown: &Path, to: &mut Vec<u8>) -> Result<bool> {
    to.clear();
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(parent, name, flags, Mode::empty()) {
        Ok(file) => std::fs::File::from(file),
        Err(Errno::NOENT) => return Ok(false),
        Err(error) => return Err(cannot("read", shown, &error.into())),
    };
    std::io::Read::read_to_end(&mut &file, to).map_err(|error| cannot("read", shown, &error))?;
    Ok(true)
}

fn write_all(file: impl AsFd, mut bytes: &[u8]) -> std::result::Result<(), Errno> {
    while !bytes.is_empty() {
        match rustix::io::write(&file, bytes) {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => bytes = bytes.get(written..).unwrap_or(&[]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn staged_files_appear_together_or_not_at_all() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut writer = Writer::new(&dir, true);
        writer.stage("a/x", b"1").unwrap();
        writer.stage("b/y", b"2").unwrap();
        assert!(!temp.path().join("a/x").exists());
        writer.commit().unwrap();
        assert_eq!(fs::read(temp.path().join("b/y")).unwrap(), b"2");
        fs::create_dir(temp.path().join("b/z")).unwrap();
        writer.stage("a/x", b"new").unwrap();
        assert_eq!(writer.stage("b/z", b"3").unwrap_err().code, Code::WriteFailed);
        writer.commit().unwrap();
        assert_eq!(fs::read(temp.path().join("a/x")).unwrap(), b"1");
        assert_eq!(fs::read_dir(temp.path().join("a")).unwrap().count(), 1);
    }

    #[test]
    fn unchanged_content_is_not_rewritten_and_the_mode_stays() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("x");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o754)).unwrap();
        let before = fs::metadata(&file).unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut writer = Writer::new(&dir, false);
        assert_eq!(writer.stage("x", b"old").unwrap(), Change::Unchanged);
        writer.commit().unwrap();
        assert_eq!(fs::metadata(&file).unwrap().ino(), before.ino());
        assert_eq!(writer.stage("x", b"new").unwrap(), Change::Update);
        writer.commit().unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o754);
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_link_in_the_place_of_an_output_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("victim"), "keep").unwrap();
        fs::create_dir(temp.path().join("out")).unwrap();
        symlink("../victim", temp.path().join("out/x")).unwrap();
        let dir = OutputDir::create(&temp.path().join("out")).unwrap();
        assert_eq!(Writer::new(&dir, false).stage("x", b"new").unwrap_err().code, Code::SymbolicLink);
        assert_eq!(Reader::new(Some(&dir)).compare("x", b"keep").unwrap_err().code, Code::SymbolicLink);
        assert_eq!(write_file(&temp.path().join("out/x"), b"new").unwrap_err().code, Code::SymbolicLink);
        assert_eq!(fs::read(temp.path().join("victim")).unwrap(), b"keep");
    }

    #[test]
    fn removing_looks_at_the_content_and_takes_empty_directories_along() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut writer = Writer::new(&dir, false);
        writer.stage("a/b/x", b"1").unwrap();
        writer.stage("a/y", b"2").unwrap();
        writer.commit().unwrap();
        drop(writer);
        assert_eq!(remove(&dir, "a/b/x", |content| content == b"other").unwrap(), Some(false));
        assert_eq!(remove(&dir, "a/b/x", |content| content == b"1").unwrap(), Some(true));
        assert!(!temp.path().join("a/b").exists() && temp.path().join("a/y").exists());
        assert_eq!(remove(&dir, "a/y", |_| true).unwrap(), Some(true));
        assert!(!temp.path().join("a").exists());
        assert_eq!(remove(&dir, "a/y", |_| true).unwrap(), None);
    }
}
