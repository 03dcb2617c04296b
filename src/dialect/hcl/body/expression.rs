//! Expressions of attributes.

use std::rc::Rc;

use super::content::Place;
use super::{Compiled, Context, Faults, File};
use crate::bytecode::Program;
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::hcl::explain::explain;
use crate::dialect::hcl::json::{JsonFile, JsonId};
use crate::dialect::hcl::syntax::analysis;
use crate::dialect::hcl::syntax::parser::Traversal;
use crate::dialect::hcl::syntax::tree::{ExprId, Tree};
use crate::dialect::hcl::typeexpr::{self, Mode, TypeExpr};
use crate::function::Cx;
use crate::function::Linked;
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Type, Value};

/// The expression of an attribute, or a part of one.
#[derive(Debug, Clone)]
pub struct Expression<'r> {
    file: &'r File,
    written: Written<'r>,
    within: Within<'r>,
}

/// Which expression of its file it is.
#[derive(Debug, Clone, Copy)]
enum Written<'r> {
    Native(ExprId),
    Json(&'r JsonFile, JsonId),
}

/// What an expression stands in.
#[derive(Debug, Clone)]
enum Within<'r> {
    /// Its file.
    File,
    /// A block that was made for an element of a collection.
    Block(Rc<Iterators<'r>>),
    /// A block that was made for a collection that is not known.
    Unknown,
}

/// The iterators of the `dynamic` blocks around a place.
#[derive(Debug, Clone, Default)]
pub(super) struct Iterators<'r> {
    /// Their names, each with `key` and `value`; of a name that comes twice the last one counts.
    pub(super) values: Vec<(&'r str, Value<'r>)>,
    /// The marks of what they go over.
    pub(super) marks: Vec<&'r str>,
}

impl<'r> Iterators<'r> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(iterator, _)| *iterator == name)
    }

    /// `context` with the iterators as variables.
    pub(super) fn within(&self, context: &Context<'r>) -> Context<'r> {
        context.child(self.values.iter().copied())
    }
}

impl<'r> Expression<'r> {
    pub(super) fn new(file: &'r File, id: ExprId) -> Self {
        Self { file, written: Written::Native(id), within: Within::File }
    }

    pub(in crate::dialect::hcl) fn json(file: &'r File, json: &'r JsonFile, id: JsonId) -> Self {
        Self { file, written: Written::Json(json, id), within: Within::File }
    }

    pub(super) fn iterated(self, iterators: &Rc<Iterators<'r>>) -> Self {
        match self.within {
            Within::File => Self { within: Within::Block(iterators.clone()), ..self },
            _ => self,
        }
    }

    pub(super) fn unknown(self) -> Self {
        Self { within: Within::Unknown, ..self }
    }

    /// Another expression of the same file in the same place.
    pub(super) fn sibling(&self, id: ExprId) -> Self {
        Self { written: Written::Native(id), ..self.clone() }
    }

