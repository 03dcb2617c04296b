//! Evaluation of regions with unknown variables.

use std::collections::HashSet;

use crate::bytecode::ImportKind;
use crate::diagnostics::{Diagnostic, Result as Checked};
use crate::dialect::hcl::compile::Compiler;
use crate::dialect::hcl::semantics::Rules;
use crate::dialect::hcl::syntax::{Call, Expr, ExprId, For, Operator, Tree, children};
use crate::dialect::hcl::value_notes::explain;
use crate::function::{Admits, Budgets, Capabilities, Cx, Params};
use crate::stdlib::small_sort::SmallSort as _;
use crate::text::Span;
use crate::value::{Arena, Inputs, Type, Value};
use crate::vm::Space;

/// An expression that is evaluated on its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region<'s> {
    /// The tree.
    pub tree: &'s Tree,
    /// The expression.
    pub root: ExprId,
    /// The names that the expression sees beside the variables, a map.
    pub locals: Value<'s>,
}

/// A value, as far as it is known without data.
pub(super) enum AbstractValue<'s> {
    /// A value of this type.
    OfType(Type<'s>),
    /// A known boolean.
    Bool(bool),
    /// An empty collection.
    Empty,
    /// Null.
    Null,
}

impl<'s> AbstractValue<'s> {
    /// Abstracts a value.
    pub fn of(arena: &'s Arena, value: Value<'_>) -> Self {
        let value = value.unmarked().0;
        let is_empty = value.elements().is_some_and(<[_]>::is_empty)
            || value.entries().is_some_and(|entries| entries.iter().len() == 0);
        match value {
            Value::Bool(truth) => Self::Bool(truth),
            _ if value.is_null() => Self::Null,
            _ if is_empty => Self::Empty,
            _ => Self::OfType(value.type_in(arena).in_arena(arena)),
        }
    }

    /// The types of the keys and the elements of a collection.
    pub fn element_types(&self) -> (Type<'s>, Type<'s>) {
        match *self {
            Self::OfType(Type::List(element)) => (Type::Number, *element),
            Self::OfType(Type::Set(element)) => (*element, *element),
            Self::OfType(Type::Map(element)) => (Type::String, *element),
            Self::OfType(Type::Tuple(_)) => (Type::Number, Type::Dynamic),
            Self::OfType(Type::Object(_)) => (Type::String, Type::Dynamic),
            _ => (Type::Dynamic, Type::Dynamic),
        }
    }
}

/// Evaluates regions within one budget, and collects their errors.
pub(super) struct Checker<'c, 's> {
    space: &'s Space,
    compiler: &'c Compiler,
    variables: Value<'s>,
    budgets: Budgets,
    /// The regions to check.
    pub pending: Vec<Region<'s>>,
    /// The errors.
    pub found: Vec<Box<Diagnostic>>,
}

impl<'c, 's> Checker<'c, 's> {
    /// Creates a checker of expressions with these variables.
    pub fn new(space: &'s Space, compiler: &'c Compiler, variables: Value<'s>) -> Self {
        let budgets = Budgets::of(compiler.limits());
        Self { space, compiler, variables, budgets, pending: Vec::new(), found: Vec::new() }
    }

    /// Checks all regions, including the parts that their evaluation does not reach. Returns the first error of each span,
    /// in source order.
    pub fn run(mut self) -> Checked<Vec<Box<Diagnostic>>> {
        while let Some(region) = self.pending.pop() {
            self.check_region(region)?;
        }
        let span = |error: &Diagnostic| error.primary().map_or(Span::default(), |label| label.span);
        let mut seen = HashSet::new();
        let mut found: Vec<_> = self.found.into_iter().filter(|error| seen.insert(span(error))).collect();
        found.small_sort_by_key(|error| span(error).start);
        Ok(found)
    }

