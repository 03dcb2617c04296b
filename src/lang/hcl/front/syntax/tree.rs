//! The tree of a configuration, an expression or a template: nodes in one arena, named by index.
//!
//! A [`Tree`] owns everything it holds, has no lifetime and drops without recursion. Nothing in it is deeper than
//! the nesting limit, except along the left side of operators, indexes, attributes and calls' results, which are
//! walked in loops.

use std::ops::Range;
use std::sync::Arc;

use dropforge_base::text::{Source, Span};

/// Names a [`ExprNode`] of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Names a [`BodyNode`] of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(pub u32);

/// A text of the tree: a slice of the source or, where it was decoded (escapes, normalisation), of the tree's pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Str {
    pub start: u32,
    pub end: u32,
    pub pooled: bool,
}

impl Str {
    /// The text at `span` of the source.
    pub fn of(span: Span) -> Self {
        Self { start: span.start, end: span.end, pooled: false }
    }
}

/// A run of entries in one of the tree's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Run {
    pub start: u32,
    pub end: u32,
}

impl Run {
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The number of entries.
    pub fn len(self) -> usize {
        self.range().len()
    }

    /// Returns `true` if there are no entries.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// An operator of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// An operator of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A step of a traversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessStep {
    /// The kind.
    pub kind: StepKind,
    /// `.name` with its dot, `[key]` with its brackets, `.0` with its dot.
    pub span: Span,
}

/// The kind of a step of a traversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// `.name`
    Attr(Str),
    /// `["key"]`
    Key(Str),
    /// `[0]` or the legacy `.0`: the digits of the number.
    Number(Str),
}

/// A name with steps after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traversal {
    /// The name.
    pub root: Str,
    /// The place of the name.
    pub root_span: Span,
    /// The steps.
    pub steps: Vec<TraversalStep>,
}

/// A step and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraversalStep {
    /// The kind. `None` for `[*]`, which stands for any number of elements.
    pub kind: Option<StepKind>,
    /// `.name` with its dot, `[key]` with its brackets.
    pub span: Span,
}

/// An entry of an object constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The key: an [`Expr::Key`].
    pub key: ExprId,
    /// The value.
    pub value: ExprId,
}

/// A `for` expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct For {
    /// The first of two names.
    pub key_var: Option<Str>,
    /// The only name, or the second one.
    pub value_var: Str,
    /// The collection.
    pub collection: ExprId,
    /// The key of each entry, where the result is an object.
    pub key: Option<ExprId>,
    /// The value of each element or entry.
    pub value: ExprId,
    /// The expression after `if`.
    pub condition: Option<ExprId>,
    /// `true` if `...` groups values with the same key.
    pub group: bool,
    /// The opening bracket (or `%{`).
    pub open: Span,
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The name with its namespaces: `a::b`.
    pub name: Str,
    /// The place of the name.
    pub name_span: Span,
    /// The arguments: entries of [`Tree::ids`].
    pub args: Run,
    /// `true` if `...` expands the last argument.
    pub expand: bool,
    /// `(`
    pub open: Span,
    /// `)`
    pub close: Span,
}

