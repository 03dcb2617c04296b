//! The class `Inputs`.

use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::errors::usage;
use crate::kept::Kept;

/// Inputs of renders, converted once.
#[pyclass(frozen, module = "dropforge")]
pub struct Inputs {
    kept: Kept,
}

#[pymethods]
impl Inputs {
    #[new]
    fn new(mapping: &Bound<'_, PyAny>) -> PyResult<Self> {
        check_mapping(mapping)?;
        Kept::new(mapping).map(|kept| Self { kept }).map_err(|error| error.raise(mapping.py()))
    }

    fn __len__(&self) -> usize {
        self.kept.get().iter().count()
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.kept.get().iter().map(|(name, _)| name).take(8).collect();
        format!("<dropforge.Inputs of {}>", names.join(", "))
    }
}

impl Inputs {
    /// Returns the converted inputs.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }
}

/// Checks that an object is a mapping.
///
/// # Errors
/// `DropforgeError` (`usage`).
pub fn check_mapping(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if object.cast::<PyMapping>().is_ok() {
        return Ok(());
    }
    let name = object.get_type().fully_qualified_name()?;
    Err(usage(object.py(), format!("inputs must be a mapping, found {name}"), "pass a dict, or `Inputs(dict)`"))
}
