//! Values in documents: how they are compared and shown.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use dropforge::bulk::unified_diff;
use dropforge::value::yaml::{Kind, Node, Style};
use dropforge::value::{Data, yaml};

/// Returns a path of `set` in the grammar of `--set`: `a["b.c"]` and `a.[b.c]` become `a.b\\.c`.
pub(super) fn of_set(text: &str) -> String {
    let (mut path, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('[') {
        let (before, after) = (rest.get(..at).unwrap_or(""), rest.get(at + 1..).unwrap_or(""));
        path.push_str(before);
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''));
        let is_key = quote.is_some() || path.is_empty() || path.ends_with('.');
        let end = quote.map_or("]".to_owned(), |quote| format!("{quote}]"));
        let start = usize::from(quote.is_some());
        let key = after.get(start..).and_then(|inside| inside.split_once(end.as_str())).filter(|_| is_key);
        let Some((key, more)) = key else {
            path.push('[');
            rest = after;
            continue;
        };
        path.push_str(if path.is_empty() || path.ends_with('.') { "" } else { "." });
        path.push_str(&key.replace('\\', "\\\\").replace('.', "\\.").replace('[', "\\["));
        rest = more;
    }
    path + rest
}

/// Returns a text as assertions compare it: without blanks before the ends of lines, and without empty lines before it.
pub(super) fn plain(text: &str) -> String {
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let last = text.split('\n').count() - 1;
    let trimmed = lines.enumerate().map(|(at, line)| if at == last { line } else { line.trim_end_matches(' ') });
    trimmed.collect::<Vec<_>>().join("\n").trim_start_matches('\n').to_owned()
}

/// Maximum number of characters of a value within a sentence.
const SHORT: usize = 80;
/// Maximum number of lines of a value or a difference.
const LINES: usize = 200;

/// Returns `true` for equal values. Numbers are compared by value, and line ends do not count.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b) == Some(Ordering::Equal),
        (Value::String(a), Value::String(b)) => a == b || a.replace("\r\n", "\n") == b.replace("\r\n", "\n"),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, one)| b.get(key).is_some_and(|other| same(one, other)))
        }
        _ => a == b,
    }
}

/// Returns `true` if `value` has everything in `part`: of maps, the keys.
pub(super) fn includes(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => {
            part.iter().all(|(key, one)| value.get(key).is_some_and(|other| includes(other, one)))
        }
        _ => same(value, part),
    }
}

/// Compares numbers, or texts. `None` for other values.
pub(super) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    let integer = |n: &Number| n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// Returns `true` for null, false, zero and what has no content.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// Returns `true` if a value has a type, by our name or that of helm-unittest.
pub(super) fn is_type(value: &Value, name: &str) -> bool {
    let names: &[&str] = match value {
        Value::Null => &["null", "nil", "<nil>"],
        Value::Bool(_) => &["boolean", "bool"],
        Value::Number(number) if number.is_f64() => &["number", "float", "float64"],
        Value::Number(_) => &["number", "integer", "int", "int64"],
        Value::String(_) => &["string"],
        Value::Array(_) => &["list", "array", "[]interface {}", "[]any"],
        Value::Object(_) => &["map", "object", "map[string]interface {}", "map[string]any"],
    };
    names.contains(&name)
}

/// Returns the type of a value, for people.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// Returns a value as JSON if it is short, or else its type.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    let is_short = text.chars().nth(SHORT).is_none() && !matches!(value, Value::String(text) if text.contains('\n'));
    if is_short { text } else { type_name(value).to_owned() }
}

/// Returns `true` if a sentence does not show all of a value.
pub(super) fn is_long(value: &Value) -> bool {
    short(value) == type_name(value)
}

/// Returns a value as YAML, a text as it is.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => document(value),
    }
}

/// Returns a value as a YAML document.
pub(super) fn document(value: &Value) -> String {
    yaml::to_string(&serde_json::from_value::<Data>(value.clone()).unwrap_or_default())
}

/// Returns the difference of two texts, at most [`LINES`] lines of it.
pub(super) fn difference(expected: &str, actual: &str) -> String {
    bounded(&unified_diff("expected", "actual", expected, actual))
}

