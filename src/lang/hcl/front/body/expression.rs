//! Expressions of attributes, and the variables in them. The variables of `dynamic` blocks are found level by level,
//! without expanding them.

use std::rc::Rc;
use std::sync::Arc;

use super::sources::{JsonBody, JsonFile, NativeFile};
use super::{Attribute, Block, Body, BodySchema, Context, DiagnosticList, Location};
use crate::compile::Executable;
use crate::evaluation::literal_number;
use crate::front::syntax;
use crate::json::JsonId;
use crate::syntax::{ExprId, StepKind, Traversal, TraversalStep, Tree};
use crate::typeexpr;
use crate::typeexpr::{Mode, TypeExpr};
use crate::value_notes::explain;
use crate::values::traverse;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::function::Cx;
use dropforge_value::{Type, Value};

/// The expression of an attribute, or a part of one.
#[derive(Debug, Clone)]
pub struct BodyExpression<'r> {
    written: Written<'r>,
    scope: Scope<'r>,
}

/// An expression in its file.
#[derive(Debug, Clone, Copy)]
enum Written<'r> {
    Native(&'r NativeFile, ExprId),
    Json(&'r JsonFile, JsonId),
}

/// The scope of an expression.
#[derive(Debug, Clone)]
enum Scope<'r> {
    /// The file.
    File,
    /// The content of a `dynamic` block, for one element.
    Block(Rc<Iterators<'r>>),
    /// The content of a `dynamic` block with an unknown `for_each`.
    Unknown,
}

/// The iterators of the `dynamic` blocks around an expression.
#[derive(Debug, Clone, Default)]
pub(super) struct Iterators<'r> {
    /// The names and values, innermost last.
    pub values: Vec<(&'r str, Value<'r>)>,
    /// The marks of the `for_each` values.
    pub marks: Vec<&'r str>,
}

impl<'r> Iterators<'r> {
    /// Returns `context` with the iterators as variables.
    pub fn within(&self, context: &Context<'r>) -> Context<'r> {
        context.child(self.values.iter().copied())
    }
}

impl<'r> BodyExpression<'r> {
    pub(super) fn native(file: &'r NativeFile, id: ExprId) -> Self {
        Self { written: Written::Native(file, id), scope: Scope::File }
    }

    pub(super) fn json(file: &'r JsonFile, id: JsonId) -> Self {
        Self { written: Written::Json(file, id), scope: Scope::File }
    }

    pub(super) fn iterated(self, iterators: &Rc<Iterators<'r>>) -> Self {
        match self.scope {
            Scope::File => Self { scope: Scope::Block(iterators.clone()), ..self },
            _ => self,
        }
    }

    pub(super) fn unknown(self) -> Self {
        Self { scope: Scope::Unknown, ..self }
    }

    /// Another expression of the same file and scope.
    fn part(&self, written: Written<'r>) -> Self {
        Self { written, ..self.clone() }
    }

    /// Evaluates the expression. If it fails, the value is unknown.
    pub fn evaluate(&self, context: &Context<'r>, diagnostics: &mut DiagnosticList) -> Value<'r> {
        let run = |context: &Context<'r>, diagnostics: &mut _| match self.written {
            Written::Json(file, id) => file.evaluate(id, context, diagnostics),
            Written::Native(file, id) => file.evaluate(id, context, diagnostics),
        };
        match &self.scope {
            Scope::File => run(context, diagnostics),
            Scope::Block(iterators) => {
                let value = run(&iterators.within(context), diagnostics);
                context.arena().marked(value, &iterators.marks)
            }
            Scope::Unknown => context.arena().unknown(Type::Dynamic),
        }
    }

    /// Adds the values of variables to errors of an evaluation in `context`. Marked values are withheld.
    pub fn explain(&self, context: &Context<'r>, errors: &mut [Box<Diagnostic>]) {
        let context = match &self.scope {
            Scope::Block(iterators) => iterators.within(context),
            Scope::File | Scope::Unknown => context.clone(),
        };
        let mut trees: Vec<&Tree> = Vec::new();
        self.each_native(|tree, _| {
            if !trees.iter().any(|known| std::ptr::eq(*known, tree)) {
                trees.push(tree);
            }
        });
        context.with_cx(|cx| trees.into_iter().for_each(|tree| explain(cx, tree, errors)));
    }

    /// Returns `true` if `name` is an iterator around the expression.
    fn has_iterator(&self, name: &str) -> bool {
        matches!(&self.scope, Scope::Block(iterators) if iterators.values.iter().any(|(own, _)| *own == name))
    }

    /// Returns the items if the expression is a tuple constructor.
    pub fn static_list(&self) -> Option<Vec<Self>> {
        Some(match self.written {
            Written::Json(file, id) => file.items(id)?.iter().map(|id| self.part(Written::Json(file, *id))).collect(),
            Written::Native(file, id) => {
                let items = syntax::static_list(file.tree(), id)?.iter();
                items.map(|id| self.part(Written::Native(file, *id))).collect()
            }
        })
    }

