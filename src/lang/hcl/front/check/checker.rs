//! Evaluation of regions with unknown variables.

use std::collections::{HashMap, HashSet};

use super::certain::Certain;
use crate::Rules;
use crate::compile::Compiler;
use crate::lower::Root;
use crate::syntax::{Call, Expr, ExprId, For, Operator, Tree, children, function_name};
use crate::value_notes::explain;
use crate::values::convert::{conversion_exists, mismatch};
use dropforge_base::diagnostics::{Code, Diagnostic, Result as Checked};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Admits, Budgets, Capabilities, Cx, Params, fitting};
use dropforge_machine::vm::{Evaluator, Space};
use dropforge_value::{Arena, Inputs, Type, Value};

/// An expression that is evaluated on its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region<'s> {
    /// The tree.
    pub tree: &'s Tree,
    /// The expression.
    pub root: ExprId,
    /// The names that the expression sees beside the variables, a map.
    pub locals: Value<'s>,
    /// `true` for a part of a template, whose text is evaluated.
    pub is_part: bool,
}

impl<'s> Region<'s> {
    /// A region of a whole expression.
    pub fn new(tree: &'s Tree, root: ExprId, locals: Value<'s>) -> Self {
        Self { tree, root, locals, is_part: false }
    }

    /// The region of an expression with the same names.
    fn within(self, root: ExprId) -> Self {
        Self { root, is_part: false, ..self }
    }

    /// The chunk that evaluates it.
    fn chunk(self) -> Root {
        Root { id: self.root, is_part: self.is_part }
    }
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
    pub(crate) fn element_types(&self) -> (Type<'s>, Type<'s>) {
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

/// An expression whose value decides which regions are reached.
struct Decisive<'s> {
    root: ExprId,
    /// The type of its value if that is certainly unknown, so that it need not be evaluated.
    unknown: Option<Type<'s>>,
}

/// A part of a region that is checked on its own.
enum RegionPart<'s> {
    Branches {
        condition: Decisive<'s>,
        then: ExprId,
        otherwise: ExprId,
    },
    /// The operands of a chain of `&&` or `||`.
    Operands(Operator, Vec<Decisive<'s>>),
    Loop {
        of: &'s For,
        collection: Decisive<'s>,
    },
}

impl<'s> RegionPart<'s> {
    fn decisive(&self) -> &[Decisive<'s>] {
        match self {
            Self::Branches { condition, .. } => std::slice::from_ref(condition),
            Self::Operands(_, operands) => operands,
            Self::Loop { collection, .. } => std::slice::from_ref(collection),
        }
    }
}

/// A region with its parts.
struct Parted<'s> {
    region: Region<'s>,
    parts: Vec<RegionPart<'s>>,
    /// `true` if the evaluation of the region cannot find an error.
    is_certain: bool,
}

/// Expressions that are compiled to one program.
struct Compiled<'e> {
    /// The chunk of each.
    chunks: HashMap<Root, u32>,
    evaluator: Evaluator<'e>,
}

/// Maximum number of regions that are compiled to one program.
const BATCH: usize = 64;

/// Evaluates regions within one budget, and collects their errors.
pub(super) struct Checker<'c, 's> {
    space: &'s Space,
    compiler: &'c Compiler,
    variables: Value<'s>,
    capabilities: Capabilities<'s>,
    budgets: Budgets,
    /// The regions to check.
    pub pending: Vec<Region<'s>>,
    /// The errors.
    pub found: Vec<Box<Diagnostic>>,
}

impl<'c, 's> Checker<'c, 's> {
    /// Creates a checker of expressions with these variables, whose functions have no capabilities.
    pub fn new(space: &'s Space, compiler: &'c Compiler, variables: Value<'s>) -> Self {
        let (budgets, capabilities) = (Budgets::of(compiler.limits()), Capabilities::NONE);
        Self { space, compiler, variables, capabilities, budgets, pending: Vec::new(), found: Vec::new() }
    }

    /// Allows functions to use capabilities.
    pub fn allowing(self, capabilities: Capabilities<'s>) -> Self {
        Self { capabilities, ..self }
    }

    /// Checks all regions, including the parts that their evaluation does not reach. Returns the first error of each span,
    /// in source order.
    pub fn run(mut self) -> Checked<Vec<Box<Diagnostic>>> {
        while let Some(tree) = self.pending.last().map(|region| region.tree) {
            let batch = self.pending.iter().rev().take(BATCH).take_while(|region| std::ptr::eq(region.tree, tree));
            let batch = self.pending.split_off(self.pending.len() - batch.count());
            self.check_batch(tree, batch)?;
        }
        let span = |error: &Diagnostic| error.primary().map_or(Span::default(), |label| label.span);
        let mut seen = HashSet::new();
        let mut found: Vec<_> = self.found.into_iter().filter(|error| seen.insert(span(error))).collect();
        found.small_sort_by_key(|error| span(error).start);
        Ok(found)
    }

