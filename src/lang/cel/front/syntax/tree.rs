//! The tree of an expression: nodes in one arena, by index.
//!
//! Macros are expanded: the checker, the costs and lowering work on the expansion. [`Tree::macro_call`] returns the call
//! that an expanded node was made from. A [`Tree`] owns all its data and is dropped without recursion. No path from the
//! root to a leaf has more than [`DEPTH`] nodes.

pub use super::nodes::{
    Call, Comprehension, ComprehensionId, Element, Entry, Expr, ExprId, Field, Function, Literal, Name, Node, Operator,
    Run, Selection,
};

use std::sync::Arc;

use indexmap::IndexSet;
use smallvec::SmallVec;

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

impl Tree {
    /// Returns the children of an expression, in the order of evaluation.
    pub fn children(&self, expr: Expr) -> Vec<ExprId> {
        let mut children = Vec::new();
        self.each_child(expr, |child| children.push(child));
        children
    }

    /// Calls `child` with each child of an expression, in the order of evaluation.
    pub fn each_child(&self, expr: Expr, mut child: impl FnMut(ExprId)) {
        match expr {
            Expr::Invalid | Expr::Literal(_) | Expr::Ident { .. } => {}
            Expr::Select { operand, .. } => child(operand),
            Expr::Call(call) => {
                call.receiver.into_iter().for_each(&mut child);
                self.ids(call.args).iter().copied().for_each(child);
            }
            Expr::List(run) => self.elements(run).iter().for_each(|element| child(element.value)),
            Expr::Map(run) => self.entries(run).iter().flat_map(|entry| [entry.key, entry.value]).for_each(child),
            Expr::Message { fields, .. } => self.fields(fields).iter().for_each(|field| child(field.value)),
            Expr::Comprehension(id) => {
                let Some(of) = self.comprehension(id) else { return };
                [of.iter_range, of.accu_init, of.loop_condition, of.loop_step, of.result].into_iter().for_each(child);
            }
        }
    }

    /// Returns the children of an expression in groups, in the order of evaluation, each with the variables that only this
    /// group sees.
    pub fn scopes(&self, expr: Expr) -> Vec<(Vec<Name>, Vec<ExprId>)> {
        let Expr::Comprehension(id) = expr else { return vec![(Vec::new(), self.children(expr))] };
        let Some(of) = self.comprehension(id) else { return Vec::new() };
        vec![
            (Vec::new(), vec![of.iter_range, of.accu_init]),
            (of.variables().collect(), vec![of.loop_condition, of.loop_step]),
            (vec![of.accu_var], vec![of.result]),
        ]
    }

    /// Returns an expression with new children, in the order of [`Tree::each_child`].
    pub(crate) fn with_children(&mut self, expr: Expr, children: &[ExprId]) -> Expr {
        let mut new = children.iter().copied();
        let mut to = |old: ExprId| new.next().unwrap_or(old);
        match expr {
            Expr::Invalid | Expr::Literal(_) | Expr::Ident { .. } => expr,
            Expr::Select { operand, field, selection } => Expr::Select { operand: to(operand), field, selection },
            Expr::Call(call) => {
                let receiver = call.receiver.map(&mut to);
                let args: Vec<_> = self.ids(call.args).iter().map(|&arg| to(arg)).collect();
                Expr::Call(Call { receiver, args: self.add_ids(&args), ..call })
            }
            Expr::List(run) => {
                let moved = |of: &Element| Element { value: to(of.value), ..*of };
                let elements: Vec<_> = self.elements(run).iter().map(moved).collect();
                Expr::List(self.add_elements(elements))
            }
            Expr::Map(run) => {
                let moved = |of: &Entry| Entry { key: to(of.key), value: to(of.value), ..*of };
                let entries: Vec<_> = self.entries(run).iter().map(moved).collect();
                Expr::Map(self.add_entries(entries))
            }
            Expr::Message { name, fields } => {
                let moved = |of: &Field| Field { value: to(of.value), ..*of };
                let fields: Vec<_> = self.fields(fields).iter().map(moved).collect();
                Expr::Message { name, fields: self.add_fields(fields) }
            }
            Expr::Comprehension(id) => {
                let Some(&of) = self.comprehension(id) else { return expr };
                self.add_comprehension(Comprehension {
                    iter_range: to(of.iter_range),
                    accu_init: to(of.accu_init),
                    loop_condition: to(of.loop_condition),
                    loop_step: to(of.loop_step),
                    result: to(of.result),
                    ..of
                })
            }
        }
    }
}

/// A name and the plain selections after it. It may be a variable with fields, a type, or a namespace of functions.
pub struct QualifiedName<'t> {
    /// Its parts, without a leading dot.
    pub parts: SmallVec<[&'t str; 4]>,
    /// Set for a leading dot.
    pub rooted: bool,
    /// The first part.
    pub root: Name,
}

impl QualifiedName<'_> {
    /// Returns the name without a leading dot: `a.b.c`.
    pub fn text(&self) -> String {
        self.parts.join(".")
    }

    /// Returns the number of parts after the first.
    pub fn fields(&self) -> usize {
        self.parts.len() - 1
    }

    /// Returns the first part if a local variable can have its name.
    pub fn local(&self) -> Option<Name> {
        (!self.rooted).then_some(self.root)
    }
}

impl Tree {
    /// Returns the qualified name that an expression is.
    pub fn qualified(&self, id: ExprId) -> Option<QualifiedName<'_>> {
        let (mut parts, mut at) = (SmallVec::new(), id);
        loop {
            match self.expr(at) {
                Expr::Select { operand, field, selection: Selection::Plain } => {
                    parts.push(self.name(field));
                    at = operand;
                }
                Expr::Ident { name, rooted } => {
                    parts.push(self.name(name));
                    parts.reverse();
                    return Some(QualifiedName { parts, rooted, root: name });
                }
                _ => return None,
            }
        }
    }
}
