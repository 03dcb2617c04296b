//! One render: validation, matching and rendering; why a line of a rendered text is there.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::ParameterLayers;
use super::compiled::{Body, Compiled, Compiler, NAME};
use super::pool::{Scratch, busy, error_json, error_line, failed};
use crate::error::{CatalogError, ErrorKind, Result};
use crate::model::TemplateVersion;
use crate::objects::ParameterSet;
use crate::parameters::{self, member, redact_error};
use crate::review::Finding;
use crate::store::Metadata;
use crate::{matching, validation};
use dropforge::bulk::why::{Answer, Given, LinePlace, Question, RecordedOutput, find};
use dropforge::bulk::{Cluster, Layers, Origin, Variants};
use dropforge::diagnostics::Diagnostic;
use dropforge::engine::Template;
use dropforge::engine::recording::{Flow, Recorder};
use dropforge::mask::Mask;
use dropforge::value::{Data, DataMap};

/// A template, a stack and parameters to render.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    /// The template.
    pub template: TemplateVersion,
    /// Labels and annotations of the template.
    pub template_metadata: Metadata,
    /// Labels and annotations of the stack. Without them nothing is matched.
    pub stack_metadata: Option<Metadata>,
    /// The parameters.
    pub parameters: Box<RawValue>,
    /// Shared parameters below these.
    pub shared: Option<Arc<Layers>>,
    /// Shared parameters with layers, instead of `shared`.
    pub layers: Option<Arc<ParameterLayers>>,
    /// The template specialised to the shared parameters, for many requests with the same ones.
    pub variants: Option<Arc<Variants>>,
    /// `true` to fill in missing parameters with schema defaults.
    pub defaults: bool,
    /// Name of the release of a chart. Default: the template's name.
    pub release: Option<String>,
    /// `true` if a rendered text that is not YAML is a failure, not a warning.
    pub check_output: bool,
}

impl RenderRequest {
    /// A request that matches nothing, fills in no defaults, and does not check the rendered text.
    pub fn new(template: TemplateVersion, parameters: Box<RawValue>) -> Self {
        Self {
            template,
            template_metadata: Metadata::default(),
            stack_metadata: None,
            parameters,
            shared: None,
            layers: None,
            variants: None,
            defaults: false,
            release: None,
            check_output: false,
        }
    }

    /// The name of the release of a chart.
    fn release_name(&self) -> &str {
        self.release.as_ref().unwrap_or(&self.template.name)
    }
}

/// The result of a render.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderOutcome {
    /// Failures of validation, matching and rendering, in this order.
    pub failures: Vec<CatalogError>,
    /// The rendered text, unless rendering failed.
    pub text: Option<String>,
    /// The parameters used.
    pub parameters: String,
    /// Warnings about the rendered text.
    pub warnings: Vec<Finding>,
}

impl Compiler {
    /// Validates, matches and renders. Each step runs even if another fails.
    pub(super) fn render(&self, request: &RenderRequest, scratch: &mut Scratch) -> Result<RenderOutcome> {
        self.renders.fetch_add(1, Ordering::Relaxed);
        let compiled = self.compiled_version(&request.template)?;
        let (parameters, invalid) = parse_parameters(&compiled, request);
        let mismatch =
            request.stack_metadata.as_ref().and_then(|stack| matching::check(&request.template_metadata, stack).err());
        // Without readable parameters there is nothing to render.
        let rendered = parameters.as_ref().map(|parameters| {
            let rendered = scratch.guarded(|scratch| match compiled.body() {
                Body::Template(template) => {
                    let template = chosen(template, request, parameters);
                    render_text(template, &parameters.text, request.check_output, scratch)
                }
                Body::Chart(chart) => chart.render(request.release_name(), &parameters.text, scratch),
            });
            rendered.map_err(|error| redact_error(&mask_of(&compiled, parameters), error))
        });
        let (text, failed) = match rendered.transpose() {
            Ok(text) => (text, None),
            Err(error) => (None, Some(error)),
        };
        let unchecked = text.as_deref().filter(|_| !request.check_output);
        let warnings = unchecked.map_or_else(Vec::new, |text| scratch.output_warnings(text));
        if scratch.is_late() && (failed.is_some() || !warnings.is_empty()) {
            return Err(busy());
        }
        let failures = [invalid, mismatch, failed].into_iter().flatten().collect();
        let parameters = parameters.map_or_else(|| request.parameters.get().to_owned(), |parameters| parameters.text);
        Ok(RenderOutcome { failures, text, parameters, warnings })
    }
}

