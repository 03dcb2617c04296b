//! Expressions, which leave a value on the stack, and templates, as values and as the text of a file.

use super::Lowering;
use crate::syntax::{AccessStep, Entry, Expr, ExprId, ForId, Operator, Run, StepKind, Str, UnaryOp};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{BinaryOp, EscapeMode, Op, Role};
use dropforge_machine::compiler::{Constant, Emitter, KnownPath, PathSpec, RootSpec, SegmentSpec};
use dropforge_value::BigNum;
use hashbrown::HashSet;
use smallvec::SmallVec;

impl<'t> Lowering<'t> {
    /// Pushes the value of an expression. A chain of operators may be long, so its left sides are visited in a loop.
    pub(super) fn value(&mut self, id: ExprId) -> Result<()> {
        let (mut base, mut spine) = (id, SmallVec::<[ExprId; 4]>::new());
        while let Some((left, applies)) = self.left(base) {
            spine.extend(applies.then_some(base));
            base = left;
        }
        let mark = spine.iter().any(|&id| self.reads_errors(id)).then(|| self.emitter.mark_pair());
        self.base(base)?;
        for &node in spine.iter().rev() {
            self.apply(node, mark)?;
        }
        if let Some(mark) = mark {
            self.emitter.free_pair(mark);
        }
        self.emitter.check_size()
    }

    /// Returns the left side of an expression, and whether the expression applies an operation to it.
    fn left(&self, id: ExprId) -> Option<(ExprId, bool)> {
        match self.tree.expr(id) {
            Expr::Binary { left, .. } => Some((left, true)),
            Expr::Index { collection, .. } => Some((collection, true)),
            Expr::Relative { source, .. } | Expr::Splat { source, .. } => Some((source, true)),
            Expr::Paren(inner) | Expr::Wrapped(inner) => Some((inner, false)),
            _ => None,
        }
    }

    /// Returns `true` if an operation depends on the errors of its left side.
    fn reads_errors(&self, id: ExprId) -> bool {
        match self.tree.expr(id) {
            Expr::Splat { .. } | Expr::Binary { op: Operator::And | Operator::Or, .. } => true,
            Expr::Binary { left, .. } => self.hides_errors(left),
            _ => false,
        }
    }

    /// Pushes the value of an expression without a left side.
    fn base(&mut self, id: ExprId) -> Result<()> {
        let node = self.tree.node(id);
        self.at(node.span);
        match node.expr {
            Expr::Null => self.emitter.constant(Constant::Null),
            Expr::Bool(truth) => self.emitter.constant(Constant::Bool(truth)),
            Expr::Number(digits) => self.number(self.tree.str(digits)),
            Expr::Text(text) => self.text(text),
            Expr::Template(parts) => self.template(node.span, parts)?,
            Expr::Joined(of) => {
                self.value(of)?;
                self.at(node.span);
                self.intrinsic("joined", 1, &[self.span(of)]);
            }
            Expr::Traversal { root, steps, .. } => self.path(node.span, self.root(root), steps, Emitter::load),
            Expr::Item => match self.items.last() {
                Some(&slot) => self.emitter.load_slot(slot),
                None => self.intrinsic("dynamic", 0, &[]),
            },
            Expr::Call(call) => self.call(node.span, &call)?,
            Expr::Conditional { condition, then, otherwise } => {
                self.conditional(node.span, [condition, then, otherwise])?;
            }
            Expr::Unary { op, operand, .. } => {
                self.operand(operand)?;
                self.at(node.span);
                self.emitter.op(if op == UnaryOp::Not { Op::Not } else { Op::Neg }, &[]);
                self.emitter.details([self.span(operand)]);
            }
            Expr::Tuple(ids) => {
                self.tree.ids(ids).iter().try_for_each(|&id| self.value(id))?;
                self.at(node.span);
                self.emitter.op(Op::List, &[u32::try_from(ids.len()).unwrap_or(u32::MAX)]);
            }
            Expr::Object(entries) => self.object(node.span, self.tree.entries(entries))?,
            Expr::Key { inner, forced } => self.key(inner, forced)?,
            Expr::For(of) => self.for_value(node.span, of)?,
            Expr::Invalid => match self.tree.broken(id) {
                Some(broken) => self.broken(broken),
                None => self.intrinsic("dynamic", 0, &[]),
            },
            Expr::Paren(_)
            | Expr::Wrapped(_)
            | Expr::Relative { .. }
            | Expr::Index { .. }
            | Expr::Splat { .. }
            | Expr::Binary { .. } => self.intrinsic("dynamic", 0, &[]),
        }
        Ok(())
    }

