//! Why a line of a rendered text is there.

use serde_json::Value as Json;

use super::compiled::{Body, Compiled, Compiler};
use super::request::{Parameters, RenderRequest, failed, parse_parameters};
use super::scratch::Scratch;
use crate::error::{CatalogError, ErrorKind, Result};
use crate::parameters::{self, member};
use dropforge::bulk::Origin;
use dropforge::bulk::why::{Answer, Given, LinePlace, Question, RecordedOutput, find};
use dropforge::diagnostics::Diagnostic;
use dropforge::engine::Template;
use dropforge::engine::recording::{Flow, Recorder};

/// Maximum number of instructions that are recorded, and of bytes of captured texts.
const EVENTS: usize = 1 << 18;
const BYTES: usize = 32 << 20;

/// A place in a stored text.
#[derive(Debug, Clone)]
pub(crate) struct StoredPlace {
    /// The name of the text.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
    /// The line, and the column if one is wanted.
    pub(crate) place: LinePlace,
}

impl Compiler {
    /// Renders again and finds what wrote a place in the text that was stored.
    ///
    /// # Errors
    /// Those of [`Compiler::compiled`]; those of a render; `line_not_found`, `line_not_rendered`, `render_too_long`.
    pub(super) fn why(&self, request: &RenderRequest, stored: &StoredPlace, scratch: &mut Scratch) -> Result<Answer> {
        let StoredPlace { name, text: file, place } = stored;
        let at = place.byte(&format!("object {name}"), file).map_err(no_such_line)?;
        let compiled = self.compiled_version(&request.template)?;
        let (parameters, invalid) = parse_parameters(&compiled, request);
        let Some(parameters) = parameters else { return Err(invalid.unwrap_or_else(unreadable)) };
        let recorded = record(&compiled, request, &parameters, scratch);
        let (recorded, text) = recorded.map_err(|error| compiled.schema().redact_error(&parameters.json, error))?;
        let found = find(file, at, &text, true).ok_or_else(not_rendered)?;
        let template = format!("{}@{}", request.template.name, request.template.version);
        let question = Question {
            file: name.clone(),
            line: place.line,
            text: file.lines().nth(place.line - 1).unwrap_or(""),
            has_column: place.column.is_some(),
            template: &template,
            cluster: "",
        };
        let origins = Origins::new(&compiled, request, &parameters)?;
        let answer = recorded.answer(&question, found, &|flow: &Flow| origins.given(&recorded, flow));
        let answer = answer.ok_or_else(|| if recorded.is_cut() { too_long() } else { not_rendered() })?;
        Ok(answer.with_file_renamed(super::compiled::NAME, &template))
    }
}

/// Renders a template or chart, and records it.
fn record(
    compiled: &Compiled,
    request: &RenderRequest,
    parameters: &Parameters,
    scratch: &mut Scratch,
) -> Result<(RecordedOutput, String)> {
    let recorder = Recorder::new(EVENTS, BYTES);
    match compiled.body() {
        Body::Template(template) => record_text(template, &parameters.text, recorder, scratch),
        Body::Chart(chart) => chart.record(request.release_name(), &parameters.text, recorder, scratch),
    }
}

fn record_text(
    template: &Template,
    parameters: &str,
    recorder: Recorder,
    scratch: &mut Scratch,
) -> Result<(RecordedOutput, String)> {
    let (recording, text) = scratch
        .with_inputs(parameters, |scratch, inputs| Ok(template.record_with(recorder, &mut scratch.session, inputs)))?;
    let text = text.map_err(failed)?;
    Ok((RecordedOutput::of_template(text.clone(), recording), text))
}

/// What gives the parameters of a render.
struct Origins<'p> {
    /// Those of the record.
    own: Json,
    /// Those of the record with defaults of the schema.
    all: &'p Json,
    secrets: parameters::Secrets<'p>,
}

impl<'p> Origins<'p> {
    fn new(compiled: &Compiled, request: &RenderRequest, parameters: &'p Parameters) -> Result<Self> {
        let secrets = compiled.schema().find_secrets(&parameters.json);
        Ok(Self { own: parameters::read(request.parameters.get())?, all: &parameters.json, secrets })
    }

    fn given(&self, recorded: &RecordedOutput, flow: &Flow) -> Given {
        let value = recorded.value_of(&flow.path);
        let has = |values: &Json| !value.path.is_empty() && member(values, &value.path).is_some();
        let is_own = has(&self.own);
        let of_schema = || Some("a default of the schema".to_owned()).filter(|_| !is_own && has(self.all));
        Given {
            origins: Vec::from_iter(is_own.then(|| Origin::named("the parameters"))),
            default: value.default.clone().or_else(of_schema),
            is_secret: value.is_secret || self.secrets.hide(self.all, &value.path),
            path: value.name,
        }
    }
}

fn no_such_line(error: Box<Diagnostic>) -> CatalogError {
    CatalogError::invalid("line_not_found", error.message)
}

fn not_rendered() -> CatalogError {
    CatalogError::invalid("line_not_rendered", "the record of the object does not give this line any more")
}

fn too_long() -> CatalogError {
    CatalogError::invalid("render_too_long", "the render is too long to be recorded up to this line")
}

fn unreadable() -> CatalogError {
    CatalogError::new(ErrorKind::Internal, "internal_error", "the recorded parameters cannot be read")
}
