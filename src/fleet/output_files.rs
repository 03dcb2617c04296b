//! Reading and atomic writing of files below an output directory.
//!
//! The files of a cluster are first staged as temporary files in their directories, then renamed together. A path
//! therefore has its old or its new content, never a part of it. Unchanged files are not written. A new file replaces
//! no file that appeared while it was staged, unless by force.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::rc::Rc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::last_run::print;
use super::output_dir::{Handle, OutputDir, Walker, cannot, kind_of, through_link};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Passes on a content part by part.
pub(crate) type WriteParts<'w> = &'w mut dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;

/// The effect of an output on its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file did not exist.
    Create,
    /// The file had different content.
    Update,
    /// The file already has this content.
    Unchanged,
}

/// Writes files below an [`OutputDir`]. Each thread has its own writer.
///
/// ```
/// # let temp = tempfile::tempdir().unwrap();
/// use dropforge::bulk::{Change, OutputDir, OutputWriter};
/// let dir = OutputDir::create(&temp.path().join("out")).unwrap();
/// let mut writer = OutputWriter::new(&dir, false);
/// assert_eq!(writer.stage("eu-1/app.yaml", b"a: 1\n").unwrap(), Change::Create);
/// writer.commit().unwrap();
/// assert_eq!(writer.stage("eu-1/app.yaml", b"a: 1\n").unwrap(), Change::Unchanged);
/// ```
#[derive(Debug)]
pub struct OutputWriter<'d> {
    walker: Walker<'d>,
    fsync: bool,
    force: bool,
    staged: Vec<Staged>,
    old: Vec<u8>,
    /// The sum of the prints of all files that were staged, or that had their content already.
    prints: u128,
}

#[derive(Debug)]
struct Staged {
    /// `true` if there was no file.
    is_new: bool,
    parent: Rc<Handle>,
    temporary: String,
    /// The path below the output directory.
    path: String,
}

impl<'d> OutputWriter<'d> {
    /// Creates a writer. With `fsync` it syncs files and directories to disk.
    pub fn new(dir: &'d OutputDir, fsync: bool) -> Self {
        Self { walker: Walker::new(dir, true), fsync, force: false, staged: Vec::new(), old: Vec::new(), prints: 0 }
    }

    /// Returns the sum of the prints of all files so far.
    pub(super) fn prints(&self) -> u128 {
        self.prints
    }

