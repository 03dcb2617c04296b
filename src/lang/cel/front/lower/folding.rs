//! Constant folding. The machine evaluates constant parts of an expression with small budgets. Parts that fail, or whose
//! value is too large for constants, are left to the runtime. A constant carries the cost of the part that it replaces.
//! Reading an unknown attribute raises an error of its own kind, which propagates like any other.

use super::{Lower, LowerOptions, Meaning, program};
use crate::attributes::{Alternative, Attribute, Key, Match, attribute};
use crate::builtins::RAW_FILE;
use crate::semantics::Rules;
use crate::settings::Names;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Literal, Name, QualifiedName, Run, Tree};
use crate::values::as_bytes;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::{ImportKind, Op};
use dropforge_machine::compiler::{Constant, Emitter};
use dropforge_machine::function::{Capabilities, Params, Registry};
use dropforge_machine::vm::{Evaluator, Space};
use dropforge_value::{Inputs, Value};

/// The maximum number of steps of one evaluation.
const FUEL: u64 = 20_000;
/// The maximum number of bytes that one evaluation allocates.
const MEMORY: u64 = 1 << 16;
/// The maximum number of values in a folded value.
const VALUES: usize = 64;
/// The maximum number of bytes in the strings and bytes of a folded value.
const BYTES: usize = 1 << 10;

impl<'t> Lower<'_, 't> {
    /// Finds the foldable parts of the expression `root`.
    pub(crate) fn find_foldable(&mut self, root: ExprId) {
        if self.options.optimise {
            let mut foldable = std::mem::take(&mut self.foldable);
            let is_type = |name: &QualifiedName<'_>| matches!(self.meaning(name), Meaning::Type(_));
            foldable.find(self.tree, root, self.registry, self.names, &is_type);
            self.foldable = foldable;
        }
    }

    /// Pushes the value of an expression if it folds to a constant; otherwise returns `false`.
    pub(super) fn folded(&mut self, id: ExprId) -> Result<bool> {
        self.evaluated(id, |lower, value, cost| {
            let (mut values, mut bytes) = (VALUES, BYTES);
            let fits = measure(value, &mut values, &mut bytes).is_some();
            if fits {
                lower.meter(cost);
                lower.at(id);
                lower.push_constant(value);
            }
            fits
        })
    }

    /// Returns the boolean that an expression folds to, and its cost.
    pub(super) fn folded_bool(&mut self, id: ExprId) -> Result<Option<(bool, u64)>> {
        if let (Expr::Literal(Literal::Bool(truth)), true) = (self.tree.expr(id), self.options.optimise) {
            return Ok(Some((truth, 0)));
        }
        let mut folded = None;
        self.evaluated(id, |_, value, cost| {
            folded = if let Value::Bool(truth) = value { Some((truth, cost)) } else { None };
            folded.is_some()
        })?;
        Ok(folded)
    }

    /// Evaluates an expression if it is foldable, and calls `then` with its value and cost.
    fn evaluated(&mut self, id: ExprId, then: impl FnOnce(&mut Self, Value<'_>, u64) -> bool) -> Result<bool> {
        if !self.foldable.take(id) {
            return Ok(false);
        }
        let fuel = FUEL.min(self.foldable.budget.fuel);
        let limits = Limits { fuel, memory: MEMORY, ..Limits::default() };
        let options = LowerOptions { optimise: false, ..self.options };
        let answer = |lower: &mut Lower<'_, '_>| lower.emitter.op(Op::Answer, &[]);
        let Ok(program) = program(self.tree, id, self.registry, self.names, options, &limits, answer) else {
            return Ok(false);
        };
        let linked = self.registry.link(program.imports())?;
        let space = Space::new();
        let mut evaluator = Evaluator::new(&space, &program, &linked, &limits, Capabilities::NONE);
        let answer = evaluator.run::<Rules>(0, Inputs::default());
        let cost = evaluator.metered();
        self.foldable.budget.fuel -= fuel - evaluator.budgets().fuel.min(fuel);
        Ok(match answer {
            Ok(answer) if u32::try_from(cost).is_ok_and(|cost| cost < u32::MAX >> 8) => then(self, answer.value, cost),
            _ => false,
        })
    }

    /// Pushes a value that constants can express.
    fn push_constant(&mut self, value: Value<'_>) {
        let constant = match value {
            Value::Bool(truth) => Constant::Bool(truth),
            Value::Int(n) => Constant::Int(n),
            Value::Float(n) => Constant::Float(n),
            Value::Str(text) => Constant::Str(text.as_str().to_owned().into()),
            Value::Uint(n) => return self.push_uint(n),
            Value::List(list) => {
                list.items().iter().for_each(|&item| self.push_constant(item));
                return self.emitter.op(Op::List, &[u32::try_from(list.items().len()).unwrap_or(u32::MAX)]);
            }
            Value::Map(map) => {
                let keys: Vec<_> = map.iter().map(|(key, _)| key).collect();
                map.values().iter().for_each(|&value| self.push_constant(value));
                return self.emitter.map(&keys);
            }
            value => match as_bytes(value) {
                Some(bytes) => return self.push_bytes(bytes),
                None => Constant::Null,
            },
        };
        self.emitter.constant(constant);
    }
}

