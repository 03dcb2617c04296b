//! What is computed when an expression is compiled: parts that depend on nothing but constants. The machine computes
//! them, with small budgets; what ends in an error there, or in a value that is large or that no constant says, is left
//! to the run. What a part cost is carried by the constant that takes its place.

use super::super::semantics::Rules;
use super::{How, Lower, program};
use crate::bytecode::{ImportKind, Op};
use crate::compiler::{Constant, Emitter};
use crate::diagnostics::Result;
use crate::dialect::cel::syntax::tree::{Call, Expr, ExprId, Function, Literal, Name};
use crate::dialect::cel::values::as_bytes;
use crate::function::{Capabilities, Params};
use crate::limits::Limits;
use crate::value::{Inputs, Value};
use crate::vm::{Evaluator, Space};

use super::names::{Standing, qualified};

/// How many steps computing one part may take.
const FUEL: u64 = 20_000;
/// How many bytes computing one part may make.
const MEMORY: u64 = 1 << 16;
/// How many values the value of a part may be made of, and how many bytes its texts may have.
const VALUES: usize = 64;
const BYTES: usize = 1 << 10;
/// How often each expression may be a part of what is tried, on average: what fails is tried again in parts.
const TRIES: usize = 4;
/// How many parts of one program may be tried, and how many steps that may take together.
const PROGRAMS: usize = 1 << 10;
const ALL_FUEL: u64 = 1 << 20;

/// What is known of a part.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Whether it depends on nothing around it.
    closed: bool,
    /// Whether it is more than constants put together.
    works: bool,
    /// How many expressions it is made of.
    size: usize,
}

/// What is known of all parts of an expression.
#[derive(Debug, Default)]
pub(in crate::dialect::cel) struct Parts {
    parts: Vec<Part>,
    /// How many expressions may still be tried.
    left: usize,
    /// What is left for the program that the expression is a part of.
    pub budget: Budget,
}

/// What may still be tried in one program.
#[derive(Debug, Clone, Copy)]
pub(in crate::dialect::cel) struct Budget {
    programs: usize,
    fuel: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { programs: PROGRAMS, fuel: ALL_FUEL }
    }
}

/// What a part depends on: the outermost of the variables around it, counted from 1; 0 stands for what is not constant.
#[derive(Clone, Copy)]
struct Found {
    outermost: usize,
    works: bool,
    size: usize,
}

const CONSTANT: Found = Found { outermost: usize::MAX, works: false, size: 1 };

impl Found {
    fn and(self, other: Self) -> Self {
        Self {
            outermost: self.outermost.min(other.outermost),
            works: self.works || other.works,
            size: self.size.saturating_add(other.size),
        }
    }

    fn working(self) -> Self {
        Self { works: true, ..self }
    }
}

/// Goes through an expression once.
struct Survey<'l, 'e, 't> {
    lower: &'l Lower<'e, 't>,
    parts: Vec<Part>,
    /// The names of loops and bindings around, the innermost last.
    around: Vec<Name>,
}

impl Survey<'_, '_, '_> {
    fn visit(&mut self, id: ExprId) -> Found {
        let depth = self.around.len();
        let found = self.look(id);
        let (closed, works, size) = (found.outermost > depth, found.works, found.size);
        if let Some(part) = self.parts.get_mut(id.index()) {
            *part = Part { closed, works, size };
        }
        found
    }

    fn all(&mut self, ids: impl IntoIterator<Item = ExprId>) -> Found {
        ids.into_iter().fold(CONSTANT, |found, id| found.and(self.visit(id)))
    }

    fn look(&mut self, id: ExprId) -> Found {
        let tree = self.lower.tree;
        let unknown = Found { outermost: 0, ..CONSTANT };
        match tree.expr(id) {
            Expr::Literal(_) => CONSTANT,
            Expr::Ident { name, rooted } => match self.around.iter().rposition(|&known| known == name && !rooted) {
                Some(at) => Found { outermost: at + 1, ..CONSTANT },
                None if self.is_type(id) => CONSTANT,
                None => unknown,
            },
            Expr::Select { operand, .. } => self.visit(operand).working(),
            Expr::List(run) => self.all(tree.elements(run).iter().map(|element| element.value)),
            Expr::Map(run) => self.all(tree.entries(run).iter().flat_map(|entry| [entry.key, entry.value])),
            Expr::Call(call) => self.call(&call).working(),
            Expr::Comprehension(of) => match tree.comprehension(of) {
                Some(of) => {
                    let outside = self.all([of.iter_range, of.accu_init]);
                    let depth = self.around.len();
                    self.around.extend([of.accu_var, of.iter_var].into_iter().chain(of.iter_var2));
                    let inside = self.all([of.loop_condition, of.loop_step, of.result]);
                    self.around.truncate(depth);
                    let outermost = if inside.outermost > depth { usize::MAX } else { inside.outermost };
                    outside.and(Found { outermost, ..inside }).working()
                }
                None => unknown,
            },
            Expr::Message { .. } | Expr::Invalid => unknown,
        }
    }

    fn is_type(&self, id: ExprId) -> bool {
        let Some((parts, rooted, _)) = qualified(self.lower.tree, id) else { return false };
        matches!(self.lower.standing(&parts, rooted), Standing::Type(_))
    }

    fn call(&mut self, call: &Call) -> Found {
        let tree = self.lower.tree;
        let args = self.all(tree.ids(call.args).iter().copied());
        let Function::Named(name) = call.function else { return args };
        let (registry, name) = (self.lower.registry, tree.name(name));
        let full = self.lower.names.namespaced(tree, registry, name, call, |name| self.around.contains(&name));
        let receiver = call.receiver.filter(|_| full.is_none());
        let found = receiver.map_or(CONSTANT, |receiver| self.visit(receiver)).and(args);
        if self.is_pure(full.as_deref().unwrap_or(name)) { found } else { Found { outermost: 0, ..found } }
    }

    fn is_pure(&self, name: &str) -> bool {
        let function = self.lower.registry.get(ImportKind::Function, name);
        function.is_some_and(|function| function.pure && matches!(function.params, Params::Overloaded(_)))
    }
}