    /// Replaces files even if they appeared while their content was staged.
    pub(super) fn forced(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Writes the new content of `path` to a temporary file, unless the file already has this content.
    ///
    /// # Errors
    /// `file.write_failed`, `file.symbolic_link`. Discards everything staged.
    pub fn stage(&mut self, path: &str, bytes: &[u8]) -> Result<Change> {
        self.stage_as(path, bytes, false)
    }

    /// Works like [`OutputWriter::stage`]. An `executable` file may be executed by its owner; otherwise an existing file
    /// keeps its mode.
    ///
    /// # Errors
    /// Same as [`OutputWriter::stage`].
    pub fn stage_as(&mut self, path: &str, bytes: &[u8], executable: bool) -> Result<Change> {
        let result = self.try_stage(path, bytes, executable);
        if result.is_err() {
            self.discard();
        }
        result
    }

    fn try_stage(&mut self, path: &str, bytes: &[u8], executable: bool) -> Result<Change> {
        let Some((parent, name)) = self.walker.parent(path)? else { return Ok(Change::Unchanged) };
        let dir = self.walker.dir;
        let existing = match parent.fresh.get() {
            true => None,
            false => existing_file(&*parent, name, &dir.full_path(path))?,
        };
        let owner = if executable { Mode::XUSR } else { Mode::empty() };
        if let Some(stat) = &existing
            && mode_of(stat).contains(owner)
            && u64::try_from(stat.st_size).is_ok_and(|size| size == bytes.len() as u64)
            && read_file(&*parent, name, &dir.full_path(path), &mut self.old)?
            && self.old == bytes
        {
            self.prints = self.prints.wrapping_add(print(path, stat));
            return Ok(Change::Unchanged);
        }
        let mode = existing.as_ref().map_or(Mode::from_raw_mode(0o666), mode_of) | owner;
        let fail = |error: io::Error| cannot("write", &dir.full_path(path), error);
        let (mut file, temporary) = dir.temporary(&*parent, path, mode).map_err(|error| fail(error.into()))?;
        self.staged.push(Staged { is_new: existing.is_none(), parent, temporary, path: path.to_owned() });
        file.write_all(bytes).map_err(fail)?;
        if existing.is_some() {
            // The umask masked the mode of the existing file.
            rustix::fs::fchmod(&file, mode).map_err(|error| fail(error.into()))?;
        }
        if self.fsync {
            file.sync_all().map_err(fail)?;
        }
        let stat = rustix::fs::fstat(&file).map_err(|error| fail(error.into()))?;
        self.prints = self.prints.wrapping_add(print(path, &stat));
        Ok(if existing.is_some() { Change::Update } else { Change::Create })
    }

    /// Works like [`OutputWriter::stage`] for content of any length, which `write` passes on part by part.
    ///
    /// # Errors
    /// Same as [`OutputWriter::stage`]; errors of `write`. Discards everything staged.
    pub(super) fn stage_with(&mut self, path: &str, write: WriteParts<'_>) -> Result<Change> {
        let result = self.try_stage_with(path, write);
        if result.is_err() {
            self.discard();
        }
        result
    }

    fn try_stage_with(&mut self, path: &str, write: WriteParts<'_>) -> Result<Change> {
        let Some((parent, name)) = self.walker.parent(path)? else { return Ok(Change::Unchanged) };
        let (dir, parent) = (self.walker.dir, parent.clone());
        let full = dir.full_path(path);
        let fail = |error: io::Error| cannot("write", &full, error);
        let existing = existing_file(&*parent, name, &full)?;
        let mode = existing.as_ref().map_or(Mode::from_raw_mode(0o666), mode_of);
        let (mut file, temporary) = dir.temporary(&*parent, path, mode).map_err(|error| fail(error.into()))?;
        let staged = Staged { is_new: existing.is_none(), parent: parent.clone(), temporary, path: path.to_owned() };
        let open = |name: &str| open_file(&*parent, name).map_err(io::Error::from);
        let new = open(&staged.temporary).map_err(fail)?;
        self.staged.push(staged);
        write(&mut |bytes| file.write_all(bytes).map_err(fail))?;
        if existing.is_some() && same_content(new, open(name).map_err(fail)?).map_err(fail)? {
            self.discard();
            return Ok(Change::Unchanged);
        }
        if existing.is_some() {
            rustix::fs::fchmod(&file, mode).map_err(|error| fail(error.into()))?;
        }
        if self.fsync {
            file.sync_all().map_err(fail)?;
        }
        Ok(if existing.is_some() { Change::Update } else { Change::Create })
    }

    /// Renames all staged files to their paths.
    ///
    /// # Errors
    /// `file.write_failed`; `plan.foreign_file` if a file appeared where there was none. Files not yet renamed keep their
    /// old content.
    pub fn commit(&mut self) -> Result<()> {
        self.commit_counted().1
    }

    /// Works like [`OutputWriter::commit`]. Also returns the number of files that were renamed, in the order of staging.
    pub(super) fn commit_counted(&mut self) -> (usize, Result<()>) {
        self.walker.dir.used();
        self.rename_all()
    }

    /// Works like [`OutputWriter::commit_counted`], for files that are no outputs.
    pub(super) fn rename_all(&mut self) -> (usize, Result<()>) {
        self.staged.reverse();
        let all = self.staged.len();
        let mut synced: Vec<Rc<Handle>> = Vec::new();
        while let Some(staged) = self.staged.last() {
            if let Err(error) = self.rename(staged) {
                let full = self.walker.dir.full_path(&staged.path);
                let renamed = all - self.staged.len();
                self.discard();
                let is_foreign = error == Errno::EXIST && !self.force;
                return (renamed, Err(if is_foreign { appeared(&full) } else { cannot("write", &full, error.into()) }));
            }
            staged.parent.fresh.set(false);
            if let Some(staged) = self.staged.pop()
                && self.fsync
                && !synced.iter().any(|handle| Rc::ptr_eq(handle, &staged.parent))
            {
                synced.push(staged.parent);
            }
        }
        let fail = |error: Errno| cannot("write", Path::new("a directory"), error.into());
        (all, synced.iter().try_for_each(|handle| rustix::fs::fsync(&**handle).map_err(fail)))
    }

    fn rename(&self, staged: &Staged) -> std::result::Result<(), Errno> {
        let (parent, name) = (&*staged.parent, staged.path.rsplit('/').next().unwrap_or(""));
        let replace = || rustix::fs::renameat(parent, &staged.temporary, parent, name);
        if !staged.is_new || self.force {
            return replace();
        }
        match rustix::fs::renameat_with(parent, &staged.temporary, parent, name, RenameFlags::NOREPLACE) {
            // Some file systems cannot do this at once.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match kind_of(parent, name) {
                Some(_) => self.adopt(staged, name),
                None => replace(),
            },
            Err(Errno::EXIST) => self.adopt(staged, name),
            done => done,
        }
    }

    /// Keeps a file that appeared with the same content, as that of another run of the same shard does.
    fn adopt(&self, staged: &Staged, name: &str) -> std::result::Result<(), Errno> {
        let parent = &*staged.parent;
        let is_same = same_content(open_file(parent, &staged.temporary)?, open_file(parent, name)?);
        match is_same {
            Ok(true) => rustix::fs::unlinkat(parent, &staged.temporary, AtFlags::empty()),
            Ok(false) | Err(_) => Err(Errno::EXIST),
        }
    }

