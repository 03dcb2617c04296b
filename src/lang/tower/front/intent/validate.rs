//! Static validation: the checks that need no inputs.
//!
//! Every field is checked separately and has at most one error: a malformed expression, then a reference to something
//! that cannot exist, then an expression that quoting cannot protect. Errors are in document order.

use bumpalo::Bump;

use super::fields::{Field, Item};
use super::{AuditEvent, AuditSink, Intent, LONGEST_FIELD};
use crate::check::lint;
use crate::syntax::{ParsedField, Reference, is_identifier};
use crate::syntax::{first_expression, parse};
use crate::{RenderMode, Scope, error};
use dropforge_base::diagnostics::{Code, Diagnostic, at_most};
use dropforge_base::limits::Limit;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Span;

/// The facts that every executor provides.
const FACTS: [&str; 4] = ["failed_step", "rollback_status", "current_step", "execution_id"];

/// Assumptions of validation.
#[derive(Debug, Clone)]
pub struct ValidateOptions {
    /// Makes an expression that shell quoting cannot protect an error instead of a warning.
    pub strict: bool,
    /// The context keys that the host captures. `None` leaves their check to the resolution of fields.
    pub context_keys: Option<Vec<String>>,
    /// The facts that the host adds to the standard ones. `None` leaves their check to the resolution of fields.
    pub custom_facts: Option<Vec<String>>,
    /// The execution to name in audit events.
    pub execution_id: Option<String>,
}

impl Default for ValidateOptions {
    fn default() -> Self {
        Self { strict: true, context_keys: None, custom_facts: None, execution_id: None }
    }
}

/// The result of validation, in document order.
#[derive(Debug, Default)]
pub struct Report {
    /// At most one error per field.
    pub errors: Vec<Box<Diagnostic>>,
    /// Warnings.
    pub warnings: Vec<Box<Diagnostic>>,
}

impl Report {
    /// Returns `true` if there is no error.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Intent {
    /// Checks the intent without inputs.
    pub fn validate(&self, options: &ValidateOptions) -> Report {
        self.validate_with(options, &mut |_| {})
    }

    /// Checks like [`Intent::validate`], and sends every template error to `audit`.
    pub fn validate_with(&self, options: &ValidateOptions, audit: AuditSink<'_>) -> Report {
        let mut report = Report { errors: Vec::new(), warnings: self.names_to_warn_about() };
        let (mut arena, mut more) = (Bump::new(), 0);
        for item in &self.items {
            let full = report.errors.len() >= self.most;
            let error = match item {
                Item::Field(field) => {
                    let checked = self.check_field(field, options, &arena, full, &mut report.warnings);
                    arena.reset();
                    checked.err()
                }
                Item::Forbidden(path, node) => Some(self.forbidden(path, node)),
                Item::BadMode(path, node) => Some(self.bad_mode(path, node)),
            };
            match error {
                Some(_) if full => more += 1,
                error => report.errors.extend(error),
            }
        }
        report.errors.extend_from_slice(&self.errors);
        let start = |diagnostic: &Diagnostic| diagnostic.primary().map_or(0, |label| label.span.start);
        report.errors.small_sort_by_key(|error| start(error));
        report.warnings.small_sort_by_key(|warning| start(warning));
        report.errors = at_most(report.errors, self.most, more);
        report.warnings = at_most(report.warnings, self.most, 0);
        for error in &report.errors {
            if let Some(event) = AuditEvent::of(error, options.execution_id.as_deref(), None) {
                audit(&event);
            }
        }
        report
    }

    /// Parses a field. Its error has a span in the file.
    pub(super) fn parse_field<'a, 'f>(
        &self,
        field: &'f Field,
        arena: &'a Bump,
    ) -> Result<ParsedField<'a, 'f>, Box<Diagnostic>> {
        let text = &*field.node.text;
        if text.len() > LONGEST_FIELD {
            return Err(self.at_field(field, Limit::SourceBytes.error(LONGEST_FIELD as u64)));
        }
        parse(text, arena).map_err(|error| {
            let place = field.node.locate(&self.source, error.span);
            error.diagnostic(text, &self.source, place).with_field("field", &field.path)
        })
    }

    /// Adds the path and the span of a field to its diagnostic.
    pub(super) fn at_field(&self, field: &Field, diagnostic: Box<Diagnostic>) -> Box<Diagnostic> {
        diagnostic.with_field("field", &field.path).at(&self.source, field.node.span, "")
    }