    /// Checks regions of one tree, which are compiled to one program. If that exceeds a limit, each is compiled alone.
    fn check_batch(&mut self, tree: &'s Tree, batch: Vec<Region<'s>>) -> Checked<()> {
        let batch: Vec<_> = batch.into_iter().rev().filter_map(|region| self.parted(region)).collect();
        let mut roots = Vec::new();
        for Parted { region, parts, is_certain } in &batch {
            roots.extend((!is_certain).then(|| region.chunk()));
            let decisive = parts.iter().flat_map(RegionPart::decisive).filter(|one| one.unknown.is_none());
            roots.extend(decisive.map(|one| Root::from(one.root)));
        }
        let compiler = self.compiler;
        let executable = (!roots.is_empty()).then(|| compiler.expressions(tree, &roots).ok()).flatten();
        let mut compiled = executable.as_ref().map(|executable| Compiled {
            chunks: roots.into_iter().zip(0..).collect(),
            evaluator: executable.evaluator(self.space, compiler.limits(), self.capabilities),
        });
        batch.iter().try_for_each(|of| self.check_region(of, compiled.as_mut()))
    }

    /// Splits a region. Returns `None` if there is nothing to check in it; the parts of a template are regions of their own.
    fn parted(&mut self, region: Region<'s>) -> Option<Parted<'s>> {
        if let Expr::Template(parts) = region.tree.expr(region.root) {
            let parts = region.tree.ids(parts).iter().filter(|&&part| !matches!(region.tree.expr(part), Expr::Text(_)));
            self.pending.extend(parts.map(|&root| Region { root, is_part: true, ..region }));
            return None;
        }
        let variables = Inputs::layered(self.variables, region.locals);
        let certain = Certain { tree: region.tree, registry: self.compiler.registry(), variables, around: None };
        let is_certain = certain.has_no_errors(region.root, region.is_part);
        let parts = self.parts(region, &certain);
        (!is_certain || !parts.is_empty()).then_some(Parted { region, parts, is_certain })
    }

    fn check_region<'e>(&mut self, of: &Parted<'s>, mut compiled: Option<&mut Compiled<'e>>) -> Checked<()>
    where
        's: 'e,
    {
        let region = of.region;
        if !of.is_certain {
            let (_, mut errors) = self.evaluate_in(region, compiled.as_deref_mut())?;
            explain(&self.context(region), region.tree, &mut errors);
            self.found.extend(errors);
        }
        for part in &of.parts {
            self.add_part(part, region, compiled.as_deref_mut())?;
        }
        Ok(())
    }

    /// Returns the parts of a region that are checked on their own.
    fn parts(&self, region: Region<'s>, certain: &Certain<'_, 's>) -> Vec<RegionPart<'s>> {
        let decisive = |root| Decisive { root, unknown: certain.unknown(root) };
        let (mut parts, mut walk) = (Vec::new(), vec![region.root]);
        while let Some(id) = walk.pop() {
            match region.tree.expr(id) {
                Expr::Conditional { condition, then, otherwise } => {
                    walk.push(condition);
                    parts.push(RegionPart::Branches { condition: decisive(condition), then, otherwise });
                }
                Expr::Binary { op: op @ (Operator::And | Operator::Or), .. } => {
                    let operands = operands(region.tree, id, op).into_iter().map(decisive);
                    parts.push(RegionPart::Operands(op, operands.collect()));
                }
                Expr::For(of) => {
                    if let Some(of) = region.tree.for_expr(of) {
                        walk.push(of.collection);
                        parts.push(RegionPart::Loop { of, collection: decisive(of.collection) });
                    }
                }
                Expr::Call(call) if self.handles_errors(region.tree, &call) => {}
                expr => children(region.tree, expr, |child| walk.push(child)),
            }
        }
        parts
    }

    /// Adds the regions of a part, as far as evaluation reaches them.
    fn add_part<'e>(
        &mut self,
        part: &RegionPart<'s>,
        region: Region<'s>,
        mut compiled: Option<&mut Compiled<'e>>,
    ) -> Checked<()>
    where
        's: 'e,
    {
        let mut value = |checker: &mut Self, of: &Decisive<'s>| {
            Ok::<_, Box<Diagnostic>>(match of.unknown {
                Some(ty) => AbstractValue::OfType(ty),
                None => checker.evaluate_in(region.within(of.root), compiled.as_deref_mut())?.0,
            })
        };
        match part {
            RegionPart::Branches { condition, then, otherwise } => {
                let root = condition.root;
                let condition = value(self, condition)?;
                self.check_condition(region.within(root), &condition)?;
                for (truth, branch) in [(true, *then), (false, *otherwise)] {
                    if !matches!(condition, AbstractValue::Bool(other) if other != truth) {
                        self.pending.push(region.within(branch));
                    }
                }
            }
            // An operand that decides hides the errors of the others.
            RegionPart::Operands(of, operands) => {
                for operand in operands {
                    if matches!(value(self, operand)?, AbstractValue::Bool(truth) if truth == (*of == Operator::Or)) {
                        return Ok(());
                    }
                }
                self.pending.extend(operands.iter().map(|operand| region.within(operand.root)));
            }
            RegionPart::Loop { of, collection } => {
                let collection = value(self, collection)?;
                self.add_loop_body(of, &collection, region)?;
            }
        }
        Ok(())
    }

