//! The class `Template`.

use std::cell::RefCell;

use dropforge::engine;
use dropforge::value;
use dropforge::value::InputSpace;
use dropforge::vm::Session;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::exception;
use crate::inputs::{Inputs, check_mapping};
use crate::mapping::Object;

/// A compiled template.
#[pyclass(frozen, module = "dropforge")]
pub struct Template {
    template: engine::Template,
}

thread_local! {
    /// The memory of converted mappings.
    static SPACE: RefCell<InputSpace> = RefCell::default();
    /// The memory of renders, and their output.
    static KEPT: RefCell<(Session, String)> = RefCell::default();
}

/// Maximum size of an output whose memory is kept.
const OUTPUT: usize = 1 << 20;

impl Template {
    /// Wraps a template of the engine.
    pub fn new(template: engine::Template) -> Self {
        Self { template }
    }

    /// Renders without the interpreter's lock.
    fn write<'py>(&self, py: Python<'py>, inputs: value::Inputs<'_>) -> PyResult<Bound<'py, PyString>> {
        KEPT.with(|kept| match kept.try_borrow_mut() {
            Ok(mut kept) => self.write_by(py, &mut kept, inputs),
            Err(_) => self.write_by(py, &mut Default::default(), inputs),
        })
    }

    fn write_by<'py>(
        &self,
        py: Python<'py>,
        (session, out): &mut (Session, String),
        inputs: value::Inputs<'_>,
    ) -> PyResult<Bound<'py, PyString>> {
        if out.capacity() > OUTPUT {
            *out = String::new();
        }
        out.clear();
        let rendered = py.detach(|| {
            self.template.render_inputs(session, inputs, out).map_err(|mut error| {
                self.template.explain(inputs, &mut error);
                error
            })
        });
        rendered.map(|()| PyString::new(py, out)).map_err(|error| exception(py, &error))
    }

    fn render_mapping<'py>(
        &self,
        space: &mut InputSpace,
        mapping: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyString>> {
        let py = mapping.py();
        space.with(|builder| {
            let converted = builder.deserialize(Object::new(mapping)).map_err(|error| error.raise(py))?;
            self.write(py, value::Inputs::new(converted))
        })
    }
}

#[pymethods]
impl Template {
    /// Renders with a mapping or with `Inputs`.
    fn render<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        if let Ok(inputs) = inputs.cast::<Inputs>() {
            return self.write(py, inputs.get().kept().get());
        }
        check_mapping(inputs)?;
        SPACE.with(|space| match space.try_borrow_mut() {
            Ok(mut space) => self.render_mapping(&mut space, inputs),
            // A mapping is rendering a template of its own.
            Err(_) => self.render_mapping(&mut InputSpace::default(), inputs),
        })
    }

    /// The name that it was compiled under.
    #[getter]
    fn name(&self) -> &str {
        self.template.name()
    }

    /// The id of its language.
    #[getter]
    fn language(&self) -> &'static str {
        self.template.dialect().id()
    }

    /// The top-level inputs that it may read, sorted.
    #[getter]
    fn inputs(&self) -> Vec<&str> {
        self.template.inputs()
    }

    fn __repr__(&self) -> String {
        format!("<dropforge.Template {:?} in {}>", self.name(), self.language())
    }
}