/// An expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expr {
    /// An expression that could not be read. Its error was reported. An evaluation may report it again.
    Invalid,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, by its digits.
    Number(Str),
    /// Text without interpolation: a part of a template. Decoded and normalised.
    Text(Str),
    /// A quoted, heredoc or file template: its parts; always text.
    Template(Run),
    /// A template of one interpolation and nothing else: the value itself.
    Wrapped(ExprId),
    /// A `%{for}` of a template: a [`Expr::For`] whose elements are joined as text.
    Joined(ExprId),
    /// `( … )`
    Paren(ExprId),
    /// A name and the constant steps after it: entries of [`Tree::steps`].
    Traversal {
        /// The name.
        root: Str,
        /// The place of the name.
        root_span: Span,
        /// The steps.
        steps: Run,
    },
    /// Constant steps on any other expression.
    Relative {
        /// The operand.
        source: ExprId,
        /// The steps.
        steps: Run,
    },
    /// `collection[key]`
    Index {
        /// The collection.
        collection: ExprId,
        /// The index.
        key: ExprId,
        /// The brackets and what is between them.
        brackets: Span,
    },
    /// `source.*…` or `source[*]…`
    Splat {
        /// The collection.
        source: ExprId,
        /// The result for each element, which is [`Expr::Item`].
        each: ExprId,
        /// `.*` or `[*]`
        marker: Span,
    },
    /// The element of the innermost splat around it.
    Item,
    /// A call.
    Call(Call),
    /// `condition ? then : otherwise`; a template's `%{if}` is one, too.
    Conditional {
        /// The condition.
        condition: ExprId,
        /// Its value where that is true.
        then: ExprId,
        /// Its value where that is false.
        otherwise: ExprId,
    },
    /// `left op right`
    Binary {
        /// The operator.
        op: Operator,
        /// The left operand.
        left: ExprId,
        /// The right operand.
        right: ExprId,
    },
    /// `op operand`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        operand: ExprId,
        /// The operator's place.
        symbol: Span,
    },
    /// `[ … ]`: entries of [`Tree::ids`].
    Tuple(Run),
    /// `{ … }`: entries of [`Tree::entries`].
    Object(Run),
    /// The key of an entry; a bare name is the text of that name.
    Key {
        /// The expression as written.
        inner: ExprId,
        /// `true` if it begins with a parenthesis: a name inside is not text.
        forced: bool,
    },
    /// A `for` expression.
    For(ForId),
}

/// Names a [`For`] of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ForId(pub u32);

/// An expression and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExprNode {
    /// The expression.
    pub expr: Expr,
    /// Its place, as the reference's `Range()` has it.
    pub span: Span,
}

/// An attribute of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttributeNode {
    /// Its name.
    pub name: Str,
    /// The place of the name.
    pub name_span: Span,
    /// `=`
    pub equals: Span,
    /// Its value.
    pub expr: ExprId,
    /// From the name to the end of the value.
    pub span: Span,
}

/// A label of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelNode {
    /// The label, decoded.
    pub text: Str,
    /// The place, with its quotes.
    pub span: Span,
}

/// A block of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockNode {
    /// Its type.
    pub name: Str,
    /// The place of the type.
    pub name_span: Span,
    /// Its labels.
    pub labels: Vec<LabelNode>,
    /// Its body.
    pub body: BodyId,
    /// `{`
    pub open: Span,
    /// `}`
    pub close: Span,
}

/// The body of a block or a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BodyNode {
    /// Its attributes, each name once, in the order of the source.
    pub attributes: Vec<AttributeNode>,
    /// Its blocks, in the order of the source.
    pub blocks: Vec<BlockNode>,
    /// Its place: for a block from `{` to `}`, for a file the whole of it.
    pub span: Span,
    /// The place to report a missing item: the closing brace, or the end of the file.
    pub end: Span,
}

/// A parsed source.
#[derive(Debug, Clone)]
pub struct Tree {
    source: Arc<Source>,
    pool: String,
    pub(super) nodes: Vec<ExprNode>,
    pub(super) ids: Vec<ExprId>,
    pub(super) steps: Vec<AccessStep>,
    pub(super) entries: Vec<Entry>,
    pub(super) fors: Vec<For>,
    pub(super) bodies: Vec<BodyNode>,
    /// The invalid expressions whose evaluation reports their errors again, in the order of their ids.
    broken: Vec<Broken>,
}

/// The error in an expression that could not be read.
#[derive(Debug, Clone, Copy)]
pub struct Broken {
    id: ExprId,
    /// The place.
    pub place: Span,
    /// The summary.
    pub summary: &'static str,
}