    /// Removes all staged files.
    pub fn discard(&mut self) {
        for staged in self.staged.drain(..) {
            // The next run sweeps files that cannot be removed now.
            let _ = rustix::fs::unlinkat(&*staged.parent, &staged.temporary, AtFlags::empty());
        }
    }
}

impl Drop for OutputWriter<'_> {
    fn drop(&mut self) {
        self.discard();
    }
}

/// Returns the error of a file that dropforge did not write and that appeared during the run.
pub(super) fn appeared(full: &Path) -> Box<Diagnostic> {
    Diagnostic::new(Code::ForeignFile, "the file appeared during the run, and dropforge did not write it")
        .with_note(format!("path: {}", full.display()))
        .with_help("move it, or overwrite it with `--force`")
}

/// Reads files below an [`OutputDir`]. Each thread has its own reader.
#[derive(Debug)]
pub struct OutputReader<'d> {
    walker: Walker<'d>,
    /// The last directory that [`OutputReader::exists`] did not find. The files of a cluster are in one directory.
    missing: Option<String>,
    old: Vec<u8>,
}

impl<'d> OutputReader<'d> {
    /// Creates a reader.
    pub fn new(dir: &'d OutputDir) -> Self {
        Self { walker: Walker::new(dir, false), missing: None, old: Vec::new() }
    }

    /// Returns `true` if there is a regular file at `path`.
    pub(super) fn exists(&mut self, path: &str) -> bool {
        let directory = path.rsplit_once('/').map(|(directory, _)| directory);
        if directory.is_some() && directory == self.missing.as_deref() {
            return false;
        }
        match self.walker.parent(path) {
            Ok(Some((parent, name))) => kind_of(&*parent, name) == Some(FileType::RegularFile),
            // Writing reports the error.
            Err(_) => false,
            Ok(None) => {
                self.missing = directory.map(str::to_owned);
                false
            }
        }
    }

    /// Reads the file at `path` if it exists.
    ///
    /// # Errors
    /// `file.read_failed`; also `file.symbolic_link` and `file.write_failed` if writing to `path` would fail.
    pub fn read(&mut self, path: &str) -> Result<Option<&[u8]>> {
        Ok(self.read_with_mode(path)?.map(|(content, _)| content))
    }

    /// Works like [`OutputReader::read`]. Also returns `true` if the owner may execute the file.
    ///
    /// # Errors
    /// Same as [`OutputReader::read`].
    pub(super) fn read_with_mode(&mut self, path: &str) -> Result<Option<(&[u8], bool)>> {
        let full = self.walker.dir.full_path(path);
        let Some((parent, name)) = self.walker.parent(path)? else { return Ok(None) };
        let Some(stat) = existing_file(&*parent, name, &full)? else { return Ok(None) };
        let mode = mode_of(&stat);
        let executable = mode.contains(Mode::XUSR);
        Ok(read_file(&*parent, name, &full, &mut self.old)?.then_some((&self.old, executable)))
    }
}

/// Removes the file at `path` if `is_ours` returns `true` for its content, then its directories that are now empty.
/// Returns `Some(true)` if it was removed and `None` if it did not exist.
///
/// # Errors
/// `file.read_failed`, `file.write_failed`.
pub(super) fn remove(dir: &OutputDir, path: &str, is_ours: impl Fn(&[u8]) -> bool) -> Result<Option<bool>> {
    let mut walker = Walker::new(dir, false);
    let full = dir.full_path(path);
    let Some((parent, name)) = walker.parent(path)? else { return Ok(None) };
    let mut content = Vec::new();
    match existing_file(&*parent, name, &full) {
        Ok(None) => return Ok(None),
        Ok(Some(_)) => {}
        Err(_) => return Ok(Some(false)),
    }
    if !read_file(&*parent, name, &full, &mut content)? || !is_ours(&content) {
        return Ok(Some(false));
    }
    drop(parent);
    unlink(dir, path).map(|()| Some(true))
}

/// Removes the file at `path`, if it exists, then its directories that are now empty.
///
/// # Errors
/// `file.write_failed`.
pub(super) fn unlink(dir: &OutputDir, path: &str) -> Result<()> {
    let mut walker = Walker::new(dir, false);
    let Some((parent, name)) = walker.parent(path)? else { return Ok(()) };
    match rustix::fs::unlinkat(&*parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(cannot("remove", &dir.full_path(path), error.into())),
    }
    let mut below = path;
    while let Some((directory, _)) = below.rsplit_once('/') {
        let Some((parent, name)) = walker.parent(directory)? else { break };
        if rustix::fs::unlinkat(&*parent, name, AtFlags::REMOVEDIR).is_err() {
            break;
        }
        below = directory;
    }
    Ok(())
}

