//! Resolution of an intent: every field is rendered, in the order that an executor needs them.
//!
//! Parameters come first, then the lock, resources and prerequisites, then the runbook step by step, then verification
//! and the outputs. A step's own command and outputs see the steps before it; its rollback also sees the step itself.
//! The first error ends the resolution.

use std::sync::Arc;

use bumpalo::Bump;
use indexmap::IndexMap;

use super::fields::{Field, Item, Role};
use super::validate::ValidateOptions;
use super::{AuditEvent, AuditSink, Inputs, Intent, LONGEST_FIELD};
use crate::syntax::{ParsedField, Reference};
use crate::{RenderMode, Rules, Scope, program};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Program;
use dropforge_machine::function::Capabilities;
use dropforge_machine::vm::{NoHooks, Run, Session, run};
use dropforge_value::{Arena, Data, DataMap, InputBuilder, Shapes, Value};

/// The rendered fields, or the errors of an intent.
type Outcome = std::result::Result<Resolved, Vec<Box<Diagnostic>>>;

/// Maximum total size in bytes of all resolved fields of an intent.
const LARGEST_RESULT: usize = 64 << 20;

/// The resolved fields of an intent.
#[derive(Debug, Default)]
pub struct Resolved {
    /// Text by path, in document order.
    pub fields: IndexMap<String, String>,
    /// Warnings.
    pub warnings: Vec<Box<Diagnostic>>,
}

impl Resolved {
    /// Returns the text of the field at `path`.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.fields.get(path).map(String::as_str)
    }

    /// Returns the fields as one map.
    pub fn to_data(&self) -> Data {
        Data::Map(self.fields.iter().map(|(path, text)| (path.clone(), Data::Str(text.clone()))).collect())
    }
}

impl Intent {
    /// Renders every field, after validation in strict mode.
    ///
    /// # Errors
    /// The errors of validation; invalid parameters; the first field that cannot be resolved.
    pub fn resolve(&self, inputs: &Inputs) -> Outcome {
        self.resolve_with(inputs, &ValidateOptions::default(), &mut |_| {})
    }

    /// Renders like [`Intent::resolve`] with other options, and sends every template error to `audit`.
    ///
    /// # Errors
    /// The errors of [`Intent::resolve`].
    pub fn resolve_with(&self, inputs: &Inputs, options: &ValidateOptions, audit: AuditSink<'_>) -> Outcome {
        let mut options = options.clone();
        options.execution_id = inputs.fact("execution_id").or(options.execution_id);
        let report = self.validate_with(&options, audit);
        if !report.is_valid() {
            return Err(report.errors);
        }
        let result = self.resolve_fields(inputs, inputs.steps.clone(), |_| true);
        self.report(&result, inputs, audit);
        result
    }

    /// Renders the command and the outputs of the step `id` with the outputs of the completed steps
    /// ([`Intent::step_completed`]). The step's rollback is left out until the step itself has completed.
    ///
    /// # Errors
    /// The runbook has no such step; invalid parameters; the first field that cannot be resolved.
    pub fn resolve_step(&self, id: &str, inputs: &Inputs, audit: AuditSink<'_>) -> Outcome {
        let Some(at) = self.steps.iter().position(|step| step.name.as_deref() == Some(id)) else {
            return Err(vec![self.unknown_step(id)]);
        };
        let has_completed = self.completed.contains_key(id);
        self.resolve_some(inputs, audit, |field| match field.role {
            Role::Command(step) | Role::StepOutput(step, _) => step == at,
            Role::Rollback(step) => step == at && has_completed,
            _ => false,
        })
    }

    /// Renders the fields that `wanted` selects with the outputs of the completed steps.
    ///
    /// # Errors
    /// The errors of [`Intent::resolve_step`].
    pub fn resolve_some(&self, inputs: &Inputs, audit: AuditSink<'_>, wanted: impl Fn(&Field) -> bool) -> Outcome {
        let result = self.resolve_fields(inputs, Some(self.completed_steps()), wanted);
        self.report(&result, inputs, audit);
        result
    }

    /// Returns the completed steps as a scope.
    fn completed_steps(&self) -> DataMap {
        let entry = |(id, outputs): (&String, &Data)| (id.clone(), step_entry(outputs.clone()));
        self.completed.iter().map(entry).collect()
    }

    /// Sends the template errors of a result to `audit`.
    fn report(&self, result: &Outcome, inputs: &Inputs, audit: AuditSink<'_>) {
        let (id, failed) = (inputs.fact("execution_id"), inputs.fact("failed_step"));
        for error in result.as_ref().err().into_iter().flatten() {
            let field = error.fields.get("field").map_or("", String::as_str);
            let handles_failure = field.starts_with("spec.outputs.failure") || field.ends_with(".rollback.command");
            let cause = failed.as_deref().filter(|_| handles_failure);
            if let Some(event) = AuditEvent::of(error, id.as_deref(), cause) {
                audit(&event);
            }
        }
    }