    /// Applies the operation of a node to its left side, which is on the stack.
    fn apply(&mut self, id: ExprId, mark: Option<u32>) -> Result<()> {
        let (node, mark) = (self.tree.node(id), mark.unwrap_or(0));
        match node.expr {
            Expr::Binary { op, left, right } => {
                let operator = operator(op);
                if operator.is_none() {
                    self.emitter.op(Op::MarkSlot, &[mark + 1]);
                    self.value(right)?;
                } else {
                    if self.hides_errors(left) {
                        self.emitter.load_slot(mark);
                        self.intrinsic("failing", 2, &[]);
                    }
                    self.operand(right)?;
                }
                self.at(node.span);
                match operator {
                    Some(operator) => self.emitter.binary(operator),
                    None => self.emitter.op(if op == Operator::And { Op::And } else { Op::Or }, &[mark]),
                }
                self.emitter.details([self.span(left), self.span(right)]);
            }
            Expr::Index { collection, key, brackets } if self.continues_traversal(collection, key) => {
                self.value(key)?;
                self.at(node.span);
                self.intrinsic("next step", 2, &[brackets]);
            }
            Expr::Index { key, brackets, .. } => {
                let slot = self.emitter.store();
                self.value(key)?;
                self.at(node.span);
                let (name, roots) = (self.tree.source().slice(node.span), &[RootSpec::Slot(slot)]);
                self.emitter.load(&PathSpec { name, roots, segments: &[SegmentSpec::Index(brackets)] });
                self.emitter.free(slot);
            }
            Expr::Relative { steps, .. } => {
                let slot = self.emitter.store();
                self.at(node.span);
                self.path(node.span, RootSpec::Slot(slot), steps, Emitter::load);
                self.emitter.free(slot);
            }
            Expr::Splat { source, each, marker } => {
                self.splat([self.span(source), marker, node.span], each, mark)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns `true` if an index is a step of the traversal before it, which ends at its first error: a literal after
    /// another step or a name.
    fn continues_traversal(&self, collection: ExprId, key: ExprId) -> bool {
        let is_literal = |id| matches!(self.tree.expr(id), Expr::Null | Expr::Bool(_));
        is_literal(key)
            && match self.tree.expr(collection) {
                Expr::Traversal { .. } | Expr::Relative { .. } => true,
                Expr::Index { key, .. } => is_literal(key),
                _ => false,
            }
    }

    fn conditional(&mut self, span: Span, [condition, then, otherwise]: [ExprId; 3]) -> Result<()> {
        // The errors of each part count or not, depending on the others.
        for part in [condition, then, otherwise] {
            self.emitter.op(Op::Mark, &[]);
            self.value(part)?;
        }
        self.at(span);
        let [first, second] = [then, otherwise].map(|branch| self.span(branch));
        self.intrinsic("conditional", 6, &[self.span(condition), first, second, first.to(second)]);
        Ok(())
    }

    fn object(&mut self, span: Span, entries: &'t [Entry]) -> Result<()> {
        if let Some(keys) = self.constant_keys(entries) {
            entries.iter().try_for_each(|entry| self.value(entry.value))?;
            self.at(span);
            self.emitter.map(&keys);
            return Ok(());
        }
        for entry in entries {
            self.value(entry.key)?;
            self.value(entry.value)?;
        }
        self.at(span);
        self.emitter.op(Op::List, &[u32::try_from(entries.len() * 2).unwrap_or(u32::MAX)]);
        let parts: Vec<_> = entries.iter().flat_map(|entry| [self.span(entry.key), self.span(entry.value)]).collect();
        self.intrinsic("object", 1, &parts);
        Ok(())
    }

    /// Returns the keys of entries if all are constant and distinct and one instruction can hold them.
    fn constant_keys(&self, entries: &[Entry]) -> Option<Vec<&'t str>> {
        if entries.len() > Emitter::KEYS {
            return None;
        }
        let keys: Option<Vec<_>> = entries.iter().map(|entry| self.constant_key(entry.key)).collect();
        keys.filter(|keys| are_distinct(keys.iter().copied()))
    }

    fn constant_key(&self, id: ExprId) -> Option<&'t str> {
        match self.tree.expr(id) {
            Expr::Key { inner, forced: false } => match self.tree.expr(inner) {
                Expr::Traversal { root, steps, .. } if steps.is_empty() => Some(self.tree.str(root)),
                Expr::Traversal { .. } | Expr::Null | Expr::Bool(_) => None,
                _ => self.constant_key(inner),
            },
            Expr::Key { inner, .. } => self.constant_key(inner),
            Expr::Text(text) => Some(self.tree.str(text)),
            Expr::Template(parts) => match self.tree.ids(parts) {
                &[part] => self.constant_key(part).filter(|_| matches!(self.tree.expr(part), Expr::Text(_))),
                _ => None,
            },
            _ => None,
        }
    }

    /// Pushes the key of an entry. A bare name is a string.
    fn key(&mut self, inner: ExprId, forced: bool) -> Result<()> {
        let span = self.span(inner);
        match self.tree.expr(inner) {
            Expr::Traversal { root, steps, .. } if !forced && steps.is_empty() => self.text(root),
            Expr::Traversal { .. } if !forced => {
                self.at(span);
                self.intrinsic("ambiguous key", 0, &[]);
            }
            Expr::Null | Expr::Bool(_) if !forced => self.text(Str::of(span)),
            _ => self.value(inner)?,
        }
        Ok(())
    }

    fn text(&mut self, text: Str) {
        self.emitter.constant(Constant::Str(self.tree.str(text).into()));
    }

    /// Pushes the number of a literal.
    pub(super) fn number(&mut self, digits: &'t str) {
        // The number `-0` of the JSON syntax is not plain.
        let plain = digits.parse().ok().filter(|n| *n != 0 || !digits.starts_with('-'));
        match plain.or_else(|| BigNum::parse(digits)?.as_plain_int()) {
            Some(n) => self.emitter.constant(Constant::Int(n)),
            None => {
                self.emitter.constant(Constant::Str(digits.into()));
                self.intrinsic("number", 1, &[]);
            }
        }
    }

    /// Returns the root of a path: the slot of a loop variable, or an input.
    pub(super) fn root(&self, name: Str) -> RootSpec<'t> {
        let name = self.tree.str(name);
        let local = self.locals.iter().rev().find(|(local, _)| *local == name);
        local.map_or(RootSpec::Global(name), |(_, slot)| RootSpec::Slot(*slot))
    }