/// Subtracts the size of a value from the numbers of values and bytes that are left. Returns `None` if it is too large, or
/// if constants cannot express it.
fn measure(value: Value<'_>, values: &mut usize, bytes: &mut usize) -> Option<()> {
    *values = values.checked_sub(1)?;
    let mut take = |len: usize| bytes.checked_sub(len).map(|left| *bytes = left);
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => Some(()),
        Value::Str(text) => take(text.as_str().len()),
        Value::List(list) => list.items().iter().try_for_each(|&item| measure(item, values, bytes)),
        Value::Map(map) if map.len() <= Emitter::KEYS => {
            take(map.iter().map(|(key, _)| key.len()).sum())?;
            map.values().iter().try_for_each(|&value| measure(value, values, bytes))
        }
        value => take(as_bytes(value)?.len()),
    }
}

/// The number of evaluations that each node may take part in, on average. A part that fails is tried again in parts.
const TRIES: usize = 4;
/// The maximum number of evaluations for one program.
const EVALUATIONS: usize = 1 << 10;
/// The maximum number of steps of all evaluations for one program.
const ALL_FUEL: u64 = 1 << 20;

/// The foldable nodes of an expression.
#[derive(Debug, Default)]
pub(crate) struct Foldable {
    /// The size of each node, 0 if it is not foldable.
    sizes: Vec<usize>,
    /// The number of nodes that can still be evaluated.
    left: usize,
    /// The budget of the program that the expression is a part of.
    pub budget: FoldingBudget,
}

/// The budget for evaluations at compile time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoldingBudget {
    evaluations: usize,
    pub(super) fuel: u64,
}

impl Default for FoldingBudget {
    fn default() -> Self {
        Self { evaluations: EVALUATIONS, fuel: ALL_FUEL }
    }
}

