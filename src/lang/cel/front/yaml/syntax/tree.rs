//! The tree of a template file: nodes in one arena, by index.

use std::sync::Arc;

pub use super::nodes::{Assert, Binding, Free, LetValue, VariableKind};
pub use super::nodes::{
    Candidate, Condition, DeclaredId, DeclaredName, Directives, ExpressionId, FileId, For, If, Include, Item, Let, Map,
    MapId, NodeId, NodeKind, PathStep, Run, Target, TemplateEntry, TemplateExpression, TemplateNode, TextPart,
    Variable, VariableId, With,
};
use dropforge_base::text::Source;
use dropforge_value::yaml::Kind;

/// Typical numbers of nodes, which decide the initial space for maps and expressions.
const NODES_PER_MAP: usize = 4;
const NODES_PER_EXPRESSION: usize = 4;

/// A file of a template.
#[derive(Debug, Clone)]
pub struct File {
    /// The source.
    pub source: Arc<Source>,
    /// The roots of its documents, without empty ones.
    pub documents: Vec<NodeId>,
    pub(in crate::front::yaml) nodes: Vec<TemplateNode>,
    pub(in crate::front::yaml) maps: Vec<Map>,
    pub(in crate::front::yaml) parts: Vec<TextPart>,
    pub(in crate::front::yaml) ids: Vec<NodeId>,
    pub(in crate::front::yaml) expressions: Vec<TemplateExpression>,
    pub(in crate::front::yaml) variables: Vec<Variable>,
    pub(in crate::front::yaml) declared: Vec<DeclaredName>,
    /// The keys that are expressions.
    pub(in crate::front::yaml) computed_keys: Vec<NodeId>,
}

impl File {
    /// Creates a file with space for `nodes` nodes.
    pub(super) fn new(source: &Arc<Source>, nodes: usize) -> Self {
        Self {
            source: source.clone(),
            documents: Vec::new(),
            nodes: Vec::with_capacity(nodes),
            maps: Vec::with_capacity(nodes / NODES_PER_MAP),
            parts: Vec::new(),
            ids: Vec::new(),
            expressions: Vec::with_capacity(nodes / NODES_PER_EXPRESSION),
            variables: Vec::new(),
            declared: Vec::new(),
            computed_keys: Vec::new(),
        }
    }

    /// Returns a node.
    pub fn node(&self, id: NodeId) -> Option<&TemplateNode> {
        self.nodes.get(id.index())
    }

    /// Returns a map with its directives.
    pub fn map(&self, id: MapId) -> Option<&Map> {
        self.maps.get(id.index())
    }

    /// Returns an expression.
    pub fn expression(&self, id: ExpressionId) -> Option<&TemplateExpression> {
        self.expressions.get(id.index())
    }

    /// Returns all expressions.
    pub fn expressions(&self) -> &[TemplateExpression] {
        &self.expressions
    }

    /// Returns a variable.
    pub fn variable(&self, id: VariableId) -> Option<&Variable> {
        self.variables.get(id.index())
    }

    /// Returns a name with a schema.
    pub fn declared(&self, id: DeclaredId) -> Option<&DeclaredName> {
        self.declared.get(id.index())
    }

    /// Returns the literal texts at the start and end of a path computed at render time; `None` for a constant path.
    pub(in crate::front::yaml) fn constant_ends(&self, path: NodeId) -> Option<(&str, &str)> {
        match &self.node(path)?.kind {
            NodeKind::Scalar(_) => None,
            NodeKind::Text(run) => {
                let parts = self.parts(*run);
                Some((text_of(parts.first()), text_of(parts.last())))
            }
            _ => Some(("", "")),
        }
    }

    /// Returns `true` if there is a schema of an input with this name.
    pub(in crate::front::yaml) fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|declared| &*declared.name == name && declared.of.is_none())
    }

    /// Returns the map of a node that is one.
    pub fn map_of(&self, id: NodeId) -> Option<&Map> {
        match self.node(id)?.kind {
            NodeKind::Map(map) => self.map(map),
            _ => None,
        }
    }

    /// Returns the text of a scalar that is a string.
    pub fn string(&self, id: NodeId) -> Option<&Arc<str>> {
        match &self.node(id)?.kind {
            NodeKind::Scalar(scalar) if matches!(scalar.kind, Kind::Str) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the elements of a list.
    pub fn elements(&self, run: Run) -> &[NodeId] {
        self.ids.get(run.range()).unwrap_or(&[])
    }

    /// Returns the parts of a text.
    pub fn parts(&self, run: Run) -> &[TextPart] {
        self.parts.get(run.range()).unwrap_or(&[])
    }

    /// Returns the path of a node in its document, such as `items[0].metadata.name`; empty for the root.
    pub fn path(&self, id: NodeId) -> String {
        let up = |node: &&TemplateNode| node.parent.and_then(|parent| self.node(parent));
        let mut steps: Vec<&PathStep> = std::iter::successors(self.node(id), up).map(|node| &node.step).collect();
        steps.reverse();
        let mut path = String::new();
        steps.into_iter().for_each(|step| step.write(&mut path));
        path
    }

    pub(super) fn add_parts(&mut self, parts: Vec<TextPart>) -> Run {
        Run::append(&mut self.parts, parts)
    }

    pub(super) fn add_ids(&mut self, ids: impl IntoIterator<Item = NodeId>) -> Run {
        Run::append(&mut self.ids, ids)
    }

    pub(super) fn add_node(&mut self, node: TemplateNode) -> NodeId {
        self.nodes.push(node);
        NodeId::of(self.nodes.len() - 1)
    }

    pub(in crate::front::yaml) fn map_mut(&mut self, id: MapId) -> Option<&mut Map> {
        self.maps.get_mut(id.index())
    }
}

/// Returns the text of a part that is one.
fn text_of(part: Option<&TextPart>) -> &str {
    if let Some(TextPart::Text(text)) = part { text } else { "" }
}
