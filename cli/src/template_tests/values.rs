//! Values in documents: paths to them, how they are compared and shown.
//!
//! A path is written as `spec.ports[0].name`, `metadata.labels["a.b/c"]` or `spec.containers[?(@.name == "app")]`. It is
//! JSONPath, with three liberties that users of helm-unittest know: the `$` may be left out, names after a dot may have
//! any characters, and a backslash escapes a dot in them.

use std::cmp::Ordering;

use serde_json::{Number, Value};
use serde_json_path::JsonPath;

use dropforge::bulk::unified_diff;
use dropforge::value::{Data, yaml};

/// Maximum number of bytes of a path.
const LONGEST: usize = 4096;
/// Maximum nesting of brackets in a filter. Its parser recurses.
const DEEPEST: usize = 16;

/// A path to values in a document. The empty path is the whole document.
#[derive(Debug, Clone)]
pub(super) struct ValuePath {
    text: String,
    query: Option<JsonPath>,
}

impl ValuePath {
    /// Returns the path to the whole document.
    pub fn whole() -> Self {
        Self { text: String::new(), query: None }
    }

    /// Parses a path.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = text.trim();
        if plain.len() > LONGEST {
            return Err(format!("a path has at most {LONGEST} bytes"));
        }
        if matches!(plain, "" | "$") {
            return Ok(Self { text: plain.to_owned(), query: None });
        }
        let query = JsonPath::parse(&standard(plain)?).map_err(|error| error.to_string())?;
        Ok(Self { text: plain.to_owned(), query: Some(query) })
    }

    /// Returns the path as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the values at the path.
    pub fn find<'d>(&self, document: &'d Value) -> Vec<&'d Value> {
        self.query.as_ref().map_or_else(|| vec![document], |query| query.query(document).all())
    }
}

/// Returns a path as a standard JSONPath.
fn standard(text: &str) -> Result<String, String> {
    let mut rest = text.strip_prefix('$').unwrap_or(text);
    let mut path = String::from("$");
    let mut expects_name = !rest.starts_with(['.', '[']);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("..") {
            path.push_str("..");
            (rest, expects_name) = (after, !after.starts_with('['));
        } else if let Some(after) = rest.strip_prefix('[') {
            let length = bracket(after)?;
            let (inside, after) = after.split_at(length);
            path.extend(["[", inside, "]"]);
            (rest, expects_name) = (after.get(1..).unwrap_or(""), false);
        } else if let Some(after) = rest.strip_prefix('.').filter(|_| !expects_name) {
            (rest, expects_name) = (after, true);
        } else if expects_name {
            let (name, after) = name(rest);
            match name.as_str() {
                "" => return Err("a name is missing after a dot".to_owned()),
                "*" => path.push_str("[*]"),
                name => path.push_str(&format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))),
            }
            (rest, expects_name) = (after, false);
        } else {
            return Err(format!("expected `.` or `[` before `{rest}`"));
        }
    }
    if expects_name { Err("a name is missing at the end".to_owned()) } else { Ok(path) }
}

/// Splits a name off. A backslash escapes the next character.
fn name(text: &str) -> (String, &str) {
    let (mut name, mut chars) = (String::new(), text.chars());
    loop {
        let rest = chars.as_str();
        match chars.next() {
            None | Some('.' | '[') => return (name, rest),
            Some('\\') => name.extend(chars.next()),
            Some(c) => name.push(c),
        }
    }
}

/// Returns the length of the text up to the bracket that closes.
fn bracket(text: &str) -> Result<usize, String> {
    let (mut quote, mut depth, mut escaped) = (None, 0_usize, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, ']') if depth == 0 => return Ok(at),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        if depth > DEEPEST {
            return Err(format!("brackets nest deeper than {DEEPEST} levels"));
        }
    }
    Err("a bracket is not closed".to_owned())
}

