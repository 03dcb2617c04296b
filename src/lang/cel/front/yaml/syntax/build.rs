//! The construction of a template tree from YAML nodes, in the order of the file, with the names that are visible at
//! each position.

use std::sync::Arc;

use hashbrown::HashMap;

use super::expressions::ParsedExpressions;
use super::{
    Binding, DeclaredId, DeclaredName, File, Map, MapId, NodeId, NodeKind, PathStep, Run, TemplateNode, TextPart,
    VariableId, VariableKind,
};
use crate::syntax::{ScannedPart, scan};
use dropforge_base::diagnostics::{Code, Diagnostic, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::paths;
use dropforge_base::text::{Source, Span};
use dropforge_schema::{Draft, Schema, SchemaError, Schemas};
use dropforge_value::yaml::{self, Entry, Kind, Places};

/// Options of templates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Treat every string of `$let` without `${ }` as an expression.
    pub strict_let: bool,
    /// Options of expressions.
    pub expressions: crate::syntax::Options,
}

/// The path of an `$include`, and its position in the tree.
pub(in crate::front::yaml) struct IncludePath {
    pub map: MapId,
    pub owner: NodeId,
    pub span: Span,
    /// The path; if it is computed at render time, the directory that it is relative to.
    pub path: Arc<str>,
    /// Set for a constant path.
    pub constant: bool,
}

/// The result of building a file.
pub(in crate::front::yaml) struct Built {
    pub file: File,
    pub includes: Vec<IncludePath>,
    pub errors: Vec<Box<Diagnostic>>,
    pub lints: Vec<Box<Diagnostic>>,
}

/// A file under construction.
pub(super) struct FileBuilder<'b> {
    pub options: &'b BuildOptions,
    pub limits: &'b Limits,
    pub file: File,
    pub names: VisibleNames,
    pub parsed: &'b mut ParsedExpressions,
    /// The number of nodes of all parsed expressions.
    pub parsed_nodes: usize,
    /// Set after the error of too many expressions.
    pub too_many: bool,
    pub includes: Vec<IncludePath>,
    /// Maps whose keys may conflict although they are written differently: with branches, loops or escapes.
    pub merging: Vec<MapId>,
    /// The names that the roots of earlier documents define or declare.
    pub elsewhere: HashMap<Arc<str>, (Span, Directive)>,
    pub errors: Vec<Box<Diagnostic>>,
    pub lints: Vec<Box<Diagnostic>>,
}

/// A directive that gives meaning to names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Let,
    Schema,
}

/// Builds the tree of the documents of `source`.
pub(in crate::front::yaml) fn build(
    source: &Arc<Source>,
    documents: &[yaml::Node],
    options: &BuildOptions,
    limits: &Limits,
    parsed: &mut ParsedExpressions,
) -> Built {
    let mut build = FileBuilder {
        options,
        limits,
        file: File::new(source, documents.iter().map(yaml::Node::weight).sum()),
        names: VisibleNames::default(),
        parsed,
        parsed_nodes: 0,
        too_many: false,
        includes: Vec::new(),
        merging: Vec::new(),
        elsewhere: HashMap::new(),
        errors: Vec::new(),
        lints: Vec::new(),
    };
    for document in documents.iter().filter(|document| !is_empty(document)) {
        let root = build.node(document, None, PathStep::Document);
        build.file.documents.push(root);
        build.value(root, document, false);
        build.leave_document(root);
    }
    build.conflicts();
    Built { file: build.file, includes: build.includes, errors: build.errors, lints: build.lints }
}

/// Returns `true` for a text that contains `${`. Most texts do not even contain `$`.
pub(super) fn may_interpolate(text: &str) -> bool {
    memchr::memchr(b'$', text.as_bytes()).is_some() && text.contains("${")
}

/// Returns `true` for a document without any content, even null.
fn is_empty(document: &yaml::Node) -> bool {
    matches!(document.kind, Kind::Null) && document.span.range().is_empty() && document.tag.is_none()
}

impl<'b> FileBuilder<'b> {
    /// Records the names of the root of a document, which later documents do not see.
    fn leave_document(&mut self, root: NodeId) {
        let Some(map) = self.file.map_of(root) else { return };
        let declared = map.directives().schema.iter().filter_map(|id| self.file.declared(*id));
        let declared = declared.map(|declared| (declared.name.clone(), (declared.span, Directive::Schema)));
        let variables = map.directives().lets.iter().filter_map(|of| self.file.variable(of.variable));
        let defined = variables.map(|variable| (variable.name.clone(), (variable.span, Directive::Let)));
        let names: Vec<_> = declared.chain(defined).collect();
        self.elsewhere.extend(names);
    }

    /// Brings a variable into scope.
    pub fn bind(&mut self, id: VariableId) {
        let Some(variable) = self.file.variable(id) else { return };
        if variable.kind == VariableKind::Let {
            self.names.reach(&variable.name);
        }
        self.names.define(&variable.name, Binding { variable: Some(id), declared: None });
    }

    /// Adds a node whose contents are set later. Until then it is an empty list.
    pub fn node(&mut self, from: &yaml::Node, parent: Option<NodeId>, step: PathStep) -> NodeId {
        self.file.add_node(TemplateNode {
            kind: NodeKind::List(Run::default()),
            span: from.span,
            tag: from.tag.clone().filter(|_| !from.is_marked_text()),
            parent,
            step,
        })
    }

    pub fn set(&mut self, id: NodeId, kind: NodeKind) {
        if let Some(node) = self.file.nodes.get_mut(id.index()) {
            node.kind = kind;
        }
    }