    fn resolve_fields(&self, inputs: &Inputs, steps: Option<DataMap>, wanted: impl Fn(&Field) -> bool) -> Outcome {
        let params = self.declarations.resolve(&inputs.params, &self.source)?;
        let scopes = Data::Map(
            [("params", params), ("context", inputs.context.clone()), ("facts", inputs.facts.clone())]
                .map(|(name, scope)| (name.to_owned(), Data::Map(scope)))
                .into_iter()
                .collect(),
        );
        let failed = inputs.facts.get("failed_step").is_some_and(|step| *step != Data::Null);
        let wanted = |field: &Field| wanted(field) && field.role.is_due(failed);
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let mut execution = Execution {
            intent: self,
            base: InputBuilder::new(&arena, &shapes).data(&scopes).map_err(|error| vec![error])?,
            session: Session::new(),
            limits: Limits { output_bytes: LONGEST_FIELD, ..Limits::default() },
            simulated: steps.is_none(),
            steps: steps.unwrap_or_default(),
            completed: 0,
            done: IndexMap::new(),
            total: 0,
            warnings: Vec::new(),
        };
        execution.run(wanted).map_err(|error| vec![error])?;
        Ok(execution.finish())
    }

    fn fields(&self) -> impl Iterator<Item = &Field> {
        self.items.iter().filter_map(|item| match item {
            Item::Field(field) => Some(field),
            _ => None,
        })
    }
}

fn step_entry(outputs: Data) -> Data {
    Data::Map(std::iter::once(("outputs".to_owned(), outputs)).collect())
}

fn is_completed(step: &Data) -> bool {
    step.get("status").is_none_or(|status| status.as_str() == Some("completed"))
}

impl Role {
    /// Returns `true` if the field has to be resolved. Of the outputs for failure and for success, only one kind is.
    fn is_due(&self, failed: bool) -> bool {
        match self {
            Role::Output(key) if key == "failure" => failed,
            Role::Output(key) if key == "success" => !failed,
            _ => true,
        }
    }

    /// Returns the sort key for the executor's order of fields.
    fn order(&self) -> (usize, usize, usize) {
        match self {
            Role::Lock | Role::Resource | Role::Prerequisite => (0, 0, 0),
            Role::Command(step) => (1, *step, 0),
            Role::StepOutput(step, _) => (1, *step, 1),
            Role::Rollback(step) => (1, *step, 2),
            Role::Verify => (2, 0, 0),
            Role::Output(_) => (3, 0, 0),
        }
    }
}

/// The state of one resolution.
struct Execution<'e> {
    intent: &'e Intent,
    /// `params`, `context` and `facts`.
    base: Value<'e>,
    session: Session,
    limits: Limits,
    /// `true` if steps complete automatically once their outputs are rendered.
    simulated: bool,
    /// The completed steps.
    steps: DataMap,
    /// The number of completed steps of the runbook.
    completed: usize,
    done: IndexMap<&'e str, String>,
    /// The total size in bytes of the rendered fields.
    total: usize,
    warnings: Vec<Box<Diagnostic>>,
}

impl<'e> Execution<'e> {
    fn run(&mut self, wanted: impl Fn(&Field) -> bool) -> Result<()> {
        let intent = self.intent;
        let mut fields: Vec<&'e Field> = intent.fields().filter(|field| wanted(field)).collect();
        fields.small_sort_by_key(|field| field.role.order());
        for field in fields {
            if self.simulated {
                self.complete_steps(field.role.visible_steps(intent.steps.len()));
            }
            let text = self.field(field)?;
            self.total = self.total.saturating_add(text.len());
            if self.total > LARGEST_RESULT {
                return Err(intent.at_field(field, Limit::OutputBytes.error(LARGEST_RESULT as u64)));
            }
            self.check_characters(field, &text);
            self.done.insert(&field.path, text);
        }
        Ok(())
    }

    /// Completes the first `visible` steps with their declared outputs.
    fn complete_steps(&mut self, visible: usize) {
        for at in self.completed..visible {
            let Some(step) = self.intent.steps.get(at) else { break };
            let Some(name) = &step.name else { continue };
            let mut outputs = DataMap::default();
            for (nth, output) in step.outputs.iter().enumerate() {
                let Some(output_name) = &output.name else { continue };
                let path = format!("spec.runbook[{at}].outputs[{nth}].value");
                let rendered = self.done.get(path.as_str()).map(|text| Data::Str(text.clone()));
                outputs.insert(output_name.clone(), rendered.unwrap_or_else(|| output.value.to_data()));
            }
            self.steps.insert(name.clone(), step_entry(Data::Map(outputs)));
        }
        self.completed = self.completed.max(visible);
    }

