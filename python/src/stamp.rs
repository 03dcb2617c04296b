//! Stamping of Arrow tables.

use std::path::PathBuf;

use dropforge::bulk::values::{SetKind, parse_set};
use dropforge::bulk::{Format, Layers, Layout, Merge, Options, RowStamper, Run, Templates, input};
use dropforge::diagnostics::{Code, Diagnostic, Result as Checked};
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};
use pyo3::prelude::*;
use pyo3::types::PyMapping;
use serde::Deserialize;

use crate::capsules::batches;
use crate::engine::{builder, read};
use crate::errors::{exception, usage};
use crate::mapping::Object;
use crate::table::{Collector, Table};

/// Stamps templates for the rows of tables.
#[pyclass(frozen, module = "dropforge")]
pub struct Stamper {
    stamper: RowStamper,
}

#[pymethods]
impl Stamper {
    #[new]
    #[pyo3(signature = (artifacts, outputs, *, values, sets, layout, merge, name_key, check, keep_empty))]
    #[expect(clippy::too_many_arguments, reason = "they are the keywords of a constructor")]
    fn new(
        py: Python<'_>,
        artifacts: Vec<Vec<u8>>,
        outputs: Vec<String>,
        values: Vec<String>,
        sets: Vec<String>,
        layout: &str,
        merge: &str,
        name_key: Option<String>,
        check: bool,
        keep_empty: bool,
    ) -> PyResult<Self> {
        let merge: Merge =
            merge.parse().map_err(|why: String| usage(py, format!("`merge={merge}`: {why}"), "use `deep`"))?;
        let build = || {
            let (values, templates) = (layers(&values, &sets, merge)?, templates(artifacts)?);
            let outputs = templates.outputs(outputs, None, false)?;
            let run = Run::new(Box::new(templates), outputs, Layout::parse(layout)?)?;
            RowStamper::new(
                Run { values, name_key, ..run },
                Options { check_outputs: check, keep_empty, ..Options::default() },
            )
        };
        build().map(|stamper| Self { stamper }).map_err(|error| exception(py, &error))
    }

    /// Stamps the rows of a table.
    fn stamp(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<Table> {
        let batches = batches(batch)?;
        py.detach(|| self.collect(&batches)).map_err(|error| exception(py, &error))
    }
}

impl Stamper {
    fn collect(&self, batches: &[arrow_array::RecordBatch]) -> Checked<Table> {
        let (mut collector, mut result) = (Collector::new(), Ok(()));
        for batch in batches {
            self.stamper.stamp(batch, &mut |output| {
                if result.is_ok() {
                    result = collector.add(&output);
                }
            })?;
        }
        let table = result.and_then(|()| collector.finish());
        table.map_err(|error| Diagnostic::new(Code::Internal, format!("cannot build the table: {error}")))
    }
}

/// Opens artifacts and puts their templates together.
fn templates(artifacts: Vec<Vec<u8>>) -> Checked<Templates> {
    let (engine, mut templates) = (builder().build(), Templates::default());
    for bytes in artifacts {
        templates.add(Templates::of_artifact(&engine.open(bytes)?)?)?;
    }
    Ok(templates)
}

/// Reads layers of values, as JSON, and assignments as `--set` has them.
fn layers(values: &[String], sets: &[String], merge: Merge) -> Checked<Layers> {
    let mut maps = Vec::new();
    for text in values {
        maps.push(input::map(&Source::new("values", text.as_str()), Format::Json)?);
    }
    let mut assignments = Vec::new();
    for text in sets {
        let mut no_file = |path: &str| Err(Diagnostic::new(Code::Usage, format!("cannot read `{path}` here")));
        assignments.extend(parse_set(SetKind::Typed, text, &mut no_file)?);
    }
    Ok(Layers::new(maps, assignments, merge))
}

/// Returns values as JSON text: those of a mapping, or of a YAML, JSON, TOML, HCL or `.env` file.
#[pyfunction]
pub fn values(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<String> {
    let map = match source.cast::<PyMapping>() {
        Ok(_) => {
            Data::deserialize(Object::new(source)).map_err(|error| error.raise(py))?.into_map().unwrap_or_default()
        }
        Err(_) => values_of_file(source.extract()?).map_err(|error| exception(py, &error))?,
    };
    json(map).map_err(|error| exception(py, &error))
}

/// Reads a file of values like `-f`: as YAML, unless its name says otherwise.
fn values_of_file(path: PathBuf) -> Checked<DataMap> {
    let text = String::from_utf8(read(&path)?).map_err(|_| {
        Diagnostic::new(Code::NotUtf8, format!("`{}` is not UTF-8", path.display())).with_help("save it as UTF-8")
    })?;
    let source = Source::new(path.display().to_string(), text);
    let format = match Format::of_name(source.name()) {
        Some(format @ (Format::Json | Format::Hcl | Format::Toml | Format::Env)) => format,
        _ => Format::Yaml,
    };
    input::map(&source, format)
}

/// Writes values as JSON.
///
/// # Errors
/// `input.type` for values that JSON does not have.
fn json(map: DataMap) -> Checked<String> {
    let data = Data::Map(map);
    let text = serde_json::to_string(&data).unwrap_or_default();
    match Data::of_json(&text) {
        Ok(again) if again == data => Ok(text),
        _ => Err(Diagnostic::new(Code::InputType, "the values have a number that JSON does not have")
            .with_help("write infinity and not-a-number as text")),
    }
}
