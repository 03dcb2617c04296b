//! Secret values: their markers in a schema (`"writeOnly": true`, `"x-secret": true` or `"format": "password"`), and their
//! redaction.

use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value as Json};

use super::{Schema, element_schemas, possible_schemas};
use crate::error::CatalogError;
use dropforge::bulk::values::Step;
use dropforge::mask::Mask;
use dropforge::schema;

/// Replacement for secret values.
pub const REDACTED: &str = "***";

/// Maximum number of visited pairs of schema and value. Beyond it, everything is secret.
const MAX_VISITS: usize = 200_000;

impl Schema {
    /// Replaces each secret value by `"***"`.
    ///
    /// ```
    /// use dropforge_catalog::parameters::Schema;
    /// use serde_json::json;
    /// let schema = Schema::parse(r#"{"properties": {"token": {"writeOnly": true}}}"#)?;
    /// assert_eq!(schema.redacted(&json!({"token": "t", "n": 1})), json!({"token": "***", "n": 1}));
    /// # Ok::<(), dropforge_catalog::CatalogError>(())
    /// ```
    pub fn redacted(&self, parameters: &Json) -> Json {
        let secrets = self.find_secrets(parameters);
        redact(parameters, &secrets)
    }

    /// Redacts JSON text. Returns the text unchanged if the schema has no secrets, and `null` if the text is not JSON.
    pub fn redacted_text(&self, parameters: &str) -> String {
        if !self.markers.any {
            return parameters.to_owned();
        }
        let read = serde_json::from_str(parameters);
        read.map_or_else(|_| "null".to_owned(), |parameters| self.redacted(&parameters).to_string())
    }

    /// Replaces the secret texts of `parameters` in an error by `"***"`.
    pub fn redact_error(&self, parameters: &Json, error: CatalogError) -> CatalogError {
        redact_error(&Mask::of_each(|each| self.each_secret(parameters, each)), error)
    }

    /// Returns `true` if it marks any value.
    pub(crate) fn has_secrets(&self) -> bool {
        self.markers.any
    }

    /// Calls `each` with the texts of secret values.
    pub(crate) fn each_secret(&self, parameters: &Json, each: &mut dyn FnMut(&str)) {
        let secrets = self.find_secrets(parameters);
        gather(parameters, secrets.has(parameters), &secrets, each);
    }

    /// The secret values of `parameters`, by address.
    pub(crate) fn find_secrets<'p>(&self, parameters: &'p Json) -> Secrets<'p> {
        let mut found = Secrets::default();
        if !self.markers.any {
            return found;
        }
        let mut walk = Walk {
            root: &self.document,
            markers: &self.markers,
            left: MAX_VISITS,
            seen: HashSet::new(),
            hiding: HashMap::new(),
            found: &mut found,
        };
        if walk.visit(&self.document, parameters).is_none() {
            found.add(parameters);
        }
        found
    }
}

/// Returns the values on the way to a path: `root` first, the value at the path last if there is one.
fn along<'j>(root: &'j Json, path: &[Step]) -> impl Iterator<Item = &'j Json> {
    let below = |value: &mut Option<&'j Json>, step: &Step| {
        *value = value.and_then(|value| match step {
            Step::Key(key) => value.get(key),
            Step::Index(at) => value.get(at),
        });
        *value
    };
    std::iter::once(root).chain(path.iter().scan(Some(root), below))
}

/// Returns the value at a path.
pub(crate) fn member<'j>(root: &'j Json, path: &[Step]) -> Option<&'j Json> {
    along(root, path).nth(path.len())
}

/// Secret values, by address.
#[derive(Default)]
pub(crate) struct Secrets<'p> {
    places: HashSet<*const Json>,
    values: PhantomData<&'p Json>,
}

impl<'p> Secrets<'p> {
    fn add(&mut self, value: &'p Json) {
        self.places.insert(std::ptr::from_ref(value));
    }

    /// Returns `true` if the value at a path of `root` is secret, or something that it is in, or something in it.
    pub(crate) fn hide(&self, root: &'p Json, path: &[Step]) -> bool {
        along(root, path).any(|value| self.has(value)) || member(root, path).is_some_and(|value| self.has_within(value))
    }

    fn has_within(&self, value: &Json) -> bool {
        self.has(value)
            || match value {
                Json::Array(items) => items.iter().any(|item| self.has_within(item)),
                Json::Object(map) => map.values().any(|member| self.has_within(member)),
                _ => false,
            }
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    fn has(&self, value: &Json) -> bool {
        self.places.contains(&std::ptr::from_ref(value))
    }
}

/// Redacts the secrets of a value.
pub(super) fn redact(value: &Json, secrets: &Secrets<'_>) -> Json {
    if secrets.is_empty() {
        return value.clone();
    }
    if secrets.has(value) {
        return REDACTED.into();
    }
    match value {
        Json::Array(items) => items.iter().map(|item| redact(item, secrets)).collect(),
        Json::Object(map) => map.iter().map(|(key, value)| (key.clone(), redact(value, secrets))).collect(),
        other => other.clone(),
    }
}

/// Calls `each` with the texts of secret values, and with the keys in them.
fn gather(value: &Json, secret: bool, secrets: &Secrets<'_>, each: &mut dyn FnMut(&str)) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| gather(item, secret || secrets.has(item), secrets, each)),
        Json::Object(map) => map.iter().for_each(|(key, value)| {
            if secret {
                each(key);
            }
            gather(value, secret || secrets.has(value), secrets, each);
        }),
        Json::String(text) if secret => each(text),
        Json::Number(number) if secret => each(&number.to_string()),
        _ => {}
    }
}

