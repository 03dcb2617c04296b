//! The seal of a backup: a digest of the whole file at its end. SQLite reads a file up to the size in its header, so a
//! sealed file is a database as before.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use dropforge::files;

/// The start of a seal.
const MARK: &[u8; 8] = b"dfcgseal";
/// The length of a seal. That of a database is a multiple of its page size, so the length tells which file has one.
const SEAL: u64 = 40;
/// The smallest page size.
const PAGE: u64 = 512;

/// Seals a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seal;

impl Seal {
    /// Appends the digest to a file.
    pub(super) fn put(self, path: &Path) -> io::Result<()> {
        let digest = digest(&mut files::open(path)?)?;
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(&[&MARK[..], &digest].concat())
    }
}

/// Compares a file with its seal. Returns `None` if it has none: it is no backup, or an old one.
pub(super) fn check_seal(path: &Path) -> io::Result<Option<bool>> {
    let mut file = files::open(path)?;
    let length = file.metadata()?.len();
    if length % PAGE != SEAL {
        return Ok(None);
    }
    let expected = digest(&mut (&mut file).take(length - SEAL))?;
    let mut seal = Vec::new();
    file.seek(SeekFrom::Start(length - SEAL))?;
    file.take(SEAL).read_to_end(&mut seal)?;
    Ok(Some(seal == [&MARK[..], &expected].concat()))
}

fn digest(read: &mut dyn Read) -> io::Result<[u8; 32]> {
    Ok(*blake3::Hasher::new().update_reader(read)?.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_of_a_sealed_file_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sealed");
        std::fs::write(&path, [7; 512]).unwrap();
        assert_eq!(check_seal(&path).unwrap(), None);
        Seal.put(&path).unwrap();
        assert_eq!(check_seal(&path).unwrap(), Some(true));
        let sealed = std::fs::read(&path).unwrap();
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, flipped).unwrap();
            assert_eq!(check_seal(&path).unwrap(), Some(false), "bit {bit}");
        }
    }
}
