//! The tree of a template: nodes in one arena for each file, named by index.
//!
//! A node is a value that is to be made; what a map's directives say is its [`Map`]. Every expression is parsed, and knows
//! which names mean variables of the file and where each of its bytes stands in the file, also inside quoted and folded
//! scalars.

use std::ops::Range;
use std::sync::Arc;

use crate::diagnostics::Diagnostic;
use crate::dialect::cel::syntax::tree::{ExprId, Tree};
use crate::schema::Schema;
use crate::text::{Source, Span};
use crate::value::yaml::Places;
use crate::value::{add_name, yaml};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(super) u32);

        impl $name {
            /// Its place among those of its kind, for tables beside the tree.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(super) fn of(index: usize) -> Self {
                Self(Span::of(index..index).start)
            }
        }
    )*};
}

ids! {
    /// Names a [`File`] of [`Templates`](super::Templates).
    FileId
    /// Names a [`Node`] of a [`File`].
    NodeId
    /// Names a [`Map`] of a [`File`].
    MapId
    /// Names an [`Expression`] of a [`File`].
    ExpressionId
    /// Names a [`Variable`] of a [`File`].
    VariableId
    /// Names a [`Declared`] of a [`File`].
    DeclaredId
    /// Names what can be seen at one place of a [`File`].
    ScopeId
}

/// A run of entries in one of a file's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    start: u32,
    end: u32,
}

impl Run {
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A value that is to be made.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is made from.
    pub kind: NodeKind,
    /// Where it stands: a scalar with its quotes, a collection at its beginning, an alias where it is.
    pub span: Span,
    /// A tag that is not of the core schema.
    pub tag: Option<Arc<str>>,
    /// The node it belongs to; `None` for the root of a document.
    pub parent: Option<NodeId>,
    /// How one comes here from there.
    pub step: Step,
}

/// What a value is made from.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// Nothing but itself: a scalar with its spelling, and with what escapes stand for.
    Scalar(yaml::Node),
    /// One expression, whose value it is.
    Expression(ExpressionId),
    /// Text with expressions in it: [`File::parts`].
    Text(Run),
    /// A list: [`File::elements`].
    List(Run),
    /// A map, or what its directives make: [`File::map`].
    Map(MapId),
}

/// A part of a text.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text as it is.
    Text(Arc<str>),
    /// The text of an expression's value.
    Expression(ExpressionId),
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To a document.
    Document,
    /// To the value of a key, or to the key.
    Key(Arc<str>),
    /// To an element.
    Element(u32),
    /// To what a directive holds.
    Directive(&'static str),
    /// To one entry of what a directive holds.
    Within(&'static str, Arc<str>),
}

/// A map with its directives. They are run in the order of the fields, and `items` say in which order the keys come.
#[derive(Debug, Clone, Default)]
pub struct Map {
    /// `$schema`: what is held against the names as they are seen from outside.
    pub schema: Vec<DeclaredId>,
    /// `$let`, in order: each sees those before it.
    pub lets: Vec<Let>,
    /// `$assert`
    pub asserts: Vec<Assert>,
    /// `$if`
    pub condition: Option<If>,
    /// `$for`
    pub each: Option<For>,
    /// `$include`
    pub include: Option<Include>,
    /// The keys, and the places where directives make keys, in the order of the file.
    pub items: Vec<Item>,
}

impl Map {
    /// Whether it has keys that are no directives.
    pub fn has_keys(&self) -> bool {
        self.items.iter().any(|item| matches!(item, Item::Entry(_)))
    }
}

/// What makes keys of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A key that is no directive.
    Entry(Entry),
    /// The keys of the branch that `$if` takes.
    Branch,
    /// The keys that `$for` makes.
    Loop,
    /// The keys of the file that `$include` names.
    Include,
}

/// A key with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The key: a scalar, an expression or text.
    pub key: NodeId,
    /// The value.
    pub value: NodeId,
}

/// A variable of `$let` and what it is.
#[derive(Debug, Clone)]
pub struct Let {
    /// The variable.
    pub variable: VariableId,
    /// Its value.
    pub value: LetValue,
}

/// What a variable of `$let` is.
#[derive(Debug, Clone)]
pub enum LetValue {
    /// What a template makes.
    Template(NodeId),
    /// An expression's value.
    Expression(ExpressionId),
    /// A text that could be an expression: it is one where one of these names is in the inputs, else it is the text.
    Unless {
        /// The expression.
        expression: ExpressionId,
        /// The text: a scalar.
        text: NodeId,
    },
}

/// One condition of `$assert`.
#[derive(Debug, Clone)]
pub struct Assert {
    /// What must be true.
    pub condition: Condition,
    /// Where it stands.
    pub span: Span,
    /// The message, made only where the condition is false.
    pub message: Option<NodeId>,
}

/// What is true or false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It is known.
    Known(bool),
    /// It is what an expression says.
    Expression(ExpressionId),
}

