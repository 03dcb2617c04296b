//! Diagnostics as exceptions.

use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, joined};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// Returns the exception of a diagnostic: a `DropforgeError`.
pub fn exception(py: Python<'_>, error: &Diagnostic) -> PyErr {
    raised(py, error).unwrap_or_else(|other| other)
}

fn raised(py: Python<'_>, error: &Diagnostic) -> PyResult<PyErr> {
    let class = CLASS.import(py, "dropforge._errors", "DropforgeError")?;
    let place = error.primary().map(|label| (label.source.path().to_owned(), label.position()));
    let (file, line, column) = match place {
        Some((file, at)) => (Some(file), Some(at.line), Some(at.column)),
        None => (None, None, None),
    };
    let (text, json) = (error.render(false).trim_end().to_owned(), error.to_json().to_string());
    let arguments = (text, error.code.id(), &error.message, json, file, line, column, &error.cluster);
    Ok(PyErr::from_value(class.call1(arguments)?))
}

/// Returns the exception of several diagnostics. Its text and its JSON have all of them.
pub fn exceptions(py: Python<'_>, errors: Diagnostics) -> PyErr {
    let none = || Diagnostic::new(Code::Internal, "a template failed without an error");
    exception(py, &joined(errors.into_vec()).unwrap_or_else(none))
}

/// Returns the exception of a wrong argument.
pub fn usage(py: Python<'_>, message: impl Into<String>, help: &str) -> PyErr {
    exception(py, &Diagnostic::new(Code::Usage, message).with_help(help))
}
