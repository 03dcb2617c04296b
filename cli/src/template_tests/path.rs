//! Paths to values in documents: `spec.ports[0].name`, `metadata.labels["a.b/c"]`, `spec.containers[?(@.name == "app")]`.
//!
//! They are JSONPath, with three liberties that users of helm-unittest know: the `$` may be left out, names after a dot may
//! have any characters, and a backslash escapes a dot in them.

use serde_json::Value;
use serde_json_path::JsonPath;

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
        if let Some(behind) = rest.strip_prefix("..") {
            path.push_str("..");
            (rest, expects_name) = (behind, !behind.starts_with('['));
        } else if let Some(behind) = rest.strip_prefix('[') {
            let length = bracket(behind)?;
            let (inside, behind) = behind.split_at(length);
            path.extend(["[", inside, "]"]);
            (rest, expects_name) = (behind.get(1..).unwrap_or(""), false);
        } else if let Some(behind) = rest.strip_prefix('.').filter(|_| !expects_name) {
            (rest, expects_name) = (behind, true);
        } else if expects_name {
            let (name, behind) = name(rest);
            match name.as_str() {
                "" => return Err("a name is missing after a dot".to_owned()),
                "*" => path.push_str("[*]"),
                name => path.push_str(&format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))),
            }
            (rest, expects_name) = (behind, false);
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
        let Some(length) = rest.get(at + 2..).and_then(|behind| behind.find("\"]")) else { break };
        let (before, key) = (rest.get(..at).unwrap_or(""), rest.get(at + 2..at + 2 + length).unwrap_or(""));
        path.push_str(before);
        path.push_str(if path.is_empty() { "" } else { "." });
        path.push_str(&key.replace('\\', "\\\\").replace('.', "\\.").replace('[', "\\["));
        rest = rest.get(at + length + 4..).unwrap_or("");
    }
    path + rest
}

#[cfg(test)]
mod tests {
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
}