/// `$if`
#[derive(Debug, Clone)]
pub struct If {
    /// The condition.
    pub condition: Condition,
    /// Where the directive stands.
    pub span: Span,
    /// `$then`; without it the condition guards all the rest of the map.
    pub then: Option<NodeId>,
    /// `$else`
    pub otherwise: Option<NodeId>,
}

/// `$for`
#[derive(Debug, Clone)]
pub struct For {
    /// Where the directive stands.
    pub span: Span,
    /// The index or key, where there are two variables.
    pub key: Option<VariableId>,
    /// The element or value.
    pub value: VariableId,
    /// What it goes over.
    pub over: ExpressionId,
    /// `$do`
    pub body: NodeId,
    /// Whether the results are items of the list around it; otherwise they are maps, and merged.
    pub in_list: bool,
}

/// `$include`
#[derive(Debug, Clone)]
pub struct Include {
    /// Where the path stands.
    pub span: Span,
    /// The path: a scalar, an expression or text.
    pub path: NodeId,
    /// The file, where the path is known.
    pub target: Target,
    /// `$with`: everything that the file sees.
    pub with: Vec<With>,
}

/// A file that is included.
#[derive(Debug, Clone)]
pub enum Target {
    /// A file of the same [`Templates`](super::Templates).
    File(FileId),
    /// There is none: the error of whoever comes here.
    Missing(Box<Diagnostic>),
    /// A template of another language, of this name.
    Template(Arc<str>),
    /// It is known only when the path is made, relative to this directory (empty, or with a final `/`); then it is one of
    /// these.
    Dynamic(Arc<str>, Vec<Candidate>),
}

impl Target {
    /// The files of the same templates that it may be.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        let (one, others) = match self {
            Target::File(id) => (Some(*id), &[][..]),
            Target::Missing(_) | Target::Template(_) => (None, &[][..]),
            Target::Dynamic(_, candidates) => (None, candidates.as_slice()),
        };
        let file = |candidate: &Candidate| if let Target::File(id) = candidate.target { Some(id) } else { None };
        one.into_iter().chain(others.iter().filter_map(file))
    }
}

/// What a path that is made when a template is rendered may name.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The name, from the root on.
    pub name: Arc<str>,
    /// What it is; not dynamic.
    pub target: Target,
}

/// A variable that an included file sees.
#[derive(Debug, Clone)]
pub struct With {
    /// Its name.
    pub name: Arc<str>,
    /// Where the name stands.
    pub span: Span,
    /// Its value.
    pub value: NodeId,
}

/// What a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// Of `$let`.
    Let,
    /// Of `$for`: the index or key.
    Key,
    /// Of `$for`: the element or value.
    Value,
    /// Of `$schema`: the input, or the schema's default where there is none.
    Default,
}

/// A variable of a file.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is defined.
    pub span: Span,
    /// What it is.
    pub kind: VariableKind,
    /// The map that has it.
    pub owner: NodeId,
}

/// A name that `$schema` says something of.
#[derive(Debug, Clone)]
pub struct Declared {
    /// The name.
    pub name: Arc<str>,
    /// Where it stands.
    pub span: Span,
    /// What is said of it.
    pub schema: Arc<Schema>,
    /// The variable it is; `None` where it is an input.
    pub of: Option<VariableId>,
    /// The variable that takes the default where the input is not there.
    pub default: Option<VariableId>,
}

/// A parsed expression in its place.
#[derive(Debug, Clone)]
pub struct Expression {
    /// The expression; its spans are those of its own text.
    pub tree: Arc<Tree>,
    /// Where its text stands in the file.
    pub places: Places,
    /// Where it stands in the file, without `${` and `}`.
    pub span: Span,
    /// The node it belongs to.
    pub owner: NodeId,
    /// What it sees.
    pub scope: Option<ScopeId>,
    /// Each name that no loop inside the expression binds, once.
    pub free: Vec<Free>,
}

impl Expression {
    /// Where a part of it stands in the file.
    pub fn span_of(&self, id: ExprId) -> Span {
        self.places.span(self.tree.span(id))
    }

    /// What the name `name` means where no loop inside the expression binds it.
    pub fn free(&self, name: &str) -> Option<&Free> {
        self.free.iter().find(|free| &*free.name == name)
    }
}

/// What a name in an expression means.
#[derive(Debug, Clone)]
pub struct Free {
    /// The name.
    pub name: Arc<str>,
    /// Where it first stands.
    pub span: Span,
    /// The variable of the file; `None` for what comes from outside: an input, a type, a namespace of functions.
    pub variable: Option<VariableId>,
    /// What `$schema` says of it.
    pub declared: Option<DeclaredId>,
    /// Where a variable of this name is defined later, where none is visible.
    pub later: Option<Span>,
}

/// A name that is visible.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub parent: Option<ScopeId>,
    pub name: Arc<str>,
    pub binding: Binding,
}

/// What a name means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Binding {
    /// The variable of the file; `None` for an input.
    pub variable: Option<VariableId>,
    /// What `$schema` says of it.
    pub declared: Option<DeclaredId>,
}

