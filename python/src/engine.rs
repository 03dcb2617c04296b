//! The classes `Engine` and `Artifact`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dropforge::bulk;
use dropforge::diagnostics::{Code, Diagnostic, Result as Checked};
use dropforge::engine::{
    self, Dialect, EngineBuilder, TemplateFile, TemplateSet, dialect_of, discover, unknown_language,
};
use dropforge::files;
use dropforge::limits::Limits;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{exception, exceptions, usage};
use crate::template::Template;

/// The suffixes of templates whose output is escaped for HTML, as in the command.
const ESCAPED: [&str; 6] = [".html", ".htm", ".xml", ".html.tera", ".htm.tera", ".xml.tera"];

/// Compiles templates and opens artifacts.
#[pyclass(frozen, module = "dropforge")]
pub struct Engine {
    engine: engine::Engine,
}

/// Returns an engine like that of the command.
pub fn builder() -> EngineBuilder {
    let limits = Limits { source_bytes: 16 << 20, ..Limits::default() };
    engine::Engine::builder().limits(limits).escape_suffixes(ESCAPED)
}

fn failed(py: Python<'_>) -> impl Fn(Box<Diagnostic>) -> PyErr {
    move |error| exception(py, &error)
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (root = None, *, limits = None))]
    fn new(py: Python<'_>, root: Option<PathBuf>, limits: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut builder = builder();
        if let Some(given) = limits {
            let mut limits = Limits { source_bytes: 16 << 20, ..Limits::default() };
            given.iter().try_for_each(|(name, value)| set_limit(&mut limits, &name.extract::<String>()?, &value))?;
            builder = builder.limits(limits);
        }
        let engine = match root {
            Some(root) => bulk::engine(&root, builder).map_err(failed(py))?,
            None => builder.build(),
        };
        Ok(Self { engine })
    }

    /// Compiles a text.
    #[pyo3(signature = (source, name = "template.tera", *, language = None))]
    fn compile(&self, py: Python<'_>, source: &str, name: &str, language: Option<&str>) -> PyResult<Template> {
        let dialect = language_of(name, language).map_err(failed(py))?;
        let compiled = py.detach(|| self.engine.compile(dialect, name, source));
        compiled.map(Template::new).map_err(|errors| exceptions(py, errors))
    }

    /// Compiles a file below the root.
    #[pyo3(signature = (name, *, language = None))]
    fn load(&self, py: Python<'_>, name: &str, language: Option<&str>) -> PyResult<Template> {
        let dialect = language_of(name, language).map_err(failed(py))?;
        let compiled = py.detach(|| self.engine.load(dialect, name));
        compiled.map(Template::new).map_err(|errors| exceptions(py, errors))
    }

    /// Opens an artifact: its bytes, or the path of its file.
    fn open(&self, py: Python<'_>, artifact: &Bound<'_, PyAny>) -> PyResult<Artifact> {
        let bytes = match artifact.cast::<PyBytes>() {
            Ok(bytes) => bytes.as_bytes().to_vec(),
            Err(_) => read(&artifact.extract::<PathBuf>()?).map_err(failed(py))?,
        };
        let opened = py.detach(|| self.engine.open(bytes.clone()));
        Ok(Artifact { artifact: opened.map_err(failed(py))?, bytes, outputs: None })
    }
}

/// Sets the limit called `name`.
fn set_limit(limits: &mut Limits, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match name {
        "time" => {
            let seconds: f64 = value.extract()?;
            limits.time = Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO));
        }
        "fuel" => limits.fuel = value.extract()?,
        "cost" => limits.cost = value.extract()?,
        "memory" => limits.memory = value.extract()?,
        "source_bytes" => limits.source_bytes = value.extract()?,
        "output_bytes" => limits.output_bytes = value.extract()?,
        "nesting" => limits.nesting = value.extract()?,
        "value_depth" => limits.value_depth = value.extract()?,
        "call_depth" => limits.call_depth = value.extract()?,
        "templates" => limits.templates = value.extract()?,
        _ => {
            let known =
                "use time, fuel, cost, memory, source_bytes, output_bytes, nesting, value_depth, call_depth, templates";
            return Err(usage(value.py(), format!("there is no limit `{name}`"), known));
        }
    }
    Ok(())
}