impl Tree {
    /// An empty tree over `source`.
    pub fn new(source: &Arc<Source>) -> Self {
        Self {
            source: source.clone(),
            pool: String::new(),
            nodes: Vec::new(),
            ids: Vec::new(),
            steps: Vec::new(),
            entries: Vec::new(),
            fors: Vec::new(),
            bodies: Vec::new(),
            broken: Vec::new(),
        }
    }

    /// The source the tree was read from.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// A text of the tree.
    pub fn str(&self, text: Str) -> &str {
        let within = if text.pooled { self.pool.as_str() } else { self.source.text() };
        within.get(text.start as usize..text.end as usize).unwrap_or("")
    }

    /// `text` in the pool.
    pub(crate) fn pooled(&mut self, text: &str) -> Str {
        let start = self.pool.len();
        self.pool.push_str(text);
        let Span { start, end } = Span::of(start..self.pool.len());
        Str { start, end, pooled: true }
    }

    /// A node.
    pub fn node(&self, id: ExprId) -> ExprNode {
        self.nodes.get(id.0 as usize).copied().unwrap_or(ExprNode { expr: Expr::Invalid, span: Span::default() })
    }

    /// Has the evaluation of an invalid expression, the last one in the tree, report its error again.
    pub(super) fn add_broken(&mut self, id: ExprId, place: Span, summary: &'static str) {
        self.broken.push(Broken { id, place, summary });
    }

    /// The error that the evaluation of an invalid expression reports.
    pub fn broken(&self, id: ExprId) -> Option<&Broken> {
        self.broken.get(self.broken.binary_search_by_key(&id, |broken| broken.id).ok()?)
    }

    /// The number of nodes.
    pub fn node_count(&self) -> u32 {
        u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)
    }

    /// An expression.
    pub fn expr(&self, id: ExprId) -> Expr {
        self.node(id).expr
    }

    /// The place of an expression.
    pub fn span(&self, id: ExprId) -> Span {
        self.node(id).span
    }

    /// The expressions of a template, a tuple or a call.
    pub fn ids(&self, run: Run) -> &[ExprId] {
        self.ids.get(run.range()).unwrap_or(&[])
    }

    /// The steps of a traversal.
    pub fn steps(&self, run: Run) -> &[AccessStep] {
        self.steps.get(run.range()).unwrap_or(&[])
    }

    /// The entries of an object constructor.
    pub fn entries(&self, run: Run) -> &[Entry] {
        self.entries.get(run.range()).unwrap_or(&[])
    }

    /// A `for` expression.
    pub fn for_expr(&self, id: ForId) -> Option<&For> {
        self.fors.get(id.0 as usize)
    }

    /// A body.
    pub fn body(&self, id: BodyId) -> Option<&BodyNode> {
        self.bodies.get(id.0 as usize)
    }
}

impl Tree {
    /// The place that errors about a whole expression name: its operator, its bracket or its callee.
    pub(crate) fn start_span(&self, id: ExprId) -> Span {
        let (mut at, first) = (id, |span: Span| Span::new(span.start, span.start.saturating_add(1)));
        loop {
            let node = self.node(at);
            at = match node.expr {
                Expr::Binary { left, .. } => left,
                Expr::Conditional { condition, .. } => condition,
                Expr::Key { inner, .. } => inner,
                Expr::Joined(of) => of,
                Expr::Template(parts) => match self.ids(parts).first() {
                    Some(&part) => part,
                    // The reference puts an empty text after the closing quotation mark.
                    None => return Span::new(node.span.end, node.span.end),
                },
                Expr::Call(call) => return call.name_span.to(call.open),
                Expr::Index { brackets, .. } => return first(brackets),
                Expr::Tuple(_) | Expr::Object(_) => return first(node.span),
                Expr::For(of) => return self.for_expr(of).map_or(node.span, |of| of.open),
                Expr::Splat { marker, .. } => return marker,
                Expr::Unary { symbol, .. } => return symbol,
                _ => return node.span,
            };
        }
    }
}
