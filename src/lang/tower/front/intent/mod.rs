//! Whole intent definitions.
//!
//! [`Intent::parse`] reads an intent, [`Intent::validate`] checks it before it runs, [`Intent::resolve`] renders every
//! field, and [`Intent::resolve_step`] with [`Intent::step_completed`] renders it step by step, in an executor's order.
//! Template errors are sent to an audit sink, without values.

mod fields;
mod params;
mod resolve;
mod validate;

pub use fields::{Field, Role};
pub use params::{Parameter, ParameterType};
pub use resolve::Resolved;
pub use validate::{Report, ValidateOptions};

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::error;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::{self, Kind, Node};
use dropforge_value::{Data, DataMap};
use fields::{Item, walk};
use params::Declarations;

/// Maximum length in bytes of a field and of its result.
pub const LONGEST_FIELD: usize = 1 << 20;

/// A step of the runbook.
#[derive(Debug, Clone)]
pub struct Step {
    /// The name in expressions.
    pub name: Option<String>,
    /// The span of the name, or else of the step.
    pub span: Span,
    /// The declared outputs.
    pub outputs: Vec<StepOutput>,
}

impl Step {
    /// Returns the declared outputs as expressions name them: `<id>.outputs.<name>`.
    fn output_names(&self) -> impl Iterator<Item = String> {
        let names = self.outputs.iter().filter_map(|output| output.name.as_deref());
        self.name.iter().flat_map(move |step| names.clone().map(move |name| format!("{step}.outputs.{name}")))
    }
}

/// A declared output of a step.
#[derive(Debug, Clone)]
pub struct StepOutput {
    /// The name.
    pub name: Option<String>,
    /// The value in the source.
    pub value: Node,
}

/// An intent definition: its declarations, its fields in document order, and the completed steps.
///
/// ```
/// use dropforge::dialect::tower::intent::{Inputs, Intent, ValidateOptions};
/// use dropforge::text::Source;
/// let source = Source::new("intent.yaml", "spec:\n  controls:\n    lock: ${params.app}-lock\n");
/// let intent = Intent::parse(&source).unwrap();
/// assert!(intent.validate(&ValidateOptions::default()).errors.is_empty());
/// let inputs = Inputs::from_json(r#"{"params": {"app": "web"}}"#).unwrap();
/// let resolved = intent.resolve(&inputs).unwrap();
/// assert_eq!(resolved.get("spec.controls.lock"), Some("web-lock"));
/// ```
#[derive(Debug, Clone)]
pub struct Intent {
    source: Arc<Source>,
    items: Vec<Item>,
    declarations: Declarations,
    steps: Vec<Step>,
    /// `<id>.outputs.<name>` to the first step that declares it.
    outputs: HashMap<String, usize>,
    /// Errors of the declarations.
    errors: Vec<Box<Diagnostic>>,
    /// The completed steps ([`Intent::step_completed`]): name to outputs.
    completed: DataMap,
    /// Maximum number of reported errors, and of warnings.
    most: usize,
}

impl Intent {
    /// Reads an intent definition.
    ///
    /// # Errors
    /// The text is not a YAML map. [`Intent::validate`] finds all other errors.
    pub fn parse(source: &Arc<Source>) -> std::result::Result<Intent, Vec<Box<Diagnostic>>> {
        Self::parse_within(source, &Limits::default())
    }

    /// Reads an intent definition with limits other than the default.
    ///
    /// # Errors
    /// The errors of [`Intent::parse`].
    pub fn parse_within(source: &Arc<Source>, limits: &Limits) -> std::result::Result<Intent, Vec<Box<Diagnostic>>> {
        let root = yaml::read_one(source, limits)?;
        let mut errors = Errors::of(source);
        let structure = |span, message| vec![errors.error(Code::IntentStructure, span, message)];
        if root.as_map().is_none() {
            let message = format!("an intent must be a map, found {}", root.kind_name());
            let error = errors.error(Code::IntentStructure, root.span, message);
            return Err(vec![error.with_help("its top level has the key `spec:` with `parameters` and `runbook`")]);
        }
        let spec = root.get("spec");
        if let Some(spec) = spec.filter(|spec| spec.as_map().is_none()) {
            return Err(structure(spec.span, format!("`spec` must be a map, found {}", spec.kind_name())));
        }
        let get = |key: &str| spec.and_then(|spec| spec.get(key));
        let declarations = Declarations::read(get("parameters"), &mut errors);
        let steps = read_steps(get("runbook"), &mut errors);
        let mut outputs = HashMap::new();
        for (at, step) in steps.iter().enumerate() {
            step.output_names().for_each(|name| {
                outputs.entry(name).or_insert(at);
            });
        }
        Ok(Intent {
            source: source.clone(),
            items: walk(&root),
            declarations,
            steps,
            outputs,
            errors: errors.list,
            completed: DataMap::default(),
            most: limits.diagnostics,
        })
    }

