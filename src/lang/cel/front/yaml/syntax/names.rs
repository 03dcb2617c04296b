//! Names: those that are visible at the current position of a file, and those that `$schema` declares.

use std::sync::Arc;

use hashbrown::HashMap;

use super::build::FileBuilder;
use super::tree::{Binding, DeclaredId, DeclaredName, MapId, NodeId, VariableKind};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::paths;
use dropforge_base::text::Span;
use dropforge_schema::{Draft, Schema, SchemaError, Schemas};
use dropforge_value::yaml::{self, Entry};

/// The visible names.
#[derive(Debug, Default)]
pub(super) struct VisibleNames {
    /// The meanings of each name, the innermost last.
    meanings: HashMap<Arc<str>, Vec<Binding>>,
    /// The names in order of definition.
    order: Vec<Arc<str>>,
    /// The definitions that follow in surrounding maps, the innermost last.
    later: HashMap<Arc<str>, Vec<Span>>,
}

impl VisibleNames {
    /// Returns the number of names, to return to.
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// Defines a name.
    pub fn define(&mut self, name: &Arc<str>, binding: Binding) {
        self.order.push(name.clone());
        self.meanings.entry(name.clone()).or_default().push(binding);
    }

    /// Removes all names after a mark.
    pub fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark.min(self.order.len())..) {
            if let Some(meanings) = self.meanings.get_mut(&name) {
                meanings.pop();
            }
        }
    }

    /// Returns the current meaning of a name.
    pub fn get(&self, name: &str) -> Option<Binding> {
        self.meanings.get(name)?.last().copied()
    }

    /// Announces a definition that follows, at `span`.
    pub(crate) fn announce(&mut self, name: &Arc<str>, span: Span) {
        self.later.entry(name.clone()).or_default().push(span);
    }

    /// Removes the announcement of a definition that is reached.
    pub fn reach(&mut self, name: &str) {
        if let Some(spans) = self.later.get_mut(name) {
            spans.pop();
        }
    }

    /// Returns the span of a definition that follows.
    pub fn later(&self, name: &str) -> Option<Span> {
        self.later.get(name)?.last().copied()
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
    for name in paths::names(pointer) {
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
