//! The nodes of a template tree.
//!
//! A node is the template of a value; the directives of a map are in its [`Map`]. Expressions are parsed. They know which of
//! their names are variables of the file, and the position in the file of each of their bytes, even within quoted and
//! folded scalars.

use std::sync::Arc;

pub use crate::syntax::tree::Run;
use crate::syntax::tree::{ExprId, Tree};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::text::Span;
use dropforge_schema::Schema;
use dropforge_value::yaml::Places;
use dropforge_value::{add_name, yaml};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// Returns its position among the items of its kind, for tables beside the tree.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            pub(in crate::front::yaml) fn of(index: usize) -> Self {
                Self(Span::of(index..index).start)
            }
        }
    )*};
}

ids! {
    /// Identifies a [`File`](super::File) of [`Templates`](crate::yaml::Templates).
    FileId
    /// Identifies a [`TemplateNode`] of a [`File`](super::File).
    NodeId
    /// Identifies a [`Map`] of a [`File`](super::File).
    MapId
    /// Identifies an [`TemplateExpression`] of a [`File`](super::File).
    ExpressionId
    /// Identifies a [`Variable`] of a [`File`](super::File).
    VariableId
    /// Identifies a [`DeclaredName`] of a [`File`](super::File).
    DeclaredId
}

/// The template of a value.
#[derive(Debug, Clone)]
pub struct TemplateNode {
    /// The kind of template.
    pub kind: NodeKind,
    /// Its span: of a scalar including quotes, of a collection its beginning, of an alias the alias.
    pub span: Span,
    /// A tag outside the core schema.
    pub tag: Option<Arc<String>>,
    /// The parent; `None` for the root of a document.
    pub parent: Option<NodeId>,
    /// The step from the parent.
    pub step: PathStep,
}

/// The kinds of templates.
#[derive(Debug, Clone)]
pub enum NodeKind {
    /// A scalar, with its spelling, and with escapes resolved.
    Scalar(yaml::Node),
    /// An expression.
    Expression(ExpressionId),
    /// Text with expressions: [`File::parts`](super::File::parts).
    Text(Run),
    /// A list: [`File::elements`](super::File::elements).
    List(Run),
    /// A map, or the value that its directives make: [`File::map`](super::File::map).
    Map(MapId),
}

/// A part of a text.
#[derive(Debug, Clone)]
pub enum TextPart {
    /// Literal text.
    Text(Arc<str>),
    /// An expression, whose value becomes text.
    Expression(ExpressionId),
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// To a document.
    Document,
    /// To the value of a key, or to the key.
    Key(Arc<str>),
    /// To an element.
    Element(u32),
    /// To the value of a directive.
    Directive(&'static str),
    /// To an entry in the value of a directive.
    Within(Box<(&'static str, Arc<str>)>),
}

/// A map with its directives.
#[derive(Debug, Clone, Default)]
pub struct Map {
    /// The keys, and the directives that make keys, in the order of the file.
    pub items: Vec<Item>,
    /// Most maps have none.
    directives: Option<Box<Directives>>,
}

/// The directives of a map. They run in the order of the fields.
#[derive(Debug, Clone, Default)]
pub struct Directives {
    /// `$schema`: the schemas of names from outside.
    pub schema: Vec<DeclaredId>,
    /// `$let`, in order: each variable sees the ones before it.
    pub lets: Vec<Let>,
    /// `$assert`
    pub asserts: Vec<Assert>,
    /// `$if`
    pub condition: Option<If>,
    /// `$for`
    pub each: Option<For>,
    /// `$include`
    pub include: Option<Box<Include>>,
}

impl Map {
    /// Returns its directives.
    pub fn directives(&self) -> &Directives {
        static NONE: Directives = Directives {
            schema: Vec::new(),
            lets: Vec::new(),
            asserts: Vec::new(),
            condition: None,
            each: None,
            include: None,
        };
        self.directives.as_deref().unwrap_or(&NONE)
    }

    pub(in crate::front::yaml) fn directives_mut(&mut self) -> &mut Directives {
        self.directives.get_or_insert_default()
    }

    /// Returns the include of the map, if it has one.
    pub(in crate::front::yaml) fn include_mut(&mut self) -> Option<&mut Include> {
        self.directives.as_mut()?.include.as_deref_mut()
    }

    /// Returns the entries that are not directives.
    pub fn entries(&self) -> impl Iterator<Item = TemplateEntry> {
        self.items.iter().filter_map(|item| if let Item::Entry(entry) = item { Some(*entry) } else { None })
    }

    /// Returns `true` if it has only entries, always.
    pub fn is_plain(&self) -> bool {
        self.directives().condition.is_none() && self.items.iter().all(|item| matches!(item, Item::Entry(_)))
    }
}

/// A source of keys of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// An entry that is not a directive.
    Entry(TemplateEntry),
    /// The keys of the branch of `$if`.
    Branch,
    /// The keys of the iterations of `$for`.
    Loop,
    /// The keys of the file of `$include`.
    Include,
}

/// A key and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateEntry {
    /// The key: a scalar, an expression or text.
    pub key: NodeId,
    /// The value.
    pub value: NodeId,
}

/// A variable of `$let`.
#[derive(Debug, Clone)]
pub struct Let {
    /// The variable.
    pub variable: VariableId,
    /// Its value.
    pub value: LetValue,
}

/// The value of a variable of `$let`.
#[derive(Debug, Clone)]
pub enum LetValue {
    /// A template.
    Template(NodeId),
    /// An expression.
    Expression(ExpressionId),
    /// Text that may be an expression: the expression if the inputs have one of its names, otherwise the text.
    Unless {
        /// The expression.
        expression: ExpressionId,
        /// The text: a scalar.
        text: NodeId,
    },
}

/// A condition of `$assert`.
#[derive(Debug, Clone)]
pub struct Assert {
    /// The condition.
    pub condition: Condition,
    /// Its span.
    pub span: Span,
    /// The message, evaluated only if the condition is false.
    pub message: Option<NodeId>,
}

/// A condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// A constant.
    Constant(bool),
    /// An expression.
    Expression(ExpressionId),
}

