//! What a schema says of the names of an object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::catalog::parameters::local;

/// How many schemas are followed for one value.
const FOLLOWED: usize = 1000;

/// What schemas that hold, or may hold, for one object declare together.
#[derive(Debug, Default)]
pub(super) struct Declared<'s> {
    /// Its properties, each with the schemas for it.
    pub properties: BTreeMap<&'s str, Vec<&'s Json>>,
    /// The names that it must have, whether a property is declared for them or not.
    pub required: BTreeSet<&'s str>,
    /// The schemas for the elements, where the value is a list.
    pub elements: Vec<&'s Json>,
    /// Whether other names are forbidden.
    pub closed: bool,
    /// Whether other names are said to be allowed: by a pattern, by a schema for them.
    pub open: bool,
}

impl<'s> Declared<'s> {
    /// What `schemas`, and those that they lead to, declare of one value.
    pub(super) fn by(root: &'s Json, schemas: impl IntoIterator<Item = &'s Json>) -> Self {
        let mut declared = Self::default();
        let mut waiting: Vec<&Json> = schemas.into_iter().collect();
        let mut seen: BTreeSet<*const Json> = BTreeSet::new();
        while let Some(schema) = waiting.pop() {
            if seen.len() < FOLLOWED && seen.insert(std::ptr::from_ref(schema)) {
                declared.add(schema);
                waiting.extend(local::perhaps(root, schema));
            }
        }
        declared
    }

    fn add(&mut self, schema: &'s Json) {
        for (name, below) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            self.properties.entry(name).or_default().push(below);
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        self.required.extend(required.filter_map(Json::as_str));
        let (first, rest) = local::elements(schema);
        self.elements.extend(first.iter().chain(rest));
        self.open |= schema.get("patternProperties").is_some();
        for key in ["additionalProperties", "unevaluatedProperties"] {
            match schema.get(key) {
                None => {}
                Some(Json::Bool(false)) => self.closed = true,
                Some(_) => self.open = true,
            }
        }
    }

    /// Whether it says what a value of this name is.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.properties.contains_key(name) || self.required.contains(name)
    }

    /// All names that it knows.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.properties.keys().copied().chain(self.required.iter().copied())
    }
}