/// Returns the size and mode of a regular file, or `None` if there is no file. Anything else at the path is an error.
pub(super) fn existing_file(parent: impl AsFd, name: &str, full: &Path) -> Result<Option<Stat>> {
    let stat = match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(cannot("write", full, error.into())),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Some(stat)),
        FileType::Symlink => Err(through_link(full, name)),
        FileType::Directory => Err(not_a_file(full, "a directory")),
        _ => Err(not_a_file(full, "not a regular file")),
    }
}

/// Returns the permissions of a file.
pub(super) fn mode_of(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode & 0o777)
}

fn not_a_file(full: &Path, what: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot write: the output path is {what}"))
        .with_note(format!("path: {}", full.display()))
}

/// Opens a regular file for reading, if it exists.
///
/// # Errors
/// `file.read_failed`; `file.symbolic_link`, `file.write_failed` for anything else.
pub(super) fn open_existing(dir: &OutputDir, name: &str) -> Result<Option<File>> {
    let (full, mut walker) = (dir.full_path(name), Walker::new(dir, false));
    let Some((parent, name)) = walker.parent(name)? else { return Ok(None) };
    match existing_file(&*parent, name, &full)? {
        Some(_) => open_file(&*parent, name).map(Some).map_err(|error| cannot("read", &full, error.into())),
        None => Ok(None),
    }
}

/// Returns `true` if both files have the same content.
pub(super) fn same_content(mut new: File, mut old: File) -> io::Result<bool> {
    if new.metadata()?.len() != old.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (Vec::new(), Vec::new());
    loop {
        one.clear();
        other.clear();
        (&mut new).take(1 << 16).read_to_end(&mut one)?;
        (&mut old).take(1 << 16).read_to_end(&mut other)?;
        if one != other || one.is_empty() {
            return Ok(one == other);
        }
    }
}

/// Opens a file for reading. Does not follow links and does not block on pipes.
pub(super) fn open_file(parent: impl AsFd, name: &str) -> std::result::Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty()).map(File::from)
}

/// Reads a whole file into `to`. Returns `false` if it no longer exists.
fn read_file(parent: impl AsFd, name: &str, full: &Path, to: &mut Vec<u8>) -> Result<bool> {
    to.clear();
    let unreadable = |error: io::Error| cannot("read", full, error);
    match open_file(parent, name) {
        Ok(mut file) => file.read_to_end(to).map(|_| true).map_err(unreadable),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(unreadable(error.into())),
    }
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
        let mut writer = OutputWriter::new(&dir, true);
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
    fn a_file_that_appears_is_not_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        for (force, content) in [(false, "mine"), (true, "2")] {
            let mut writer = OutputWriter::new(&dir, false).forced(force);
            for (path, text) in [("a", "1"), ("b", "2"), ("c", "3")] {
                writer.stage(path, text.as_bytes()).unwrap();
            }
            fs::write(temp.path().join("b"), "mine").unwrap();
            let (renamed, result) = writer.commit_counted();
            assert_eq!(
                (renamed, result.map_err(|error| error.code)),
                match force {
                    false => (1, Err(Code::ForeignFile)),
                    true => (2, Ok(())),
                }
            );
            assert_eq!(fs::read_to_string(temp.path().join("b")).unwrap(), content);
            // Nothing staged is left, and `a` was the same the second time.
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), if force { 3 } else { 2 });
            fs::remove_file(temp.path().join("b")).unwrap();
        }
    }

    #[test]
    fn a_file_that_appears_with_the_same_content_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut writer = OutputWriter::new(&dir, false);
        writer.stage("a", b"1").unwrap();
        fs::write(temp.path().join("a"), "1").unwrap();
        let before = fs::metadata(temp.path().join("a")).unwrap().ino();
        writer.commit().unwrap();
        assert_eq!(fs::metadata(temp.path().join("a")).unwrap().ino(), before);
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn unchanged_content_is_not_rewritten_and_the_mode_stays() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("x");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o754)).unwrap();
        let before = fs::metadata(&file).unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut writer = OutputWriter::new(&dir, false);
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
        assert_eq!(OutputWriter::new(&dir, false).stage("x", b"new").unwrap_err().code, Code::SymbolicLink);
        assert_eq!(OutputReader::new(&dir).read("x").unwrap_err().code, Code::SymbolicLink);
        assert_eq!(fs::read(temp.path().join("victim")).unwrap(), b"keep");
    }

    #[test]
    fn removing_looks_at_the_content_and_takes_empty_directories_along() {
        let temp = tempfile::tempdir().unwrap();
        let dir = OutputDir::create(temp.path()).unwrap();
        let mut writer = OutputWriter::new(&dir, false);
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