impl<'t> Lower<'_, 't> {
    /// Finds out what of the expression `root` can be computed.
    pub(in crate::dialect::cel) fn survey(&mut self, root: ExprId) {
        if !self.how.optimise {
            return;
        }
        let len = self.tree.len();
        let mut survey = Survey { lower: self, parts: vec![Part::default(); len], around: Vec::new() };
        survey.visit(root);
        (self.parts.parts, self.parts.left) = (survey.parts, len.saturating_mul(TRIES));
    }

    /// Pushes the value of an expression that can be computed, and says whether it was one.
    pub(super) fn folded(&mut self, id: ExprId) -> Result<bool> {
        self.computed(id, |lower, value, cost| {
            let (mut values, mut bytes) = (VALUES, BYTES);
            let fits = is_constant(value, &mut values, &mut bytes);
            if fits {
                lower.meter(cost);
                lower.at(id);
                lower.push_constant(value);
            }
            fits
        })
    }

    /// The truth value that an expression can be computed to be, and what it cost.
    pub(super) fn known(&mut self, id: ExprId) -> Result<Option<(bool, u64)>> {
        if let (Expr::Literal(Literal::Bool(truth)), true) = (self.tree.expr(id), self.how.optimise) {
            return Ok(Some((truth, 0)));
        }
        let mut known = None;
        self.computed(id, |_, value, cost| {
            known = if let Value::Bool(truth) = value { Some((truth, cost)) } else { None };
            known.is_some()
        })?;
        Ok(known)
    }

    /// Computes an expression if that can be done, and gives its value and what it cost to `then`.
    fn computed(&mut self, id: ExprId, then: impl FnOnce(&mut Self, Value<'_>, u64) -> bool) -> Result<bool> {
        let part = self.parts.parts.get(id.index()).copied().unwrap_or_default();
        let budget = self.parts.budget;
        let spent = part.size > self.parts.left || budget.programs == 0 || budget.fuel == 0;
        if !part.closed || !part.works || spent {
            return Ok(false);
        }
        self.parts.left -= part.size;
        self.parts.budget.programs -= 1;
        let fuel = FUEL.min(budget.fuel);
        let limits = Limits { fuel, memory: MEMORY, ..Limits::default() };
        let how = How { optimise: false, ..self.how };
        let compiled = program(self.tree, id, self.registry, self.names, how, &limits, |lower| {
            lower.emitter.op(Op::Answer, &[]);
        });
        let Ok(program) = compiled else { return Ok(false) };
        let linked = self.registry.link(program.imports())?;
        let space = Space::new();
        let mut evaluator = Evaluator::new(&space, &program, &linked, &limits, Capabilities::NONE);
        let answer = evaluator.run::<Rules>(0, Inputs::default());
        let cost = evaluator.metered();
        self.parts.budget.fuel -= fuel - evaluator.budgets().fuel.min(fuel);
        Ok(match answer {
            Ok(answer) if u32::try_from(cost).is_ok_and(|cost| cost < u32::MAX >> 8) => then(self, answer.value, cost),
            _ => false,
        })
    }

    /// Pushes a value that [`is_constant`].
    fn push_constant(&mut self, value: Value<'_>) {
        let constant = match value {
            Value::Bool(truth) => Constant::Bool(truth),
            Value::Int(n) => Constant::Int(n),
            Value::Float(n) => Constant::Float(n),
            Value::Str(text) => Constant::Str(text.as_str().to_owned().into()),
            Value::Uint(n) => {
                self.emitter.constant(Constant::Int(n.cast_signed()));
                return self.core("uint", 1);
            }
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
                Some(bytes) => {
                    let text = crate::stdlib::encoding::base64(bytes);
                    self.emitter.constant(Constant::Str(text.into()));
                    return self.core("bytes", 1);
                }
                None => Constant::Null,
            },
        };
        self.emitter.constant(constant);
    }
}

/// Whether constants say a value, so many at most, with so many bytes of text.
fn is_constant(value: Value<'_>, values: &mut usize, bytes: &mut usize) -> bool {
    let Some(left) = values.checked_sub(1) else { return false };
    *values = left;
    let mut text = |len: usize| {
        let left = bytes.checked_sub(len);
        *bytes = left.unwrap_or(0);
        left.is_some()
    };
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => true,
        Value::Str(held) => text(held.as_str().len()),
        Value::List(list) => list.items().iter().all(|&item| is_constant(item, values, bytes)),
        Value::Map(map) => {
            map.len() <= Emitter::KEYS
                && map.iter().all(|(key, value)| text_of_key(key, bytes) && is_constant(value, values, bytes))
        }
        value => as_bytes(value).is_some_and(|held| text(held.len())),
    }
}

fn text_of_key(key: &str, bytes: &mut usize) -> bool {
    let left = bytes.checked_sub(key.len());
    *bytes = left.unwrap_or(0);
    left.is_some()
}