    fn check_region(&mut self, region: Region<'s>) -> Checked<()> {
        let (_, mut errors) = self.evaluate_with_errors(region)?;
        let inputs = Inputs::layered(self.variables, region.locals);
        let limits = self.compiler.limits();
        let cx = Cx::new(self.space.arena(), inputs, limits, Capabilities::NONE, &self.space.caches);
        explain(&cx, region.tree, &mut errors);
        self.found.extend(errors);
        let mut walk = vec![region.root];
        while let Some(id) = walk.pop() {
            match region.tree.expr(id) {
                Expr::Conditional { condition, then, otherwise } => {
                    walk.push(condition);
                    let condition = self.evaluate(Region { root: condition, ..region })?;
                    for (truth, branch) in [(true, then), (false, otherwise)] {
                        if !matches!(condition, AbstractValue::Bool(other) if other != truth) {
                            self.pending.push(Region { root: branch, ..region });
                        }
                    }
                }
                Expr::Binary { op: op @ (Operator::And | Operator::Or), .. } => {
                    self.add_operands(Region { root: id, ..region }, op)?;
                }
                Expr::For(of) => {
                    if let Some(of) = region.tree.for_expr(of) {
                        walk.push(of.collection);
                        self.add_loop_body(of, region)?;
                    }
                }
                Expr::Call(call) if self.handles_errors(region.tree, &call) => {}
                expr => children(region.tree, expr, |child| walk.push(child)),
            }
        }
        Ok(())
    }

    /// Adds the operands of a chain of `&&` or `||`, unless one of them decides.
    fn add_operands(&mut self, chain: Region<'s>, of: Operator) -> Checked<()> {
        let (mut operands, mut walk) = (Vec::new(), vec![chain.root]);
        while let Some(id) = walk.pop() {
            match chain.tree.expr(id) {
                Expr::Binary { op, left, right, .. } if op == of => walk.extend([right, left]),
                Expr::Paren(inner) => walk.push(inner),
                _ => operands.push(Region { root: id, ..chain }),
            }
        }
        for &operand in &operands {
            if matches!(self.evaluate(operand)?, AbstractValue::Bool(truth) if truth == (of == Operator::Or)) {
                return Ok(());
            }
        }
        self.pending.extend(operands);
        Ok(())
    }

    /// Adds the parts of a loop that are evaluated for each element, with unknown loop variables.
    fn add_loop_body(&mut self, of: &'s For, region: Region<'s>) -> Checked<()> {
        let collection = self.evaluate(Region { root: of.collection, ..region })?;
        if matches!(collection, AbstractValue::Empty) {
            return Ok(());
        }
        let ((key, value), arena) = (collection.element_types(), self.space.arena());
        let key = of.key_var.map(|name| (region.tree.str(name), arena.unknown(key)));
        let value = (region.tree.str(of.value_var), arena.unknown(value));
        let locals = self.with(region.locals, key.into_iter().chain([value]));
        let parts = [of.condition, Some(of.value), of.key].into_iter().flatten();
        self.pending.extend(parts.map(|root| Region { root, locals, ..region }));
        Ok(())
    }

    /// Adds names to `locals`.
    pub fn with(&self, locals: Value<'s>, more: impl IntoIterator<Item = (&'s str, Value<'s>)>) -> Value<'s> {
        let names = locals.as_map().into_iter().flat_map(|map| map.iter());
        self.space.arena().map(&names.chain(more).collect::<Vec<_>>())
    }

    /// Evaluates an expression.
    pub fn evaluate(&mut self, region: Region<'s>) -> Checked<AbstractValue<'s>> {
        Ok(self.evaluate_with_errors(region)?.0)
    }

    fn evaluate_with_errors(&mut self, region: Region<'s>) -> Checked<(AbstractValue<'s>, Vec<Box<Diagnostic>>)> {
        let executable = self.compiler.expressions(region.tree, &[region.root])?;
        let mut evaluator = executable.evaluator(self.space, self.compiler.limits(), Capabilities::NONE);
        evaluator.set_budgets(self.budgets);
        let evaluation = evaluator.run::<Rules>(0, Inputs::layered(self.variables, region.locals));
        self.budgets = evaluator.budgets();
        let evaluation = evaluation?;
        Ok((AbstractValue::of(self.space.arena(), evaluation.value), evaluation.errors))
    }

    /// Returns `true` if the function of a call handles errors of its arguments.
    fn handles_errors(&self, tree: &Tree, call: &Call) -> bool {
        let function = self.compiler.registry().get(ImportKind::Function, tree.str(call.name));
        let Some(Params::Positional(params)) = function.map(|function| &function.params) else { return false };
        params.params.iter().chain(&params.rest).any(|param| param.admits.include(Admits::ERRORS))
    }
}
