//! A temporary file beside the file that it will replace. Its lock tells that its process lives: the next copy into the
//! folder removes those of killed ones.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The end of the names of temporary files, after `.` and the name of the file to replace.
const END: &str = ".dropforge-copy.tmp";
/// The end of the name of SQLite's journal.
const JOURNAL: &str = "-journal";
/// Maximum attempts to create a file while others remove it as one of a killed process.
const TRIES: usize = 100;

/// A locked file, which is removed unless it replaces another one.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    file: File,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if leads_to(&self.path, &self.file) {
            remove(&self.path);
        }
    }
}

impl Temporary {
    /// Creates an empty file that only its owner can read.
    ///
    /// # Errors
    /// `WouldBlock` while another process copies to `beside`; errors of the system.
    pub(super) fn create(beside: &Path) -> io::Result<Self> {
        let name = beside.file_name().ok_or(ErrorKind::InvalidInput)?.to_string_lossy();
        let path = beside.with_file_name(format!(".{name}{END}"));
        sweep(folder(&path))?;
        for _ in 0..TRIES {
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) if file.try_lock().is_ok() && leads_to(&path, &file) => return Ok(Self { path, file }),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                // Another process took it for one of a killed one, or has it.
                _ => sweep(folder(&path))?,
            }
        }
        Err(io::Error::new(ErrorKind::WouldBlock, "another process copies to this file"))
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the file in the place of `path`, on disk.
    pub(super) fn replace(self, path: &Path, force: bool) -> io::Result<()> {
        self.file.sync_all()?;
        // A link never replaces a file, not even one that was created a moment ago.
        if force {
            fs::rename(&self.path, path)?;
        } else {
            fs::hard_link(&self.path, path)?;
        }
        File::open(folder(path))?.sync_all()
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes a temporary file and its journal.
fn remove(path: &Path) {
    let mut journal = path.as_os_str().to_owned();
    journal.push(JOURNAL);
    drop(fs::remove_file(journal));
    drop(fs::remove_file(path));
}

fn leads_to(path: &Path, file: &File) -> bool {
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    let (there, here) = (path.symlink_metadata().map(identity), file.metadata().map(identity));
    matches!((there, here), (Ok(there), Ok(here)) if there == here)
}

/// Removes the temporary files of killed processes in a folder.
fn sweep(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with('.')) else { continue };
        let own = name.strip_suffix(JOURNAL).unwrap_or(name);
        let path = folder.join(own);
        if own.ends_with(END) && is_left_over(&path) {
            remove(&path);
        }
    }
    Ok(())
}

/// Returns `true` if no process has the lock of a temporary file, or it is gone and left its journal.
fn is_left_over(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(error) => error.kind() == ErrorKind::NotFound,
        Ok(meta) if !meta.is_file() => false,
        Ok(_) => {
            let Ok(file) = OpenOptions::new().write(true).open(path) else { return false };
            // The lock ends with the file, after which the name is no longer in use.
            file.try_lock().is_ok() && leads_to(path, &file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_killed_processes_go_and_those_of_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let names = || {
            let entries = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        };
        for name in
            [".a.dropforge-copy.tmp", ".a.dropforge-copy.tmp-journal", ".b.dropforge-copy.tmp-journal", ".c.tmp"]
        {
            fs::write(path(name), "left").unwrap();
        }
        let live = Temporary::create(&path("live")).unwrap();
        assert_eq!(names(), [".c.tmp", ".live.dropforge-copy.tmp"]);
        assert_eq!(Temporary::create(&path("live")).unwrap_err().kind(), ErrorKind::WouldBlock);
        let other = Temporary::create(&path("other")).unwrap();
        assert_eq!(names(), [".c.tmp", ".live.dropforge-copy.tmp", ".other.dropforge-copy.tmp"]);
        other.replace(&path("other"), false).unwrap();
        assert_eq!(names(), [".c.tmp", ".live.dropforge-copy.tmp", "other"]);
        assert!(Temporary::create(&path("other")).unwrap().replace(&path("other"), false).is_err());
        drop(live);
        assert_eq!(names(), [".c.tmp", "other"]);
    }
}
