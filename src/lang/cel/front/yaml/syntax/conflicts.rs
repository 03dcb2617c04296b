//! Conflicts between the keys and directives of a map, whatever the inputs are.

use std::sync::Arc;

use hashbrown::HashMap;

use super::build::FileBuilder;
use super::tree::{Binding, DeclaredId, DeclaredName, Map, MapId, NodeId, NodeKind, PathStep, VariableKind};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::json_pointer;
use dropforge_base::text::Span;
use dropforge_schema::{Draft, Schema, SchemaError, Schemas};
use dropforge_value::yaml::{self, Entry, Kind};

/// The constant keys of a map, with their spans.
type Keys<'f> = HashMap<&'f str, Span>;

/// Capacity up to which the keys of the next map are put in place of those of the last.
const KEPT: usize = 64;

/// Errors, and the nodes that they are about.
type Conflicts = Vec<(Box<Diagnostic>, NodeId)>;

impl FileBuilder<'_> {
    /// Reports duplicate keys, and values other than maps in places where maps are merged. The reader of YAML has found keys
    /// that are written twice.
    pub fn conflicts(&mut self) {
        let mut found = Conflicts::new();
        let mut keys = Keys::new();
        let mut maps = std::mem::take(&mut self.merging);
        maps.sort_unstable();
        maps.dedup();
        for map in maps.into_iter().filter_map(|id| self.file.map(id)) {
            if keys.capacity() > KEPT {
                keys = Keys::new();
            }
            keys.clear();
            self.own_keys(map, &mut keys, &mut found);
            self.branches_of(map, &keys, &mut found);
            if let Some(each) = map.directives().each.as_ref().filter(|each| !each.in_list) {
                self.must_be_map("$do", each.body, &mut found);
            }
        }
        drop(keys);
        for (error, node) in found {
            self.report(error, node);
        }
    }

    /// Makes the error of a duplicate key.
    fn duplicate(&self, name: &str, here: Span, there: Span) -> Box<Diagnostic> {
        Diagnostic::new(Code::DuplicateKey, format!("duplicate key: `{name}` is given twice"))
            .at(&self.file.source, here, "")
            .at(&self.file.source, there, "also here")
            .with_help("keep one of them; parts that `$if` chooses belong only in `$then` and `$else`")
    }

    /// Returns the name of a constant key.
    fn key_name(&self, key: NodeId) -> Option<(&str, Span)> {
        let node = self.file.node(key)?;
        match (&node.kind, &node.step) {
            (NodeKind::Scalar(scalar), _) if matches!(scalar.kind, Kind::Str) => Some((&scalar.text, node.span)),
            (NodeKind::Scalar(_), PathStep::Key(name)) => Some((name, node.span)),
            _ => None,
        }
    }

    fn keys_of<'m>(&'m self, map: &'m Map) -> impl Iterator<Item = (&'m str, Span, NodeId)> + 'm {
        let named = |key: NodeId| self.key_name(key).map(|(name, span)| (name, span, key));
        map.entries().filter_map(move |entry| named(entry.key))
    }

    fn own_keys<'m>(&'m self, map: &'m Map, keys: &mut Keys<'m>, found: &mut Conflicts) {
        for (name, span, node) in self.keys_of(map) {
            if let Some(there) = keys.insert(name, span) {
                found.push((self.duplicate(name, span, there), node));
            }
        }
    }

    /// Finds conflicts of `$then` and `$else` with the keys that they are merged with.
    fn branches_of(&self, map: &Map, keys: &Keys<'_>, found: &mut Conflicts) {
        let merged = !keys.is_empty()
            || map.entries().next().is_some()
            || map.directives().each.is_some()
            || map.directives().include.is_some();
        if !merged {
            return;
        }
        let branches = |map: &Map| {
            let condition = map.directives().condition.as_ref();
            condition.map_or([None, None], |of| [of.then.map(|id| ("$then", id)), of.otherwise.map(|id| ("$else", id))])
        };
        let mut open: Vec<_> = branches(map).into_iter().flatten().collect();
        while let Some((name, id)) = open.pop() {
            let Some(inner) = self.file.map_of(id) else {
                self.must_be_map(name, id, found);
                continue;
            };
            for (name, span, node) in self.keys_of(inner) {
                if let Some(there) = keys.get(name) {
                    found.push((self.duplicate(name, span, *there), node));
                }
            }
            // A map with only a condition is its branch.
            open.extend(branches(inner).into_iter().flatten());
        }
    }

    fn must_be_map(&self, name: &str, id: NodeId, found: &mut Conflicts) {
        let Some(node) = self.file.node(id) else { return };
        if matches!(node.kind, NodeKind::Scalar(_) | NodeKind::Text(_) | NodeKind::List(_)) {
            let message = format!("`{name}` has to be a map here, because its keys are merged");
            let error = Diagnostic::new(Code::BadDirective, message).at(&self.file.source, node.span, "");
            found.push((error, id));
        }
    }
}