    fn check_field(
        &self,
        field: &Field,
        options: &ValidateOptions,
        arena: &Bump,
        full: bool,
        warnings: &mut Vec<Box<Diagnostic>>,
    ) -> Result<(), Box<Diagnostic>> {
        let tree = self.parse_field(field, arena)?;
        if field.is_command && field.mode == RenderMode::Literal && tree.references().next().is_some() {
            let warning = Diagnostic::warning(Code::LiteralCommand, format!("values enter {} unquoted", field.path))
                .with_help("remove `render_mode: literal`, or make sure that no value comes from outside");
            warnings.push(self.at_field(field, warning));
        }
        warnings.extend(self.undeclared(&tree, field));
        let missing = tree.references().find_map(|reference| self.check_reference(reference, field, options, full));
        let unsafe_expression = self.lint_field(field, &tree, options, warnings);
        missing.or(unsafe_expression).map_or(Ok(()), Err)
    }

    /// Returns the warning about the first parameter of a field in an intent that declares none.
    fn undeclared(&self, tree: &ParsedField<'_, '_>, field: &Field) -> Option<Box<Diagnostic>> {
        if self.declarations.parameters.is_some() {
            return None;
        }
        let reference = tree.references().find(|reference| reference.scope == Scope::Params)?;
        let name = error::abridged(reference.name);
        let message = format!("`{name}` is not a declared parameter: the intent has no `spec.parameters`");
        let warning = Diagnostic::warning(Code::TemplateMissingVariable, message)
            .with_field("field", &field.path)
            .with_help(format!("declare it: `parameters: [{{name: {name}, type: string, required: true}}]`"));
        Some(warning.at(&self.source, field.node.locate(&self.source, reference.span), ""))
    }

    /// Returns the error of a reference that is known to fail. If the list of errors is `full`, it lacks the existing names.
    fn check_reference(
        &self,
        reference: &Reference<'_>,
        field: &Field,
        options: &ValidateOptions,
        full: bool,
    ) -> Option<Box<Diagnostic>> {
        let name = reference.name;
        let visible = field.role.visible_steps(self.steps.len());
        let known = match reference.scope {
            Scope::Params => self.declarations.parameters.as_ref()?.contains_key(name),
            Scope::Context => options.context_keys.as_ref()?.iter().any(|key| key == name),
            Scope::Facts => FACTS.contains(&name) || options.custom_facts.as_ref()?.iter().any(|key| key == name),
            Scope::Steps => self.outputs.get(name).is_some_and(|&step| step < visible),
        };
        if known {
            return None;
        }
        let owned = |keys: &Option<Vec<String>>| keys.clone().unwrap_or_default();
        let available = match reference.scope {
            _ if full => Vec::new(),
            Scope::Params => self.declarations.names().map(str::to_owned).collect(),
            Scope::Context => owned(&options.context_keys),
            Scope::Facts => FACTS.map(str::to_owned).into_iter().chain(owned(&options.custom_facts)).collect(),
            Scope::Steps => self.declared_outputs(visible),
        };
        let has_completed = |id: &str| self.steps.iter().take(visible).any(|step| step.name.as_deref() == Some(id));
        Some(self.missing(reference, field, available, has_completed))
    }

    /// Returns the error of a reference to a missing name.
    pub(super) fn missing(
        &self,
        reference: &Reference<'_>,
        field: &Field,
        available: Vec<String>,
        has_completed: impl Fn(&str) -> bool,
    ) -> Box<Diagnostic> {
        let expression = field.node.text.get(reference.span.range()).unwrap_or("");
        let place = field.node.locate(&self.source, reference.span);
        let mut error = error::missing(reference.scope, reference.name, expression, available)
            .with_field("field", &field.path)
            .at(&self.source, place, "");
        let Some((id, _)) = reference.step_output() else { return error };
        if !self.steps.iter().any(|step| step.name.as_deref() == Some(id)) {
            return error.with_note(format!("the runbook has no step '{id}'"));
        }
        if !has_completed(id) {
            error.message = format!("{}: step '{id}' has not completed", error.message);
        }
        error
    }

