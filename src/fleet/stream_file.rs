//! Single files that replace the old file only once they are complete.

use std::fs::{File, FileType};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode};

use super::hidden_changes::hidden;
use super::job::{FilePreview, Job, OnPreview, Stamp};
use super::output_dir::{OutputDir, cannot};
use super::output_files::{Change, existing_file, mode_of, open_file, same_content};
use super::report::Report;
use super::stamp::stream;
use super::workers::cannot_write;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::mask::Mask;

/// A file that is being written. If it is dropped before [`StreamFile::finish`], the old file stays.
///
/// ```
/// # let temp = tempfile::tempdir().unwrap();
/// # let path = temp.path().join("all.yaml");
/// use std::io::Write;
/// use dropforge::bulk::{Change, StreamFile};
/// let mut file = StreamFile::create(&path).unwrap();
/// file.write_all(b"a: 1\n").unwrap();
/// assert!(!path.exists());
/// assert_eq!(file.finish().unwrap(), Change::Create);
/// assert_eq!(std::fs::read(&path).unwrap(), b"a: 1\n");
/// ```
#[derive(Debug)]
pub struct StreamFile {
    file: BufWriter<File>,
    path: PathBuf,
    /// The file to replace, or `None` for a device or a pipe, which is written directly.
    target: Option<Target>,
}

/// The file to replace and the temporary file next to it.
#[derive(Debug)]
struct Target {
    dir: OutputDir,
    name: String,
    temporary: String,
    /// The mode of the existing file.
    mode: Option<Mode>,
    /// The bits that the file has to have.
    owner: Mode,
}

impl StreamFile {
    /// Starts writing `path`. It must not be a symbolic link, and its directory must exist.
    ///
    /// # Errors
    /// `file.write_failed`, `file.symbolic_link`.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_as(path, false)
    }

    /// Works like [`StreamFile::create`]. An `executable` file may be executed by its owner; otherwise an existing file
    /// keeps its mode.
    ///
    /// # Errors
    /// Same as [`StreamFile::create`].
    pub fn create_as(path: &Path, executable: bool) -> Result<Self> {
        let fail = |error: io::Error| cannot("write", path, error);
        let kind = std::fs::metadata(path).map(|meta| meta.file_type());
        if kind.as_ref().is_ok_and(FileType::is_dir) || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            let message = format!("`{}` names a directory, not a file", path.display());
            return Err(Diagnostic::new(Code::WriteFailed, message).with_help("name a file in it"));
        }
        if kind.is_ok_and(|kind| kind.is_char_device() || kind.is_fifo()) {
            let file = File::options().write(true).open(path).map_err(fail)?;
            return Ok(Self { file: BufWriter::new(file), path: path.to_owned(), target: None });
        }
        let (directory, name) = match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
            (Some(parent), Some(name)) if parent.as_os_str().is_empty() => (Path::new("."), name),
            (Some(parent), Some(name)) => (parent, name),
            _ => {
                let message = format!("`{}` is not a file name", path.display());
                return Err(Diagnostic::new(Code::WriteFailed, message));
            }
        };
        // The user chose this directory, so links on the way to it are followed.
        let directory = directory.canonicalize().map_err(fail)?;
        let gone = || cannot("write", path, io::Error::from(io::ErrorKind::NotFound));
        let dir = OutputDir::open(&directory)?.ok_or_else(gone)?;
        let mode = existing_file(&dir, name, path)?.as_ref().map(mode_of);
        let owner = if executable { Mode::XUSR } else { Mode::empty() };
        let created = dir.temporary(&dir, name, mode.unwrap_or(Mode::from_raw_mode(0o666)) | owner);
        let (file, temporary) = created.map_err(|error| fail(error.into()))?;
        let target = Target { dir, name: name.to_owned(), temporary, mode, owner };
        Ok(Self { file: BufWriter::new(file), path: path.to_owned(), target: Some(target) })
    }

    /// Replaces the old file, unless it has the same content.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub fn finish(mut self) -> Result<Change> {
        let fail = |error: io::Error| cannot("write", &self.path, error);
        self.file.flush().map_err(fail)?;
        let Some(Target { dir, name, temporary, mode, owner }) = &self.target else { return Ok(Change::Update) };
        if let Some(mode) = mode {
            let open = |name: &str| open_file(dir, name).map_err(io::Error::from);
            let is_same = || open(temporary).and_then(|new| same_content(new, open(name)?));
            if mode.contains(*owner) && is_same().map_err(fail)? {
                return Ok(Change::Unchanged);
            }
            rustix::fs::fchmod(self.file.get_ref(), *mode | *owner).map_err(|error| fail(error.into()))?;
        }
        rustix::fs::renameat(dir, temporary, dir, name).map_err(|error| fail(error.into()))?;
        Ok(if mode.is_some() { Change::Update } else { Change::Create })
    }
}

