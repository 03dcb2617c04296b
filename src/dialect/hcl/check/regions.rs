//! What is evaluated on its own, and what of it is evaluated once more.

use std::collections::HashSet;

use crate::bytecode::ImportKind;
use crate::diagnostics::{Diagnostic, Result as Checked};
use crate::dialect::hcl::explain::explain;
use crate::dialect::hcl::lower::compile_expressions;
use crate::dialect::hcl::semantics::Rules;
use crate::dialect::hcl::syntax::analysis::children;
use crate::dialect::hcl::syntax::tree::{Call, Expr, ExprId, For, Operator, Tree};
use crate::function::{Admits, Budgets, Capabilities, Cx, Params, Registry};
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Inputs, Type, Value};
use crate::vm::{Evaluator, Space};

/// An expression that is evaluated on its own, and the names it sees beside the variables: a map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region<'s> {
    /// The tree it is in.
    pub tree: &'s Tree,
    /// The expression.
    pub root: ExprId,
    /// The names.
    pub over: Value<'s>,
}

/// What is known of a value without data.
pub(super) enum Known<'s> {
    /// Its type.
    Type(Type<'s>),
    /// That it is this truth.
    Truth(bool),
    /// That it has no elements.
    Empty,
    /// That it is null.
    Null,
}

impl<'s> Known<'s> {
    /// The types of the keys and the elements, if it is gone over.
    pub fn elements(&self) -> (Type<'s>, Type<'s>) {
        match *self {
            Known::Type(Type::List(element)) => (Type::Number, *element),
            Known::Type(Type::Set(element)) => (*element, *element),
            Known::Type(Type::Map(element)) => (Type::String, *element),
            Known::Type(Type::Tuple(_)) => (Type::Number, Type::Dynamic),
            Known::Type(Type::Object(_)) => (Type::String, Type::Dynamic),
            _ => (Type::Dynamic, Type::Dynamic),
        }
    }
}

/// Evaluates regions, with one budget for all, and collects what is wrong.
pub(super) struct Checker<'c, 's> {
    space: &'s Space,
    registry: &'c Registry,
    limits: &'c Limits,
    /// The variables.
    base: Value<'s>,
    budgets: Budgets,
    found: Vec<Box<Diagnostic>>,
}

impl<'c, 's> Checker<'c, 's> {
    /// A checker of what sees these variables and calls these functions.
    pub fn new(space: &'s Space, registry: &'c Registry, limits: &'c Limits, base: Value<'s>) -> Self {
        let budgets = Budgets::of(limits);
        Self { space, registry, limits, base, budgets, found: Vec::new() }
    }

    /// Evaluates the regions, and what their evaluation does not get into.
    pub fn all(&mut self, mut left: Vec<Region<'s>>) -> Checked<()> {
        while let Some(region) = left.pop() {
            self.region(region, &mut left)?;
        }
        Ok(())
    }

    fn region(&mut self, region: Region<'s>, left: &mut Vec<Region<'s>>) -> Checked<()> {
        let (_, mut errors) = self.evaluate(region)?;
        let inputs = Inputs::layered(self.base, region.over);
        let cx = Cx::new(self.space.arena(), inputs, self.limits, Capabilities::NONE, &self.space.caches);
        explain(&cx, region.tree, &mut errors);
        self.found.extend(errors);
        let mut walk = vec![region.root];
        while let Some(id) = walk.pop() {
            match region.tree.expr(id) {
                Expr::Conditional { condition, then, otherwise } => {
                    walk.push(condition);
                    let known = self.known(Region { root: condition, ..region })?;
                    for (truth, branch) in [(true, then), (false, otherwise)] {
                        if !matches!(known, Known::Truth(other) if other != truth) {
                            left.push(Region { root: branch, ..region });
                        }
                    }
                }
                Expr::Binary { op: op @ (Operator::And | Operator::Or), .. } => {
                    self.operands(Region { root: id, ..region }, op, left)?;
                }
                Expr::For(of) => {
                    if let Some(of) = region.tree.for_expr(of) {
                        walk.push(of.collection);
                        self.body(of, region, left)?;
                    }
                }
                Expr::Call(call) if self.takes_errors(region.tree, &call) => {}
                expr => children(region.tree, expr, |child| walk.push(child)),
            }
        }
        Ok(())
    }

