//! One file that is written as a stream and takes its place only when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

use super::tree::{OutputDir, cannot};
use super::write::{Change, look};
use crate::diagnostics::{Code, Diagnostic, Result};

/// A file under construction. Dropped before [`StreamFile::finish`], it leaves the old file as it was.
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
    /// `None` for a device or a pipe, which is written to as it is.
    place: Option<Place>,
}

#[derive(Debug)]
struct Place {
    dir: OutputDir,
    name: String,
    temporary: String,
    /// The mode of the file that is there.
    mode: Option<Mode>,
}

impl StreamFile {
    /// Begins to write `path`. The file may not be a symbolic link; its directory must be there.
    ///
    /// # Errors
    /// `file.write_failed`, `file.symbolic_link`.
    pub fn create(path: &Path) -> Result<Self> {
        let fail = |error: io::Error| cannot("write", path, &error);
        let kind = std::fs::metadata(path).map(|meta| meta.file_type());
        if kind.is_ok_and(|kind| kind.is_char_device() || kind.is_fifo()) {
            let file = File::options().write(true).open(path).map_err(fail)?;
            return Ok(Self { file: BufWriter::new(file), path: path.to_owned(), place: None });
        }
        let (directory, name) = match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
            (Some(parent), Some(name)) if parent.as_os_str().is_empty() => (Path::new("."), name),
            (Some(parent), Some(name)) => (parent, name),
            _ => {
                let message = format!("`{}` is not the name of a file", path.display());
                return Err(Diagnostic::new(Code::WriteFailed, message));
            }
        };
        // The user names this directory as a place to write to, wherever it leads.
        let directory = directory.canonicalize().map_err(fail)?;
        let gone = || cannot("write", path, &io::Error::from(io::ErrorKind::NotFound));
        let dir = OutputDir::open(&directory)?.ok_or_else(gone)?;
        let mode = look(&dir, name, path)?.map(|there| there.mode);
        let created = dir.temporary(&dir, name, mode.unwrap_or(Mode::from_raw_mode(0o666)));
        let (file, temporary) = created.map_err(|error| fail(error.into()))?;
        let place = Place { dir, name: name.to_owned(), temporary, mode };
        Ok(Self { file: BufWriter::new(File::from(file)), path: path.to_owned(), place: Some(place) })
    }

    /// Puts the file in its place, unless the file that is there has the same content.
    ///
    /// # Errors
    /// `file.write_failed`.
    pub fn finish(mut self) -> Result<Change> {
        let fail = |error: io::Error| cannot("write", &self.path, &error);
        self.file.flush().map_err(fail)?;
        let Some(place) = &self.place else { return Ok(Change::Update) };
        if place.mode.is_some() && place.same().map_err(fail)? {
            return Ok(Change::Unchanged);
        }
        if let Some(mode) = place.mode {
            rustix::fs::fchmod(self.file.get_ref(), mode).map_err(|error| fail(error.into()))?;
        }
        rustix::fs::renameat(&place.dir, &place.temporary, &place.dir, &place.name)
            .map_err(|error| fail(error.into()))?;
        Ok(if place.mode.is_some() { Change::Update } else { Change::Create })
    }
}

impl Place {
    /// Whether the new and the old file have the same content.
    fn same(&self) -> io::Result<bool> {
        let open = |name: &str| -> io::Result<File> {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            Ok(File::from(rustix::fs::openat(&self.dir, name, flags, Mode::empty())?))
        };
        let (mut new, mut old) = (open(&self.temporary)?, open(&self.name)?);
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
        if let Some(place) = &self.place {
            // After a rename there is nothing of this name; what cannot be removed does no harm.
            let _ = rustix::fs::unlinkat(&place.dir, &place.temporary, AtFlags::empty());
        }
    }
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
    }
}
