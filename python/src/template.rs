//! The class `Template`.

use std::cell::RefCell;

use dropforge::diagnostics::Result as Checked;
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
    static SESSION: RefCell<Session> = RefCell::default();
}

impl Template {
    /// Wraps a template of the engine.
    pub fn new(template: engine::Template) -> Self {
        Self { template }
    }

    /// Renders without the interpreter's lock.
    fn write(&self, py: Python<'_>, inputs: value::Inputs<'_>) -> PyResult<String> {
        py.detach(|| write(&self.template, inputs)).map_err(|error| exception(py, &error))
    }

    fn render_mapping(&self, space: &mut InputSpace, mapping: &Bound<'_, PyAny>) -> PyResult<String> {
        let py = mapping.py();
        space.with(|builder| {
            let converted = builder.deserialize(Object::new(mapping)).map_err(|error| error.raise(py))?;
            self.write(py, value::Inputs::new(converted))
        })
    }
}

fn write(template: &engine::Template, inputs: value::Inputs<'_>) -> Checked<String> {
    let mut out = String::new();
    let rendered = SESSION.with(|session| match session.try_borrow_mut() {
        Ok(mut session) => template.render_inputs(&mut session, inputs, &mut out),
        Err(_) => template.render_inputs(&mut Session::new(), inputs, &mut out),
    });
    rendered.map(|()| out).map_err(|mut error| {
        template.explain(inputs, &mut error);
        error
    })
}

#[pymethods]
impl Template {
    /// Renders with a mapping or with `Inputs`.
    fn render<'py>(&self, py: Python<'py>, inputs: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        let text = match inputs.cast::<Inputs>() {
            Ok(inputs) => self.write(py, inputs.get().kept().get())?,
            Err(_) => {
                check_mapping(inputs)?;
                SPACE.with(|space| match space.try_borrow_mut() {
                    Ok(mut space) => self.render_mapping(&mut space, inputs),
                    // A mapping is rendering a template of its own.
                    Err(_) => self.render_mapping(&mut InputSpace::default(), inputs),
                })?
            }
        };
        Ok(PyString::new(py, &text))
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
