//! `$schema`: the schemas of names, and the positions of their errors.

use std::sync::Arc;

use super::build::Build;
use super::tree::{Binding, Declared, DeclaredId, MapId, NodeId, VariableKind};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::json_pointer;
use dropforge_base::text::Span;
use dropforge_schema::{Draft, Schema, SchemaError, Schemas};
use dropforge_value::yaml::{self, Entry};

impl Build<'_> {
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
        self.file.declared.push(Declared { name, span, schema, of, checked });
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
