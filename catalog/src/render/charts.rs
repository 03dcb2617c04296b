//! Packed Helm charts as templates.

use serde_json::json;

use super::scratch::{Scratch, error_json, error_line, failed};
use crate::content::{PACKED, release};
use crate::error::{CatalogError, Result};
use crate::review::{Finding, Review};
use crate::{checksum, validation};
use dropforge::bulk::why::RecordedOutput;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::dialect::helm::chart::{Bounds, Capabilities, ChartSource, UserValues, from_base64};
use dropforge::engine::Engine;
use dropforge::engine::chart::{ChartRender, ChartTemplate};
use dropforge::engine::recording::Recorder;
use dropforge::value::{Data, DataMap};
use dropforge::vm::Session;

/// Limits on the files of a chart.
const BOUNDS: Bounds = Bounds { total_bytes: 32 << 20, file_bytes: 5 << 20, files: 5_000, depth: 32, charts: 1_000 };
/// Maximum bytes of all files that are parsed when a chart is opened: values, metadata and schemas.
const PARSED: usize = 4 << 20;
/// The names of these files.
const PARSED_NAMES: [&str; 4] = ["Chart.yaml", "values.yaml", "values.schema.json", "requirements.yaml"];
/// The schema of a chart without one.
const ANY_SCHEMA: &str = "{}";
/// Memory of a byte of a parsed file, about.
const PARSED_MEMORY: usize = 16;
/// The number of programs that a chart may keep, one for each set of enabled charts, about.
const PROGRAMS: usize = 4;

/// A chart that is ready to render.
#[derive(Debug)]
pub(super) struct Chart {
    template: ChartTemplate,
    /// `true` if the schema of the parameters is the chart's, which is also checked with the defaults.
    pub(super) has_own_schema: bool,
    memory: usize,
}

/// An unpacked chart.
#[derive(Debug)]
pub(super) struct Unpacked {
    source: ChartSource,
    /// The SHA-256 of the packed chart.
    pub(super) checksum: String,
}

impl Unpacked {
    /// Unpacks a chart in base64, with the charts packed in it.
    ///
    /// # Errors
    /// `invalid_template_content`.
    pub(super) fn read(content: &str) -> Result<Self> {
        let wrong = |error: Box<Diagnostic>| invalid("invalid_template_content", &error.into());
        let packed = from_base64(content, PACKED).map_err(wrong)?;
        let source = ChartSource::archive(&packed, BOUNDS).and_then(|source| source.unpacked()).map_err(wrong)?;
        if parsed_bytes(&source) > PARSED {
            let message =
                format!("the values, metadata and schemas of a chart are larger than {PARSED} bytes together");
            return Err(CatalogError::invalid("invalid_template_content", message));
        }
        Ok(Self { source, checksum: checksum(packed) })
    }

    /// Returns the schema of the chart's parameters: its own, or one that accepts anything.
    pub(super) fn schema(&self) -> &str {
        self.own_schema().filter(|schema| !schema.trim().is_empty()).unwrap_or(ANY_SCHEMA)
    }

    /// Returns the text of the chart's own schema.
    fn own_schema(&self) -> Option<&str> {
        let file = self.source.files().iter().find(|file| file.path() == "values.schema.json");
        file.and_then(|file| std::str::from_utf8(file.bytes()).ok())
    }
}

fn parsed_bytes(source: &ChartSource) -> usize {
    let is_parsed = |path: &str| PARSED_NAMES.contains(&path.rsplit('/').next().unwrap_or(path));
    source.files().iter().filter(|file| is_parsed(file.path())).map(|file| file.bytes().len()).sum()
}

impl Chart {
    /// Opens a chart and compiles its templates for the charts that are enabled by default.
    ///
    /// # Errors
    /// `invalid_template_syntax`.
    pub(super) fn compile(engine: &Engine, chart: &Unpacked, schema: &str) -> Result<(Self, Review)> {
        let (source, has_own_schema) = (&chart.source, chart.own_schema() == Some(schema));
        let wrong = |errors: Diagnostics| invalid("invalid_template_syntax", &errors);
        let template = engine.chart(source).map_err(wrong)?;
        let plan = template.outline(&UserValues::default()).map_err(wrong)?;
        let program = template.compile(&plan).map_err(wrong)?;
        let files: usize = source.files().iter().map(|file| file.path().len() + file.bytes().len()).sum();
        let memory = 2 * files + PARSED_MEMORY * parsed_bytes(source) + PROGRAMS * program.memory();
        let findings = program.lints().iter().map(|lint| finding(lint)).collect();
        Ok((Self { template, has_own_schema, memory }, Review { inputs: Vec::new(), findings }))
    }

