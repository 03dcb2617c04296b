//! The tree of an expression: nodes in one arena, named by index.
//!
//! Macros are expanded: what stands in the tree is what is checked, what costs are counted on, and what is lowered.
//! [`Tree::macro_call`] names the call that an expanded node came from. A [`Tree`] owns everything it holds and drops
//! without recursion; no path from the root to a leaf has more than [`DEPTH`] nodes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

pub use super::operator::Operator;
use crate::text::{Source, Span};

/// How many nodes there are on the longest path from the root to a leaf, at most.
pub const DEPTH: usize = 250;

/// Names a [`Node`] of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub(crate) u32);

impl ExprId {
    /// Its place among the tree's nodes, for tables beside the tree.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Names a text of a [`Tree`]; equal texts of one tree have equal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub(crate) u32);

/// A run of entries in one of the tree's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Run {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Run {
    pub(crate) fn of(range: Range<usize>) -> Self {
        let Span { start, end } = Span::of(range);
        Self { start, end }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// How many entries there are.
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A constant as it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// `-1`, `0x1F`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.5`, `1e3`
    Double(f64),
    /// `'text'`, decoded.
    String(Name),
    /// `b'bytes'`, decoded: [`Tree::bytes`].
    Bytes(Run),
}

/// What a select does with its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selection {
    /// `operand.field`
    Plain,
    /// `operand.?field`: an optional value.
    Optional,
    /// `has(operand.field)`: whether it is there.
    Test,
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// An operator, or what only an expanded macro calls.
    Operator(Operator),
    /// A function by its name as it was written: one identifier, without a leading dot. Macros bring names that no source
    /// can have, such as `cel.@block`.
    Named(Name),
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// What is called.
    pub function: Function,
    /// Whether the name had a leading dot, so that no container is looked in.
    pub rooted: bool,
    /// `receiver.f(…)`. Whether it is a value or the first part of a qualified name is for the checker to say.
    pub receiver: Option<ExprId>,
    /// The arguments without the receiver: [`Tree::ids`].
    pub args: Run,
}

/// An element of a list constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Its value.
    pub value: ExprId,
    /// `[?value]`: left out where the optional value is none.
    pub optional: bool,
}

/// An entry of a map constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: ExprId,
    /// Its value.
    pub value: ExprId,
    /// `{?key: value}`: left out where the optional value is none.
    pub optional: bool,
    /// Where the colon stands: the place of errors about the entry.
    pub at: u32,
}

/// A field of a message constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: ExprId,
    /// `Message{?name: value}`
    pub optional: bool,
    /// Where the colon stands: the place of errors about the field.
    pub at: u32,
}

/// A loop, in the general form that every macro which loops is expanded to.
///
/// `accu_var` is `accu_init`; then for each element of `iter_range`, as long as `loop_condition` is true, `accu_var`
/// becomes `loop_step`; `result` is the value. The iteration variables are seen by the condition and the step, the
/// accumulator also by the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comprehension {
    /// What it goes over: a list or a map.
    pub iter_range: ExprId,
    /// The element or the key; with [`iter_var2`](Self::iter_var2) the index or the key.
    pub iter_var: Name,
    /// The value, where there are two variables.
    pub iter_var2: Option<Name>,
    /// The accumulator.
    pub accu_var: Name,
    /// What the accumulator is at first.
    pub accu_init: ExprId,
    /// Whether to go on.
    pub loop_condition: ExprId,
    /// The accumulator's next value.
    pub loop_step: ExprId,
    /// The value of the whole.
    pub result: ExprId,
}

/// Names a [`Comprehension`] of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ComprehensionId(pub(crate) u32);