    /// Reports a diagnostic about the node `owner`.
    pub fn report(&mut self, mut diagnostic: Box<Diagnostic>, owner: NodeId) {
        let path = self.file.path(owner);
        if !path.is_empty() {
            diagnostic = diagnostic.with_field("path", path.as_str());
            if let Some(label) = diagnostic.labels.first_mut().filter(|label| label.text.is_empty()) {
                label.text = format!("in `{path}`");
            }
        }
        match diagnostic.severity {
            Severity::Error => self.errors.push(diagnostic),
            Severity::Warning => self.lints.push(diagnostic),
        }
    }

    /// Reports an error at `span` in the node `owner`.
    pub fn error(&mut self, code: Code, span: Span, owner: NodeId, message: impl Into<String>) {
        self.error_help(code, span, owner, message, None);
    }

    /// Reports an error with a help line.
    pub(crate) fn error_help(
        &mut self,
        code: Code,
        span: Span,
        owner: NodeId,
        message: impl Into<String>,
        help: Option<&str>,
    ) {
        let mut error = Diagnostic::new(code, message).at(&self.file.source, span, "");
        if let Some(help) = help {
            error = error.with_help(help);
        }
        self.report(error, owner);
    }

    pub fn lint(&mut self, code: Code, span: Span, owner: NodeId, message: impl Into<String>, help: &str) {
        let lint = Diagnostic::warning(code, message).at(&self.file.source, span, "").with_help(help);
        self.report(lint, owner);
    }

    /// Builds the template of a YAML node, which may be an item of a list. The YAML reader limits the recursion.
    pub fn value(&mut self, id: NodeId, node: &yaml::Node, in_list: bool) {
        match &node.kind {
            Kind::List(items) => {
                for (element, item) in self.list(id, items).into_iter().zip(items.iter()) {
                    self.value(element, item, true);
                }
            }
            Kind::Map(entries) => {
                self.file.maps.push(Map::default());
                let map = MapId::of(self.file.maps.len() - 1);
                self.set(id, NodeKind::Map(map));
                self.map(id, map, entries, in_list);
            }
            _ => self.scalar(id, node),
        }
    }

    /// Adds a list and the nodes of its elements.
    fn list(&mut self, id: NodeId, items: &[yaml::Node]) -> Vec<NodeId> {
        let step = |at| PathStep::Element(Span::of(at..at).start);
        let ids: Vec<_> = items.iter().enumerate().map(|(at, item)| self.node(item, Some(id), step(at))).collect();
        let run = self.file.add_ids(ids.iter().copied());
        self.set(id, NodeKind::List(run));
        ids
    }

    /// Returns the positions of the bytes of a scalar.
    pub fn places(&self, node: &yaml::Node) -> Places {
        node.places(&self.file.source).unwrap_or_else(|| Places::whole(node.span))
    }

    /// Builds a scalar: a literal, an expression, or text with expressions.
    pub fn scalar(&mut self, id: NodeId, node: &yaml::Node) {
        let kind = match node.as_str() {
            Some(text) if may_interpolate(text) => self.text(id, node, text, Span::of(0..text.len())),
            _ => Some(NodeKind::Scalar(node.clone())),
        };
        if let Some(kind) = kind {
            self.set(id, kind);
        }
    }

    /// Builds the part `within` of a scalar that contains `${`. Returns `None` after an error.
    pub fn text(&mut self, id: NodeId, node: &yaml::Node, text: &str, within: Span) -> Option<NodeKind> {
        let places = self.places(node).part(within);
        let text = text.get(within.range())?;
        let found = match scan(text) {
            Ok(found) => found,
            Err(error) => {
                let error = error.kind.diagnostic().at(&self.file.source, places.span(error.span), "");
                self.report(error, id);
                return None;
            }
        };
        if let [ScannedPart::Expression { inner, whole }] = found.as_slice()
            && whole.range().len() == text.len()
            && !node.is_marked_text()
        {
            let slice = text.get(inner.range())?;
            return self.expression(id, slice, &places.part(*inner)).map(NodeKind::Expression);
        }
        self.lint_line_end(id, text, &found, &places);
        let mut parts = Vec::with_capacity(found.len());
        for part in &found {
            match part {
                ScannedPart::Text(span) => parts.push(TextPart::Text(text.get(span.range())?.into())),
                ScannedPart::Expression { inner, .. } => {
                    let slice = text.get(inner.range())?;
                    parts.extend(self.expression(id, slice, &places.part(*inner)).map(TextPart::Expression));
                }
            }
        }
        if parts.iter().any(|part| matches!(part, TextPart::Expression(_))) {
            return Some(NodeKind::Text(self.file.add_parts(parts)));
        }
        let text: String = parts
            .iter()
            .filter_map(|part| if let TextPart::Text(text) = part { Some(&**text) } else { None })
            .collect();
        let mut scalar = node.clone();
        scalar.text = text.into();
        Some(NodeKind::Scalar(scalar))
    }

    /// Warns about `${x}` followed by only a line end, as in a block scalar without `-`.
    fn lint_line_end(&mut self, id: NodeId, text: &str, found: &[ScannedPart], places: &Places) {
        let [ScannedPart::Expression { whole, .. }, ScannedPart::Text(after)] = found else { return };
        if text.get(after.range()).is_some_and(|after| after.contains('\n') && after.trim().is_empty()) {
            let message = "the line break after the expression turns its value into text";
            let help = "begin the block with `|-` if the value itself is meant";
            self.lint(Code::LineEndBehind, places.span(*whole), id, message, help);
        }
    }
}

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