/// `$if`
#[derive(Debug, Clone)]
pub struct If {
    /// The condition.
    pub condition: Condition,
    /// The span of the directive.
    pub span: Span,
    /// `$then`. Without it, the condition guards the rest of the map.
    pub then: Option<NodeId>,
    /// `$else`
    pub otherwise: Option<NodeId>,
}

/// `$for`
#[derive(Debug, Clone)]
pub struct For {
    /// The span of the directive.
    pub span: Span,
    /// The index or key, in a loop with two variables.
    pub key: Option<VariableId>,
    /// The element or value.
    pub value: VariableId,
    /// The list or map to iterate over.
    pub over: ExpressionId,
    /// `$do`
    pub body: NodeId,
    /// Set if the results are items of the surrounding list. Otherwise they are maps, and merged.
    pub in_list: bool,
}

/// `$include`
#[derive(Debug, Clone)]
pub struct Include {
    /// The span of the path.
    pub span: Span,
    /// The path: a scalar, an expression or text.
    pub path: NodeId,
    /// The file.
    pub target: Target,
    /// `$with`: all variables that the file sees.
    pub with: Vec<With>,
}

/// The target of an include.
#[derive(Debug, Clone)]
pub enum Target {
    /// A file of the same [`Templates`](crate::yaml::Templates).
    File(FileId),
    /// A missing file: the error to raise.
    Missing(Box<Diagnostic>),
    /// A template of another language, by name.
    Template(Arc<str>),
    /// A file that depends on a path computed at render time: one of the candidates. The path is relative to this directory,
    /// which is empty or ends with `/`.
    Dynamic(Arc<str>, Vec<Candidate>),
}

impl Target {
    /// Returns the files of the same [`Templates`](crate::yaml::Templates) that it may be.
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

/// A file that a path computed at render time may name.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The name, relative to the root.
    pub name: Arc<str>,
    /// The file; not dynamic.
    pub target: Target,
}

/// A variable for an included file.
#[derive(Debug, Clone)]
pub struct With {
    /// Its name.
    pub name: Arc<str>,
    /// The span of the name.
    pub span: Span,
    /// Its value.
    pub value: NodeId,
}

/// The kinds of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    /// A variable of `$let`.
    Let,
    /// The index or key of `$for`.
    Key,
    /// The element or value of `$for`.
    Value,
    /// A variable or input with the default or the numbers that `$schema` declares.
    Checked,
}

/// A variable of a file.
#[derive(Debug, Clone)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// The span of its definition.
    pub span: Span,
    /// Its kind.
    pub kind: VariableKind,
    /// The map that defines it.
    pub owner: NodeId,
}

/// A name with a schema.
#[derive(Debug, Clone)]
pub struct DeclaredName {
    /// The name.
    pub name: Arc<str>,
    /// Its span.
    pub span: Span,
    /// The schema.
    pub schema: Arc<Schema>,
    /// The variable; `None` for an input.
    pub of: Option<VariableId>,
    /// The variable for the value that was checked, if it can differ from the value given.
    pub checked: Option<VariableId>,
}

/// A parsed expression and its position.
#[derive(Debug, Clone)]
pub struct TemplateExpression {
    /// The expression. Its spans refer to its own text.
    pub tree: Arc<Tree>,
    /// The position of its text in the file.
    pub places: Places,
    /// The span in the file, without `${` and `}`.
    pub span: Span,
    /// The node that contains it.
    pub owner: NodeId,
    /// Its free names: those that no comprehension in it binds.
    pub free: Vec<Free>,
}

impl TemplateExpression {
    /// Returns the span of a node in the file.
    pub fn span_of(&self, id: ExprId) -> Span {
        self.places.span(self.tree.span(id))
    }

    /// Returns a free name.
    pub fn free(&self, name: &str) -> Option<&Free> {
        self.free.iter().find(|free| &*free.name == name)
    }
}

/// A free name of an expression.
#[derive(Debug, Clone)]
pub struct Free {
    /// The name.
    pub name: Arc<str>,
    /// The span of its first occurrence.
    pub span: Span,
    /// The variable of the file; `None` for an input, a type or a namespace of functions.
    pub variable: Option<VariableId>,
    /// Its schema.
    pub declared: Option<DeclaredId>,
    /// The span of a later definition of a variable with this name, if none is visible.
    pub later: Option<Span>,
    /// The span of the `$let` of an earlier document that defines this name, if it is not defined in this one.
    pub elsewhere: Option<Span>,
}

/// The meaning of a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Binding {
    /// The variable of the file; `None` for an input.
    pub variable: Option<VariableId>,
    /// Its schema.
    pub declared: Option<DeclaredId>,
}

impl PathStep {
    /// Appends the step to a path.
    pub(in crate::front::yaml) fn write(&self, path: &mut String) {
        match self {
            PathStep::Document => {}
            PathStep::Key(name) => add_name(path, name),
            PathStep::Element(at) => path.push_str(&format!("[{at}]")),
            PathStep::Directive(name) => add_name(path, name),
            PathStep::Within(names) => {
                add_name(path, names.0);
                add_name(path, &names.1);
            }
        }
    }
}