    /// Returns the memory that the chart takes, in bytes. It is an estimate.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Renders the text of `helm template` for a release of this name, whose values are the parameters.
    ///
    /// # Errors
    /// `invalid_parameters` if they do not fit the schemas of the charts; `template_render_failed`; `invalid_name`.
    pub(super) fn render(&self, name: &str, parameters: &str, scratch: &mut Scratch) -> Result<String> {
        let render = self.rendered(name, parameters, scratch)?;
        let text = render.output().map_err(not_rendered)?.text();
        validation::yaml(&text)?;
        Ok(text)
    }

    /// Renders as [`Chart::render`] does, and records what wrote each part of the text.
    ///
    /// # Errors
    /// Those of [`Chart::render`].
    pub(super) fn record(
        &self,
        name: &str,
        parameters: &str,
        recorder: Recorder,
        scratch: &mut Scratch,
    ) -> Result<(RecordedOutput, String)> {
        let render = self.rendered(name, parameters, scratch)?;
        let text = render.output().map_err(not_rendered)?.text();
        let recording = render.record(&mut scratch.session, recorder).map_err(first_not_rendered)?;
        Ok((RecordedOutput::of_chart(render, recording), text))
    }

    /// `true` if a schema of a chart marks a value secret.
    pub(super) fn has_secrets(&self) -> bool {
        self.template.chart().has_secrets()
    }

    /// Calls `each` with the secrets among the values that parameters give.
    pub(super) fn each_secret(&self, parameters: &str, each: &mut dyn FnMut(&str)) {
        let values = values(parameters).ok().and_then(|own| UserValues::default().with_cluster(own, false).ok());
        if let Some(values) = values {
            self.template.chart().each_secret(&values, each);
        }
    }

    fn rendered(&self, name: &str, parameters: &str, scratch: &mut Scratch) -> Result<ChartRender> {
        let (release, values) = (release(name)?, values(parameters)?);
        let session = &mut scratch.session;
        let plan = |session: &Session| {
            let values = UserValues::default().with_cluster(values, false)?;
            self.template.plan(session, &values, &release, &Capabilities::default())
        };
        let render = plan(session).and_then(|plan| self.template.render_in(session, plan));
        render.map_err(first_not_rendered)
    }
}

/// Returns the values in the text of parameters.
fn values(parameters: &str) -> Result<DataMap> {
    let map = Data::of_json(parameters).ok().and_then(Data::into_map);
    map.ok_or_else(|| CatalogError::invalid("invalid_parameters", "the parameters of a chart are a map"))
}

/// Formats an error in one line with its file and position.
fn line_of(error: &Diagnostic) -> String {
    let file = error.primary().map_or("", |label| label.source.name());
    match error_line(error) {
        line if file.is_empty() => line,
        line => format!("{file}: {line}"),
    }
}

/// Converts a lint of a chart's templates.
fn finding(lint: &Diagnostic) -> Finding {
    let finding = Finding::from_diagnostic(lint, lint.code.name());
    let file = lint.primary().map_or("", |label| label.source.name());
    Finding { message: format!("{file}: {}", finding.message), ..finding }
}

/// The first error of a render.
fn first_not_rendered(errors: Diagnostics) -> CatalogError {
    match errors.into_vec().into_iter().next() {
        Some(first) => not_rendered(first),
        None => CatalogError::invalid("template_render_failed", "Template rendering failed"),
    }
}

/// The error of a render. Values that do not fit the schemas of the charts are invalid parameters.
fn not_rendered(error: Box<Diagnostic>) -> CatalogError {
    if error.code != Code::UnfitValues {
        let line = line_of(&error);
        return CatalogError { message: format!("Template rendering failed: {line}"), ..failed(error) };
    }
    let lines: Vec<_> =
        error.notes.iter().map(|note| crate::review::shortened(note, crate::review::MAX_MESSAGE)).collect();
    CatalogError::invalid("invalid_parameters", "invalid parameters")
        .with_details(json!({ "validation_errors": lines, "violations": [] }))
}

/// The error of a chart that cannot be created.
fn invalid(code: &str, errors: &Diagnostics) -> CatalogError {
    let first = errors.first().map_or_else(String::new, line_of);
    let all: Vec<_> = errors.iter().map(error_json).collect();
    CatalogError::invalid(code, format!("Invalid Helm chart: {first}")).with_details(json!({ "diagnostics": all }))
}
