//! Rows of Arrow record batches as values.
//!
//! A row is a map of its columns. Columns are prepared once for each batch. Long texts are borrowed from the batch, and
//! short ones are copied once, padded like all short texts.
//!
//! | Arrow type | value |
//! |---|---|
//! | booleans, all integers, floats | the same; a 32-bit float is the shortest decimal number that reads back as it |
//! | text, also large and as views | text |
//! | decimals | text with all digits of the scale: `1.50` |
//! | dates, times, timestamps | text by RFC 3339; a timestamp with a time zone ends in `Z`, one without has no offset |
//! | lists of any kind | a list |
//! | structs, maps with text as keys | a map |
//! | dictionaries, run-end encoding | the value that they stand for |
//!
//! A null in a column or in a field of a struct is absent: the map has no such key. A null in a list or in a map of Arrow
//! is a null. Binary, durations, intervals and unions are errors that name the column.

mod column;

use arrow_array::RecordBatch;

use super::Value;
use super::input_builder::{InputBuilder, MAX_DEPTH, too_deep};
use super::outline::{Learned, Place};
use column::{Cells, Column, Fields};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

/// The rows of a record batch, prepared for [`InputBuilder::arrow_row`].
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use dropforge::value::{Arena, ArrowRows, InputBuilder, Shapes};
/// let names: ArrayRef = Arc::new(StringArray::from(vec![Some("eu-1"), None]));
/// let batch = RecordBatch::try_from_iter([("name", names)])?;
/// let rows = ArrowRows::new(&batch)?;
/// let (arena, names) = (Arena::new(), Arena::new());
/// let shapes = Shapes::new(&names);
/// let builder = InputBuilder::new(&arena, &shapes);
/// let texts = (0..rows.len()).map(|at| Ok(serde_json::to_string(&builder.arrow_row(&rows, at)?.to_data())?));
/// let texts: Vec<String> = texts.collect::<Result<_, Box<dyn std::error::Error>>>()?;
/// assert_eq!(texts, [r#"{"name":"eu-1"}"#, "{}"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArrowRows<'a> {
    columns: Fields<'a>,
    rows: usize,
}

impl<'a> ArrowRows<'a> {
    /// Prepares the columns of `batch`.
    ///
    /// # Errors
    /// `input.type` for a column of a type that inputs do not have; `input.duplicate_key` for two columns or fields of
    /// the same name; `limit.depth`. They name the column.
    pub fn new(batch: &'a RecordBatch) -> Result<Self> {
        let schema = batch.schema_ref();
        let named = schema.fields().iter().zip(batch.columns());
        let named = named.map(|(field, array)| (field.name().as_str(), &**array));
        Ok(Self { columns: column::fields(named, "", MAX_DEPTH)?, rows: batch.num_rows() })
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns `true` if the row at `at` has at most `most` values. Lists and maps may share values, so a row can have
    /// more than fit in memory.
    pub fn has_at_most(&self, at: usize, most: usize) -> bool {
        let mut left = most;
        self.columns.iter().all(|(_, column)| column.take(at, &mut left))
    }

    /// Returns the names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.columns.iter().map(|(name, _)| *name)
    }
}

