//! Expressions of attributes.

use std::rc::Rc;

use super::json::JsonFile;
use super::native::NativeFile;
use super::{Context, DiagnosticList, Location};
use crate::compile::Executable;
use crate::json::JsonId;
use crate::syntax::{ExprId, Traversal, Tree, analysis};
use crate::typeexpr;
use crate::typeexpr::{Mode, TypeExpr};
use crate::value_notes::explain;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::Span;
use dropforge_machine::function::Cx;
use dropforge_value::{Type, Value};

/// The expression of an attribute, or a part of one.
#[derive(Debug, Clone)]
pub struct Expression<'r> {
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

impl<'r> Expression<'r> {
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
    pub(super) fn has_iterator(&self, name: &str) -> bool {
        matches!(&self.scope, Scope::Block(iterators) if iterators.values.iter().any(|(own, _)| *own == name))
    }

    /// Returns the items if the expression is a tuple constructor.
    pub fn static_list(&self) -> Option<Vec<Self>> {
        Some(match self.written {
            Written::Json(file, id) => file.items(id)?.iter().map(|id| self.part(Written::Json(file, *id))).collect(),
            Written::Native(file, id) => {
                let items = analysis::static_list(file.tree(), id)?.iter();
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
                let entries = analysis::static_map(file.tree(), id)?.iter();
                entries.map(|entry| (part(entry.key), part(entry.value))).collect()
            }
        })
    }

    /// Calls `look` with the traversal that the expression is, or that a string of the JSON syntax contains.
    pub(super) fn as_traversal<T>(&self, look: impl FnOnce(&Tree, Traversal) -> T) -> Option<T> {
        self.as_native(|tree, id| analysis::absolute_traversal(tree, id).map(|traversal| look(tree, traversal)))?
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
