//! Secret markers in a schema: `"writeOnly": true` or `"x-secret": true`.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value as Json};

/// The secret markers of a schema.
#[derive(Debug, Default)]
pub(super) struct Markers {
    /// `true` if the schema marks any value.
    pub(super) any: bool,
    /// Compiled property patterns.
    patterns: HashMap<String, Regex>,
}

/// Maximum size of a compiled pattern in bytes.
const COMPILED: usize = 128 << 10;

impl Markers {
    /// The memory that they take at most, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.patterns.len() * 2 * COMPILED
    }

    /// Reads the markers of a schema document.
    pub(super) fn of(document: &Json) -> Self {
        let mut markers = Self { any: marks_any(document), patterns: HashMap::new() };
        let mut waiting = if markers.any { vec![document] } else { Vec::new() };
        while let Some(value) = waiting.pop() {
            for pattern in value.get("patternProperties").and_then(Json::as_object).into_iter().flat_map(Map::keys) {
                let regex = RegexBuilder::new(pattern).size_limit(COMPILED).dfa_size_limit(COMPILED).build().ok();
                markers.patterns.extend(regex.map(|regex| (pattern.clone(), regex)));
            }
            match value {
                Json::Array(items) => waiting.extend(items),
                Json::Object(map) => waiting.extend(map.values()),
                _ => {}
            }
        }
        markers
    }

    /// Returns `true` if a name may match a pattern. A pattern that did not compile matches, because redacting too much
    /// is safe.
    pub(super) fn may_match(&self, pattern: &str, name: &str) -> bool {
        self.patterns.get(pattern).is_none_or(|regex| regex.is_match(name))
    }
}

/// Returns `true` if any schema in the document marks its value as secret.
fn marks_any(document: &Json) -> bool {
    match document {
        Json::Array(items) => items.iter().any(marks_any),
        Json::Object(map) => marks_secret(document) || map.values().any(marks_any),
        _ => false,
    }
}

/// Returns `true` if a schema marks its value as secret.
pub(super) fn marks_secret(schema: &Json) -> bool {
    ["writeOnly", "x-secret"].into_iter().any(|key| schema.get(key) == Some(&Json::Bool(true)))
}
