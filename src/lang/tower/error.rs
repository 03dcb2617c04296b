//! Error objects as defined by the specification: `error`, `expression`, `scope`, `available` and `message`, plus the
//! position (`file`, `line`, `column`) and, if known, `field` and `reason`.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::Scope;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::strings;

/// Maximum number of bytes that a message shows of an expression or a name.
const SHOWN: usize = 80;

/// Returns the error object of a `tower` diagnostic.
///
/// ```
/// use dropforge::dialect::tower::{Scope, error};
/// let missing = error::missing(Scope::Params, "environment", "${params.environment}", ["app"]);
/// let object = error::to_json(&missing);
/// assert_eq!(object["error"], "template_missing_variable");
/// assert_eq!(object["message"], "Variable 'environment' not found in params scope");
/// ```
pub fn to_json(error: &Diagnostic) -> Value {
    let field = |key: &str| error.fields.get(key).map(String::as_str);
    let mut object = json!({
        "error": error.code.name(),
        "expression": field("expression"),
        "scope": field("scope"),
        "available": error.available.as_deref().unwrap_or(&[]),
        "message": error.message,
    });
    if let Some(label) = error.primary() {
        let position = label.position();
        object["file"] = json!(label.source.name());
        object["line"] = json!(position.line);
        object["column"] = json!(position.column);
    }
    for (key, value) in [("field", field("field")), ("reason", field("reason")), ("help", error.help.as_deref())] {
        if let Some(value) = value {
            object[key] = json!(value);
        }
    }
    object
}

/// Returns the error of a reference to a name that is missing from its scope. `available` has the names that the scope has.
pub fn missing<S: Into<String>>(
    scope: Scope,
    name: &str,
    expression: &str,
    available: impl IntoIterator<Item = S>,
) -> Box<Diagnostic> {
    let message = format!("Variable '{}' not found in {scope} scope", abridged(name));
    let error = Diagnostic::new(Code::TemplateMissingVariable, message)
        .with_field("expression", expression)
        .with_field("scope", scope.name())
        .with_available(available);
    match error.available.clone() {
        Some(names) if !names.is_empty() => error.with_suggestion(name, names.iter().map(String::as_str)),
        _ => without_values(error, scope, name),
    }
}

/// Explains an error about a scope without values.
fn without_values(error: Box<Diagnostic>, scope: Scope, name: &str) -> Box<Diagnostic> {
    let note = format!("the inputs have no values in `{scope}` that can be inserted");
    let name = abridged(name);
    let help = match (scope, name.split('.').collect::<Vec<_>>().as_slice()) {
        (Scope::Steps, [id, _, output]) => {
            format!("give it in the inputs: `steps: {{{id}: {{outputs: {{{output}: …}}}}}}`")
        }
        _ => format!("give it in the inputs: `{scope}: {{{name}: …}}`"),
    };
    error.with_note(note).with_help(help)
}

/// Shortens an expression or a name for a message.
pub(super) fn abridged(text: &str) -> Cow<'_, str> {
    strings::abridged(text, SHOWN)
}
