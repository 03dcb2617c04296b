//! One render: validation, matching and rendering.

use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::compiled::{Compiled, Compiler, line};
use crate::model::TemplateVersion;
use crate::refusal::{Refusal, Result};
use crate::review::{Finding, PARAMETERS_ALONE};
use crate::store::Marks;
use crate::{matching, names, parameters};
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes, yaml};
use dropforge::vm::Session;

/// A template, a stack and parameters to render.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The template.
    pub template: TemplateVersion,
    /// Labels and annotations of the template.
    pub wanted: Marks,
    /// Labels and annotations of the stack. Without them nothing is matched.
    pub given: Option<Marks>,
    /// The parameters.
    pub parameters: Box<RawValue>,
    /// `true` to fill in missing parameters with schema defaults.
    pub defaults: bool,
}

/// The result of a render.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Failures of validation, matching and rendering, in this order.
    pub failures: Vec<Refusal>,
    /// The rendered text, unless rendering failed.
    pub text: Option<String>,
    /// The parameters used.
    pub parameters: String,
    /// Warnings about the rendered text.
    pub warnings: Vec<Finding>,
}

/// State that a thread reuses between renders.
#[derive(Default)]
pub(super) struct Room {
    session: Session,
}

impl Compiler {
    /// Validates, matches and renders. Each step runs even if another fails.
    pub(super) fn try_out(&self, trial: &Trial, room: &mut Room) -> Result<Outcome> {
        let TemplateVersion { template_content, parameters_schema, .. } = &trial.template;
        let compiled = self.compiled(template_content, parameters_schema)?;
        let (parameters, invalid) = given(&compiled, trial);
        let mismatch = trial.given.as_ref().and_then(|given| matching::matches(&trial.wanted, given).err());
        // Without readable parameters there is nothing to render.
        let rendered = parameters.as_ref().map(|parameters| {
            render(&compiled, &parameters.text, room)
                .map_err(|refusal| compiled.schema().withheld(&parameters.json, refusal))
        });
        let (text, failed) = match rendered.transpose() {
            Ok(text) => (text, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let warnings = text.as_deref().map_or_else(Vec::new, oddities);
        let failures = [invalid, mismatch, failed].into_iter().flatten().collect();
        let parameters = parameters.map_or_else(|| trial.parameters.get().to_owned(), |parameters| parameters.text);
        Ok(Outcome { failures, text, parameters, warnings })
    }
}

/// Parsed parameters.
struct Given {
    text: String,
    json: Json,
}

/// Parses and validates the parameters. Invalid ones are returned too if they can be read.
fn given(compiled: &Compiled, trial: &Trial) -> (Option<Given>, Option<Refusal>) {
    let schema = compiled.schema();
    let text = trial.parameters.get();
    let filled = if trial.defaults { schema.filled(text) } else { Ok(text.to_owned()) };
    let read = filled.and_then(|text| parameters::read(&text).map(|json| Given { text, json }));
    match read {
        Err(refusal) => (None, Some(refusal)),
        Ok(given) => {
            let refusal = match schema.violations(&given.json) {
                Ok(violations) => (!violations.is_empty()).then(|| violations.refusal()),
                Err(refusal) => Some(refusal),
            };
            (Some(given), refusal)
        }
    }
}

fn render(compiled: &Compiled, parameters: &str, room: &mut Room) -> Result<String> {
    let (arena, shapes_names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&shapes_names);
    let inputs = InputBuilder::new(&arena, &shapes).json(parameters).map_err(failed)?;
    let mut text = String::new();
    let template = compiled.template();
    template.render_inputs(&mut room.session, Inputs::new(inputs), &mut text).map_err(failed)?;
    names::yaml(&text)?;
    Ok(text)
}

fn failed(mut error: Box<Diagnostic>) -> Refusal {
    // Users of a catalog cannot change capabilities or limits.
    error.help = match error.code {
        Code::CapabilityOff => Some(PARAMETERS_ALONE.to_owned()),
        code if code.is_limit() => None,
        _ => error.help,
    };
    Refusal::invalid("template_render_failed", format!("Template rendering failed: {}", line(&error)))
        .with(json!({ "diagnostics": [error.to_json()] }))
}

/// Warnings about text that is not YAML.
fn oddities(text: &str) -> Vec<Finding> {
    documents(text).err().unwrap_or_default()
}

/// Counts the non-empty YAML documents of a text, or returns its syntax errors.
pub(crate) fn documents(text: &str) -> Result<usize, Vec<Finding>> {
    let source = Source::new("output", text);
    let limits = Limits { source_bytes: usize::MAX, ..Limits::default() };
    match yaml::read_with(&source, &limits, yaml::Tags::Kept) {
        Ok(documents) => Ok(documents.len()),
        Err(errors) => Err(errors.iter().map(|error| Finding::of(error, "output.not_yaml")).collect()),
    }
}