impl std::fmt::Debug for ArrowRows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrowRows").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<'v, 'w: 'v> InputBuilder<'v, 'w> {
    /// Converts the row at `at`, counted from 0. A row after the last one is empty.
    ///
    /// # Errors
    /// `input.type` for a time that has no text. It names the column and the row.
    pub fn arrow_row<'a: 'v>(&self, rows: &ArrowRows<'a>, at: usize) -> Result<Value<'v>> {
        self.arrow_cells(rows, at).map_err(|error| error.with_note(format!("row {}", thousands(at + 1))))
    }

    /// Converts a row like [`InputBuilder::arrow_row`]. Errors name the column only.
    pub fn arrow_cells<'a: 'v>(&self, rows: &ArrowRows<'a>, at: usize) -> Result<Value<'v>> {
        let columns = if at < rows.rows { rows.columns.as_slice() } else { &[] };
        self.arrow_fields(columns, at, self.whole())
    }

    fn arrow_fields<'a: 'v>(
        &self,
        fields: &[(&'a str, Column<'a>)],
        at: usize,
        place: Place<'_, 'w>,
    ) -> Result<Value<'v>> {
        let mark = self.open();
        let mut open = self.open_map(place, &self.scratch());
        for (name, column) in fields.iter().filter(|(_, column)| !column.is_null(at)) {
            let place = self.enter(&mut open, name, |name| name);
            let value = self.arrow_cell(column, at, place).inspect_err(|_| self.cut(mark))?;
            self.push(value);
        }
        Ok(self.finish_map(open, &mut self.scratch()))
    }

    fn arrow_cell<'a: 'v>(&self, column: &Column<'a>, at: usize, place: Place<'_, 'w>) -> Result<Value<'v>> {
        if column.is_null(at) {
            return Ok(Value::Null);
        }
        let (arena, is_unread) = (self.arena(), place.is_some_and(Learned::is_unread));
        Ok(match &column.cells {
            Cells::Text(_) | Cells::Written(..) if is_unread => arena.text(""),
            Cells::List(..) if is_unread => arena.list(&[]),
            Cells::Struct(_) | Cells::Map { .. } if is_unread => arena.map(&[]),
            Cells::Null => Value::Null,
            Cells::Bool(get) => Value::Bool(get(at)),
            Cells::Int(get) => Value::Int(get(at)),
            Cells::Uint(get) => Value::uint(get(at)),
            Cells::Float(get) => Value::Float(get(at)),
            Cells::Text(get) => arena.given_text(get(at)),
            Cells::Written(path, get) => get(at).map(|text| arena.text(&text)).ok_or_else(|| no_text(path))?,
            Cells::List(range, items) => self.arrow_list(range(at), items, place)?,
            Cells::Struct(fields) => self.arrow_fields(fields, at, place)?,
            Cells::Map { range, keys, values } => self.arrow_map(range(at), (keys, values), place)?,
            Cells::At(index, values) if values.has(index(at)) => self.arrow_cell(values, index(at), place)?,
            Cells::At(..) => return Err(no_cell()),
        })
    }

    fn arrow_list<'a: 'v>(
        &self,
        range: std::ops::Range<usize>,
        items: &Column<'a>,
        place: Place<'_, 'w>,
    ) -> Result<Value<'v>> {
        if !items.has_all(&range) {
            return Err(no_cell());
        }
        let (mark, item) = (self.open(), self.item(place));
        for at in range {
            let value = self.arrow_cell(items, at, item).inspect_err(|_| self.cut(mark))?;
            self.push(value);
        }
        Ok(self.close_list(mark))
    }

    fn arrow_map<'a: 'v>(
        &self,
        range: std::ops::Range<usize>,
        (keys, values): (&(dyn Fn(usize) -> &'a str + 'a), &Column<'a>),
        place: Place<'_, 'w>,
    ) -> Result<Value<'v>> {
        if !values.has_all(&range) {
            return Err(no_cell());
        }
        let mark = self.open();
        let mut open = self.open_map(place, &self.scratch());
        for at in range {
            let place = self.enter(&mut open, keys(at), |key| key);
            let value = self.arrow_cell(values, at, place).inspect_err(|_| self.cut(mark))?;
            self.push(value);
        }
        Ok(self.finish_map(open, &mut self.scratch()))
    }
}

#[cold]
fn no_text(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputType, format!("column `{path}` holds a time outside the calendar"))
}

#[cold]
fn no_cell() -> Box<Diagnostic> {
    Diagnostic::new(Code::InputType, "a column of the table points past the end of its values")
}

/// Returns the error of a column that nests too deep.
fn nested(path: &str) -> Box<Diagnostic> {
    too_deep().with_note(format!("column `{path}`"))
}

#[cfg(test)]
mod tests;