    /// Adds the warnings of a field, one of each kind. In strict mode, returns the first hazard as an error.
    fn lint_field(
        &self,
        field: &Field,
        tree: &ParsedField<'_, '_>,
        options: &ValidateOptions,
        warnings: &mut Vec<Box<Diagnostic>>,
    ) -> Option<Box<Diagnostic>> {
        let text = &*field.node.text;
        let mut refused: Option<Box<Diagnostic>> = None;
        let mut seen: Vec<Code> = Vec::new();
        for found in lint(text, tree, field.mode) {
            let is_option = found.code == Code::ShellExpressionMayBeOption;
            if seen.contains(&found.code) || (is_option && self.cannot_begin_with_dash(found.span, tree)) {
                continue;
            }
            seen.push(found.code);
            let place = field.node.locate(&self.source, found.span);
            let mut diagnostic = found.warning(text, &self.source, place).with_field("field", &field.path);
            if found.hazard.is_none() || !options.strict {
                warnings.push(diagnostic);
            } else if refused.is_none() {
                diagnostic.code = Code::TemplateUnsafeShellContext;
                diagnostic.severity = dropforge_base::diagnostics::Severity::Error;
                let expression = text.get(found.span.range()).unwrap_or("");
                refused = Some(diagnostic.with_field("reason", found.code.name()).with_field("expression", expression));
            }
        }
        refused
    }

    /// Returns `true` if the declarations guarantee that the value of the reference at `span` does not begin with `-`.
    fn cannot_begin_with_dash(&self, span: Span, tree: &ParsedField<'_, '_>) -> bool {
        let Some(reference) = tree.references().find(|reference| reference.span == span) else { return false };
        match reference.scope {
            Scope::Params => self.declarations.get(reference.name).is_some_and(|p| !p.may_begin_with_dash()),
            Scope::Steps => {
                let step = self.outputs.get(reference.name).and_then(|&at| self.steps.get(at));
                let name = reference.step_output().map(|(_, name)| name);
                let output = step.and_then(|step| step.outputs.iter().find(|output| output.name.as_deref() == name));
                output.is_some_and(|output| !output.value.text.starts_with(['-', '$']) && !output.value.text.is_empty())
            }
            Scope::Context | Scope::Facts => false,
        }
    }

    fn forbidden(&self, path: &str, node: &dropforge_value::yaml::Node) -> Box<Diagnostic> {
        let span = first_expression(&node.text).unwrap_or_default();
        let expression = node.text.get(span.range()).unwrap_or("");
        let message = format!("Template expressions are not allowed in {path}");
        Diagnostic::new(Code::TemplateDisallowedField, message)
            .with_field("field", path)
            .with_field("expression", expression)
            .with_help("this field must be literal")
            .at(&self.source, node.locate(&self.source, span), "")
    }

    fn bad_mode(&self, path: &str, node: &dropforge_value::yaml::Node) -> Box<Diagnostic> {
        let modes = [RenderMode::Literal, RenderMode::Shell].map(RenderMode::name);
        Diagnostic::new(Code::IntentRenderMode, format!("{path} is neither `literal` nor `shell`"))
            .with_field("field", path)
            .with_available(modes)
            .with_suggestion(&node.text, modes)
            .at(&self.source, node.span, "")
    }

    /// Returns warnings about steps whose names no expression can spell, and about steps with the same name.
    fn names_to_warn_about(&self) -> Vec<Box<Diagnostic>> {
        let mut warnings = Vec::new();
        let mut seen: std::collections::HashMap<&str, Span> = std::collections::HashMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            let Some(name) = step.name.as_deref().filter(|name| !name.contains("${")) else { continue };
            let field = format!("spec.runbook[{at}].name");
            if !is_identifier(name) {
                let message = format!("no expression can refer to the step '{}'", error::abridged(name));
                let warning = Diagnostic::warning(Code::UnreferenceableName, message)
                    .with_help("names that expressions use are [a-z_][a-z0-9_]*");
                warnings.push(warning.with_field("field", field).at(&self.source, step.span, ""));
            } else if let Some(first) = seen.insert(name, step.span) {
                let warning = Diagnostic::warning(Code::DuplicateStep, format!("two steps are called '{name}'"))
                    .with_field("field", field)
                    .at(&self.source, step.span, "again here")
                    .at(&self.source, first, "first here");
                warnings.push(warning);
            }
        }
        warnings
    }
}