    /// Returns the file.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Returns the steps of the runbook in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Records that the step `id` has completed with `outputs`, which expressions can refer to from now on.
    ///
    /// # Errors
    /// The runbook has no step of this name.
    pub fn step_completed(&mut self, id: &str, outputs: DataMap) -> Result<()> {
        if !self.steps.iter().any(|step| step.name.as_deref() == Some(id)) {
            return Err(self.unknown_step(id));
        }
        self.completed.insert(id.to_owned(), Data::Map(outputs));
        Ok(())
    }

    fn unknown_step(&self, id: &str) -> Box<Diagnostic> {
        let names = || self.steps.iter().filter_map(|step| step.name.as_deref());
        Diagnostic::new(Code::IntentUnknownStep, format!("the runbook has no step '{id}'"))
            .with_available(names())
            .with_suggestion(id, names())
    }

    /// Returns the outputs of the first `visible` steps as expressions name them: `<id>.outputs.<name>`.
    fn declared_outputs(&self, visible: usize) -> Vec<String> {
        self.steps.iter().take(visible).flat_map(Step::output_names).collect()
    }
}

fn read_steps(node: Option<&Node>, errors: &mut Errors<'_>) -> Vec<Step> {
    let Some(node) = node.filter(|node| node.kind != Kind::Null) else { return Vec::new() };
    let Some(items) = node.as_list() else {
        errors.structure(node.span, format!("`spec.runbook` must be a list, found {}", node.kind_name()));
        return Vec::new();
    };
    items.iter().map(|item| read_step(item, errors)).collect()
}

fn read_step(item: &Node, errors: &mut Errors<'_>) -> Step {
    if item.as_map().is_none() {
        errors.structure(item.span, format!("a step must be a map, found {}", item.kind_name()));
    }
    let name = item.get("name");
    let outputs = item.get("outputs").and_then(Node::as_list).unwrap_or(&[]);
    let output = |node: &Node| {
        let name = node.get("name").and_then(Node::as_str).map(str::to_owned);
        StepOutput { name, value: node.get("value").unwrap_or(node).clone() }
    };
    Step {
        name: name.and_then(Node::as_str).map(str::to_owned),
        span: name.unwrap_or(item).span,
        outputs: outputs.iter().map(output).collect(),
    }
}

/// The errors found so far.
struct Errors<'s> {
    source: &'s Arc<Source>,
    list: Vec<Box<Diagnostic>>,
}

impl<'s> Errors<'s> {
    /// Creates an empty list for `source`.
    pub fn of(source: &'s Arc<Source>) -> Self {
        Self { source, list: Vec::new() }
    }

    /// Returns an error at `span`.
    pub fn error(&self, code: Code, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(code, message).at(self.source, span, "")
    }

    /// Adds an error in the structure of the intent.
    pub fn structure(&mut self, span: Span, message: impl Into<String>) {
        self.list.push(self.error(Code::IntentStructure, span, message));
    }

    /// Adds an error in the declaration of a parameter.
    pub fn declaration(&mut self, span: Span, message: impl Into<String>) {
        self.list.push(self.error(Code::ParameterDeclaration, span, message));
    }
}

/// The four scopes as supplied by a host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Inputs {
    /// Parameters as supplied, before defaults and type checks.
    pub params: DataMap,
    /// The captured context.
    pub context: DataMap,
    /// Facts.
    pub facts: DataMap,
    /// Steps by id, each `{status?, outputs}`. `None` treats every step as completed with its declared outputs,
    /// resolved.
    pub steps: Option<DataMap>,
}