impl Foldable {
    /// Finds the foldable nodes below `root`. `is_type` recognises the names of types.
    pub(super) fn find(
        &mut self,
        tree: &Tree,
        root: ExprId,
        registry: &Registry,
        names: &Names<'_>,
        is_type: &dyn Fn(&QualifiedName<'_>) -> bool,
    ) {
        // Most expressions are names with fields.
        if tree.qualified(root).is_some() {
            return self.sizes.clear();
        }
        let sizes = vec![0; tree.len()];
        let mut survey = Survey { tree, registry, names, is_type, sizes, scope: Vec::new() };
        survey.visit(root);
        (self.sizes, self.left) = (survey.sizes, tree.len().saturating_mul(TRIES));
    }

    /// Returns `true` if a node is foldable and the budget allows its evaluation, which is then paid for.
    pub(super) fn take(&mut self, id: ExprId) -> bool {
        let size = self.sizes.get(id.index()).copied().unwrap_or(0);
        let allowed = size <= self.left && self.budget.evaluations > 0 && self.budget.fuel > 0;
        if size == 0 || !allowed {
            return false;
        }
        self.left -= size;
        self.budget.evaluations -= 1;
        true
    }
}

/// The dependencies of a node.
#[derive(Clone, Copy)]
struct FoldSummary {
    /// The outermost variable in scope that it reads, counted from 1; 0 if it depends on anything else.
    outermost: usize,
    /// Set if it is more than a constructor of constants.
    computes: bool,
    /// The number of nodes.
    size: usize,
}

const CONSTANT: FoldSummary = FoldSummary { outermost: usize::MAX, computes: false, size: 1 };
const OPEN: FoldSummary = FoldSummary { outermost: 0, ..CONSTANT };

impl FoldSummary {
    fn and(self, other: Self) -> Self {
        Self {
            outermost: self.outermost.min(other.outermost),
            computes: self.computes || other.computes,
            size: self.size.saturating_add(other.size),
        }
    }

    fn computing(self) -> Self {
        Self { computes: true, ..self }
    }
}

/// A walk over an expression.
struct Survey<'s> {
    tree: &'s Tree,
    registry: &'s Registry,
    names: &'s Names<'s>,
    is_type: &'s dyn Fn(&QualifiedName<'_>) -> bool,
    sizes: Vec<usize>,
    /// The variables in scope, the innermost last.
    scope: Vec<Name>,
}

impl Survey<'_> {
    fn visit(&mut self, id: ExprId) -> FoldSummary {
        let depth = self.scope.len();
        let found = self.dependencies(id);
        if let Some(size) = self.sizes.get_mut(id.index())
            && found.outermost > depth
            && found.computes
        {
            *size = found.size;
        }
        found
    }

    fn all(&mut self, ids: impl IntoIterator<Item = ExprId>) -> FoldSummary {
        ids.into_iter().fold(CONSTANT, |found, id| found.and(self.visit(id)))
    }

    fn dependencies(&mut self, id: ExprId) -> FoldSummary {
        let tree = self.tree;
        match tree.expr(id) {
            Expr::Literal(_) => CONSTANT,
            Expr::Ident { name, rooted } => match self.scope.iter().rposition(|&local| local == name && !rooted) {
                Some(at) => FoldSummary { outermost: at + 1, ..CONSTANT },
                None if tree.qualified(id).is_some_and(|name| (self.is_type)(&name)) => CONSTANT,
                None => OPEN,
            },
            Expr::Select { operand, .. } => self.visit(operand).computing(),
            Expr::List(_) | Expr::Map(_) => self.all(tree.children(tree.expr(id))),
            Expr::Call(call) => self.call(&call).computing(),
            Expr::Comprehension(of) => {
                let Some(of) = tree.comprehension(of) else { return OPEN };
                let outside = self.all([of.iter_range, of.accu_init]);
                let depth = self.scope.len();
                self.scope.extend(of.variables());
                let inside = self.all([of.loop_condition, of.loop_step, of.result]);
                self.scope.truncate(depth);
                let outermost = if inside.outermost > depth { usize::MAX } else { inside.outermost };
                outside.and(FoldSummary { outermost, ..inside }).computing()
            }
            Expr::Message { .. } | Expr::Invalid => OPEN,
        }
    }

    fn call(&mut self, call: &Call) -> FoldSummary {
        let tree = self.tree;
        let args = self.all(tree.ids(call.args).iter().copied());
        let Function::Named(name) = call.function else { return args };
        let name = tree.name(name);
        let full = self.names.function(tree, self.registry, name, call, |name| self.scope.contains(&name));
        let receiver = call.receiver.filter(|_| full.is_none());
        let found = receiver.map_or(CONSTANT, |receiver| self.visit(receiver)).and(args);
        if self.is_pure(full.as_deref().unwrap_or(name)) { found } else { FoldSummary { outermost: 0, ..found } }
    }

    fn is_pure(&self, name: &str) -> bool {
        let function = self.registry.get(ImportKind::Function, name);
        // What it reads depends on the file that names it.
        name != RAW_FILE
            && function.is_some_and(|function| function.pure && matches!(function.params, Params::Overloaded(_)))
    }
}

