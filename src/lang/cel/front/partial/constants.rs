//! The evaluation of parts of an expression, and their values as constants.

use super::PartialContext;
use crate::lower::{LowerOptions, ProgramPart, compile_parts};
use crate::semantics::Rules;
use crate::settings::Resolution;
use crate::syntax::tree::{Call, Element, Entry, Expr, ExprId, Function, Literal, Name, Selection, Tree};
use crate::values::convert::plain;
use crate::values::{as_optional, type_named};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Budgets, Capabilities};
use dropforge_machine::vm::{Evaluator, Space};
use dropforge_value::{Extended, Value};

/// The approximate maximum number of characters of one constant.
const EACH: usize = 16 << 10;

/// The approximate maximum number of characters of all constants of a residual.
const ALL: usize = 48 << 10;

/// The maximum depth of lists and maps in a constant.
const DEPTH: u16 = 32;

/// The budget for constants in a residual.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConstantBudget {
    characters: usize,
    depth: u16,
}

impl ConstantBudget {
    /// The budget next to an expression of this size.
    pub fn beside(tree: &Tree) -> Self {
        Self { characters: ALL.saturating_sub(tree.source().text().len() / 2), depth: DEPTH }
    }

    /// The budget for constants that are not deeper than the expressions that they replace.
    pub const FLAT: Self = Self { characters: ALL, depth: 0 };
}

/// Builds the expressions of values.
pub(super) struct ConstantBuilder<'m> {
    pub tree: &'m mut Tree,
    pub context: PartialContext<'m>,
    /// The local variables at the position of the constant.
    pub scope: &'m [Name],
    pub span: Span,
}

impl ConstantBuilder<'_> {
    /// Builds the expression of a value. Returns `None` if there is none, or if it is too large.
    pub fn constant(&mut self, value: Value<'_>, budget: &mut ConstantBudget) -> Option<ExprId> {
        let is_flat = !value.extended().is_some_and(|of| !matches!(of, Extended::Bytes(_)));
        if value.depth() > budget.depth || budget.depth == 0 && !is_flat {
            return None;
        }
        let allowed = EACH.min(budget.characters);
        let mut left = allowed;
        measure(value, &mut left)?;
        let constant = self.value(value)?;
        budget.characters -= allowed - left;
        Some(constant)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.tree.add(expr, self.span, self.span.start)
    }

    fn literal(&mut self, literal: Literal) -> Option<ExprId> {
        Some(self.add(Expr::Literal(literal)))
    }

    fn text(&mut self, text: &str) -> Option<ExprId> {
        let name = self.tree.intern(text);
        self.literal(Literal::String(name))
    }

    fn value(&mut self, value: Value<'_>) -> Option<ExprId> {
        match value {
            Value::Null => self.literal(Literal::Null),
            Value::Bool(truth) => self.literal(Literal::Bool(truth)),
            Value::Int(n) => self.literal(Literal::Int(n)),
            Value::Uint(n) => self.literal(Literal::Uint(n)),
            Value::Float(n) if n.is_finite() => self.literal(Literal::Double(n)),
            Value::Float(_) => self.of_text("double", value),
            Value::Str(text) => self.text(text.as_str()),
            Value::List(list) => {
                let values: Option<Vec<_>> = list.items().iter().map(|item| self.value(*item)).collect();
                let elements = values?.into_iter().map(|value| Element { value, optional: false });
                let run = self.tree.add_elements(elements);
                Some(self.add(Expr::List(run)))
            }
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| Some((self.text(key)?, self.value(value)?)));
                let entries = entries.collect::<Option<Vec<_>>>()?;
                Some(self.map(entries))
            }
            Value::Undefined => None,
            Value::Extended(_) => self.extended(value),
        }
    }

    fn map(&mut self, entries: Vec<(ExprId, ExprId)>) -> ExprId {
        let at = self.span.start;
        let entries = entries.into_iter().map(|(key, value)| Entry { key, value, optional: false, at });
        let run = self.tree.add_entries(entries);
        self.add(Expr::Map(run))
    }

    fn extended(&mut self, value: Value<'_>) -> Option<ExprId> {
        match *value.extended()? {
            Extended::Bytes(bytes) => {
                let run = self.tree.add_bytes(bytes);
                self.literal(Literal::Bytes(run))
            }
            Extended::Entries(entries) => {
                let entries = entries.iter().map(|(key, value)| Some((self.value(key)?, self.value(value)?)));
                let entries = entries.collect::<Option<Vec<_>>>()?;
                Some(self.map(entries))
            }
            Extended::Timestamp { .. } => self.of_text("timestamp", value),
            // The text of the longest negative duration does not parse.
            Extended::Duration(nanos) if nanos > i64::MIN => self.of_text("duration", value),
            Extended::Optional(held) => self.optional(held),
            Extended::Named(name) => self.type_name(name),
            _ => None,
        }
    }

    /// Adds the call of a function that parses the text of the value.
    fn of_text(&mut self, function: &str, value: Value<'_>) -> Option<ExprId> {
        let text = self.text(&plain(value).ok()??)?;
        self.call(None, function, &[text])
    }

    /// Adds a call, if its name denotes the function in this scope.
    fn call(&mut self, namespace: Option<&str>, function: &str, args: &[ExprId]) -> Option<ExprId> {
        let receiver = namespace.map(|name| {
            let name = self.tree.intern(name);
            self.add(Expr::Ident { name, rooted: false })
        });
        let name = self.tree.intern(function);
        let args = self.tree.add_ids(args);
        let call = Call { function: Function::Named(name), rooted: false, receiver, args };
        let full = namespace.map_or(function.to_owned(), |namespace| format!("{namespace}.{function}"));
        let is_local = |name| self.scope.contains(&name);
        let PartialContext { names, registry, .. } = self.context;
        let denoted = names.function(self.tree, registry, function, &call, is_local);
        if denoted.as_deref() != Some(&full) || registry.get(ImportKind::Function, &full).is_none() {
            return None;
        }
        Some(self.add(Expr::Call(call)))
    }

    fn optional(&mut self, held: Value<'_>) -> Option<ExprId> {
        if held.is_undefined() {
            return self.call(Some("optional"), "none", &[]);
        }
        let held = self.value(held)?;
        self.call(Some("optional"), "of", &[held])
    }

    /// Adds the name of a type, if it denotes the type in this scope.
    fn type_name(&mut self, name: &str) -> Option<ExprId> {
        let known = type_named(name)?;
        let parts: Vec<&str> = known.split('.').collect();
        let (first, fields) = parts.split_first()?;
        let root = self.tree.intern(first);
        let free = !self.scope.contains(&root) && self.context.is_no_variable(first);
        let denoted = self.context.names.resolve(&parts, false);
        if !free || !matches!(denoted, Resolution::Type(ty) if ty == known) {
            return None;
        }
        let mut at = self.add(Expr::Ident { name: root, rooted: false });
        for field in fields {
            let field = self.tree.intern(field);
            at = self.add(Expr::Select { operand: at, field, selection: Selection::Plain });
        }
        Some(at)
    }
}