/// An expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expr {
    /// A place where the source had no expression that could be read; an error was reported there.
    Invalid,
    /// A constant.
    Literal(Literal),
    /// A name.
    Ident {
        /// The name, without a leading dot.
        name: Name,
        /// Whether it had one: neither a comprehension's variable nor a name in a container is meant.
        rooted: bool,
    },
    /// A field of a value, or a further part of a qualified name.
    Select {
        /// What it is taken from.
        operand: ExprId,
        /// The field's name.
        field: Name,
        /// What is done with it.
        selection: Selection,
    },
    /// A call; operators and indexes are calls, too.
    Call(Call),
    /// `[ … ]`: [`Tree::elements`].
    List(Run),
    /// `{ … }`: [`Tree::entries`].
    Map(Run),
    /// `Name{ … }`
    Message {
        /// The qualified name, with a leading dot where it had one.
        name: Name,
        /// Its fields: [`Tree::fields`].
        fields: Run,
    },
    /// A loop: [`Tree::comprehension`].
    Comprehension(ComprehensionId),
}

/// An expression and its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// The expression.
    pub expr: Expr,
    /// From its first byte to its last. What a macro brings has the span of the macro's call.
    pub span: Span,
    /// The byte that errors about it point at: its operator, its bracket, its dot, or its first byte.
    pub at: u32,
}

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Tree {
    source: Arc<Source>,
    /// The root.
    pub root: ExprId,
    nodes: Vec<Node>,
    /// How many nodes there are below each node, on its longest path, itself included.
    depths: Vec<u32>,
    ids: Vec<ExprId>,
    elements: Vec<Element>,
    entries: Vec<Entry>,
    fields: Vec<Field>,
    comprehensions: Vec<Comprehension>,
    bytes: Vec<u8>,
    names: Names,
    /// The call each expanded node was made from, in the order of the nodes.
    macros: Vec<(ExprId, ExprId)>,
}

/// Texts, each once.
#[derive(Debug, Clone, Default)]
struct Names {
    texts: Vec<Arc<str>>,
    known: HashMap<Arc<str>, Name>,
}

impl Names {
    fn intern(&mut self, text: &str) -> Name {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let name = Name(Span::of(0..self.texts.len()).end);
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.known.insert(text, name);
        name
    }
}

impl Tree {
    /// An empty tree over `source`; its root is [`Expr::Invalid`] until it is set.
    pub(crate) fn new(source: &Arc<Source>) -> Self {
        Self {
            source: source.clone(),
            root: ExprId(u32::MAX),
            nodes: Vec::new(),
            depths: Vec::new(),
            ids: Vec::new(),
            elements: Vec::new(),
            entries: Vec::new(),
            fields: Vec::new(),
            comprehensions: Vec::new(),
            bytes: Vec::new(),
            names: Names::default(),
            macros: Vec::new(),
        }
    }

