//! Values: literals, names, lists, maps; chains of selections and indexes. The cost of a step depends on the start of the chain, so metered programs take each
//! step separately.

use std::collections::HashSet;

use super::{Lower, Meaning};
use crate::check::Kind;
use crate::cost;
use crate::cost::{Rule, STEP};
use crate::syntax::tree::{Call, Element, Entry, Expr, ExprId, Function, Literal, Name, Operator, Run, Selection};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::Op;
use dropforge_machine::compiler::{Constant, Emitter, PathSpec, RootSpec, SegmentSpec};

impl<'t> Lower<'_, 't> {
    /// Pushes the element of the value in a slot, at the index on top of the stack.
    fn element(&mut self, id: ExprId, index: ExprId, slot: u32) {
        self.at(id);
        let (source, span) = (self.source.clone(), self.span(id));
        let segments = [SegmentSpec::Index(self.span(index))];
        self.emitter.load(&PathSpec { name: source.slice(span), roots: &[RootSpec::Slot(slot)], segments: &segments });
    }

    /// Pushes a branch of a conditional, or an index. A chain in this position does not cost a step of its own.
    pub(super) fn branch(&mut self, id: ExprId) -> Result<()> {
        if self.options.metered { self.chain(id, false) } else { self.value(id) }
    }

    /// Pushes the value of a chain, metering each step, and the chain itself if `own` is set. Pushes other expressions as
    /// they are.
    pub(super) fn chain(&mut self, id: ExprId, own: bool) -> Result<()> {
        self.at(id);
        if self.name(id, own)? {
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

    /// Pushes the start of a chain.
    fn start(&mut self, id: ExprId, own: bool) -> Result<()> {
        if !self.options.metered {
            return self.value(id);
        }
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

    /// Pushes a variable with its fields, or a type. Returns `false` if the expression is neither.
    ///
    /// # Errors
    /// Limits of the code's size.
    pub(super) fn name(&mut self, id: ExprId, own: bool) -> Result<bool> {
        let Some(name) = self.tree.qualified(id) else { return Ok(false) };
        let own = if own { STEP } else { 0 };
        match self.meaning(&name) {
            Meaning::Slot(slot, fields) => {
                self.ensure(slot)?;
                self.at(id);
                self.steps(id, own, fields, RootSpec::Slot(slot));
            }
            Meaning::Input(name, fields) => self.steps(id, own, fields, RootSpec::Global(&name)),
            Meaning::Type(name) => self.push_type(name),
            Meaning::Undeclared(failure) => self.raise_failure(&failure),
            Meaning::InputOrType(ty) => {
                let first = name.parts.first().copied().unwrap_or_default();
                self.push_input_or_type(first, ty, |lower| lower.fields_of_input(id, own, first, name.fields()));
            }
        }
        Ok(true)
    }

    /// Replaces the input on top of the stack with the value of the last `fields` selections of a chain.
    fn fields_of_input(&mut self, id: ExprId, own: u64, input: &str, fields: usize) {
        if self.options.metered {
            self.emitter.op(Op::Pop, &[]);
            self.steps(id, own, fields, RootSpec::Global(input));
        } else if fields > 0 {
            let slot = self.emitter.store();
            self.path(id, RootSpec::Slot(slot), fields);
            self.emitter.free(slot);
        }
    }

    /// Pushes the value of `root` and the last `fields` selections of a chain, metering each. The root costs `own`.
    fn steps(&mut self, id: ExprId, own: u64, fields: usize, root: RootSpec<'_>) {
        if !self.options.metered {
            return self.path(id, root, fields);
        }
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

    /// `operand.field`, `has(operand.field)`, `operand.?field`
    pub(super) fn select(
        &mut self,
        id: ExprId,
        operand: ExprId,
        field: Name,
        selection: Selection,
        own: bool,
    ) -> Result<()> {
        self.start(operand, own)?;
        if selection == Selection::Plain {
            self.field_of(id, operand);
            return Ok(());
        }
        if selection == Selection::Test {
            self.meter(STEP);
        }
        self.at(id);
        self.push_text(self.tree.name(field));
        if selection == Selection::Test {
            self.intrinsic("has", 2);
        } else {
            self.intrinsic("select optional", 2);
            self.measure(Rule::Present, 1);
        }
        Ok(())
    }

    /// Replaces the top value with its field.
    fn field_of(&mut self, id: ExprId, operand: ExprId) {
        let slot = self.begin_step(operand);
        self.at(id);
        self.path(id, RootSpec::Slot(slot), 1);
        self.end_step(operand, slot);
    }

    /// `value[index]`, `value[?index]`
    pub(super) fn indexed(
        &mut self,
        id: ExprId,
        operator: Operator,
        value: ExprId,
        index: ExprId,
        own: bool,
    ) -> Result<()> {
        self.start(value, own)?;
        if matches!(self.tree.expr(index), Expr::Literal(_)) || !self.may_be_empty(value) {
            return self.element_of(id, operator, value, index);
        }
        // An empty optional has no elements, so its index is not evaluated.
        let end = self.emitter.new_label();
        let slot = self.emitter.store();
        self.emitter.load_slot(slot);
        self.emitter.load_slot(slot);
        self.intrinsic("empty", 1);
        self.emitter.jump(Op::JumpIf, end);
        self.emitter.free(slot);
        self.sometimes(|lower| lower.element_of(id, operator, value, index))?;
        self.emitter.bind(end);
        Ok(())
    }

    /// Replaces the top value with its element.
    fn element_of(&mut self, id: ExprId, operator: Operator, value: ExprId, index: ExprId) -> Result<()> {
        if operator == Operator::OptionalIndex {
            self.branch(index)?;
            self.at(id);
            self.intrinsic("index optional", 2);
            self.measure(Rule::Present, 1);
            return Ok(());
        }
        let slot = self.begin_step(value);
        self.branch(index)?;
        self.element(id, index, slot);
        self.end_step(value, slot);
        Ok(())
    }

    /// Pushes the value that an optional step holds, or undefined, without the optional. Returns `false` for an expression
    /// other than an optional step with a constant key.
    pub(super) fn held_by_step(&mut self, id: ExprId) -> Result<bool> {
        if self.options.metered || self.unknown.is_some() {
            return Ok(false);
        }
        match self.tree.expr(id) {
            Expr::Select { operand, field, selection: Selection::Optional } => {
                self.value(operand)?;
                self.at(id);
                self.push_text(self.tree.name(field));
                self.intrinsic("held field", 2);
            }
            Expr::Call(Call { function: Function::Operator(Operator::OptionalIndex), args, .. }) => {
                let &[value, index] = self.tree.ids(args) else { return Ok(false) };
                if !matches!(self.tree.expr(index), Expr::Literal(_)) {
                    return Ok(false);
                }
                self.value(value)?;
                self.value(index)?;
                self.at(id);
                self.intrinsic("held element", 2);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Stores the operand of a step in a slot, and meters the step unless the operand is an optional.
    fn begin_step(&mut self, of: ExprId) -> u32 {
        if self.never_optional(of) {
            self.meter(STEP);
        } else {
            self.measure(Rule::Field, 1);
        }
        self.emitter.store()
    }

    /// Meters a step of an optional that holds a value.
    fn end_step(&mut self, of: ExprId, slot: u32) {
        if self.options.metered && !self.never_optional(of) {
            self.emitter.load_slot(slot);
            self.measure(Rule::FieldOf, 2);
            self.emitter.op(Op::Pop, &[]);
        }
        self.emitter.free(slot);
    }

    /// Returns `true` for a value that is likely to be an optional: of an optional step, a call, or a variable of the
    /// expression.
    fn may_be_empty(&self, id: ExprId) -> bool {
        let is_optional = |kind: &Kind| matches!(kind, Kind::Optional(_));
        match self.tree.expr(id) {
            _ if self.options.checked.is_some_and(|checked| is_optional(checked.kind_of(id))) => true,
            _ if self.never_optional(id) => false,
            Expr::Select { selection: Selection::Optional, .. } => true,
            Expr::Select { operand, selection: Selection::Plain, .. } => self.may_be_empty(operand),
            Expr::Ident { name, rooted: false } => self.local(name).is_some_and(|slot| self.is_lazy(slot)),
            Expr::Call(Call { function: Function::Operator(operator), args, .. }) => {
                match (operator, self.tree.ids(args)) {
                    (Operator::OptionalIndex, _) => true,
                    (Operator::Index, &[value, _]) => self.may_be_empty(value),
                    (operator, _) => operator == Operator::Conditional,
                }
            }
            Expr::Call(_) => true,
            _ => false,
        }
    }

    /// Returns `true` if the checker found that a value is not an optional.
    fn never_optional(&self, id: ExprId) -> bool {
        let kind = self.options.checked.map(|checked| checked.kind_of(id));
        matches!(kind, Some(Kind::List(_) | Kind::Map(..) | Kind::Object(_)))
    }
}

impl<'t> Lower<'_, 't> {
    /// Pushes the value of an expression. The parser limits its depth.
    pub fn value(&mut self, id: ExprId) -> Result<()> {
        match self.unknown {
            Some(_) => self.value_or_unknown(id),
            None => self.known_value(id),
        }
    }

    /// Pushes the value of an expression that is not an unknown attribute.
    pub(super) fn known_value(&mut self, id: ExprId) -> Result<()> {
        let tree = self.tree;
        self.at(id);
        if self.folded(id)? {
            return self.emitter.check_size();
        }
        match tree.expr(id) {
            Expr::Invalid => self.fail(id, Code::UnexpectedToken, "this is not an expression"),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident { .. } => {
                self.name(id, true)?;
            }
            Expr::Select { operand, field, selection: selection @ Selection::Plain } => {
                if self.name(id, true)? {
                } else if self.options.metered {
                    self.select(id, operand, field, selection, true)?;
                } else {
                    self.field(id)?;
                }
            }
            Expr::Select { operand, field, selection } => self.select(id, operand, field, selection, true)?,
            Expr::Call(call) => self.call(id, &call)?,
            Expr::List(run) => self.list(id, tree.elements(run))?,
            Expr::Map(run) => self.map(id, tree.entries(run))?,
            Expr::Message { .. } => {
                self.fail(id, Code::FunctionFailed, "there are no messages here: only values of JSON and of functions");
            }
            Expr::Comprehension(of) => {
                if let Some(of) = tree.comprehension(of) {
                    self.comprehension(id, of)?;
                }
            }
        }
        self.emitter.check_size()
    }

    fn literal(&mut self, literal: Literal) {
        let tree = self.tree;
        match literal {
            Literal::Null => self.emitter.constant(Constant::Null),
            Literal::Bool(truth) => self.push_bool(truth),
            Literal::Int(n) => self.emitter.constant(Constant::Int(n)),
            Literal::Double(n) => self.emitter.constant(Constant::Float(n)),
            Literal::String(text) => self.push_text(tree.name(text)),
            Literal::Uint(n) => self.push_uint(n),
            Literal::Bytes(run) => self.push_bytes(tree.bytes(run)),
        }
    }

    /// Pushes a type as a value.
    pub(super) fn push_type(&mut self, name: &'static str) {
        self.emitter.constant(Constant::Str(name.into()));
        self.intrinsic("type", 1);
    }

    /// Pushes the input of this name and calls `fields`, or pushes the type if there is no such input.
    pub(super) fn push_input_or_type(&mut self, name: &str, ty: &'static str, fields: impl FnOnce(&mut Self)) {
        let (there, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.emitter.peek(&PathSpec { name, roots: &[RootSpec::Global(name)], segments: &[] });
        self.emitter.jump(Op::JumpPresent, there);
        self.push_type(ty);
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(there);
        fields(self);
        self.emitter.bind(end);
    }

    /// Pushes the value of `root` with the last `fields` selections of a chain.
    pub(super) fn path(&mut self, id: ExprId, root: RootSpec<'_>, fields: usize) {
        let tree = self.tree;
        let (mut segments, mut at) = (Vec::with_capacity(fields), id);
        while segments.len() < fields {
            let Expr::Select { operand, field, .. } = tree.expr(at) else { break };
            let end = tree.span(at).end;
            let start = end.saturating_sub(Run::of(0..tree.name(field).len()).end);
            segments.push(SegmentSpec::Attr(tree.name(field), self.in_source(Span::new(start, end))));
            at = operand;
        }
        segments.reverse();
        let source = self.source.clone();
        self.emitter.load(&PathSpec { name: source.slice(self.span(id)), roots: &[root], segments: &segments });
    }

    /// A field of a value that is not a name.
    fn field(&mut self, id: ExprId) -> Result<()> {
        let tree = self.tree;
        let (mut base, mut fields) = (id, 0);
        while let Expr::Select { operand, selection: Selection::Plain, .. } = tree.expr(base) {
            base = operand;
            fields += 1;
        }
        self.value(base)?;
        let slot = self.emitter.store();
        self.at(id);
        self.path(id, RootSpec::Slot(slot), fields);
        self.emitter.free(slot);
        Ok(())
    }

    fn list(&mut self, id: ExprId, elements: &'t [Element]) -> Result<()> {
        let optional = elements.iter().any(|element| element.optional);
        self.meter(cost::LIST);
        for element in elements {
            if optional {
                self.emitter.constant(Constant::Bool(element.optional));
            }
            self.value(element.value)?;
        }
        self.at(id);
        let per = if optional { 2 } else { 1 };
        self.emitter.op(Op::List, &[Run::of(0..elements.len() * per).end]);
        if optional {
            self.intrinsic("list", 1);
        }
        Ok(())
    }

    fn map(&mut self, id: ExprId, entries: &'t [Entry]) -> Result<()> {
        self.meter(cost::MAP);
        if let Some(keys) = self.constant_keys(entries) {
            entries.iter().try_for_each(|entry| self.value(entry.value))?;
            self.at(id);
            self.emitter.map(&keys);
            return Ok(());
        }
        for entry in entries {
            self.emitter.constant(Constant::Bool(entry.optional));
            self.value(entry.key)?;
            self.value(entry.value)?;
        }
        self.at(id);
        self.emitter.op(Op::List, &[Run::of(0..entries.len() * 3).end]);
        self.intrinsic("map", 1);
        Ok(())
    }

    /// Returns the keys of entries if they are distinct string literals.
    fn constant_keys(&self, entries: &[Entry]) -> Option<Vec<&'t str>> {
        let tree = self.tree;
        let mut seen = HashSet::with_capacity(entries.len());
        let key = |entry: &Entry| match tree.expr(entry.key) {
            Expr::Literal(Literal::String(text)) if !entry.optional && seen.insert(text) => Some(tree.name(text)),
            _ => None,
        };
        let few = entries.len() <= Emitter::KEYS;
        few.then(|| entries.iter().map(key).collect()).flatten()
    }
}
