//! Files stored by digest in sixteen directories. A file appears complete, by rename, or not at all.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Digest;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::stdlib::strings::hex;

/// Limits of each of the sixteen directories: files and bytes.
pub(super) const FILES: usize = 256;
const BYTES: u64 = 4 << 20;

/// Maximum size of a file.
const LARGEST: usize = 1 << 20;

#[derive(Debug, Clone)]
pub(super) struct Store {
    dir: PathBuf,
}

impl Store {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Reads the file of a digest, if it exists and is readable.
    pub(super) fn read(&self, digest: &Digest) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = fs::File::open(self.path(digest)).ok()?;
        file.take(LARGEST as u64 + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() <= LARGEST).then_some(bytes)
    }

    /// Writes a file. Failures are ignored.
    pub(super) fn write(&self, digest: &Digest, bytes: &[u8]) {
        let path = self.path(digest);
        let Some(shelf) = path.parent().filter(|_| bytes.len() <= LARGEST) else { return };
        if make_dir(shelf).and_then(|()| replace(&path, shelf, bytes)).is_ok() {
            bound(shelf, &path);
        }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        let hex = hex(digest);
        let (shelf, name) = hex.split_at(1);
        self.dir.join(shelf).join(name)
    }
}

fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Writes a temporary file and renames it, so that no reader sees a partial file, even if the writer dies.
fn replace(path: &Path, shelf: &Path, bytes: &[u8]) -> io::Result<()> {
    let temp = shelf.join(format!(".{:016x}", fastrand::u64(..)));
    let mut file = fs::File::options().write(true).create_new(true).open(&temp)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&temp, path));
    if written.is_err() {
        let _ = fs::remove_file(&temp);
    }
    written
}

/// Removes the oldest files of a directory until it is within its limits, including leftovers of writers that died.
fn bound(shelf: &Path, newest: &Path) {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(shelf).into_iter().flatten().flatten() {
        if let Ok(meta) = entry.metadata().and_then(|meta| Ok((meta.modified()?, meta.len()))) {
            files.push((meta.0, meta.1, entry.path()));
        }
    }
    let (mut count, mut bytes) = (files.len(), files.iter().map(|(_, len, _)| len).sum::<u64>());
    if count <= FILES && bytes <= BYTES {
        return;
    }
    files.small_sort_by(Ord::cmp);
    for (_, len, path) in files.iter().filter(|(_, _, path)| path != newest) {
        if count <= FILES * 3 / 4 && bytes <= BYTES * 3 / 4 {
            return;
        }
        if fs::remove_file(path).is_ok() {
            (count, bytes) = (count - 1, bytes - len);
        }
    }
}