impl Lower<'_, '_> {
    /// Pushes the value of an expression, or fails if it is an unknown attribute.
    pub(super) fn value_or_unknown(&mut self, id: ExprId) -> Result<()> {
        let Some(unknown) = &self.unknown else { return self.known_value(id) };
        if let Some(&slot) = unknown.keys.get(&id) {
            self.emitter.load_slot(slot);
            return Ok(());
        }
        if unknown.known.contains(&id) {
            return self.known_value(id);
        }
        let Some(found) = attribute(self.tree, self.names, id, |name| self.local(name).is_some()) else {
            return self.known_value(id);
        };
        let alternatives = match unknown.patterns.matches(&found.trail) {
            Match::Unknown(_) | Match::Unclear => {
                self.fail(id, Code::UnknownAttribute, "the attribute is not known");
                return Ok(());
            }
            Match::Known => Vec::new(),
            Match::Depends(alternatives) => alternatives,
        };
        let keys = if alternatives.is_empty() { Vec::new() } else { self.check_keys(id, &found, &alternatives)? };
        if let Some(unknown) = &mut self.unknown {
            unknown.known.extend(&found.inner);
        }
        self.known_value(id)?;
        for (key, slot) in keys {
            self.emitter.free(slot);
            if let Some(unknown) = &mut self.unknown {
                unknown.keys.remove(&key);
            }
        }
        Ok(())
    }

    /// Computes the keys of an attribute into slots, and fails if they make it an unknown one.
    ///
    /// What comes before a key may fail first, or be an empty optional, for which the key is not computed. So keys beyond
    /// all patterns are left, and where a key that is not the first step has an error, the attribute is not known.
    fn check_keys(&mut self, id: ExprId, of: &Attribute, alternatives: &[Alternative]) -> Result<Vec<(ExprId, u32)>> {
        let steps = alternatives.iter().map(|alternative| alternative.steps).max().unwrap_or_default();
        let (mut keys, mut computed) = (Vec::new(), Vec::new());
        for (step, key) in of.computed().take_while(|(step, _)| *step < steps) {
            if step == of.name_len {
                self.value(key)?;
            } else {
                self.protected(key)?;
            }
            keys.push((key, self.emitter.store()));
            computed.push(step);
        }
        for &(key, slot) in &keys {
            self.emitter.load_slot_or_nothing(slot);
            if let Some(unknown) = &mut self.unknown {
                unknown.keys.insert(key, slot);
            }
        }
        let count = Run::of(0..keys.len()).end;
        self.at(id);
        self.emitter.op(Op::List, &[count]);
        for alternative in alternatives {
            for step in &computed {
                self.key(alternative.keys.iter().find(|(at, _)| at == step).map(|(_, key)| key));
            }
            self.emitter.op(Op::List, &[count]);
        }
        self.emitter.op(Op::List, &[Run::of(0..alternatives.len()).end]);
        self.intrinsic("known", 2);
        self.emitter.op(Op::Pop, &[]);
        Ok(keys)
    }

    /// Pushes a key that makes an attribute unknown; null for any key.
    fn key(&mut self, key: Option<&Key>) {
        match key {
            None => self.emitter.constant(Constant::Null),
            Some(Key::Bool(truth)) => self.push_bool(*truth),
            Some(Key::Text(text)) => self.emitter.constant(Constant::Str(text.clone().into())),
            Some(Key::Number(number)) => match i64::try_from(*number) {
                Ok(number) => self.emitter.constant(Constant::Int(number)),
                Err(_) => self.push_uint(u64::try_from(*number).unwrap_or(u64::MAX)),
            },
        }
    }
}
