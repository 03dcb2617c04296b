//! Audit events: one `template_error` for each template error, with everything but values.

use serde_json::{Map, Value, json};

use crate::diagnostics::{Code, Diagnostic};
use crate::dialect::tower::error;

/// A `template_error` event.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// The fact `execution_id`, where it is known.
    pub execution_id: Option<String>,
    /// The field, such as `spec.controls.lock`.
    pub field: Option<String>,
    /// The error object ([`error::to_json`]).
    pub error: Value,
    /// What had failed before, where the field belongs to the handling of a failure.
    pub cause: Option<String>,
}

impl AuditEvent {
    /// The event of `error`, if it is a template error; parameter errors are not.
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

    /// The event as one JSON object.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("event".to_owned(), json!("template_error"));
        object.insert("execution_id".to_owned(), json!(self.execution_id));
        object.insert("field".to_owned(), json!(self.field));
        object.insert("error".to_owned(), self.error.clone());
        if let Some(cause) = &self.cause {
            object.insert("cause".to_owned(), json!(cause));
        }
        Value::Object(object)
    }
}

/// Where audit events go.
pub type AuditSink<'s> = &'s mut dyn FnMut(&AuditEvent);