    /// Emits the path of constant steps from a root.
    pub(super) fn path(
        &mut self,
        span: Span,
        root: RootSpec<'t>,
        steps: Run,
        emit: impl FnOnce(&mut Emitter<'t>, &PathSpec<'_>) -> Option<KnownPath>,
    ) {
        let segments: SmallVec<[_; 8]> = self.tree.steps(steps).iter().map(|step| self.segment(step)).collect();
        self.at(span);
        let name = self.tree.source().slice(span);
        emit(&mut self.emitter, &PathSpec { name, roots: &[root], segments: &segments });
    }

    /// Returns the segment of a step. The index of an index step is pushed.
    fn segment(&mut self, step: &AccessStep) -> SegmentSpec<'t> {
        match step.kind {
            StepKind::Attr(name) => return SegmentSpec::Attr(self.tree.str(name), step.span),
            StepKind::Key(key) => self.text(key),
            StepKind::Number(digits) => self.number(self.tree.str(digits)),
        }
        SegmentSpec::Index(step.span)
    }
}

/// Returns `true` if no two keys are equal.
pub(super) fn are_distinct<'k>(keys: impl ExactSizeIterator<Item = &'k str>) -> bool {
    let mut seen = HashSet::with_capacity(keys.len());
    keys.into_iter().all(|key| seen.insert(key))
}

/// Returns the operator of an instruction. `&&` and `||` have their own instructions.
fn operator(op: Operator) -> Option<BinaryOp> {
    Some(match op {
        Operator::Or | Operator::And => return None,
        Operator::Equal => BinaryOp::Eq,
        Operator::NotEqual => BinaryOp::Ne,
        Operator::Greater => BinaryOp::Gt,
        Operator::GreaterEqual => BinaryOp::Ge,
        Operator::Less => BinaryOp::Lt,
        Operator::LessEqual => BinaryOp::Le,
        Operator::Add => BinaryOp::Add,
        Operator::Sub => BinaryOp::Sub,
        Operator::Mul => BinaryOp::Mul,
        Operator::Div => BinaryOp::Div,
        Operator::Rem => BinaryOp::Rem,
    })
}

