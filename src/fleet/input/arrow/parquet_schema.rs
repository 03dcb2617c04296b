//! The depth of the schema in the footer of a Parquet file. Its reader calls itself for each level, so a schema of many
//! levels would end the process.

use std::fs::File;
use std::os::unix::fs::FileExt;

use arrow_schema::ArrowError;

/// Maximum number of levels. A list has three.
const MAX_LEVELS: usize = 128;
/// The length of the footer and the magic number, at the end of a file.
const TAIL: u64 = 8;

/// Types of Thrift's compact encoding.
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Checks that the schema of a Parquet file does not nest too deep. Other faults are found by the reader.
///
/// # Errors
/// An error for more than 128 levels; errors of reading the file.
pub(super) fn check(file: &File) -> Result<(), ArrowError> {
    let Some(end) = file.metadata()?.len().checked_sub(TAIL) else { return Ok(()) };
    let mut tail = [0; 4];
    file.read_exact_at(&mut tail, end)?;
    let Some(start) = end.checked_sub(u64::from(u32::from_le_bytes(tail))) else { return Ok(()) };
    let mut footer = vec![0; usize::try_from(end - start).unwrap_or(0)];
    file.read_exact_at(&mut footer, start)?;
    match levels(&footer) {
        Some(levels) if levels > MAX_LEVELS => {
            Err(ArrowError::ParquetError(format!("the schema nests too deep: the limit is {MAX_LEVELS} levels")))
        }
        _ => Ok(()),
    }
}

/// Returns the number of levels of the schema in a footer. `None` if it cannot be read.
fn levels(footer: &[u8]) -> Option<usize> {
    let mut compact = Compact { rest: footer };
    let mut field = 0;
    loop {
        match compact.field(&mut field)? {
            (2, LIST) => break,
            (_, kind) => compact.skip(kind)?,
        }
    }
    let (count, _) = compact.list()?;
    // The number of children to come of each group that is open.
    let (mut open, mut deepest) = (Vec::new(), 0);
    for _ in 0..count {
        let children = compact.children()?;
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > 0 {
            open.push(children);
            deepest = deepest.max(open.len());
        }
        if deepest > MAX_LEVELS {
            break;
        }
    }
    Some(deepest)
}

/// A reader of Thrift's compact encoding.
struct Compact<'b> {
    rest: &'b [u8],
}

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads the head of a field: its number and type. The type is 0 at the end of a struct.
    fn field(&mut self, last: &mut u64) -> Option<(u64, u8)> {
        let head = self.byte()?;
        *last = match (head & 0x0f, u64::from(head >> 4)) {
            (0, _) => return Some((0, 0)),
            (_, 0) => self.number()? >> 1,
            (_, more) => last.checked_add(more)?,
        };
        Some((*last, head & 0x0f))
    }

    /// Reads the head of a list: the number and type of its items.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
        Some((count, head & 0x0f))
    }

    /// Reads a schema element. Returns the number of its children.
    fn children(&mut self) -> Option<u64> {
        let (mut field, mut children) = (0, 0);
        loop {
            match self.field(&mut field)? {
                (_, 0) => return Some(children),
                (5, 5) => children = u64::try_from(self.signed()?).unwrap_or(0),
                (_, kind) => self.skip(kind)?,
            }
        }
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Skips a value, without the stack: structs may nest.
    fn skip(&mut self, kind: u8) -> Option<()> {
        // The structs and lists that are open: a number of values of a type, or the last field of a struct.
        let mut open = vec![Open::Values(1, kind)];
        while let Some(top) = open.last_mut() {
            let kind = match top {
                Open::Values(0, _) => {
                    open.pop();
                    continue;
                }
                Open::Values(left, kind) => {
                    *left -= 1;
                    *kind
                }
                Open::Fields(last) => match self.field(last)? {
                    (_, 0) => {
                        open.pop();
                        continue;
                    }
                    // A boolean is in the type of its field.
                    (_, 1 | 2) => continue,
                    (_, kind) => kind,
                },
            };
            match kind {
                1..=3 => drop(self.byte()?),
                4..=6 => drop(self.number()?),
                7 => self.rest = self.rest.get(8..)?,
                BINARY => {
                    let length = usize::try_from(self.number()?).ok()?;
                    self.rest = self.rest.get(length..)?;
                }
                LIST | SET => {
                    let (count, kind) = self.list()?;
                    open.push(Open::Values(count, kind));
                }
                MAP => return None,
                STRUCT => open.push(Open::Fields(0)),
                _ => return None,
            }
        }
        Some(())
    }
}

/// A list or struct that is being skipped.
enum Open {
    Values(u64, u8),
    Fields(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a footer with a chain of groups below each other, and a leaf.
    fn chain(groups: usize) -> Vec<u8> {
        // The version, then a list of structs.
        let mut bytes = vec![0x15, 0x02, 0x19, 0xfc];
        let mut count = groups + 1;
        while count >= 0x80 {
            bytes.push((count & 0x7f) as u8 | 0x80);
            count >>= 7;
        }
        bytes.push(count as u8);
        for _ in 0..groups {
            // A repetition type, a name, one child.
            bytes.extend([0x35, 0x02, 0x18, 0x01, b'a', 0x15, 0x02, 0x00]);
        }
        bytes.extend([0x15, 0x02, 0x25, 0x02, 0x18, 0x01, b'a', 0x00]);
        bytes
    }

    #[test]
    fn levels_are_counted() {
        assert_eq!(levels(&chain(1)), Some(1));
        assert_eq!(levels(&chain(20)), Some(20));
        assert_eq!(levels(&chain(128)), Some(128));
        assert_eq!(levels(&chain(100_000)), Some(129));
        let whole = chain(20);
        assert!((0..whole.len()).all(|cut| levels(&whole[..cut]).is_none()));
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..2_000 {
            let mut changed = whole.clone();
            (0..3).for_each(|_| changed[random.usize(..whole.len())] = random.u8(..));
            assert!(levels(&changed).is_none_or(|levels| levels <= 20));
        }
    }
}
