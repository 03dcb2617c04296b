//! Fields, elements, and what is asked of them: chains of steps. What a step costs depends on what it begins at, so in
//! programs that are metered each step is on its own.

use super::Lower;
use super::names::{Standing, qualified};
use crate::bytecode::Op;
use crate::compiler::{PathSpec, RootSpec, SegmentSpec};
use crate::diagnostics::Result;
use crate::dialect::cel::check::Kind;
use crate::dialect::cel::cost::{Rule, STEP};
use crate::dialect::cel::syntax::tree::{Call, Expr, ExprId, Function, Name, Operator, Selection};

impl<'t> Lower<'_, 't> {
    /// `value[index]`
    pub(super) fn index(&mut self, id: ExprId, value: ExprId, index: ExprId) -> Result<()> {
        if self.how.metered {
            return self.chain(id, true);
        }
        self.value(value)?;
        let slot = self.emitter.store();
        self.value(index)?;
        self.element(id, index, slot);
        self.emitter.free(slot);
        Ok(())
    }

    /// Pushes the element of what is in a slot at the index on the top.
    fn element(&mut self, id: ExprId, index: ExprId, slot: u32) {
        self.at(id);
        let (source, span) = (self.source.clone(), self.span(id));
        let segments = [SegmentSpec::Index(self.span(index))];
        self.emitter.load(&PathSpec { name: source.slice(span), roots: &[RootSpec::Slot(slot)], segments: &segments });
    }

    /// `value[?index]`
    pub(super) fn index_optional(&mut self, id: ExprId, value: ExprId, index: ExprId) -> Result<()> {
        if self.how.metered {
            return self.chain(id, true);
        }
        self.value(value)?;
        self.value(index)?;
        self.at(id);
        self.core("index optional", 2);
        Ok(())
    }

    /// `has(operand.field)`, `operand.?field`
    pub(super) fn asked(&mut self, id: ExprId, operand: ExprId, field: Name, selection: Selection) -> Result<()> {
        if self.how.metered {
            return self.chain(id, true);
        }
        self.value(operand)?;
        self.at(id);
        self.text(self.tree.name(field));
        self.core(if selection == Selection::Test { "has" } else { "select optional" }, 2);
        Ok(())
    }

    /// What a branch or an index is: where it is a chain, it does not cost what one costs on its own.
    pub(super) fn branch(&mut self, id: ExprId) -> Result<()> {
        if self.how.metered { self.chain(id, false) } else { self.value(id) }
    }

    /// Pushes the value of a chain, each step of which is metered; `own` says whether the chain itself is. What is none
    /// is pushed as it is.
    pub(super) fn chain(&mut self, id: ExprId, own: bool) -> Result<()> {
        self.at(id);
        if self.names(id, own)? {
            return Ok(());
        }
        match self.tree.expr(id) {
            Expr::Select { operand, field, selection } => self.select(id, operand, field, selection, own),
            Expr::Call(Call { function: Function::Operator(operator), args, .. })
                if matches!(operator, Operator::Index | Operator::OptionalIndex) =>
            {
                match self.tree.ids(args) {
                    &[value, index] => self.indexed(id, operator, value, index, own),
                    _ => Ok(()),
                }
            }
            _ => self.value(id),
        }
    }

    /// What a chain begins at.
    fn start(&mut self, id: ExprId, own: bool) -> Result<()> {
        match self.tree.expr(id) {
            Expr::Ident { .. } | Expr::Select { .. } => self.chain(id, own),
            Expr::Call(Call {
                function: Function::Operator(Operator::Index | Operator::OptionalIndex | Operator::Conditional),
                ..
            }) => self.chain(id, own),
            _ => {
                self.meter(if own { STEP } else { 0 });
                self.value(id)
            }
        }
    }

    /// A variable or a type, and fields of it; whether it is one.
    fn names(&mut self, id: ExprId, own: bool) -> Result<bool> {
        let Some((parts, rooted, root)) = qualified(self.tree, id) else { return Ok(false) };
        let own = if own { STEP } else { 0 };
        let local = match self.tree.expr(root) {
            Expr::Ident { name, rooted: false } => self.local(name),
            _ => None,
        };
        let standing = match local {
            Some(slot) => Standing::Slot(slot, parts.len() - 1),
            None => self.standing(&parts, rooted),
        };
        match standing {
            Standing::Slot(slot, fields) => self.steps(id, own, fields, RootSpec::Slot(slot)),
            Standing::Input(name, fields) => self.steps(id, own, fields, RootSpec::Global(&name)),
            Standing::Type(name) => self.type_value(name),
            Standing::Nothing(failure) => self.nothing(&failure),
            Standing::InputOrType(name) => {
                let first = parts.first().copied().unwrap_or_default();
                self.input_or_type(first, name, |lower| {
                    lower.emitter.op(Op::Pop, &[]);
                    lower.steps(id, own, parts.len() - 1, RootSpec::Global(first));
                });
            }
        }
        Ok(true)
    }

    /// Pushes what the last `fields` names of a chain of selects lead to from `root`, each of them metered, the root by
    /// `own`.
    fn steps(&mut self, id: ExprId, own: u64, fields: usize, root: RootSpec<'_>) {
        self.meter(own);
        self.path(id, root, 0);
        let mut steps = Vec::with_capacity(fields);
        let mut at = id;
        while let (true, Expr::Select { operand, .. }) = (steps.len() < fields, self.tree.expr(at)) {
            steps.push((at, operand));
            at = operand;
        }
        steps.into_iter().rev().for_each(|(id, operand)| self.field_of(id, operand));
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: Name, selection: Selection, own: bool) -> Result<()> {
        if selection == Selection::Plain {
            self.start(operand, own)?;
            self.field_of(id, operand);
            return Ok(());
        }
        self.start(operand, own)?;
        if selection == Selection::Test {
            self.meter(STEP);
        }
        self.at(id);
        self.text(self.tree.name(field));
        if selection == Selection::Test {
            self.core("has", 2);
        } else {
            self.core("select optional", 2);
            self.measure(Rule::Present, 1);
        }
        Ok(())
    }

    /// A field of the top.
    fn field_of(&mut self, id: ExprId, operand: ExprId) {
        let slot = self.begin_step(operand);
        self.at(id);
        self.path(id, RootSpec::Slot(slot), 1);
        self.end_step(operand, slot);
    }

    fn indexed(&mut self, id: ExprId, operator: Operator, value: ExprId, index: ExprId, own: bool) -> Result<()> {
        self.start(value, own)?;
        if operator == Operator::OptionalIndex {
            self.branch(index)?;
            self.at(id);
            self.core("index optional", 2);
            self.measure(Rule::Present, 1);
            return Ok(());
        }
        let slot = self.begin_step(value);
        self.branch(index)?;
        self.element(id, index, slot);
        self.end_step(value, slot);
        Ok(())
    }

    /// Takes what a step begins at into a slot, and meters the step unless it is of an optional.
    fn begin_step(&mut self, of: ExprId) -> u32 {
        if self.never_optional(of) {
            self.meter(STEP);
        } else {
            self.measure(Rule::Field, 1);
        }
        self.emitter.store()
    }

    /// Meters a step of an optional, where there was something.
    fn end_step(&mut self, of: ExprId, slot: u32) {
        if !self.never_optional(of) {
            self.emitter.load_slot(slot);
            self.measure(Rule::FieldOf, 2);
            self.emitter.op(Op::Pop, &[]);
        }
        self.emitter.free(slot);
    }

    /// Whether it is known that a value is no optional.
    fn never_optional(&self, id: ExprId) -> bool {
        let kind = self.how.checked.map(|checked| checked.kind_of(id));
        matches!(kind, Some(Kind::List(_) | Kind::Map(..) | Kind::Object(_)))
    }
}
