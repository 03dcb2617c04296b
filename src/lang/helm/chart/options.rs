//! Helm's own messages about `--set` options.

use dropforge_base::diagnostics::Diagnostic;
use dropforge_value::assign::{MAX_INDEX, MAX_NESTING, SetKind};

/// Returns Helm's message about an option with an error of `value::assign`.
pub(super) fn message(kind: SetKind, text: &str, error: &Diagnostic) -> String {
    match kind {
        SetKind::Json => format!("failed parsing --set-json data {text}"),
        _ => format!("failed parsing {} data: {}", kind.flag(), why(error)),
    }
}

fn why(error: &Diagnostic) -> String {
    let field = |name: &'static str| error.fields.get(name).map_or("", String::as_str);
    let part = field("part");
    match field("reason") {
        "no_value" => format!("key {part:?} has no value"),
        "comma" => format!("key {part:?} has no value (cannot end with ,)"),
        "empty_name" => format!("key map {part:?} has no value"),
        "nesting" => {
            format!("value name nested level is greater than maximum supported nested level of {MAX_NESTING}")
        }
        "unclosed_index" => "error parsing index: EOF".to_owned(),
        "unclosed_list" => "list must terminate with '}'".to_owned(),
        "after_index" => {
            let runes: Vec<String> = part.chars().map(|c| format!("{c:?}")).collect();
            format!("unexpected data at end of array index: [{}]", runes.join(" "))
        }
        "index" => index(part),
        _ => match field("found") {
            "" => error.message.clone(),
            found => format!(
                "unable to parse key: interface conversion: interface {{}} is {}, not {}",
                go_type(found),
                go_type(field("expected"))
            ),
        },
    }
}

/// Returns the reason why an index is refused.
fn index(digits: &str) -> String {
    match digits.parse::<i64>() {
        Ok(n) if n < 0 => format!("negative {n} index not allowed"),
        Ok(n) => format!("index of {n} is greater than maximum supported index of {MAX_INDEX}"),
        Err(error) => {
            use std::num::IntErrorKind::{NegOverflow, PosOverflow};
            let is_large = matches!(error.kind(), PosOverflow | NegOverflow);
            let why = if is_large { "value out of range" } else { "invalid syntax" };
            format!("error parsing index: strconv.Atoi: parsing {digits:?}: {why}")
        }
    }
}

/// Returns the type of a value of this kind in Go. Integers come from options only.
fn go_type(kind: &str) -> &str {
    match kind {
        "boolean" => "bool",
        "integer" => "int64",
        "number" => "float64",
        "list" => "[]interface {}",
        "map" => "map[string]interface {}",
        "null" => "nil",
        other => other,
    }
}