/// Returns a path of `set` in the grammar of `--set`: `a["b.c"]` becomes `a.b\.c`.
pub(super) fn of_set(text: &str) -> String {
    let mut path = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("[\"") {
        let Some(length) = rest.get(at + 2..).and_then(|after| after.find("\"]")) else { break };
        let (before, key) = (rest.get(..at).unwrap_or(""), rest.get(at + 2..at + 2 + length).unwrap_or(""));
        path.push_str(before);
        path.push_str(if path.is_empty() { "" } else { "." });
        path.push_str(&key.replace('\\', "\\\\").replace('.', "\\.").replace('[', "\\["));
        rest = rest.get(at + length + 4..).unwrap_or("");
    }
    path + rest
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Vec<String> {
        let document = serde_json::json!({
            "a": {"b-c": [{"name": "x", "n": 1}, {"name": "y", "n": 2}], "k.l/m": "dotted", "it's": 3},
        });
        let path = ValuePath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        path.find(&document).into_iter().map(Value::to_string).collect()
    }

    #[test]
    fn paths_are_those_of_helm_unittest() {
        for (path, wanted) in [
            ("a.b-c[0].n", &["1"][..]),
            ("$.a.b-c[1].name", &["\"y\""]),
            ("a.b-c[-1].n", &["2"]),
            ("a.b-c[*].n", &["1", "2"]),
            ("a.b-c.*.n", &["1", "2"]),
            ("a[\"k.l/m\"]", &["\"dotted\""]),
            ("a['k.l/m']", &["\"dotted\""]),
            ("a.k\\.l/m", &["\"dotted\""]),
            ("a.it's", &["3"]),
            ("a.b-c[?(@.name == \"y\")].n", &["2"]),
            ("a.b-c[?@.n > 1].name", &["\"y\""]),
            ("..name", &["\"x\"", "\"y\""]),
            ("a.none", &[]),
            ("a.b-c[7]", &[]),
        ] {
            assert_eq!(found(path), wanted, "{path}");
        }
        assert_eq!(found("").len(), 1);
        assert_eq!(found("$"), found(""));
    }

    #[test]
    fn bad_paths_are_refused() {
        let deep = format!("a[?{}@.b{}]", "(".repeat(5_000), ")".repeat(5_000));
        let long = "a.".repeat(3_000) + "b";
        for path in ["a.", ".", "a[", "a[0", "a['b]", "a[0]b", "a[?(@.b ==)]", "a[b]", deep.as_str(), long.as_str()] {
            assert!(ValuePath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn quoted_keys_of_set_are_escaped() {
        assert_eq!(of_set("a.b[0].c"), "a.b[0].c");
        assert_eq!(of_set("a[\"b.c/d\"].e"), "a.b\\.c/d.e");
        assert_eq!(of_set("[\"b.c\"]"), "b\\.c");
        assert_eq!(of_set("a[\"b"), "a[\"b");
    }

    #[test]
    fn values_are_compared_as_people_read_them() {
        assert!(same(&json!({"a": [1, "x\r\ny"]}), &json!({"a": [1.0, "x\ny"]})));
        assert!(!same(&json!("1"), &json!(1)) && !same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(!same(&json!(u64::MAX), &json!(u64::MAX - 1)));
        assert!(includes(&json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"b": 1}})));
        assert!(!includes(&json!({"a": [1, 2]}), &json!({"a": [1]})));
        assert_eq!(compare(&json!(2), &json!(1.5)), Some(Ordering::Greater));
        assert_eq!(compare(&json!("10m"), &json!(10)), None);
        assert!(is_empty(&json!(0.0)) && is_empty(&json!({})) && !is_empty(&json!(" ")));
        assert!(is_type(&json!(1), "int") && is_type(&json!([]), "[]interface {}") && !is_type(&json!(1.5), "int"));
    }

    #[test]
    fn long_values_are_shown_by_their_type() {
        assert_eq!(short(&json!({"a": 1})), r#"{"a":1}"#);
        assert_eq!(short(&json!("a\nb")), "a string");
        assert_eq!(short(&json!(vec![1; 100])), "a list");
        assert!(bounded(&"x\n".repeat(500)).ends_with("\nand 300 more lines"));
    }
}