    /// Reports a condition whose type never converts to a boolean. Evaluation only finds that of a known value.
    fn check_condition(&mut self, region: Region<'s>, condition: &AbstractValue<'s>) -> Checked<()> {
        let AbstractValue::OfType(ty) = condition else { return Ok(()) };
        let cx = self.context(region);
        if fitting(conversion_exists(&cx, ty, &Type::Bool, true))?.unwrap_or(true) {
            return Ok(());
        }
        let why = fitting(mismatch(&cx, ty, &Type::Bool))?.unwrap_or_default();
        drop(cx);
        let error = Diagnostic::new(Code::TypeMismatch, "Incorrect condition type").with_detail(why);
        self.found.push(error.at(region.tree.source(), region.tree.span(region.root), ""));
        Ok(())
    }

    /// Returns a context in which the names of a region have their values.
    fn context(&self, region: Region<'s>) -> Cx<'_> {
        let inputs = Inputs::layered(self.variables, region.locals);
        Cx::new(self.space.arena(), inputs, self.compiler.limits(), self.capabilities, &self.space.caches)
    }

    /// Adds the parts of a loop that are evaluated for each element, with unknown loop variables.
    fn add_loop_body(&mut self, of: &'s For, collection: &AbstractValue<'s>, region: Region<'s>) -> Checked<()> {
        if matches!(collection, AbstractValue::Empty) {
            return Ok(());
        }
        let ((key, value), arena) = (collection.element_types(), self.space.arena());
        let key = of.key_var.map(|name| (region.tree.str(name), arena.unknown(key)));
        let value = (region.tree.str(of.value_var), arena.unknown(value));
        let locals = self.with(region.locals, key.into_iter().chain([value]));
        let parts = [of.condition, Some(of.value), of.key].into_iter().flatten();
        self.pending.extend(parts.map(|root| Region::new(region.tree, root, locals)));
        if let Some(condition) = of.condition.map(|root| Region::new(region.tree, root, locals)) {
            let value = self.evaluate(condition)?;
            self.check_condition(condition, &value)?;
        }
        Ok(())
    }

    /// Adds names to `locals`.
    pub fn with(&self, locals: Value<'s>, more: impl IntoIterator<Item = (&'s str, Value<'s>)>) -> Value<'s> {
        let names = locals.as_map().into_iter().flat_map(|map| map.iter());
        self.space.arena().map(&names.chain(more).collect::<Vec<_>>())
    }

    /// Evaluates an expression.
    pub fn evaluate(&mut self, region: Region<'s>) -> Checked<AbstractValue<'s>> {
        Ok(self.evaluate_in(region, None)?.0)
    }

    /// Evaluates an expression, which may be one of those that are compiled.
    fn evaluate_in<'e>(
        &mut self,
        region: Region<'s>,
        compiled: Option<&mut Compiled<'e>>,
    ) -> Checked<(AbstractValue<'s>, Vec<Box<Diagnostic>>)>
    where
        's: 'e,
    {
        let known =
            compiled.and_then(|compiled| Some((*compiled.chunks.get(&region.chunk())?, &mut compiled.evaluator)));
        if let Some((chunk, evaluator)) = known {
            return self.run_chunk(chunk, evaluator, region);
        }
        let executable = self.compiler.expressions(region.tree, &[region.chunk()])?;
        let mut evaluator = executable.evaluator(self.space, self.compiler.limits(), self.capabilities);
        self.run_chunk(0, &mut evaluator, region)
    }

    fn run_chunk<'e>(
        &mut self,
        chunk: u32,
        evaluator: &mut Evaluator<'e>,
        region: Region<'s>,
    ) -> Checked<(AbstractValue<'s>, Vec<Box<Diagnostic>>)>
    where
        's: 'e,
    {
        evaluator.set_budgets(self.budgets);
        let evaluation = evaluator.run::<Rules>(chunk, Inputs::layered(self.variables, region.locals));
        self.budgets = evaluator.budgets();
        let evaluation = evaluation?;
        Ok((AbstractValue::of(self.space.arena(), evaluation.value), evaluation.errors))
    }

    /// Returns `true` if the function of a call handles errors of its arguments.
    fn handles_errors(&self, tree: &Tree, call: &Call) -> bool {
        let function = self.compiler.registry().get(ImportKind::Function, function_name(tree, call));
        let Some(Params::Positional(params)) = function.map(|function| &function.params) else { return false };
        params.params.iter().chain(&params.rest).any(|param| param.admits.include(Admits::ERRORS))
    }
}

/// Returns the operands of a chain of `&&` or `||`.
fn operands(tree: &Tree, chain: ExprId, of: Operator) -> Vec<ExprId> {
    let (mut operands, mut walk) = (Vec::new(), vec![chain]);
    while let Some(id) = walk.pop() {
        match tree.expr(id) {
            Expr::Binary { op, left, right, .. } if op == of => walk.extend([right, left]),
            Expr::Paren(inner) => walk.push(inner),
            _ => operands.push(id),
        }
    }
    operands
}