    /// The source the tree was read from.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// How many nodes there are, those of macro calls before they were expanded included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Names every node, children before their parents.
    pub(crate) fn every(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..Run::of(0..self.nodes.len()).end).map(ExprId)
    }

    /// A node.
    pub fn node(&self, id: ExprId) -> Node {
        let nowhere = Node { expr: Expr::Invalid, span: Span::default(), at: 0 };
        self.nodes.get(id.index()).copied().unwrap_or(nowhere)
    }

    /// An expression.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.node(id).expr
    }

    /// Where an expression stands.
    pub fn span(&self, id: ExprId) -> Span {
        self.node(id).span
    }

    /// The one byte (a whole character) that errors about an expression point at.
    pub fn place(&self, id: ExprId) -> Span {
        let at = self.node(id).at;
        let text = self.source.text().get(at as usize..).unwrap_or("");
        let width = text.chars().next().map_or(0, char::len_utf8);
        Span::new(at, at.saturating_add(u32::try_from(width).unwrap_or(0)))
    }

    /// A name's text, or a string literal's.
    pub fn name(&self, name: Name) -> &str {
        self.names.texts.get(name.0 as usize).map_or("", AsRef::as_ref)
    }

    /// The name of a text, where the tree has it.
    pub fn find_name(&self, text: &str) -> Option<Name> {
        self.names.known.get(text).copied()
    }

    /// The name of what is called: `_+_`, `size`.
    pub fn function(&self, function: Function) -> &str {
        match function {
            Function::Operator(operator) => operator.id(),
            Function::Named(name) => self.name(name),
        }
    }

    /// The arguments of a call.
    pub fn ids(&self, run: Run) -> &[ExprId] {
        self.ids.get(run.range()).unwrap_or(&[])
    }

    /// The elements of a list constructor.
    pub fn elements(&self, run: Run) -> &[Element] {
        self.elements.get(run.range()).unwrap_or(&[])
    }

    /// The entries of a map constructor.
    pub fn entries(&self, run: Run) -> &[Entry] {
        self.entries.get(run.range()).unwrap_or(&[])
    }

    /// The fields of a message constructor.
    pub fn fields(&self, run: Run) -> &[Field] {
        self.fields.get(run.range()).unwrap_or(&[])
    }

    /// The bytes of a literal.
    pub fn bytes(&self, run: Run) -> &[u8] {
        self.bytes.get(run.range()).unwrap_or(&[])
    }

    /// A loop.
    pub fn comprehension(&self, id: ComprehensionId) -> Option<&Comprehension> {
        self.comprehensions.get(id.0 as usize)
    }

    /// The call of a macro that a node was expanded from: an [`Expr::Call`] of this tree, which is no part of the
    /// expanded expression. Its arguments are expanded themselves.
    pub fn macro_call(&self, expanded: ExprId) -> Option<ExprId> {
        let at = self.macros.binary_search_by_key(&expanded, |(expanded, _)| *expanded).ok()?;
        self.macros.get(at).map(|(_, call)| *call)
    }
}

/// How a tree is made: children before their parents.
impl Tree {
    /// The name of `text`.
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        self.names.intern(text)
    }

    /// A further node.
    pub(crate) fn add(&mut self, expr: Expr, span: Span, at: u32) -> ExprId {
        let id = ExprId(Span::of(0..self.nodes.len()).end);
        let mut below = 0;
        self.each_child(expr, |child| below = below.max(self.depth(child)));
        self.nodes.push(Node { expr, span, at });
        self.depths.push(below.saturating_add(1));
        id
    }

    /// How many nodes are on the longest path from a node to a leaf.
    pub(crate) fn depth(&self, id: ExprId) -> u32 {
        self.depths.get(id.index()).copied().unwrap_or(0)
    }

    /// Arguments.
    pub(crate) fn add_ids(&mut self, ids: &[ExprId]) -> Run {
        add(&mut self.ids, ids)
    }

    /// Elements of a list.
    pub(crate) fn add_elements(&mut self, elements: &[Element]) -> Run {
        add(&mut self.elements, elements)
    }

    /// Entries of a map.
    pub(crate) fn add_entries(&mut self, entries: &[Entry]) -> Run {
        add(&mut self.entries, entries)
    }

    /// Fields of a message.
    pub(crate) fn add_fields(&mut self, fields: &[Field]) -> Run {
        add(&mut self.fields, fields)
    }

    /// Bytes of a literal.
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) -> Run {
        add(&mut self.bytes, bytes)
    }

    /// A loop.
    pub(crate) fn add_comprehension(&mut self, of: Comprehension) -> Expr {
        let id = ComprehensionId(Span::of(0..self.comprehensions.len()).end);
        self.comprehensions.push(of);
        Expr::Comprehension(id)
    }

    /// Remembers which call a node was expanded from; nodes come in the order they were added.
    pub(crate) fn expanded(&mut self, expanded: ExprId, call: ExprId) {
        self.macros.push((expanded, call));
    }
}

fn add<T: Copy>(list: &mut Vec<T>, more: &[T]) -> Run {
    let start = list.len();
    list.extend_from_slice(more);
    Run::of(start..list.len())
}
