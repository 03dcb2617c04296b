//! The class `Table`: the outputs of stamped clusters.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use dropforge::bulk::RowOutput;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsules::{export, export_schema};

/// The size of the contents from which a new batch is begun. A column of strings has at most 2 GiB.
const BATCH: usize = 1 << 30;

const COLUMNS: [&str; 4] = ["cluster", "path", "content", "error"];

fn schema() -> SchemaRef {
    Arc::new(Schema::new(COLUMNS.map(|name| Field::new(name, DataType::Utf8, true)).to_vec()))
}

/// Collects outputs and errors as record batches.
pub struct Collector {
    schema: SchemaRef,
    columns: [StringBuilder; 4],
    bytes: usize,
    batches: Vec<RecordBatch>,
}

impl Collector {
    pub fn new() -> Self {
        let columns = std::array::from_fn(|_| StringBuilder::new());
        Self { schema: schema(), columns, bytes: 0, batches: Vec::new() }
    }

    /// Adds an output or an error.
    ///
    /// # Errors
    /// None that a valid column has.
    pub fn add(&mut self, output: &RowOutput<'_>) -> Result<(), ArrowError> {
        let error;
        let row = match output {
            RowOutput::File { cluster, path, content } => [Some(*cluster), Some(*path), Some(*content), None],
            RowOutput::Failed { cluster, error: found } => {
                error = found.to_json().to_string();
                [*cluster, None, None, Some(error.as_str())]
            }
        };
        let bytes: usize = row.iter().flatten().map(|text| text.len()).sum();
        if self.bytes.saturating_add(bytes) > BATCH {
            self.flush()?;
        }
        self.bytes += bytes;
        self.columns.iter_mut().zip(row).for_each(|(column, text)| column.append_option(text));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        let columns = self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect();
        self.batches.push(RecordBatch::try_new(self.schema.clone(), columns)?);
        self.bytes = 0;
        Ok(())
    }

    /// Returns the table.
    ///
    /// # Errors
    /// None that valid columns have.
    pub fn finish(mut self) -> Result<Table, ArrowError> {
        self.flush()?;
        Ok(Table { schema: self.schema, batches: self.batches })
    }
}

/// A table of outputs: `cluster`, `path`, `content` and `error`.
#[pyclass(frozen, module = "dropforge")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore the request.
        let _ = requested_schema;
        export(py, self.schema.clone(), self.batches.clone())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.schema)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<dropforge.Table of {} rows: {}>", self.__len__(), COLUMNS.join(", "))
    }
}