/// Subtracts the approximate length of a value's expression from `left`. Returns `None` if it is too long.
fn measure(value: Value<'_>, left: &mut usize) -> Option<()> {
    let escaped = |text: &str| text.chars().map(|char| if char.is_control() { 6 } else { 2 }).sum::<usize>();
    let own = match (value, value.extended()) {
        (Value::Str(text), _) => escaped(text.as_str()),
        (_, Some(Extended::Bytes(bytes))) => bytes.len().saturating_mul(4),
        _ => 8,
    };
    *left = left.checked_sub(own.saturating_add(4))?;
    let mut all = |values: &[Value<'_>]| values.iter().try_for_each(|value| measure(*value, left));
    match (value, value.extended()) {
        (Value::List(list), _) => all(list.items()),
        (Value::Map(map), _) => {
            all(map.values())?;
            let keys: usize = map.iter().map(|(key, _)| escaped(key) + 4).sum();
            *left = left.checked_sub(keys)?;
            Some(())
        }
        (_, Some(Extended::Entries(entries))) => all(entries.keys()).and_then(|()| all(entries.values())),
        _ => as_optional(value).filter(|held| !held.is_undefined()).map_or(Some(()), |held| measure(held, left)),
    }
}

/// Evaluates parts of an expression within one budget.
pub(super) struct Runner<'r> {
    pub tree: &'r Tree,
    pub context: PartialContext<'r>,
    pub space: &'r Space,
    pub limits: &'r Limits,
    /// The steps and memory left.
    budgets: Budgets,
}

impl<'r> Runner<'r> {
    pub fn new(tree: &'r Tree, context: PartialContext<'r>, space: &'r Space, limits: &'r Limits) -> Self {
        Self { tree, context, space, limits, budgets: Budgets::of(limits) }
    }

    /// Evaluates each part, and calls `each` with its result.
    ///
    /// # Errors
    /// Limits of the code's size.
    pub fn run(&mut self, parts: &[ProgramPart], mut each: impl FnMut(Result<Value<'_>>)) -> Result<()> {
        let PartialContext { registry, names, patterns, inputs, lenient } = self.context;
        let options = LowerOptions { lenient, ..LowerOptions::default() };
        let program = compile_parts(self.tree, registry, names, patterns, options, self.limits, parts)?;
        let linked = registry.link(program.imports())?;
        let mut evaluator = Evaluator::new(self.space, &program, &linked, self.limits, Capabilities::NONE);
        evaluator.set_budgets(self.budgets);
        for chunk in (0..).take(parts.len()) {
            each(evaluator.run::<Rules>(chunk, inputs).map(|answer| answer.value));
        }
        self.budgets = evaluator.budgets();
        Ok(())
    }

    /// Returns `true` if the expression has a value whatever the unknown attributes are.
    ///
    /// # Errors
    /// The error that it has whatever the unknown attributes are, or a limit that was reached.
    pub fn is_known(&mut self) -> Result<bool> {
        let mut outcome = Ok(false);
        let whole = ProgramPart { locals: Vec::new(), id: self.tree.root };
        self.run(&[whole], |answer| {
            outcome = match answer {
                Ok(_) => Ok(true),
                Err(error) if error.code == Code::UnknownAttribute => Ok(false),
                Err(error) => Err(error),
            }
        })?;
        outcome
    }
}