/// A file of a template.
#[derive(Debug, Clone)]
pub struct File {
    /// Its text.
    pub source: Arc<Source>,
    /// The roots of its documents; documents with nothing in them are left out.
    pub documents: Vec<NodeId>,
    pub(super) nodes: Vec<Node>,
    pub(super) maps: Vec<Map>,
    pub(super) parts: Vec<Part>,
    pub(super) ids: Vec<NodeId>,
    pub(super) expressions: Vec<Expression>,
    pub(super) variables: Vec<Variable>,
    pub(super) declared: Vec<Declared>,
    pub(super) scopes: Vec<Scope>,
}

impl File {
    pub(super) fn new(source: &Arc<Source>) -> Self {
        Self {
            source: source.clone(),
            documents: Vec::new(),
            nodes: Vec::new(),
            maps: Vec::new(),
            parts: Vec::new(),
            ids: Vec::new(),
            expressions: Vec::new(),
            variables: Vec::new(),
            declared: Vec::new(),
            scopes: Vec::new(),
        }
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    /// A map with its directives.
    pub fn map(&self, id: MapId) -> Option<&Map> {
        self.maps.get(id.index())
    }

    /// Every map, in no order that means something.
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// An expression.
    pub fn expression(&self, id: ExpressionId) -> Option<&Expression> {
        self.expressions.get(id.index())
    }

    /// Every expression.
    pub fn expressions(&self) -> &[Expression] {
        &self.expressions
    }

    /// A variable.
    pub fn variable(&self, id: VariableId) -> Option<&Variable> {
        self.variables.get(id.index())
    }

    /// Every variable.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// What `$schema` says of a name.
    pub fn declared(&self, id: DeclaredId) -> Option<&Declared> {
        self.declared.get(id.index())
    }

    /// The texts that a path begins and ends with that is made when the template is rendered; none of one that is known.
    pub(super) fn constant_ends(&self, path: NodeId) -> Option<(&str, &str)> {
        match &self.node(path)?.kind {
            NodeKind::Scalar(_) => None,
            NodeKind::Text(run) => {
                let parts = self.parts(*run);
                Some((text_of(parts.first()), text_of(parts.last())))
            }
            _ => Some(("", "")),
        }
    }

    /// Whether some `$schema` says something of an input of this name.
    pub(super) fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|declared| &*declared.name == name && declared.of.is_none())
    }

    /// The elements of a list.
    pub fn elements(&self, run: Run) -> &[NodeId] {
        self.ids.get(run.range()).unwrap_or(&[])
    }

    /// The parts of a text.
    pub fn parts(&self, run: Run) -> &[Part] {
        self.parts.get(run.range()).unwrap_or(&[])
    }

    /// The names that are visible in a scope, each with what it means; the innermost first, and a name again where an
    /// outer one is hidden.
    pub fn visible(&self, scope: Option<ScopeId>) -> impl Iterator<Item = (&str, Binding)> {
        let at = |id: ScopeId| self.scopes.get(id.index());
        let scopes = std::iter::successors(scope.and_then(at), move |scope| scope.parent.and_then(at));
        scopes.map(|scope| (&*scope.name, scope.binding))
    }

    /// The path of a node in its document, such as `items[0].metadata.name`; empty for the root.
    pub fn path(&self, id: NodeId) -> String {
        let up = |node: &&Node| node.parent.and_then(|parent| self.node(parent));
        let mut steps: Vec<&Step> = std::iter::successors(self.node(id), up).map(|node| &node.step).collect();
        steps.reverse();
        let mut path = String::new();
        steps.into_iter().for_each(|step| step.write(&mut path));
        path
    }

    pub(super) fn add_parts(&mut self, parts: Vec<Part>) -> Run {
        add(&mut self.parts, parts)
    }

    pub(super) fn add_ids(&mut self, ids: Vec<NodeId>) -> Run {
        add(&mut self.ids, ids)
    }

    pub(super) fn add_node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId::of(self.nodes.len() - 1)
    }

    pub(super) fn map_mut(&mut self, id: MapId) -> Option<&mut Map> {
        self.maps.get_mut(id.index())
    }
}

impl Step {
    /// Adds the step to a path.
    pub(super) fn write(&self, path: &mut String) {
        match self {
            Step::Document => {}
            Step::Key(name) => add_name(path, name),
            Step::Element(at) => path.push_str(&format!("[{at}]")),
            Step::Directive(name) => add_name(path, name),
            Step::Within(directive, name) => {
                add_name(path, directive);
                add_name(path, name);
            }
        }
    }
}

fn add<T>(list: &mut Vec<T>, more: Vec<T>) -> Run {
    let start = list.len();
    list.extend(more);
    let Span { start, end } = Span::of(start..list.len());
    Run { start, end }
}

/// The text of a part that is one.
fn text_of(part: Option<&Part>) -> &str {
    if let Some(Part::Text(text)) = part { text } else { "" }
}