impl Lowering<'_> {
    /// Pushes the text of a template.
    pub(super) fn template(&mut self, span: Span, parts: Run) -> Result<()> {
        match self.tree.ids(parts) {
            [] => self.emitter.constant(Constant::Str("".into())),
            &[part] if matches!(self.tree.expr(part), Expr::Text(_)) => self.value(part)?,
            parts => self.joined(span, parts)?,
        }
        Ok(())
    }

    /// Pushes the text of parts of a template.
    pub(super) fn joined(&mut self, span: Span, parts: &[ExprId]) -> Result<()> {
        parts.iter().try_for_each(|&part| self.part(part))?;
        self.at(span);
        self.emitter.join(u32::try_from(parts.len()).unwrap_or(u32::MAX));
        self.emitter.details(parts.iter().map(|&part| self.tree.span(part)));
        Ok(())
    }

    /// Writes a template file, or a part of one.
    pub(super) fn write(&mut self, id: ExprId) -> Result<()> {
        let node = self.tree.node(id);
        self.at(node.span);
        match node.expr {
            Expr::Text(text) => self.emitter.text(self.tree.str(text)),
            Expr::Template(parts) => {
                for &part in self.tree.ids(parts) {
                    self.write(part)?;
                    self.emitter.check_size()?;
                }
            }
            Expr::Wrapped(inner) => self.write_value(inner)?,
            Expr::Joined(of) => match self.tree.expr(of) {
                Expr::For(id) => self.write_loop(self.span(of), id)?,
                _ => self.write_value(of)?,
            },
            Expr::Conditional { condition, then, otherwise } if self.is_text(then) && self.is_text(otherwise) => {
                self.write_either(condition, [then, otherwise])?;
            }
            _ => self.write_value(id)?,
        }
        Ok(())
    }

    /// Returns `true` if an expression is a template, whose value is always text.
    fn is_text(&self, id: ExprId) -> bool {
        matches!(self.tree.expr(id), Expr::Template(_) | Expr::Text(_))
    }

    fn write_value(&mut self, id: ExprId) -> Result<()> {
        let node = self.tree.node(id);
        if let Expr::Traversal { root, steps, .. } = node.expr {
            let root = self.root(root);
            self.path(node.span, root, steps, |emitter, path| emitter.write_path(path, EscapeMode::Plain));
        } else {
            self.value(id)?;
            self.at(node.span);
            self.emitter.write(EscapeMode::Plain);
        }
        Ok(())
    }

    /// Returns `true` if the value of an expression can only be a boolean.
    fn is_logical(&self, id: ExprId) -> bool {
        use Operator::{Add, Div, Mul, Rem, Sub};
        match self.tree.expr(id) {
            Expr::Bool(_) => true,
            Expr::Paren(inner) | Expr::Wrapped(inner) => self.is_logical(inner),
            Expr::Binary { op: Add | Sub | Mul | Div | Rem, .. } => false,
            Expr::Binary { .. } | Expr::Unary { op: UnaryOp::Not, .. } => true,
            _ => false,
        }
    }

    fn write_either(&mut self, condition: ExprId, [then, otherwise]: [ExprId; 2]) -> Result<()> {
        let (other, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.value(condition)?;
        self.at(self.span(condition));
        if !self.is_logical(condition) {
            self.emitter.op(Op::As, &[Role::Answer as u32]);
        }
        self.emitter.jump(Op::JumpUnless, other);
        self.write(then)?;
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(other);
        self.write(otherwise)?;
        self.emitter.bind(end);
        Ok(())
    }

    fn write_loop(&mut self, span: Span, id: ForId) -> Result<()> {
        let Some(of) = self.tree.for_expr(id) else { return Ok(()) };
        self.value(of.collection)?;
        let collection = self.emitter.store();
        self.iterations(span, of, collection, |lowering| lowering.write(of.value))?;
        self.emitter.free(collection);
        Ok(())
    }
}
