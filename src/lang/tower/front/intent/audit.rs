//! Audit events: one `template_error` per template error, without values.

use serde_json::{Value, json};

use crate::error;
use dropforge_base::diagnostics::{Code, Diagnostic};

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
    pub(super) fn of(error: &Diagnostic, execution_id: Option<&str>, failed_step: Option<&str>) -> Option<Self> {
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