    /// What stands between `&&`, or between `||`: where one of them decides, the others do not matter.
    fn operands(&mut self, chain: Region<'s>, of: Operator, left: &mut Vec<Region<'s>>) -> Checked<()> {
        let (mut operands, mut walk) = (Vec::new(), vec![chain.root]);
        while let Some(id) = walk.pop() {
            match chain.tree.expr(id) {
                Expr::Binary { op, left, right, .. } if op == of => walk.extend([right, left]),
                Expr::Paren(inner) => walk.push(inner),
                _ => operands.push(Region { root: id, ..chain }),
            }
        }
        for &operand in &operands {
            if matches!(self.known(operand)?, Known::Truth(truth) if truth == (of == Operator::Or)) {
                return Ok(());
            }
        }
        left.extend(operands);
        Ok(())
    }

    /// What a loop does with each element, where its names are not known.
    fn body(&mut self, of: &'s For, region: Region<'s>, left: &mut Vec<Region<'s>>) -> Checked<()> {
        let known = self.known(Region { root: of.collection, ..region })?;
        if matches!(known, Known::Empty) {
            return Ok(());
        }
        let ((key, value), arena) = (known.elements(), self.space.arena());
        let key = of.key_var.map(|name| (region.tree.str(name), arena.unknown(key)));
        let value = (region.tree.str(of.value_var), arena.unknown(value));
        let over = self.with(region.over, key.into_iter().chain([value]));
        let parts = [of.condition, Some(of.value), of.key].into_iter().flatten();
        left.extend(parts.map(|root| Region { root, over, ..region }));
        Ok(())
    }

    /// The names of `over`, and more before them.
    pub fn with(&self, over: Value<'s>, more: impl IntoIterator<Item = (&'s str, Value<'s>)>) -> Value<'s> {
        let names = over.as_map().into_iter().flat_map(|map| map.iter());
        self.space.arena().map(&names.chain(more).collect::<Vec<_>>())
    }

    /// What is known of an expression.
    pub fn known(&mut self, region: Region<'s>) -> Checked<Known<'s>> {
        Ok(self.evaluate(region)?.0)
    }

    /// What is known of an expression, and the errors of its evaluation.
    fn evaluate(&mut self, region: Region<'s>) -> Checked<(Known<'s>, Vec<Box<Diagnostic>>)> {
        let program = compile_expressions(region.tree, &[region.root], self.registry, self.limits)?;
        let linked = self.registry.link(program.imports())?;
        let mut evaluator = Evaluator::new(self.space, &program, &linked, self.limits, Capabilities::NONE);
        evaluator.set_budgets(self.budgets);
        let answer = evaluator.run::<Rules>(0, Inputs::layered(self.base, region.over));
        self.budgets = evaluator.budgets();
        let answer = answer?;
        let arena = self.space.arena();
        let value = answer.value.unmarked().0;
        let empty = value.elements().is_some_and(<[_]>::is_empty)
            || value.entries().is_some_and(|entries| entries.iter().len() == 0);
        let known = match value {
            Value::Bool(truth) => Known::Truth(truth),
            _ if value.is_null() => Known::Null,
            _ if empty => Known::Empty,
            _ => Known::Type(value.type_in(arena).in_arena(arena)),
        };
        Ok((known, answer.errors))
    }

    /// Whether a call is there for what its arguments fail with.
    fn takes_errors(&self, tree: &Tree, call: &Call) -> bool {
        let function = self.registry.get(ImportKind::Function, tree.str(call.name));
        let Some(Params::Positional(params)) = function.map(|function| &function.params) else { return false };
        params.params.iter().chain(&params.rest).any(|param| param.admits.include(Admits::ERRORS))
    }

    /// Adds what was found elsewhere.
    pub fn found(&mut self, more: impl IntoIterator<Item = Box<Diagnostic>>) {
        self.found.extend(more);
    }

    /// What was found, one of each place, in the order of the source.
    pub fn findings(self) -> Vec<Box<Diagnostic>> {
        let place = |error: &Diagnostic| error.primary().map_or(Span::default(), |label| label.span);
        let mut seen = HashSet::new();
        let mut found: Vec<_> = self.found.into_iter().filter(|error| seen.insert(place(error))).collect();
        found.sort_by_key(|error| place(error).start);
        found
    }
}
