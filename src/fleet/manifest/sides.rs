//! The two manifests in one with the markers of a merge conflict.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use super::{BUFFER, FromStart};

/// The part of a conflict that belongs to neither side.
const BASE: usize = 2;

/// Returns both sides. Without conflicts they are what the file is.
///
/// # Errors
/// Errors of reading, and of the temporary files.
pub(super) fn sides(file: &File) -> io::Result<[File; 2]> {
    let mut sides = [BufWriter::new(tempfile::tempfile()?), BufWriter::new(tempfile::tempfile()?)];
    let mut within = None;
    for line in BufReader::with_capacity(BUFFER, FromStart { file, at: 0 }).split(b'\n') {
        let line = line?;
        match line.get(..7) {
            Some(b"<<<<<<<") => within = Some(0),
            Some(b"|||||||") => within = Some(BASE),
            Some(b"=======") => within = Some(1),
            Some(b">>>>>>>") => within = None,
            _ => {
                let wanted = sides.iter_mut().enumerate().filter(|(at, _)| within.is_none_or(|side| side == *at));
                for (_, side) in wanted {
                    side.write_all(&line)?;
                    side.write_all(b"\n")?;
                }
            }
        }
    }
    let [ours, theirs] = sides.map(BufWriter::into_inner);
    Ok([ours?, theirs?])
}