/// Parsed parameters.
pub(super) struct Parameters {
    pub(super) text: String,
    pub(super) json: Json,
    /// Those of the request alone, if they were merged over shared ones.
    own: Option<DataMap>,
}

/// Returns the template for these parameters: the specialised one if they leave the shared ones that it knows.
fn chosen<'c>(template: &'c Template, request: &'c RenderRequest, parameters: &Parameters) -> &'c Template {
    match (&request.variants, &parameters.own) {
        // Defaults may be filled in at any known path.
        (Some(variants), Some(own)) if !request.defaults => variants.template(own),
        _ => template,
    }
}

/// Parses and validates the parameters. Invalid ones are returned too if they can be read.
fn parse_parameters(compiled: &Compiled, request: &RenderRequest) -> (Option<Parameters>, Option<CatalogError>) {
    let schema = compiled.schema();
    let read = || {
        let (text, own) = match &request.layers {
            Some(layers) => (with_layers(request, layers)?, None),
            None => with_shared(request.parameters.get(), request.shared.as_deref())?,
        };
        let text = if request.defaults { schema.with_defaults(&text)? } else { text };
        Ok(Parameters { json: parameters::read(&text)?, text, own })
    };
    match read() {
        Err(error) => (None, Some(error)),
        Ok(parameters) => {
            let error = match compiled.violations(&parameters.json) {
                Ok(violations) => (!violations.is_empty()).then(|| violations.error()),
                Err(error) => Some(error),
            };
            (Some(parameters), error)
        }
    }
}

/// Returns the parameters in `text`, merged over the shared ones, and those of `text` alone. Text that is not a map is left
/// to validation.
fn with_shared(text: &str, shared: Option<&Layers>) -> Result<(String, Option<DataMap>)> {
    let own = shared.and_then(|_| parse_map(text));
    let (Some(shared), Some(own)) = (shared, own) else { return Ok((text.to_owned(), None)) };
    let merged = shared.merged(&Cluster::new("", own.clone())).map_err(failed)?;
    Ok((printed(merged)?, Some(own)))
}

/// Returns the parameters of a request, merged over its layers. Text that is not a map is left to validation.
fn with_layers(request: &RenderRequest, layers: &ParameterLayers) -> Result<String> {
    let text = request.parameters.get();
    let Some(own) = parse_map(text) else { return Ok(text.to_owned()) };
    printed(layers.merged(request.release.as_deref().unwrap_or(""), own)?)
}

fn printed(merged: DataMap) -> Result<String> {
    let text = serde_json::to_string(&Data::Map(merged));
    text.map_err(|error| CatalogError::new(ErrorKind::Internal, "internal_error", error.to_string()))
}

/// Returns the map in a JSON text.
fn parse_map(text: &str) -> Option<DataMap> {
    Data::of_json(text).ok().and_then(Data::into_map)
}

/// Maximum bytes of sets of parameters to look at before a template is specialised.
const LOOKED_AT: usize = 4 << 20;

/// Memory and time that specialising a template may take.
const MEMORY: u64 = 64 << 20;
const TIME: Duration = Duration::from_secs(2);

impl Compiler {
    /// Specialises a template to shared parameters for many sets, as a run of `stamp` does. `None` if the limits of a
    /// render leave too little memory or time.
    pub(super) fn variants(
        &self,
        template: &TemplateVersion,
        shared: &Layers,
        sets: &[ParameterSet],
        scratch: &Scratch,
    ) -> Result<Option<Variants>> {
        let limits = scratch.limits(scratch.memory);
        if limits.memory < MEMORY || limits.time.is_some_and(|time| time < TIME) {
            return Ok(None);
        }
        let compiled = self.compiled_version(template)?;
        let Body::Template(template) = compiled.body() else { return Ok(None) };
        let left = Cell::new(LOOKED_AT);
        let inputs = |at: usize| {
            let text = sets.get(at)?.parameters.get();
            left.set(left.get().checked_sub(text.len())?);
            parse_map(text)
        };
        Ok(Some(Variants::new(template, shared, sets.len(), &inputs)))
    }
}