    /// Its value. Where it has none, that is added to `faults`, and the value is unknown.
    pub fn evaluate(&self, context: &Context<'r>, faults: &mut Faults) -> Value<'r> {
        match &self.within {
            Within::File => self.run(context, faults),
            Within::Block(iterators) => {
                let value = self.run(&iterators.within(context), faults);
                context.arena().marked(value, &iterators.marks)
            }
            Within::Unknown => context.arena().unknown(Type::Dynamic),
        }
    }

    /// Adds to errors of its evaluation in `context` what the variables are that they are about: marked values are
    /// withheld.
    pub fn explain(&self, context: &Context<'r>, faults: &mut [Box<Diagnostic>]) {
        let context = match &self.within {
            Within::Block(iterators) => iterators.within(context),
            Within::File | Within::Unknown => context.clone(),
        };
        let mut trees: Vec<&Tree> = Vec::new();
        self.each_native(|tree, _| {
            if !trees.iter().any(|known| std::ptr::eq(*known, tree)) {
                trees.push(tree);
            }
        });
        context.with_cx(|cx| trees.into_iter().for_each(|tree| explain(cx, tree, faults)));
    }

    /// Whether this is the name of an iterator around it.
    pub(super) fn iterates(&self, name: &str) -> bool {
        matches!(&self.within, Within::Block(iterators) if iterators.has(name))
    }

    fn run(&self, context: &Context<'r>, faults: &mut Faults) -> Value<'r> {
        match self.written {
            Written::Json(file, id) => file.evaluate(id, context, faults),
            Written::Native(id) => context.run(self.file, id, faults),
        }
    }

    /// The elements of a list as it stands, each an expression, where it is one.
    pub fn static_list(&self) -> Option<Vec<Self>> {
        match self.written {
            Written::Json(file, id) => Some(file.items(id)?.iter().map(|id| self.part(file, *id)).collect()),
            Written::Native(id) => {
                Some(analysis::static_list(self.file.tree(), id)?.iter().map(|id| self.sibling(*id)).collect())
            }
        }
    }

    /// The keys and values of a map as it stands, each an expression, where it is one.
    pub fn static_map(&self) -> Option<Vec<(Self, Self)>> {
        match self.written {
            Written::Json(file, id) => {
                let entries = file.entries(id)?;
                Some(entries.map(|(key, value)| (self.part(file, key), self.part(file, value))).collect())
            }
            Written::Native(id) => {
                let entries = analysis::static_map(self.file.tree(), id)?.iter();
                Some(entries.map(|entry| (self.sibling(entry.key), self.sibling(entry.value))).collect())
            }
        }
    }

    /// Looks at the traversal that it is; a string of the JSON syntax is what it says. Nothing where it is none.
    pub(in crate::dialect::hcl) fn as_traversal<T>(&self, look: impl FnOnce(&Tree, Traversal) -> T) -> Option<T> {
        match self.written {
            Written::Native(id) => {
                let tree = self.file.tree();
                analysis::absolute_traversal(tree, id).map(|traversal| look(tree, traversal))
            }
            Written::Json(file, id) => file.traversal(id).map(|(tree, traversal)| look(&tree, traversal)),
        }
    }

    /// The name that it is, if it is nothing more.
    pub fn keyword(&self) -> Option<String> {
        self.as_traversal(|tree, found| found.steps.is_empty().then(|| tree.str(found.root).to_owned()))?
    }

    /// Looks at it as an expression of the native syntax; a string of the JSON syntax is what it says. Nothing where it
    /// is none.
    pub(in crate::dialect::hcl) fn as_native<T>(&self, look: impl FnOnce(&Tree, ExprId) -> T) -> Option<T> {
        match self.written {
            Written::Native(id) => Some(look(self.file.tree(), id)),
            Written::Json(file, id) => file.native(id).map(|(tree, id)| look(&tree, id)),
        }
    }

    /// What it says as a type expression; a string of the JSON syntax says one in the native syntax, and what is wrong
    /// with that is reported at the string. Nothing where it says nothing that could be a type.
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

    /// Looks at all that is evaluated in it: itself, or the templates in the strings of a JSON value.
    pub(in crate::dialect::hcl) fn each_native(&self, mut look: impl FnMut(&'r Tree, ExprId)) {
        match self.written {
            Written::Native(id) => look(self.file.tree(), id),
            Written::Json(file, id) => file.each_template(id, look),
        }
    }

    fn part(&self, file: &'r JsonFile, id: JsonId) -> Self {
        Self { written: Written::Json(file, id), ..self.clone() }
    }

    /// Where it stands.
    pub fn place(&self) -> Place<'r> {
        Place { source: self.file.source(), span: self.range() }
    }

    /// Where it stands in its source.
    pub fn range(&self) -> Span {
        match self.written {
            Written::Native(id) => self.file.tree().span(id),
            Written::Json(file, id) => file.document().node(id).span,
        }
    }

    /// Where it begins to be what it is: the place that errors about the whole of it name.
    pub(in crate::dialect::hcl) fn start(&self) -> Span {
        match self.written {
            Written::Native(id) => self.file.tree().start_span(id),
            Written::Json(file, id) => file.document().node(id).start(),
        }
    }

    /// A program of it alone, with the functions it calls and the limits of its file.
    pub(super) fn compiled(&self) -> Result<(Program, Linked, Limits)> {
        let Compiled { program, linked, .. } = match self.written {
            Written::Native(id) => self.file.compile_alone(id)?,
            Written::Json(file, id) => file.compile_alone(id)?,
        };
        Ok((program, linked, self.file.limits().clone()))
    }
}
