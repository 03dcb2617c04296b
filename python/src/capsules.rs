//! Arrow's C data interface, as capsules: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>.
#![allow(unsafe_code)]

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, StructArray};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::errors::usage;

const STREAM: &std::ffi::CStr = c"arrow_array_stream";
const SCHEMA: &std::ffi::CStr = c"arrow_schema";
const ARRAY: &std::ffi::CStr = c"arrow_array";

fn refused(py: Python<'_>, error: &ArrowError) -> PyErr {
    usage(py, format!("cannot read the Arrow table: {error}"), "pass a table whose columns are valid")
}

/// Returns the batches of an object that has the interface: a table, a batch or a data frame. Their buffers are those of
/// the object.
///
/// # Errors
/// `DropforgeError` for other objects and for invalid arrays.
pub fn batches(object: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let py = object.py();
    let batches = if let Ok(method) = object.getattr(intern!(py, "__arrow_c_stream__")) {
        let capsule = method.call0()?;
        stream(capsule.cast::<PyCapsule>()?)?.collect::<Result<Vec<_>, _>>().map_err(|error| refused(py, &error))?
    } else if let Ok(method) = object.getattr(intern!(py, "__arrow_c_array__")) {
        vec![array(method.call0()?.cast::<PyTuple>()?)?]
    } else {
        let name = object.get_type().fully_qualified_name()?;
        let help = "pass a table of pyarrow or Polars; in Ray use `batch_format=\"pyarrow\"`";
        return Err(usage(py, format!("a batch is an Arrow table, found {name}"), help));
    };
    let checked = batches.iter().flat_map(RecordBatch::columns).try_for_each(|column| check(&column.to_data()));
    checked.map(|()| batches).map_err(|error| refused(py, &error))
}

/// Checks offsets and texts: a producer may have read them from a file without doing so.
fn check(data: &ArrayData) -> Result<(), ArrowError> {
    data.validate()?;
    data.validate_nulls()?;
    // Below a null there may be keys of an empty dictionary. Keys that are read are checked then.
    if !matches!(data.data_type(), DataType::Dictionary(..)) {
        data.validate_values()?;
    }
    data.child_data().iter().try_for_each(check)
}

fn stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<RecordBatchStreamReader> {
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: A capsule of this name points to a stream, which the capsule keeps alive. `from_raw` moves the stream out and
    // leaves a released one, so the capsule does not release it a second time.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    reader.map_err(|error| refused(capsule.py(), &error))
}

fn array(capsules: &Bound<'_, PyTuple>) -> PyResult<RecordBatch> {
    let py = capsules.py();
    let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
    let schema = schema.cast::<PyCapsule>()?.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
    let array = array.cast::<PyCapsule>()?.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
    // SAFETY: Capsules of these names point to a schema and to an array of that schema, and `capsules` keeps both alive.
    // `from_raw` moves the array out and leaves a released one. The schema is only borrowed.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array.as_ptr()), schema.as_ref()) };
    let data = data.map_err(|error| refused(py, &error))?;
    match data.data_type() {
        DataType::Struct(_) if data.null_count() == 0 => Ok(StructArray::from(data).into()),
        other => Err(usage(py, format!("a batch is an Arrow table, found {other}"), "pass a struct without nulls")),
    }
}

/// Returns a capsule with a stream of `batches`.
pub fn export<'py>(py: Python<'py>, schema: SchemaRef, batches: Vec<RecordBatch>) -> PyResult<Bound<'py, PyCapsule>> {
    let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
    // Dropping the stream releases it, unless a consumer has moved it out.
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
}

/// Returns a capsule with a schema.
pub fn export_schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(|error| refused(py, &error))?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}
