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
    /// A cell goes on behind its closing quote.
    Behind { open: usize, at: usize },
}

/// Finds the first fault of the quotes in a record. A cell is quoted if it begins with a quote, and a doubled quote in it
/// stands for one. The `csv` crate accepts both faults and reads other cells than the writer meant.
pub(super) fn quote_fault(record: &[u8], delimiter: u8) -> Option<QuoteFault> {
    let next = |from: usize| Some(from + memchr::memchr(b'"', record.get(from..)?)?);
    let byte = |at: usize| record.get(at).copied();
    let mut from = 0;
    while let Some(open) = next(from) {
        from = open + 1;
        if open > 0 && byte(open - 1) != Some(delimiter) {
            continue;
        }
        loop {
            let Some(close) = next(from) else { return Some(QuoteFault::Unclosed(open)) };
            from = close + 1;
            match byte(from) {
                Some(b'"') => from += 1,
                None | Some(b'\r' | b'\n') => return None,
                Some(byte) if byte == delimiter => break,
                Some(_) => return Some(QuoteFault::Behind { open, at: from }),
            }
        }
    }
    None
}

/// Returns the ranges of the cells of the record at `start`, whose quotes have no fault.
pub(super) fn cells(text: &str, start: usize, delimiter: u8) -> Vec<Range<usize>> {
    let (mut cells, mut from, mut open) = (Vec::new(), start, false);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            // A doubled quote closes and opens.
            b'"' if bytes.get(from) == Some(&b'"') => open = !open,
            b'\r' | b'\n' if !open => {
                cells.push(from..at);
                return cells;
            }
            _ if *byte == delimiter && !open => {
                cells.push(from..at);
                from = at + 1;
            }
            _ => {}
        }
    }
    cells.push(from..bytes.len());
    cells
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
            assert_eq!(quote_fault(record.as_bytes(), b','), expected, "{record:?}");
        }
        assert_eq!(quote_fault(b"a,\"b\t\"c\"\n", b'\t'), None);
    }
}
