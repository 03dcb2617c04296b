//! The property names that a schema declares.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value as Json;

use crate::parameters::subschemas;

/// The declarations of a schema document, cached.
#[derive(Debug)]
pub(super) struct Schemas<'s> {
    root: &'s Json,
    /// Keyed by the schemas that apply to one value.
    known: HashMap<Vec<*const Json>, Rc<Declared<'s>>>,
}

impl<'s> Schemas<'s> {
    pub(super) fn new(root: &'s Json) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// Returns the combined declarations of `schemas` and those they refer to.
    pub(super) fn declared(&mut self, schemas: &[&'s Json]) -> Rc<Declared<'s>> {
        let key = schemas.iter().map(|&schema| std::ptr::from_ref(schema)).collect();
        self.known.entry(key).or_insert_with(|| Rc::new(Declared::combine(self.root, schemas))).clone()
    }
}

/// Maximum number of schemas followed for one value.
const MAX_SCHEMAS: usize = 1000;

/// Properties declared by every schema that can apply to one value.
#[derive(Debug, Default)]
pub(super) struct Declared<'s> {
    /// The properties and their schemas.
    pub properties: BTreeMap<&'s str, Vec<&'s Json>>,
    /// Required names, even if no property declares them.
    pub required: BTreeSet<&'s str>,
    /// Schemas for the elements, if the value is a list.
    pub elements: Vec<&'s Json>,
    /// `true` if other names are forbidden.
    pub closed: bool,
    /// `true` if other names are explicitly allowed, by a pattern or a schema.
    pub open: bool,
}

impl<'s> Declared<'s> {
    fn combine(root: &'s Json, schemas: &[&'s Json]) -> Self {
        let mut declared = Self::default();
        let mut waiting = schemas.to_vec();
        let mut seen: BTreeSet<*const Json> = BTreeSet::new();
        while let Some(schema) = waiting.pop() {
            if seen.len() < MAX_SCHEMAS && seen.insert(std::ptr::from_ref(schema)) {
                declared.add(schema);
                waiting.extend(subschemas::possible(root, schema));
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
        let (first, rest) = subschemas::elements(schema);
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

    /// Returns `true` if the name is a declared or required property.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.properties.contains_key(name) || self.required.contains(name)
    }

    /// All declared and required names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'s str> {
        self.properties.keys().copied().chain(self.required.iter().copied())
    }
}
