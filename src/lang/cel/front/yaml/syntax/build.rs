//! The construction of a template tree from YAML nodes, in the order of the file.

use std::sync::Arc;

use hashbrown::HashMap;

use super::expressions::ParsedExpressions;
use super::names::VisibleNames;
use super::tree::{
    Binding, File, Map, MapId, NodeId, NodeKind, PathStep, Run, TemplateNode, TextPart, VariableId, VariableKind,
};
use crate::syntax::{ScannedPart, scan};
use dropforge_base::diagnostics::{Code, Diagnostic, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_value::yaml::{self, Kind, Places};

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
