//! The seal of a backup: a digest of the whole file at its end. SQLite reads a file up to the size in its header, so a
//! sealed file is a database as before.

use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use dropforge::files;

/// The start of a seal.
const MARK: &[u8; 8] = b"dfcgseal";
/// The length of a seal. That of a database is a multiple of its page size, so the length tells which file has one.
const SEAL: u64 = 40;
/// The smallest page size.
const PAGE: u64 = 512;
/// The length of the header of a database.
const HEADER: u64 = 100;

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

/// Compares a file with its seal. Returns `None` if it has none: it is no backup, or an old one. A file that is shorter than
/// its pages was cut, and with it the seal: SQLite reads it with an empty last page.
pub(super) fn check_seal(path: &Path) -> io::Result<Option<bool>> {
    let mut file = files::open(path)?;
    let length = file.metadata()?.len();
    let wanted = length_in_header(&mut file)?;
    match length % PAGE {
        SEAL => {}
        0 if wanted.is_none_or(|wanted| length >= wanted) => return Ok(None),
        _ => return Ok(wanted.map(|_| false)),
    }
    let expected = digest(&mut (&mut file).take(length - SEAL))?;
    let mut seal = Vec::new();
    file.seek(SeekFrom::Start(length - SEAL))?;
    file.take(SEAL).read_to_end(&mut seal)?;
    Ok(Some(seal == [&MARK[..], &expected].concat()))
}

/// Returns the length that the header of a database tells: the size of its pages and their number. `None` for another file.
fn length_in_header(file: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
    let mut header = Vec::new();
    file.take(HEADER).read_to_end(&mut header)?;
    file.seek(SeekFrom::Start(0))?;
    let number = |at: Range<usize>| {
        header.get(at).unwrap_or(&[]).iter().fold(0, |number, byte| (number << 8) | u64::from(*byte))
    };
    // The largest size does not fit.
    let page = if number(16..18) == 1 { 1 << 16 } else { number(16..18) };
    Ok(header.starts_with(b"SQLite format 3\0").then(|| page * number(28..32)))
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

    #[test]
    fn a_file_that_was_cut_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cut");
        let mut pages = vec![0; 4 * 512];
        pages[..18].copy_from_slice(b"SQLite format 3\0\x02\0");
        pages[31] = 4;
        std::fs::write(&path, &pages).unwrap();
        assert_eq!(check_seal(&path).unwrap(), None);
        Seal.put(&path).unwrap();
        assert_eq!(check_seal(&path).unwrap(), Some(true));
        let sealed = std::fs::read(&path).unwrap();
        for length in (0..sealed.len()).filter(|length| *length != pages.len()) {
            std::fs::write(&path, &sealed[..length]).unwrap();
            // Less than the name of the format is no database.
            let wanted = if length < 16 { None } else { Some(false) };
            assert_eq!(check_seal(&path).unwrap(), wanted, "{length} bytes");
        }
    }
}
