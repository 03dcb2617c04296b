//! Cells of a CSV or TSV record, and faults of their quotes.

use std::ops::Range;

use super::Format;

/// Returns the delimiter of cells.
pub(super) fn delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

/// A fault of a quoted cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteFault {
    /// The quote at this position is not closed.
    Unclosed(usize),
    /// A cell goes on after its closing quote.
    Behind { open: usize, at: usize },
}

/// Finds the first fault of the quotes in a record. The `csv` crate accepts faults and reads other cells than the writer
/// meant.
pub(super) fn quote_fault(record: &str, delimiter: u8) -> Option<QuoteFault> {
    memchr::memchr(b'"', record.as_bytes())?;
    cells(record, 0, delimiter).find_map(Result::err)
}

/// Returns the range of a cell of the record at `start`.
pub(super) fn cell(text: &str, start: usize, nth: usize, delimiter: u8) -> Option<Range<usize>> {
    cells(text, start, delimiter).nth(nth)?.ok()
}

/// Returns the ranges of the cells of the record at `start`, up to the first fault.
fn cells(text: &str, start: usize, delimiter: u8) -> impl Iterator<Item = Result<Range<usize>, QuoteFault>> {
    let (bytes, mut next) = (text.as_bytes(), Some(start));
    std::iter::from_fn(move || {
        let start = next.take()?;
        let end = end_of(bytes, start, delimiter);
        next = end.ok().filter(|end| bytes.get(*end) == Some(&delimiter)).map(|end| end + 1);
        Some(end.map(|end| start..end))
    })
}

/// Returns the end of the cell at `start`. A cell is quoted if it begins with a quote, and a doubled quote in it stands for
/// one.
fn end_of(bytes: &[u8], start: usize, delimiter: u8) -> Result<usize, QuoteFault> {
    let rest = |from: usize| bytes.get(from..).unwrap_or(&[]);
    if bytes.get(start) != Some(&b'"') {
        return Ok(memchr::memchr3(delimiter, b'\r', b'\n', rest(start)).map_or(bytes.len(), |at| start + at));
    }
    let mut from = start + 1;
    loop {
        from += memchr::memchr(b'"', rest(from)).ok_or(QuoteFault::Unclosed(start))? + 1;
        match bytes.get(from) {
            Some(b'"') => from += 1,
            None | Some(b'\r' | b'\n') => return Ok(from),
            Some(byte) if *byte == delimiter => return Ok(from),
            Some(_) => return Err(QuoteFault::Behind { open: start, at: from }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_quotes() {
        use QuoteFault::{Behind, Unclosed};
        let cases = [
            ("a,b\n", None),
            ("\"a\",\"b\"\"c\",\"\",5\" disk\r\n", None),
            ("a, \"b\"\n", None),
            ("\"a,\nb\",c", None),
            ("a,\"b\nc,d\n", Some(Unclosed(2))),
            ("\"", Some(Unclosed(0))),
            ("\"a\"\"", Some(Unclosed(0))),
            ("\"a\"b\"\n", Some(Behind { open: 0, at: 3 })),
            ("a,\"b\" ,c\n", Some(Behind { open: 2, at: 5 })),
        ];
        for (record, expected) in cases {
            assert_eq!(quote_fault(record, b','), expected, "{record:?}");
        }
        assert_eq!(quote_fault("a,\"b\t\"c\"\n", b'\t'), None);
    }
}