    /// Returns the keys and values if the expression is an object constructor.
    pub fn static_map(&self) -> Option<Vec<(Self, Self)>> {
        Some(match self.written {
            Written::Json(file, id) => {
                let part = |id| self.part(Written::Json(file, id));
                file.entries(id)?.map(|(key, value)| (part(key), part(value))).collect()
            }
            Written::Native(file, id) => {
                let part = |id| self.part(Written::Native(file, id));
                let entries = syntax::static_map(file.tree(), id)?.iter();
                entries.map(|entry| (part(entry.key), part(entry.value))).collect()
            }
        })
    }

    /// Returns the body that an object of the JSON syntax is.
    pub(crate) fn object_body(&self) -> Option<Body<'r>> {
        match self.written {
            Written::Json(file, id) => Some(Body::of(JsonBody::new(file, id))),
            Written::Native(..) => None,
        }
    }

    /// Calls `look` with the traversal that the expression is, or that a string of the JSON syntax contains.
    fn as_traversal<T>(&self, look: impl FnOnce(&Tree, Traversal) -> T) -> Option<T> {
        self.as_native(|tree, id| syntax::absolute_traversal(tree, id).map(|traversal| look(tree, traversal)))?
    }

    /// Returns the name if the expression is a single name.
    pub fn keyword(&self) -> Option<String> {
        self.as_traversal(|tree, found| found.steps.is_empty().then(|| tree.str(found.root).to_owned()))?
    }

    /// Calls `look` with the expression in the native syntax. A string of the JSON syntax contains one.
    pub(crate) fn as_native<T>(&self, look: impl FnOnce(&Tree, ExprId) -> T) -> Option<T> {
        match self.written {
            Written::Native(file, id) => Some(look(file.tree(), id)),
            Written::Json(file, id) => file.native(id).map(|(tree, id)| look(&tree, id)),
        }
    }

    /// Reads the expression as a type expression. A string of the JSON syntax contains one in the native syntax, whose
    /// errors are reported at the string. Returns `None` if the expression cannot be a type expression.
    #[doc(hidden)]
    pub fn type_expr<'v>(&self, cx: &Cx<'v>, mode: Mode<'_, 'v>) -> Option<TypeExpr<'v>> {
        let mut read = self.as_native(|tree, id| typeexpr::read(cx, tree, id, mode))?;
        if let Written::Json(..) = self.written {
            let span = self.range();
            for label in read.diagnostics.iter_mut().filter_map(|error| error.labels.first_mut()) {
                label.span = span;
            }
        }
        Some(read)
    }

    /// Calls `look` with everything that is evaluated: the expression, or the templates in the strings of a JSON value.
    pub(crate) fn each_native(&self, mut look: impl FnMut(&'r Tree, ExprId)) {
        match self.written {
            Written::Native(file, id) => look(file.tree(), id),
            Written::Json(file, id) => file.each_template(id, look),
        }
    }

    /// The location.
    pub fn location(&self) -> Location<'r> {
        let source = match self.written {
            Written::Native(file, _) => file.source(),
            Written::Json(file, _) => file.document().source(),
        };
        Location { source, span: self.range() }
    }

    /// The span in the source.
    pub fn range(&self) -> Span {
        match self.written {
            Written::Native(file, id) => file.tree().span(id),
            Written::Json(file, id) => file.document().node(id).span,
        }
    }

    /// The start of the expression, at which errors about all of it are reported.
    pub fn start(&self) -> Span {
        match self.written {
            Written::Native(file, id) => file.tree().start_span(id),
            Written::Json(file, id) => file.document().node(id).start(),
        }
    }

    /// Compiles the expression alone, and returns it with the limits of its file.
    pub(super) fn compiled(&self) -> Result<(Executable, Limits)> {
        let (executable, compiler) = match self.written {
            Written::Native(file, id) => (file.compile_alone(id)?, file.compiler()),
            Written::Json(file, id) => (file.compile_alone(id)?, file.compiler()),
        };
        Ok((executable, compiler.limits().clone()))
    }
}

/// A variable in an expression, with the constant steps that follow it.
#[derive(Debug, Clone)]
pub struct Reference<'r> {
    source: &'r Arc<Source>,
    tree: &'r Tree,
    traversal: Traversal,
}

