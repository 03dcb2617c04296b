//! The filter that reads YAML.

use crate::builtins::wrong;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::Source;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::yaml::read_data;
use dropforge_value::{Text, Value};

functions! {
    /// The filter that reads YAML.
    pub(in crate::builtins) static YAML:
    filter "from_yaml" (value: Str) = from_yaml,
        "The value in YAML, which is one document."
        [
            "{% set image = 'name: web\ntags: [1, 2]' | from_yaml %}{{ image.name }} {{ image.tags | last }}" => "web 2",
            r"{{ 'a: [' | from_yaml }}" => "E0403",
        ];
}

/// The bytes that parsing charges for each byte of text, in addition to the value.
const NODES: usize = 8;

fn from_yaml<'v>(cx: &Cx<'v>, value: &'v Text<'v>) -> Result<Value<'v>> {
    let text = value.as_str();
    cx.charge(text.len().saturating_mul(NODES))?;
    match read_data(&Source::new("value", text), cx.limits()) {
        Ok(data) => cx.data(&data),
        Err(errors) => Err(refused(Value::Str(value), errors)),
    }
}

/// Returns the error of invalid YAML, or of the limit that reading it reached.
fn refused(value: Value<'_>, errors: Vec<Box<Diagnostic>>) -> Box<Diagnostic> {
    let error = wrong("filter `from_yaml`", "value", "YAML", value);
    match errors.into_iter().next() {
        Some(limit) if limit.code.is_limit() => limit,
        Some(first) => {
            let place =
                first.position().map_or_else(String::new, |at| format!(" (line {}, column {})", at.line, at.column));
            error.with_note(format!("{}{place}", first.message))
        }
        None => error,
    }
}