impl Inputs {
    /// Reads `{params, context, facts, steps}` from JSON.
    ///
    /// # Errors
    /// The text is not JSON, a key is unknown, or a scope is not a map.
    pub fn from_json(text: &str) -> Result<Inputs> {
        let data = serde_json::from_str(text)
            .map_err(|error| Diagnostic::new(Code::InputSyntax, format!("the inputs are not JSON: {error}")))?;
        Self::from_data(data)
    }

    /// Reads `{params, context, facts, steps}` from a YAML or JSON file.
    ///
    /// # Errors
    /// The errors of [`Inputs::from_json`].
    pub fn from_yaml(source: &Arc<Source>, limits: &Limits) -> std::result::Result<Inputs, Vec<Box<Diagnostic>>> {
        let data = yaml::read_data(source, limits)?;
        Self::from_data(data).map_err(|error| vec![error.at_if_nowhere(source, <_>::default())])
    }

    /// Takes the scopes from a map with the optional keys `params`, `context`, `facts` and `steps`.
    ///
    /// # Errors
    /// A key is unknown, or a scope is not a map.
    pub fn from_data(data: Data) -> Result<Inputs> {
        const KEYS: [&str; 4] = ["params", "context", "facts", "steps"];
        let mut inputs = Inputs::default();
        for (key, value) in scope(data, "the inputs are")? {
            match key.as_str() {
                "params" => inputs.params = scope(value, "`params` is")?,
                "context" => inputs.context = scope(value, "`context` is")?,
                "facts" => inputs.facts = scope(value, "`facts` is")?,
                "steps" => inputs.steps = Some(scope(value, "`steps` is")?),
                other => {
                    return Err(Diagnostic::new(Code::InputSyntax, format!("the inputs have no scope '{other}'"))
                        .with_available(KEYS)
                        .with_help("put parameters below `params`")
                        .with_suggestion(other, KEYS));
                }
            }
        }
        Ok(inputs)
    }

    /// Returns the fact `name` as text if it is a scalar.
    fn fact(&self, name: &str) -> Option<String> {
        match self.facts.get(name)? {
            Data::Str(text) => Some(text.clone()),
            Data::Null | Data::List(_) | Data::Map(_) => None,
            other => serde_json::to_string(other).ok(),
        }
    }
}

/// Returns a map. Null is an empty map.
fn scope(data: Data, what: &str) -> Result<DataMap> {
    match data.try_into_map() {
        Ok(map) => Ok(map),
        Err(Data::Null) => Ok(DataMap::default()),
        Err(other) => Err(Diagnostic::new(Code::InputSyntax, format!("{what} a {}, not a map", other.kind()))),
    }
}

/// A `template_error` event.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// The fact `execution_id`, if it is known.
    pub execution_id: Option<String>,
    /// The field, such as `spec.controls.lock`.
    pub field: Option<String>,
    /// The error object ([`error::to_json`]).
    pub error: Value,
    /// The earlier failure, if the field handles one.
    pub cause: Option<String>,
}

impl AuditEvent {
    /// Returns the event of `error` if it is a template error; parameter errors are not.
    fn of(error: &Diagnostic, execution_id: Option<&str>, failed_step: Option<&str>) -> Option<Self> {
        let is_template_error = matches!(
            error.code,
            Code::TemplateMissingVariable
                | Code::TemplateInvalidSyntax
                | Code::TemplateNestedExpression
                | Code::TemplateInvalidIdentifier
                | Code::TemplateDisallowedField
                | Code::TemplateUnsafeShellContext
        );
        is_template_error.then(|| Self {
            execution_id: execution_id.map(str::to_owned),
            field: error.fields.get("field").cloned(),
            error: error::to_json(error),
            cause: failed_step.map(|step| format!("step '{step}' failed")),
        })
    }

    /// Returns the event as one JSON object.
    pub fn to_json(&self) -> Value {
        let (id, field, error) = (&self.execution_id, &self.field, &self.error);
        let mut object = json!({ "event": "template_error", "execution_id": id, "field": field, "error": error });
        if let Some(cause) = &self.cause {
            object["cause"] = json!(cause);
        }
        object
    }
}

/// The receiver of audit events.
pub type AuditSink<'s> = &'s mut dyn FnMut(&AuditEvent);