/// Returns the language called `id`, or the one of a template's name.
fn language_of(name: &str, id: Option<&str>) -> Checked<Dialect> {
    let Some(id) = id else { return dialect_of(name).ok_or_else(|| unknown_language(name)) };
    Dialect::from_id(id).ok_or_else(|| {
        let known = Dialect::ALL.map(Dialect::id);
        Diagnostic::new(Code::Usage, format!("there is no language `{id}`"))
            .with_suggestion(id, known)
            .with_available(known)
    })
}

/// Reads a file.
pub fn read(path: &Path) -> Checked<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = files::open_input(path).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map(|_| bytes).map_err(|error| files::unreadable(path, error))
}

/// Returns `true` if the file begins like an artifact.
#[pyfunction]
pub fn is_artifact(path: PathBuf) -> bool {
    let mut head = [0; 32];
    let length = files::open(&path).and_then(|mut file| file.read(&mut head)).unwrap_or(0);
    head.get(..length).is_some_and(dropforge::bytecode::is_artifact)
}

/// Compiled templates, as one sequence of bytes.
#[pyclass(frozen, module = "dropforge")]
pub struct Artifact {
    artifact: engine::Artifact,
    bytes: Vec<u8>,
    /// The names of the templates that make an output, if they were compiled here.
    outputs: Option<Vec<String>>,
}

#[pymethods]
impl Artifact {
    /// The names of the templates, sorted.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.artifact.names().collect()
    }

    /// Returns a template.
    fn template(&self, py: Python<'_>, name: &str) -> PyResult<Template> {
        self.artifact.template(name).map(Template::new).map_err(failed(py))
    }

    /// Returns the artifact as bytes, for files and other processes.
    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// The names of the templates that make an output.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        match &self.outputs {
            Some(names) => Ok(names.clone()),
            None => outputs_of(&self.artifact).map_err(failed(py)),
        }
    }

    fn __repr__(&self) -> String {
        format!("<dropforge.Artifact of {}>", self.names().join(", "))
    }
}

/// Returns the names of the templates of an artifact that make an output. A single template counts as named.
fn outputs_of(artifact: &engine::Artifact) -> Checked<Vec<String>> {
    let explicit = artifact.names().count() == 1;
    let file = |name: &str| TemplateFile { name: name.to_owned(), explicit, executable: false };
    let files: Vec<TemplateFile> = artifact.names().map(file).collect();
    bulk::outputs(&files, &mut |name| Ok(artifact.template(name)?.reaches().to_vec()))
}

/// Compiles template files and folders into an artifact.
#[pyfunction]
#[pyo3(signature = (paths, *, root = None, language = None))]
pub fn compile(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    root: Option<PathBuf>,
    language: Option<&str>,
) -> PyResult<Artifact> {
    let dialect = language.map(|id| language_of("", Some(id))).transpose().map_err(failed(py))?;
    let is_template = |name: &str| dialect.is_some() || dialect_of(name).is_some();
    let set = discover(&paths, root.as_deref(), &is_template).map_err(failed(py))?;
    let engine = bulk::engine(&set.root, builder()).map_err(failed(py))?;
    let bundling = py.detach(|| engine.bundle_set(&set, dialect)).map_err(|errors| exceptions(py, errors))?;
    let bytes = bundling.encode().map_err(failed(py))?;
    let artifact = builder().build().open(bytes.clone()).map_err(failed(py))?;
    let outputs = outputs_of_set(&set, &artifact).map_err(failed(py))?;
    Ok(Artifact { artifact, bytes, outputs: Some(outputs) })
}

fn outputs_of_set(set: &TemplateSet, artifact: &engine::Artifact) -> Checked<Vec<String>> {
    bulk::outputs(&set.files, &mut |name| Ok(artifact.template(name)?.reaches().to_vec()))
}
