//! Constant folding. The machine evaluates constant parts of an expression with small budgets. Parts that fail, or whose
//! value is too large for constants, are left to the runtime. A constant carries the cost of the part that it replaces.

use super::lowering::{Lower, LowerOptions};
use super::program::program;
use super::scope::Meaning;
use crate::semantics::Rules;
use crate::syntax::qualified::QualifiedName;
use crate::syntax::tree::{Expr, ExprId, Literal};
use crate::values::as_bytes;
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::Op;
use dropforge_machine::compiler::{Constant, Emitter};
use dropforge_machine::function::Capabilities;
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