/// A step of a [`Reference`].
#[derive(Debug, Clone, Copy)]
pub enum ReferenceStep<'r> {
    /// The variable.
    Root(&'r str),
    /// An attribute.
    Attr(&'r str),
    /// An index, a string or a number.
    Index(Value<'r>),
    /// A splat.
    Splat,
}

impl<'r> BodyExpression<'r> {
    /// The variables, in source order.
    pub fn variables(&self) -> Vec<Reference<'r>> {
        let (source, mut references) = (self.location().source, Vec::new());
        self.each_native(|tree, root| {
            let found = syntax::variables(tree, root).into_iter();
            let found = found.filter_map(|id| syntax::absolute_traversal(tree, id));
            references.extend(found.map(|traversal| Reference { source, tree, traversal }));
        });
        references.retain(|reference| !self.has_iterator(reference.root()));
        references
    }
}

impl<'r> Reference<'r> {
    /// The name of the variable.
    pub fn root(&self) -> &'r str {
        self.tree.str(self.traversal.root)
    }

    /// The steps with their locations. The first is the variable.
    pub fn steps(&self, context: &Context<'r>) -> Vec<(ReferenceStep<'r>, Location<'r>)> {
        let tree = self.tree;
        let kind = |step: &TraversalStep| match step.kind {
            Some(StepKind::Attr(name)) => ReferenceStep::Attr(tree.str(name)),
            Some(StepKind::Key(key)) => ReferenceStep::Index(context.arena().borrowed_text(tree.str(key))),
            Some(StepKind::Number(digits)) => {
                ReferenceStep::Index(context.with_cx(|cx| literal_number(cx, tree.str(digits))))
            }
            None => ReferenceStep::Splat,
        };
        let steps = self.traversal.steps.iter().map(|step| (kind(step), self.at(step.span)));
        std::iter::once((ReferenceStep::Root(self.root()), self.at(self.traversal.root_span))).chain(steps).collect()
    }

    /// The location from the name to the last step.
    pub fn location(&self) -> Location<'r> {
        let last = self.traversal.steps.last().map_or(self.traversal.root_span, |step| step.span);
        self.at(self.traversal.root_span.to(last))
    }

    /// Returns the value, if the context has it.
    pub fn value(&self, context: &Context<'r>) -> Option<Value<'r>> {
        let mut value = context.variables().get(self.root())?;
        for (step, _) in self.steps(context).iter().skip(1) {
            let next = context.with_cx(|cx| match *step {
                ReferenceStep::Attr(name) => traverse::attribute(cx, value, name).ok(),
                ReferenceStep::Index(key) => traverse::index(cx, value, key).ok(),
                ReferenceStep::Root(_) | ReferenceStep::Splat => None,
            });
            value = next?.ok()?;
        }
        Some(value)
    }

    fn at(&self, span: Span) -> Location<'r> {
        Location { source: self.source, span }
    }
}

/// A body, and the iterators of the `dynamic` blocks around it.
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct DynamicNode<'r> {
    name: String,
    body: Body<'r>,
    iterators: Rc<[String]>,
}

impl<'r> DynamicNode<'r> {
    /// The body of a file.
    pub fn root(body: Body<'r>) -> Self {
        Self { name: String::new(), body, iterators: Rc::default() }
    }

    /// The type of the block of the body.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The variables of an expression, without iterators. `own` is one more iterator.
    fn variables(&self, expr: &BodyExpression<'r>, own: Option<&str>) -> Vec<Reference<'r>> {
        let is_iterator = |name: &str| own == Some(name) || self.iterators.iter().any(|iterator| iterator == name);
        let mut variables = expr.variables();
        variables.retain(|reference| !is_iterator(reference.root()));
        variables
    }

    fn child(&self, name: &str, body: &Body<'r>, iterator: Option<&str>) -> Self {
        let iterators = self.iterators.iter().cloned().chain(iterator.map(str::to_owned));
        Self { name: name.to_owned(), body: body.clone(), iterators: iterators.collect() }
    }
}

/// Returns the variables of a body, and its child bodies to visit next. The variables are those of its `dynamic` blocks
/// and, with `content`, of its attributes.
#[doc(hidden)]
pub fn visit_dynamic<'r>(
    node: &DynamicNode<'r>,
    schema: &BodySchema,
    content: bool,
) -> (Vec<Reference<'r>>, Vec<DynamicNode<'r>>) {
    let schema = schema.clone().block("dynamic", &["type"]);
    let (found, _) = node.body.partial_content(&schema, &mut Vec::new());
    let (mut variables, mut children) = (Vec::new(), Vec::new());
    if content {
        variables.extend(found.attributes.values().flat_map(|attribute| node.variables(&attribute.expr, None)));
    }
    for block in &found.blocks {
        match block.labels.first().filter(|_| block.name == "dynamic") {
            Some(label) => visit_block(node, block, &label.text, &mut variables, &mut children),
            None => children.push(node.child(&block.name, &block.body, None)),
        }
    }
    (variables, children)
}

/// Adds the variables and the content of a `dynamic` block.
fn visit_block<'r>(
    node: &DynamicNode<'r>,
    block: &Block<'r>,
    name: &str,
    variables: &mut Vec<Reference<'r>>,
    children: &mut Vec<DynamicNode<'r>>,
) {
    let schema = BodySchema::new().optional("for_each").optional("labels").optional("iterator").block("content", &[]);
    let (inner, _) = block.body.partial_content(&schema, &mut Vec::new());
    let root = |attribute: &Attribute<'r>| attribute.expr.as_traversal(|tree, found| tree.str(found.root).to_owned());
    // Expansion reports an invalid iterator.
    let Some(iterator) = inner.attributes.get("iterator").map_or(Some(name.to_owned()), root) else { return };
    if let Some(for_each) = inner.attributes.get("for_each") {
        variables.extend(node.variables(&for_each.expr, None));
    }
    if let Some(labels) = inner.attributes.get("labels") {
        variables.extend(node.variables(&labels.expr, Some(&iterator)));
    }
    children.extend(inner.blocks.iter().map(|content| node.child(name, &content.body, Some(&iterator))));
}
