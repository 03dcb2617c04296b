//! Errors as the specification wants them: the fields `error`, `expression`, `scope`, `available` and
//! `message`, and beside them the place (`file`, `line`, `column`) and, where known, `field` and `reason`.

use serde_json::{Map, Value, json};

use super::ast::Scope;
use crate::diagnostics::{Code, Diagnostic};

/// The error object of a diagnostic of this language.
///
/// ```
/// use dropforge::dialect::tower::{RenderMode, ast::Scope, error};
/// let missing = error::missing(Scope::Params, "environment", "${params.environment}", ["app"]);
/// let object = error::to_json(&missing);
/// assert_eq!(object["error"], "template_missing_variable");
/// assert_eq!(object["message"], "Variable 'environment' not found in params scope");
/// ```
pub fn to_json(error: &Diagnostic) -> Value {
    let mut object = Map::new();
    let field = |key: &str| error.fields.get(key).map(String::as_str);
    object.insert("error".to_owned(), json!(error.code.name()));
    object.insert("expression".to_owned(), json!(field("expression")));
    object.insert("scope".to_owned(), json!(field("scope")));
    object.insert("available".to_owned(), json!(error.available.as_deref().unwrap_or(&[])));
    object.insert("message".to_owned(), json!(error.message));
    if let Some(label) = error.primary() {
        let position = label.position();
        object.insert("file".to_owned(), json!(label.source.name()));
        object.insert("line".to_owned(), json!(position.line));
        object.insert("column".to_owned(), json!(position.column));
    }
    for key in ["field", "reason"] {
        if let Some(value) = field(key) {
            object.insert(key.to_owned(), json!(value));
        }
    }
    if let Some(help) = &error.help {
        object.insert("help".to_owned(), json!(help));
    }
    Value::Object(object)
}

/// The error of a reference to something that is not in its scope; `available` are the names that could be
/// interpolated.
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
    let names = error.available.clone().unwrap_or_default();
    error.with_suggestion(name, names.iter().map(String::as_str))
}

/// Text for a message: the first 80 characters.
pub(super) fn abridged(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or("")),
        None => text.to_owned(),
    }
}