/// Replaces secrets in an error by `"***"`.
pub(crate) fn redact_error(mask: &Mask, error: CatalogError) -> CatalogError {
    let without = |text: &str| mask.hidden_as(text, REDACTED).into_owned();
    let details = error.details.map(|details| rewrite(details, &without));
    CatalogError { message: without(&error.message), details, ..error }
}

/// Applies `change` to every text in a value, except keys.
fn rewrite(value: Json, change: &impl Fn(&str) -> String) -> Json {
    match value {
        Json::String(text) => change(&text).into(),
        Json::Array(items) => items.into_iter().map(|item| rewrite(item, change)).collect(),
        Json::Object(map) => map.into_iter().map(|(key, value)| (key, rewrite(value, change))).collect(),
        other => other,
    }
}

struct Walk<'s, 'p, 'f> {
    root: &'s Json,
    markers: &'f Markers,
    left: usize,
    seen: HashSet<(*const Json, *const Json)>,
    /// The schemas with types that may hold secrets, by address.
    hiding: HashMap<*const Json, bool>,
    found: &'f mut Secrets<'p>,
}

impl<'s, 'p> Walk<'s, 'p, '_> {
    /// Collects the values that `schema` markers. Returns `None` if the limit is exceeded.
    fn visit(&mut self, schema: &'s Json, value: &'p Json) -> Option<()> {
        if !self.seen.insert((std::ptr::from_ref(schema), std::ptr::from_ref(value))) {
            return Some(());
        }
        self.spend(1)?;
        if marks_secret(schema) || self.hides_misfit(schema, value) {
            self.found.add(value);
        }
        for other in possible_schemas(self.root, schema) {
            self.visit(other, value)?;
        }
        match value {
            Json::Object(_) => self.members(schema, value),
            Json::Array(items) => self.elements(schema, items),
            _ => Some(()),
        }
    }

    /// Returns `true` if a schema of objects or lists with secrets does not allow a value of this kind.
    fn hides_misfit(&mut self, schema: &'s Json, value: &Json) -> bool {
        let kinds = match schema.get("type") {
            Some(Json::Array(kinds)) => kinds.as_slice(),
            Some(kind) => std::slice::from_ref(kind),
            None => return false,
        };
        let kinds = kinds.iter().filter_map(Json::as_str);
        let may_hide = || marks_any(schema) || has_reference(schema);
        !schema::allows_kind(kinds, [value.is_object(), value.is_array(), value.is_null()])
            && *self.hiding.entry(std::ptr::from_ref(schema)).or_insert_with(may_hide)
    }

    fn spend(&mut self, visits: usize) -> Option<()> {
        self.left = self.left.checked_sub(visits)?;
        Some(())
    }

    fn members(&mut self, schema: &'s Json, value: &'p Json) -> Option<()> {
        let members = value.as_object()?;
        self.spend(members.len())?;
        for (name, member) in members {
            let named = schema.get("properties").and_then(|all| all.get(name));
            let others =
                ["additionalProperties", "unevaluatedProperties"].into_iter().filter_map(|key| schema.get(key));
            let patterns = schema.get("patternProperties").and_then(Json::as_object).into_iter().flatten();
            let markers = self.markers;
            let patterns =
                patterns.filter(move |(pattern, _)| markers.may_match(pattern, name)).map(|(_, below)| below);
            for below in named.into_iter().chain(patterns).chain(others.filter(|_| named.is_none())) {
                self.visit(below, member)?;
            }
        }
        Some(())
    }

    fn elements(&mut self, schema: &'s Json, items: &'p [Json]) -> Option<()> {
        let (first, rest) = element_schemas(schema);
        let contains = schema.get("contains");
        let reached = if rest.or(contains).is_some() { items.len() } else { first.len() };
        self.spend(reached)?;
        for (at, item) in items.iter().take(reached).enumerate() {
            for below in first.get(at).or(rest).into_iter().chain(contains) {
                self.visit(below, item)?;
            }
        }
        Some(())
    }
}

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
    fn may_match(&self, pattern: &str, name: &str) -> bool {
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

/// Returns `true` if a schema refers to another one, which may mark a secret.
fn has_reference(schema: &Json) -> bool {
    match schema {
        Json::Array(items) => items.iter().any(has_reference),
        Json::Object(map) => map.contains_key("$ref") || map.values().any(has_reference),
        _ => false,
    }
}

/// Returns `true` if a schema marks its value as secret.
fn marks_secret(schema: &Json) -> bool {
    let mut keywords = schema.as_object().into_iter().flatten();
    keywords.any(|(keyword, value)| schema::marks_secret(keyword, *value == Json::Bool(true), value.as_str()))
}