    fn field(&mut self, field: &'e Field) -> Result<String> {
        let arena = Bump::new();
        let tree = self.intent.parse_field(field, &arena)?;
        if tree.references().next().is_none() {
            return Ok(field.node.text.as_ref().to_owned());
        }
        let program = field.program()?;
        let steps = self.referenced_steps(&tree);
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let over = InputBuilder::new(&arena, &shapes).data(&steps)?;
        let mut out = String::new();
        let what = Run {
            program: &program,
            linked: &Box::default(),
            inputs: dropforge_value::Inputs::layered(self.base, over),
            limits: &self.limits,
            capabilities: Capabilities::NONE,
            budgets: None,
        };
        match run::<Rules, _>(&mut self.session, what, &mut out, &mut NoHooks) {
            Ok(()) => Ok(out),
            Err(error) => Err(self.error_of(*error, field, &tree)),
        }
    }

    /// Returns the scope `steps` with only the steps that the field refers to, to avoid copying all of it for every
    /// field.
    fn referenced_steps(&self, tree: &ParsedField<'_, '_>) -> Data {
        let ids = tree.references().filter_map(Reference::step_output).map(|(id, _)| id);
        let found = ids.filter_map(|id| self.steps.get_key_value(id));
        let steps: DataMap = found.map(|(id, step)| (id.clone(), step.clone())).collect();
        Data::Map(std::iter::once(("steps".to_owned(), Data::Map(steps))).collect())
    }

    /// Converts the error of a render to an error of the field in its file.
    fn error_of(&self, error: Diagnostic, field: &Field, tree: &ParsedField<'_, '_>) -> Box<Diagnostic> {
        let intent = self.intent;
        let at = error.primary().map_or(0, |label| label.span.start);
        let reference = tree.references().find(|reference| reference.span.start == at);
        if let (Code::TemplateMissingVariable, Some(reference)) = (error.code, reference) {
            let available = match reference.scope {
                Scope::Steps => self.usable_outputs(field.mode),
                _ => error.available.clone().unwrap_or_default(),
            };
            let has_completed = |id: &str| self.steps.get(id).is_some_and(is_completed);
            let missing = intent.missing(reference, field, available, has_completed);
            return match error.fields.get("reason") {
                Some(reason) => missing.with_field("reason", reason),
                None => missing,
            };
        }
        intent.at_field(field, Box::new(Diagnostic { labels: Vec::new(), ..error }))
    }

    /// Returns the outputs of completed steps that can be interpolated.
    fn usable_outputs(&self, mode: RenderMode) -> Vec<String> {
        let usable = |value: &Data| match value {
            Data::Null | Data::List(_) | Data::Map(_) => false,
            Data::Str(text) => mode == RenderMode::Literal || !text.contains('\0'),
            Data::Float(n) => n.is_finite(),
            _ => true,
        };
        let mut names = Vec::new();
        for (id, step) in self.steps.iter().filter(|(_, step)| is_completed(step)) {
            let outputs = step.get("outputs").and_then(Data::as_map).into_iter().flatten();
            names.extend(outputs.filter(|(_, value)| usable(value)).map(|(name, _)| format!("{id}.outputs.{name}")));
        }
        names
    }

    /// Warns about a control character that a value brought into a field without any encoding.
    fn check_characters(&mut self, field: &Field, text: &str) {
        let checked = matches!(field.role, Role::Prerequisite | Role::Verify) && field.mode == RenderMode::Literal;
        if checked && text.chars().any(char::is_control) && !field.node.text.chars().any(char::is_control) {
            let message = format!("a value inserts a control character into {}", field.path);
            let warning = Diagnostic::warning(Code::ControlCharacter, message);
            self.warnings.push(self.intent.at_field(field, warning));
        }
    }

    /// Returns the rendered fields in document order.
    fn finish(mut self) -> Resolved {
        let mut fields = IndexMap::with_capacity(self.done.len());
        for field in self.intent.fields() {
            if let Some(text) = self.done.swap_remove(field.path.as_str()) {
                fields.insert(field.path.clone(), text);
            }
        }
        Resolved { fields, warnings: self.warnings }
    }
}

impl Field {
    /// Returns the field's program, compiling it on first use.
    fn program(&self) -> Result<Arc<Program>> {
        let compile = || {
            let source = Source::new(self.path.as_str(), self.node.text.as_ref());
            program(&source, self.mode, &Limits::default()).map(Arc::new)
        };
        self.program.get_or_init(compile).clone()
    }
}
