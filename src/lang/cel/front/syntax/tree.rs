//! The tree of an expression: nodes in one arena, by index.
//!
//! Macros are expanded: the checker, the costs and lowering work on the expansion. [`Tree::macro_call`] returns the call
//! that an expanded node was made from. A [`Tree`] owns all its data and is dropped without recursion. No path from the
//! root to a leaf has more than [`DEPTH`] nodes.

use std::sync::Arc;

use indexmap::IndexSet;

pub use super::nodes::{
    Call, Element, Entry, Expr, ExprId, Field, Function, Literal, Name, Node, Operator, Run, Selection,
};
pub use super::nodes::{Comprehension, ComprehensionId};
use dropforge_base::text::{Source, Span};

/// The maximum number of nodes from the root to a leaf.
pub const DEPTH: usize = 250;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Tree {
    source: Arc<Source>,
    /// The root.
    pub root: ExprId,
    nodes: Vec<Node>,
    /// The height of each node: the number of nodes on its longest path to a leaf.
    heights: Vec<u32>,
    ids: Vec<ExprId>,
    elements: Vec<Element>,
    entries: Vec<Entry>,
    fields: Vec<Field>,
    comprehensions: Vec<Comprehension>,
    bytes: Vec<u8>,
    /// Interned strings.
    names: IndexSet<Arc<str>>,
    /// Expanded nodes and the calls that they were made from, in the order of the nodes.
    macros: Vec<(ExprId, ExprId)>,
}

impl Tree {
    /// Makes an empty tree. Its root is [`Expr::Invalid`] until it is set.
    pub fn new(source: &Arc<Source>) -> Self {
        Self {
            source: source.clone(),
            root: ExprId(u32::MAX),
            nodes: Vec::new(),
            heights: Vec::new(),
            ids: Vec::new(),
            elements: Vec::new(),
            entries: Vec::new(),
            fields: Vec::new(),
            comprehensions: Vec::new(),
            bytes: Vec::new(),
            names: IndexSet::new(),
            macros: Vec::new(),
        }
    }

    /// Returns the source.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Returns the number of nodes, including macro calls before their expansion.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns `true` if there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns all nodes, children before their parents.
    pub fn every(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..Run::of(0..self.nodes.len()).end).map(ExprId)
    }

    /// Returns a node.
    pub fn node(&self, id: ExprId) -> Node {
        let nowhere = Node { expr: Expr::Invalid, span: Span::default(), at: 0 };
        self.nodes.get(id.index()).copied().unwrap_or(nowhere)
    }

    /// Returns an expression.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.node(id).expr
    }

    /// Returns the span of an expression.
    pub fn span(&self, id: ExprId) -> Span {
        self.node(id).span
    }

    /// Returns the span of the one character that errors about an expression point at.
    pub fn place(&self, id: ExprId) -> Span {
        let at = self.node(id).at;
        let text = self.source.text().get(at as usize..).unwrap_or("");
        let width = text.chars().next().map_or(0, char::len_utf8);
        Span::new(at, at.saturating_add(u32::try_from(width).unwrap_or(0)))
    }

    /// Returns the text of a name or a string literal.
    pub fn name(&self, name: Name) -> &str {
        self.names.get_index(name.0 as usize).map_or("", AsRef::as_ref)
    }

    /// Returns the name of a text, if the tree has it.
    pub(crate) fn find_name(&self, text: &str) -> Option<Name> {
        self.names.get_index_of(text).map(|at| Name(Span::of(0..at).end))
    }

    /// Returns the name of a function: `_+_`, `size`.
    pub fn function(&self, function: Function) -> &str {
        match function {
            Function::Operator(operator) => operator.id(),
            Function::Named(name) => self.name(name),
        }
    }

    /// Returns the arguments of a call.
    pub fn ids(&self, run: Run) -> &[ExprId] {
        self.ids.get(run.range()).unwrap_or(&[])
    }

    /// Returns the elements of a list constructor.
    pub fn elements(&self, run: Run) -> &[Element] {
        self.elements.get(run.range()).unwrap_or(&[])
    }

    /// Returns the entries of a map constructor.
    pub fn entries(&self, run: Run) -> &[Entry] {
        self.entries.get(run.range()).unwrap_or(&[])
    }

    /// Returns the fields of a message constructor.
    pub fn fields(&self, run: Run) -> &[Field] {
        self.fields.get(run.range()).unwrap_or(&[])
    }

    /// Returns the bytes of a bytes literal.
    pub fn bytes(&self, run: Run) -> &[u8] {
        self.bytes.get(run.range()).unwrap_or(&[])
    }

    /// Returns a comprehension.
    pub fn comprehension(&self, id: ComprehensionId) -> Option<&Comprehension> {
        self.comprehensions.get(id.0 as usize)
    }

    /// Returns the macro call that a node was expanded from: an [`Expr::Call`] of this tree that is not part of the
    /// expansion. Its arguments are expanded.
    pub fn macro_call(&self, expanded: ExprId) -> Option<ExprId> {
        let at = self.macros.binary_search_by_key(&expanded, |(expanded, _)| *expanded).ok()?;
        self.macros.get(at).map(|(_, call)| *call)
    }
}

/// Construction: children before their parents.
impl Tree {
    /// Interns a string.
    pub fn intern(&mut self, text: &str) -> Name {
        self.find_name(text).unwrap_or_else(|| Name(Span::of(0..self.names.insert_full(text.into()).0).end))
    }

    /// Adds a node.
    pub fn add(&mut self, expr: Expr, span: Span, at: u32) -> ExprId {
        let id = ExprId(Span::of(0..self.nodes.len()).end);
        let mut below = 0;
        self.each_child(expr, |child| below = below.max(self.height(child)));
        self.nodes.push(Node { expr, span, at });
        self.heights.push(below.saturating_add(1));
        id
    }

    /// Returns the number of nodes on the longest path from a node to a leaf.
    pub fn height(&self, id: ExprId) -> u32 {
        self.heights.get(id.index()).copied().unwrap_or(0)
    }

    /// Adds arguments.
    pub(crate) fn add_ids(&mut self, ids: &[ExprId]) -> Run {
        Run::append(&mut self.ids, ids.iter().copied())
    }

    /// Adds elements of a list.
    pub(crate) fn add_elements(&mut self, elements: impl IntoIterator<Item = Element>) -> Run {
        Run::append(&mut self.elements, elements)
    }

    /// Adds entries of a map.
    pub fn add_entries(&mut self, entries: impl IntoIterator<Item = Entry>) -> Run {
        Run::append(&mut self.entries, entries)
    }

    /// Adds fields of a message.
    pub(crate) fn add_fields(&mut self, fields: impl IntoIterator<Item = Field>) -> Run {
        Run::append(&mut self.fields, fields)
    }

    /// Adds bytes of a literal.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> Run {
        Run::append(&mut self.bytes, bytes.iter().copied())
    }

    /// Adds a comprehension.
    pub(crate) fn add_comprehension(&mut self, of: Comprehension) -> Expr {
        let id = ComprehensionId(Span::of(0..self.comprehensions.len()).end);
        self.comprehensions.push(of);
        Expr::Comprehension(id)
    }

    /// Records the macro call that a node was expanded from. Nodes come in the order they were added.
    pub(crate) fn record_expansion(&mut self, expanded: ExprId, call: ExprId) {
        self.macros.push((expanded, call));
    }
}
