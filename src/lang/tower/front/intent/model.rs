//! An intent definition, read from YAML.

use std::collections::HashMap;
use std::sync::Arc;

use super::errors::Errors;
use super::fields::{Item, walk};
use super::params::Declarations;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::{self, Kind, Node};
use dropforge_value::{Data, DataMap};

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
    pub(super) source: Arc<Source>,
    pub(super) items: Vec<Item>,
    pub(super) declarations: Declarations,
    pub(super) steps: Vec<Step>,
    /// `<id>.outputs.<name>` to the first step that declares it.
    pub(super) outputs: HashMap<String, usize>,
    /// Errors of the declarations.
    pub(super) errors: Vec<Box<Diagnostic>>,
    /// The completed steps ([`Intent::step_completed`]): name to outputs.
    pub(super) completed: DataMap,
    /// Maximum number of reported errors, and of warnings.
    pub(super) most: usize,
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
            return Err(structure(root.span, format!("an intent must be a map, found {}", root.kind_name())));
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

    pub(super) fn unknown_step(&self, id: &str) -> Box<Diagnostic> {
        let names = || self.steps.iter().filter_map(|step| step.name.as_deref());
        Diagnostic::new(Code::IntentUnknownStep, format!("the runbook has no step '{id}'"))
            .with_available(names())
            .with_suggestion(id, names())
    }

    /// Returns the outputs of the first `visible` steps as expressions name them: `<id>.outputs.<name>`.
    pub(super) fn declared_outputs(&self, visible: usize) -> Vec<String> {
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