impl FileBuilder<'_> {
    /// Builds `$schema`, and brings its names into scope.
    pub fn schema(&mut self, id: NodeId, map: MapId, node: &yaml::Node) {
        if node.as_str().is_some() {
            let message = "`$schema` must map names to schemas, found a string";
            let help = "write `$$schema` for a key of data";
            return self.error_help(Code::BadDirective, node.span, id, message, Some(help));
        }
        let mut declared = Vec::new();
        for entry in self.map_of(id, "$schema", node, "names and their schemas") {
            if self.variable_name(id, entry).is_none() {
                continue;
            }
            match self.read_schema(&entry.value) {
                Ok(schema) => declared.push(self.declare(id, entry, schema)),
                Err(faults) => faults.into_iter().for_each(|fault| self.schema_fault(id, entry, fault)),
            }
        }
        for id in &declared {
            self.bind_declared(*id);
        }
        if let Some(map) = self.file.map_mut(map) {
            map.directives_mut().schema = declared;
        }
    }

    /// Reads a schema, unless an equal one was read before.
    fn read_schema(&mut self, node: &yaml::Node) -> Result<Arc<Schema>, Vec<SchemaError>> {
        let data = node.to_data();
        let key = Schemas::key(&data);
        if let Some((schema, _)) = self.parsed.schemas.get(&key) {
            return Ok(schema.clone());
        }
        let schema = Arc::new(Schema::read(&data, Draft::Template)?);
        self.parsed.schemas.insert(key, schema.clone());
        Ok(schema)
    }

    /// Declares a name with its meaning outside the map.
    fn declare(&mut self, owner: NodeId, entry: &Entry, schema: Arc<Schema>) -> DeclaredId {
        let (name, span) = (entry.name.clone(), entry.key.span);
        let of = self.names.get(&name).and_then(|binding| binding.variable);
        let differs = schema.has_numbers() || (of.is_none() && schema.default_value().is_some());
        let checked = differs.then(|| self.variable(name.clone(), span, VariableKind::Checked, owner));
        self.file.declared.push(DeclaredName { name, span, schema, of, checked });
        DeclaredId::of(self.file.declared.len() - 1)
    }

    fn bind_declared(&mut self, id: DeclaredId) {
        let Some(declared) = self.file.declared(id) else { return };
        let binding = Binding { variable: declared.checked.or(declared.of), declared: Some(id) };
        let name = declared.name.clone();
        self.names.define(&name, binding);
    }

    fn schema_fault(&mut self, id: NodeId, entry: &Entry, fault: SchemaError) {
        let span = span_at(entry, &fault.pointer);
        let message = format!("`$schema` of `{}`: {}", entry.name, fault.message);
        let mut error = Diagnostic::new(Code::BadDirective, message).at(&self.file.source, span, "");
        error.help = fault.help;
        self.report(error, id);
    }
}

/// Returns the span of the last key, with its value, that a JSON pointer reaches in the value of `entry`.
fn span_at(entry: &Entry, pointer: &str) -> Span {
    let (mut node, mut span) = (&entry.value, around(entry));
    for name in json_pointer::names(pointer) {
        match (node.entry(&name), node.as_list()) {
            (Some(found), _) => (node, span) = (&found.value, around(found)),
            (None, Some(items)) => match name.parse().ok().and_then(|at: usize| items.get(at)) {
                Some(item) => (node, span) = (item, item.span),
                None => break,
            },
            (None, None) => break,
        }
    }
    span
}

/// Returns the span of a key with its value, if the value follows it.
fn around(entry: &Entry) -> Span {
    let (key, value) = (entry.key.span, entry.value.span);
    if value.start >= key.end { key.to(value) } else { value }
}
