//! What a schema says of the names of an object.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde_json::Value as Json;

use crate::parameters::local;

/// What was found out about a document's schemas.
#[derive(Debug)]
pub(super) struct Schemas<'s> {
    root: &'s Json,
    /// By the schemas that hold for one value.
    known: HashMap<Vec<*const Json>, Rc<Declared<'s>>>,
}

impl<'s> Schemas<'s> {
    pub(super) fn of(root: &'s Json) -> Self {
        Self { root, known: HashMap::new() }
    }

    /// What `schemas`, and those that they lead to, declare of one value.
    pub(super) fn declared(&mut self, schemas: &[&'s Json]) -> Rc<Declared<'s>> {
        let key = schemas.iter().map(|&schema| std::ptr::from_ref(schema)).collect();
        self.known.entry(key).or_insert_with(|| Rc::new(Declared::by(self.root, schemas))).clone()
    }
}

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
    fn by(root: &'s Json, schemas: &[&'s Json]) -> Self {
        let mut declared = Self::default();
        let mut waiting = schemas.to_vec();
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