/// Returns the first [`LINES`] lines of a text.
pub(super) fn bounded(text: &str) -> String {
    let mut lines = text.trim_end_matches('\n').split('\n');
    let kept: Vec<&str> = lines.by_ref().take(LINES).collect();
    match lines.count() {
        0 => kept.join("\n"),
        more => format!("{}\nand {more} more lines", kept.join("\n")),
    }
}

/// Converts a value.
pub(super) fn json(data: &Data) -> Value {
    serde_json::to_value(data).unwrap_or(Value::Null)
}

/// Returns the value of a node as Kubernetes and helm-unittest read it: `0755` is octal, and `1_000` is a number.
pub(super) fn value_of(node: &Node) -> Data {
    match &node.kind {
        Kind::List(items) => Data::List(items.iter().map(value_of).collect()),
        Kind::Map(entries) => {
            Data::Map(entries.iter().map(|entry| (entry.name.as_ref().to_owned(), value_of(&entry.value))).collect())
        }
        Kind::Int(_) | Kind::Str if node.style == Style::Plain && !node.is_marked_text() => {
            number(&node.text).unwrap_or_else(|| node.to_data())
        }
        _ => node.to_data(),
    }
}

/// Returns an integer with underscores or in octal digits.
fn number(text: &str) -> Option<Data> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let octal = digits.strip_prefix('0').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '_'));
    if octal.is_none() && !(digits.contains('_') && digits.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let (digits, radix) = octal.map_or((digits, 10), |octal| (octal, 8));
    let value = i64::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(Data::Int(if text.starts_with('-') { -value } else { value }))
}

#[cfg(test)]
mod tests {
    use dropforge::limits::Limits;
    use dropforge::text::Source;
    use serde_json::json;

    use super::*;

    #[test]
    fn quoted_keys_of_set_are_escaped() {
        assert_eq!(of_set("a.b[0].c"), "a.b[0].c");
        assert_eq!(of_set("a[\"b.c/d\"].e"), "a.b\\.c/d.e");
        assert_eq!(of_set("[\"b.c\"]"), "b\\.c");
        assert_eq!(of_set("a[\"b"), "a[\"b");
        assert_eq!(of_set("a.[b.c/d].e[1]"), "a.b\\.c/d.e[1]");
        assert_eq!(of_set("[b.c]"), "b\\.c");
        assert_eq!(of_set("a['b.c'][0]"), "a.b\\.c[0]");
    }

    #[test]
    fn values_are_compared_as_people_read_them() {
        assert!(same(&json!({"a": [1, "x\r\ny"]}), &json!({"a": [1.0, "x\ny"]})));
        assert!(!same(&json!("1"), &json!(1)) && !same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(!same(&json!(u64::MAX), &json!(u64::MAX - 1)));
        assert!(includes(&json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 1}})));
        assert_eq!(plain("\n\na  \r\nb\n c "), "a\nb\n c ");
        assert!(!includes(&json!({"a": [1, 2]}), &json!({"a": [1]})));
        assert_eq!(compare(&json!(2), &json!(1.5)), Some(Ordering::Greater));
        assert_eq!(compare(&json!("10m"), &json!(10)), None);
        assert!(is_empty(&json!(0.0)) && is_empty(&json!({})) && !is_empty(&json!(" ")));
        assert!(is_type(&json!(1), "int") && is_type(&json!([]), "[]interface {}") && !is_type(&json!(1.5), "int"));
    }

    #[test]
    fn numbers_are_those_of_kubernetes() {
        let text = "[0755, -010, 1_000, 0_7, 0, 00, 12, 0o17, '0755', !!str 0755, 089, 1_x, _1, 0.5, a_b]";
        let nodes = yaml::read_with(&Source::new("a", text), &Limits::default(), yaml::Tags::Kept).unwrap();
        let found = json(&value_of(&nodes[0]));
        let wanted = json!([493, -8, 1000, 7, 0, 0, 12, 15, "0755", "0755", 89, "1_x", "_1", 0.5, "a_b"]);
        assert_eq!(found, wanted);
    }

    #[test]
    fn long_values_are_shown_by_their_type() {
        assert_eq!(short(&json!({"a": 1})), r#"{"a":1}"#);
        assert_eq!(short(&json!("a\nb")), "a string");
        assert_eq!(short(&json!(vec![1; 100])), "a list");
        assert!(bounded(&"x\n".repeat(500)).ends_with("\nand 300 more lines"));
    }
}