/// Writes one file that is not part of a fleet, atomically, like [`StreamFile::create_as`].
///
/// # Errors
/// `file.write_failed`, `file.symbolic_link`.
pub fn write_file(path: &Path, bytes: &[u8], executable: bool) -> Result<Change> {
    let mut file = StreamFile::create_as(path, executable)?;
    file.write_all(bytes).map_err(|error| cannot("write", path, error))?;
    file.finish()
}

impl Write for StreamFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for StreamFile {
    fn drop(&mut self) {
        if let Some(target) = &self.target {
            // Fails after a rename, and otherwise leaves a harmless file.
            let _ = rustix::fs::unlinkat(&target.dir, &target.temporary, AtFlags::empty());
        }
    }
}

/// Compares a stream with the `old` content of one file or object. Both texts are held in memory.
pub(super) fn compare(
    path: &str,
    old: Option<Vec<u8>>,
    each: OnPreview<'_>,
    (stamp, job): (&dyn Stamp, &Job<'_>),
) -> Result<Report> {
    let mut new = Vec::new();
    let report = stream(stamp, job, &mut new)?;
    let change = match &old {
        Some(old) if *old == new => return Ok(of_one_file(report, Change::Unchanged)),
        Some(_) => Change::Update,
        None => Change::Create,
    };
    let old = old.unwrap_or_default();
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let (old, new) = hidden(&mask_of_all(stamp, job)?, &old, &new);
    each(&FilePreview { path, cluster: "", template: "", change: Some(change), old: &old, new: &new })
        .map_err(cannot_write)?;
    Ok(of_one_file(report, change))
}

/// Returns the secrets of all clusters.
fn mask_of_all(stamp: &dyn Stamp, job: &Job<'_>) -> Result<Mask> {
    if !job.has_secrets(stamp) {
        return Ok(Mask::none());
    }
    let mut read = Ok(());
    let mask = Mask::of_each(|each| {
        read = job.fleet.each(&mut |_, cluster| {
            stamp.each_secret(job.layers, cluster, each);
            Ok(())
        });
    });
    read.map(|()| mask)
}

/// Converts the report of a stream, which counts outputs, to the report of one file.
pub(super) fn of_one_file(report: Report, change: Change) -> Report {
    let count = |other: Change| usize::from(change == other);
    let (created, updated) = (count(Change::Create), count(Change::Update));
    Report { created, updated, unchanged: count(Change::Unchanged), ..report }
}

/// Returns the report of a run that left the file or object at `path` as it was.
pub(super) fn kept_old(path: &str, report: Report) -> Report {
    let warning = format!("kept the old `{path}` because the run is incomplete");
    Report { created: 0, warnings: vec![warning], ..report }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_old_file_stays_until_the_new_one_is_whole() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("all");
        fs::write(&path, "old").unwrap();
        let mut file = StreamFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let before = fs::metadata(&path).unwrap().ino();
        for (content, change) in [("old", Change::Unchanged), ("new", Change::Update)] {
            let mut file = StreamFile::create(&path).unwrap();
            file.write_all(content.as_bytes()).unwrap();
            assert_eq!(file.finish().unwrap(), change);
            assert_eq!(fs::metadata(&path).unwrap().ino() == before, change == Change::Unchanged);
        }
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
        assert_eq!(StreamFile::create(Path::new("/dev/null")).unwrap().finish().unwrap(), Change::Update);
        assert!(StreamFile::create(&temp.path().join("no/such")).is_err());
        for directory in [temp.path(), &temp.path().join("none/")] {
            assert!(StreamFile::create(directory).unwrap_err().message.contains("names a directory"));
        }
        std::os::unix::fs::symlink("all", temp.path().join("link")).unwrap();
        assert_eq!(write_file(&temp.path().join("link"), b"new", false).unwrap_err().code, Code::SymbolicLink);
    }
}