fn render_text(template: &Template, parameters: &str, check_output: bool, scratch: &mut Scratch) -> Result<String> {
    scratch.with_inputs(parameters, |scratch, inputs| {
        let mut text = String::new();
        template.render_inputs(&mut scratch.session, inputs, &mut text).map_err(failed)?;
        validation::yaml(&text)?;
        if check_output {
            let mut errors = scratch.output_errors(&text);
            if !errors.is_empty() {
                template.show_writer(&mut scratch.session, inputs, &text, &mut errors);
                return Err(invalid_output(errors));
            }
        }
        Ok(text)
    })
}

/// An error for text that is not YAML. The first span of its diagnostics is in the template, others are in the text.
fn invalid_output(mut errors: Vec<Box<Diagnostic>>) -> CatalogError {
    for error in &mut errors {
        match error.labels.as_slice() {
            [output, .., template] if !Arc::ptr_eq(&output.source, &template.source) => error.labels.rotate_right(1),
            _ => error.labels.clear(),
        }
    }
    let first = errors.first().map_or_else(String::new, |error| error_line(error));
    let all: Vec<Json> = errors.iter().map(|error| error_json(error)).collect();
    CatalogError::invalid("template_output_invalid", format!("Rendered text is invalid: {first}"))
        .with_details(json!({ "diagnostics": all }))
}

/// Maximum number of instructions that are recorded, and of bytes of captured texts.
const EVENTS: usize = 1 << 18;
const BYTES: usize = 32 << 20;

impl Compiler {
    /// Renders again and finds what wrote a place in a text that was stored, of which the name is given, too.
    ///
    /// # Errors
    /// Those of [`Compiler::compiled`]; those of a render; `line_not_found`, `line_not_rendered`, `render_too_long`.
    pub(super) fn why(
        &self,
        request: &RenderRequest,
        (name, file): (&str, &str),
        place: LinePlace,
        scratch: &mut Scratch,
    ) -> Result<Answer> {
        let at = place.byte(&format!("object {name}"), file).map_err(no_such_line)?;
        let compiled = self.compiled_version(&request.template)?;
        let (parameters, invalid) = parse_parameters(&compiled, request);
        let Some(parameters) = parameters else { return Err(invalid.unwrap_or_else(unreadable)) };
        let mask = mask_of(&compiled, &parameters);
        let recorded = scratch.guarded(|scratch| record(&compiled, request, (&parameters, &mask), scratch));
        let (recorded, text) = recorded.map_err(|error| redact_error(&mask, error))?;
        let found = find(file, at, &text, true).ok_or_else(not_rendered)?;
        let template = format!("{}@{}", request.template.name, request.template.version);
        let question = Question {
            file: name.to_owned(),
            line: place.line,
            text: file.lines().nth(place.line - 1).unwrap_or(""),
            has_column: place.column.is_some(),
            template: &template,
            cluster: "",
        };
        let origins = Origins::new(&compiled, request, &parameters)?;
        let answer = recorded.answer(&question, found, &|flow: &Flow| origins.given(&recorded, flow));
        let answer = answer.ok_or_else(|| if recorded.is_cut() { too_long() } else { not_rendered() })?;
        Ok(answer.with_file_renamed(NAME, &template))
    }
}

impl Compiler {
    /// Returns the secrets of a render. If they cannot be found, everything is one.
    pub(super) fn mask(&self, request: &RenderRequest) -> Mask {
        let Ok(compiled) = self.compiled_version(&request.template) else { return Mask::all() };
        if !compiled.has_secrets() {
            return Mask::none();
        }
        let parameters = parse_parameters(&compiled, request).0;
        parameters.map_or_else(Mask::all, |parameters| mask_of(&compiled, &parameters))
    }
}

/// Returns the secrets among parameters, and among the values of a chart.
fn mask_of(compiled: &Compiled, parameters: &Parameters) -> Mask {
    Mask::of_each(|each| {
        compiled.schema().each_secret(&parameters.json, each);
        if let Body::Chart(chart) = compiled.body() {
            chart.each_secret(&parameters.text, each);
        }
    })
}

/// Renders a template or chart, and records it.
fn record(
    compiled: &Compiled,
    request: &RenderRequest,
    (parameters, mask): (&Parameters, &Mask),
    scratch: &mut Scratch,
) -> Result<(RecordedOutput, String)> {
    let recorder = Recorder::new(EVENTS, BYTES).hiding(mask.clone());
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
        if flow.is_secret {
            return Given::secret();
        }
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
