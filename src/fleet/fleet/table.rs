//! Parquet and Arrow files as fleets: rows become JSON lines in a temporary file, batch by batch.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};

use arrow_array::RecordBatch;
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::collector::Collector;
use super::file::cannot_spool;
use super::records::MAX_RECORD;
use crate::input::arrow::batches_of;
use crate::row_names::name_of;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge_value::{Arena, ArrowRows, InputBuilder, Shapes, Value};

/// Maximum number of values in a row. A small file can declare more than fit in memory.
const MAX_VALUES: usize = MAX_RECORD / 2;

/// Writes the rows of a table to a temporary file, a line each. Reports rows that are no clusters to `collector` and
/// leaves their lines empty.
///
/// # Errors
/// `file.read_failed` and `input.syntax` for a file that cannot be read; `input.type`, `input.duplicate_key` and
/// `limit.depth` for columns that inputs do not have; `file.write_failed`.
pub(super) fn lines(name: &str, file: File, collector: &mut Collector) -> Result<File> {
    let batches = batches_of(name, file, None, true)?;
    let file = tempfile::tempfile().map_err(|error| cannot_spool(name, error))?;
    let mut lines = TableLines { name, out: BufWriter::new(file), rows: 0 };
    for batch in batches {
        let batch = batch.map_err(|error| error.with_note(format!("after row {}", thousands(lines.rows))))?;
        lines.batch(&batch, collector)?;
        if collector.is_full() {
            break;
        }
    }
    lines.finish().map_err(|error| cannot_spool(name, error))
}

/// The lines of a table.
struct TableLines<'n> {
    /// The name of the table's file.
    name: &'n str,
    out: BufWriter<File>,
    /// The number of rows of earlier batches.
    rows: usize,
}

impl TableLines<'_> {
    fn batch(&mut self, batch: &RecordBatch, collector: &mut Collector) -> Result<()> {
        let rows = ArrowRows::new(batch).map_err(|error| error.with_note(format!("in `{}`", self.name)))?;
        let (names, mut arena, mut line) = (Arena::new(), Arena::new(), Vec::new());
        let shapes = Shapes::new(&names);
        for at in 0..rows.len() {
            arena.reset();
            line.clear();
            let (builder, nth) = (InputBuilder::new(&arena, &shapes), self.rows + at);
            let written =
                row(&builder, &rows, at, &mut line, &|row| name_of(collector.name_paths(), row, nth).map(drop));
            if let Err(error) = written {
                line.clear();
                let row = thousands(nth + 1);
                collector.report(error.with_note(format!("row {row} of `{}`", self.name)));
                if collector.is_full() {
                    return Ok(());
                }
            }
            line.push(b'\n');
            self.out.write_all(&line).map_err(|error| cannot_spool(self.name, error))?;
        }
        self.rows += rows.len();
        Ok(())
    }

    fn finish(self) -> io::Result<File> {
        let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    }
}

/// Appends the row at `at` to `line` as JSON if `check` accepts it.
fn row<'v, 'w: 'v, 'a: 'v>(
    builder: &InputBuilder<'v, 'w>,
    rows: &ArrowRows<'a>,
    at: usize,
    line: &mut Vec<u8>,
    check: &dyn Fn(Value<'v>) -> Result<()>,
) -> Result<()> {
    if !rows.has_at_most(at, MAX_VALUES) {
        let message = format!("a cluster has more than {} values", thousands(MAX_VALUES));
        return Err(Diagnostic::new(Code::LimitSourceBytes, message));
    }
    let value = builder.arrow_cells(rows, at)?;
    check(value).map_err(|error| error.with_help("name another path with `--name-key PATH`"))?;
    let written = serde_json::to_writer(Bounded(line), &InOrder(value));
    written.map_err(|error| if error.is_io() { too_long() } else { not_finite(value) })
}

#[cold]
fn too_long() -> Box<Diagnostic> {
    Diagnostic::new(Code::LimitSourceBytes, "a cluster is too long: the limit is 16 MiB as JSON")
}

#[cold]
fn not_finite(row: Value<'_>) -> Box<Diagnostic> {
    let columns = row.as_map().into_iter().flat_map(|map| map.iter());
    let column = columns.into_iter().find(|(_, value)| serde_json::to_writer(io::sink(), &InOrder(*value)).is_err());
    let column = column.map_or("", |(name, _)| name);
    let message = format!("column `{column}` holds NaN or an infinity, which a fleet cannot hold");
    Diagnostic::new(Code::InputType, message).with_help("replace such numbers by null")
}

/// Writes up to the maximum length of a line.
struct Bounded<'l>(&'l mut Vec<u8>);

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() >= MAX_RECORD {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A value of a row, with keys in the order of columns.
struct InOrder<'v>(Value<'v>);

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Bool(value) => to.serialize_bool(value),
            Value::Int(number) => to.serialize_i64(number),
            Value::Uint(number) => to.serialize_u64(number),
            Value::Float(number) if number.is_finite() => to.serialize_f64(number),
            Value::Float(_) => Err(S::Error::custom("not finite")),
            Value::Str(text) => to.serialize_str(text.as_str()),
            Value::List(_) => {
                let items = self.0.as_list().unwrap_or(&[]);
                let mut list = to.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&InOrder(*item)))?;
                list.end()
            }
            Value::Map(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, &InOrder(value)))?;
                map.end()
            }
            // Rows have no extended values.
            Value::Undefined | Value::Null | Value::Extended(_) => to.serialize_unit(),
        }
    }
}

#[cfg(test)]
mod tests;
