//! Messages of violations, worded as Brokkr's clients expect.

use serde_json::Value as Json;

use dropforge::schema::{Detail, Node, Violation};

/// Maximum number of values of an `enum` in a message.
const VALUES: usize = 3;

/// The message of a violation: `limit` is the value of the keyword, `shown` the violating value, `node` the schema.
pub(super) fn message(found: &Violation, limit: &Json, shown: &str, node: Option<&Node>) -> String {
    let names = match &found.detail {
        Detail::Names(names) => names.as_slice(),
        _ => &[],
    };
    match found.keyword {
        "type" => not_of_type(shown, node),
        "enum" => format!("{shown} is not one of {}", alternatives(limit)),
        "const" => format!("{limit} was expected"),
        "minimum" => format!("{shown} is less than the minimum of {limit}"),
        "maximum" => format!("{shown} is greater than the maximum of {limit}"),
        "exclusiveMinimum" => format!("{shown} is less than or equal to the minimum of {}", found.limit),
        "exclusiveMaximum" => format!("{shown} is greater than or equal to the maximum of {}", found.limit),
        "multipleOf" => format!("{shown} is not a multiple of {limit}"),
        "minLength" => format!("{shown} is shorter than {}", count(limit, ["character", "characters"])),
        "maxLength" => format!("{shown} is longer than {}", count(limit, ["character", "characters"])),
        "minItems" => format!("{shown} has less than {}", count(limit, ["item", "items"])),
        "maxItems" => format!("{shown} has more than {}", count(limit, ["item", "items"])),
        "minProperties" => format!("{shown} has less than {}", count(limit, ["property", "properties"])),
        "maxProperties" => format!("{shown} has more than {}", count(limit, ["property", "properties"])),
        "pattern" => format!("{shown} does not match {}", quoted(limit)),
        "format" => format!("{shown} is not a {}", quoted(limit)),
        "contentEncoding" => format!("{shown} is not compliant with {} content encoding", quoted(limit)),
        "contentMediaType" => format!("{shown} is not compliant with {} media type", quoted(limit)),
        "uniqueItems" => format!("{shown} has non-unique elements"),
        "contains" => format!("None of {shown} are valid under the given schema"),
        "required" => format!("{} is a required property", Json::from(names.first().map_or("", String::as_str))),
        "additionalProperties" => unexpected("Additional properties", names),
        "unevaluatedProperties" => unexpected("Unevaluated properties", names),
        "unevaluatedItems" => unexpected("Unevaluated items", names),
        "falseSchema" => format!("False schema does not allow {shown}"),
        "not" => format!("{limit} is not allowed for {shown}"),
        "oneOf" if found.detail == Detail::Several => {
            format!("{shown} is valid under more than one of the schemas listed in the 'oneOf' keyword")
        }
        keyword => format!("{shown} is not valid under any of the schemas listed in the '{keyword}' keyword"),
    }
}

fn not_of_type(shown: &str, node: Option<&Node>) -> String {
    let mut names: Vec<_> = node.map(|node| node.types.names().collect()).unwrap_or_default();
    names.sort_unstable();
    let types = if names.len() == 1 { "type" } else { "types" };
    format!("{shown} is not of {types} \"{}\"", names.join("\", \""))
}

/// `1, 2 or 3`, or `1, 2 or 8 other candidates`.
fn alternatives(limit: &Json) -> String {
    let values = limit.as_array().map(Vec::as_slice).unwrap_or_default();
    let shown = if values.len() > VALUES { VALUES - 1 } else { values.len() };
    let mut texts: Vec<_> = values.iter().take(shown).map(Json::to_string).collect();
    if shown < values.len() {
        texts.push(format!("{} other candidates", values.len() - shown));
    }
    match texts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} or {last}", first.join(", ")),
        None => String::new(),
    }
}

fn count(limit: &Json, [one, many]: [&str; 2]) -> String {
    format!("{limit} {}", if limit.as_f64() == Some(1.0) { one } else { many })
}

fn quoted(limit: &Json) -> String {
    format!("\"{}\"", limit.as_str().unwrap_or_default())
}

fn unexpected(what: &str, names: &[String]) -> String {
    let verb = if names.len() == 1 { "was" } else { "were" };
    format!("{what} are not allowed ('{}' {verb} unexpected)", names.join("', '"))
}
