//! Expressions that leave a value on the stack.

use hashbrown::HashSet;
use smallvec::SmallVec;

use super::Lower;
use crate::bytecode::{BinaryOp, Op};
use crate::compiler::{Constant, Emitter, PathSpec, RootSpec, SegmentSpec};
use crate::diagnostics::Result;
use crate::dialect::hcl::syntax::tree::{Entry, Expr, ExprId, Operator, Run, Step, StepKind, Str, UnaryOp};
use crate::text::Span;
use crate::value::BigNum;

impl<'t> Lower<'t> {
    /// Pushes the value of an expression. Left sides are followed in a loop: a chain of operators may be long.
    pub(super) fn value(&mut self, id: ExprId) -> Result<()> {
        let (mut base, mut spine) = (id, SmallVec::<[ExprId; 4]>::new());
        while let Some((left, of)) = self.left(base) {
            spine.extend(of.then_some(base));
            base = left;
        }
        let mark = spine.iter().any(|&id| self.asks_for_errors(id)).then(|| self.emitter.mark_pair());
        self.base(base)?;
        for &node in spine.iter().rev() {
            self.apply(node, mark)?;
        }
        if let Some(mark) = mark {
            self.emitter.free_pair(mark);
        }
        self.emitter.check_size()
    }

    /// What an expression begins with, and whether something is done to that.
    fn left(&self, id: ExprId) -> Option<(ExprId, bool)> {
        match self.tree.expr(id) {
            Expr::Binary { left, .. } => Some((left, true)),
            Expr::Index { collection, .. } => Some((collection, true)),
            Expr::Relative { source, .. } | Expr::Splat { source, .. } => Some((source, true)),
            Expr::Paren(inner) | Expr::Wrapped(inner) => Some((inner, false)),
            _ => None,
        }
    }

    /// Whether what is done to the left side depends on whether it had errors.
    fn asks_for_errors(&self, id: ExprId) -> bool {
        matches!(self.tree.expr(id), Expr::Splat { .. } | Expr::Binary { op: Operator::And | Operator::Or, .. })
    }

    fn base(&mut self, id: ExprId) -> Result<()> {
        let node = self.tree.node(id);
        self.at(node.span);
        match node.expr {
            Expr::Null => self.emitter.constant(Constant::Null),
            Expr::Bool(truth) => self.emitter.constant(Constant::Bool(truth)),
            Expr::Number(digits) => self.number(digits),
            Expr::Text(text) => self.text(text),
            Expr::Template(parts) => self.template(node.span, parts)?,
            Expr::Joined(of) => {
                self.value(of)?;
                self.at(node.span);
                self.core("joined", 1, &[self.span(of)]);
            }
            Expr::Traversal { root, steps, .. } => {
                let root = self.tree.str(root);
                let root = self.local(root).map_or(RootSpec::Global(root), RootSpec::Slot);
                self.path(node.span, root, steps);
            }
            Expr::Item => {
                let slot = self.items.last().copied();
                match slot {
                    Some(slot) => self.emitter.load_slot(slot),
                    None => self.core("dynamic", 0, &[]),
                }
            }
            Expr::Call(call) => self.call(node.span, &call)?,
            Expr::Conditional { condition, then, otherwise } => {
                self.conditional(node.span, [condition, then, otherwise])?;
            }
            Expr::Unary { op, operand, .. } => {
                self.value(operand)?;
                self.at(node.span);
                self.emitter.op(if op == UnaryOp::Not { Op::Not } else { Op::Neg }, &[]);
                self.emitter.details([self.tree.span(operand)]);
            }
            Expr::Tuple(ids) => {
                self.values(self.tree.ids(ids))?;
                self.at(node.span);
                self.emitter.op(Op::List, &[u32::try_from(ids.len()).unwrap_or(u32::MAX)]);
            }
            Expr::Object(entries) => self.object(node.span, self.tree.entries(entries))?,
            Expr::Key { inner, forced } => self.key(inner, forced)?,
            Expr::For(of) => self.for_value(node.span, of)?,
            Expr::Invalid => match self.tree.broken(id) {
                Some(broken) => self.broken(broken),
                None => self.core("dynamic", 0, &[]),
            },
            Expr::Paren(_)
            | Expr::Wrapped(_)
            | Expr::Relative { .. }
            | Expr::Index { .. }
            | Expr::Splat { .. }
            | Expr::Binary { .. } => self.core("dynamic", 0, &[]),
        }
        Ok(())
    }

    /// Does to the value on the stack what the node does to its left side.
    fn apply(&mut self, id: ExprId, mark: Option<u32>) -> Result<()> {
        let node = self.tree.node(id);
        match node.expr {
            Expr::Binary { op, left, right } => match operator(op) {
                Some(op) => {
                    self.value(right)?;
                    self.at(node.span);
                    self.emitter.binary(op);
                    self.emitter.details([self.span(left), self.span(right)]);
                }
                None => self.logic(node.span, op, [left, right], mark)?,
            },
            Expr::Index { key, brackets, .. } => {
                let slot = self.emitter.store();
                self.value(key)?;
                self.at(node.span);
                let segments = [SegmentSpec::Index(brackets)];
                let name = self.source.clone();
                let path =
                    PathSpec { name: name.slice(node.span), roots: &[RootSpec::Slot(slot)], segments: &segments };
                self.emitter.load(&path);
                self.emitter.free(slot);
            }
            Expr::Relative { steps, .. } => {
                let slot = self.emitter.store();
                self.at(node.span);
                self.path(node.span, RootSpec::Slot(slot), steps);
                self.emitter.free(slot);
            }
            Expr::Splat { source, each, marker } => {
                let mark = mark.unwrap_or(0);
                self.splat([self.span(source), marker, node.span], each, mark)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// `&&` and `||`: both sides are evaluated; what a known side decides, errors of the other do not matter.
    fn logic(&mut self, span: Span, op: Operator, [left, right]: [ExprId; 2], mark: Option<u32>) -> Result<()> {
        let mark = mark.unwrap_or(0);
        self.emitter.op(Op::MarkSlot, &[mark + 1]);
        self.value(right)?;
        self.at(span);
        self.emitter.op(if op == Operator::And { Op::And } else { Op::Or }, &[mark]);
        self.emitter.details([self.span(left), self.span(right)]);
        Ok(())
    }

    fn conditional(&mut self, span: Span, [condition, then, otherwise]: [ExprId; 3]) -> Result<()> {
        self.value(condition)?;
        let slot = self.emitter.store();
        for branch in [then, otherwise] {
            self.emitter.op(Op::Mark, &[]);
            self.value(branch)?;
        }
        self.emitter.load_slot(slot);
        self.emitter.free(slot);
        self.at(span);
        let [first, second] = [then, otherwise].map(|branch| self.span(branch));
        self.core("conditional", 5, &[self.span(condition), first, second, first.to(second)]);
        Ok(())
    }

    fn values(&mut self, ids: &'t [ExprId]) -> Result<()> {
        ids.iter().try_for_each(|&id| self.value(id))
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
        self.core("object", 1, &parts);
        Ok(())
    }

    /// The keys of entries, where each is a constant text that no other is and they fit one instruction.
    fn constant_keys(&self, entries: &[Entry]) -> Option<Vec<&'t str>> {
        if entries.len() > Emitter::KEYS {
            return None;
        }
        let keys: Option<Vec<_>> = entries.iter().map(|entry| self.constant_key(entry.key)).collect();
        keys.filter(|keys| distinct(keys.iter().copied()))
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

    /// The key of an entry: a bare name is its text.
    fn key(&mut self, inner: ExprId, forced: bool) -> Result<()> {
        let span = self.span(inner);
        match self.tree.expr(inner) {
            Expr::Traversal { root, steps, .. } if !forced && steps.is_empty() => self.text(root),
            Expr::Traversal { .. } if !forced => {
                self.at(span);
                self.core("ambiguous key", 0, &[]);
            }
            Expr::Null | Expr::Bool(_) if !forced => {
                let word = crate::dialect::hcl::syntax::tree::Tree::slice(span);
                self.text(word);
            }
            _ => self.value(inner)?,
        }
        Ok(())
    }

    /// The slot of a loop's name.
    pub(super) fn local(&self, name: &str) -> Option<u32> {
        self.locals.iter().rev().find(|(local, _)| *local == name).map(|(_, slot)| *slot)
    }

    pub(super) fn text(&mut self, text: Str) {
        let text: &'t str = self.tree.str(text);
        self.emitter.constant(Constant::Str(text.into()));
    }

    fn number(&mut self, digits: Str) {
        let text: &'t str = self.tree.str(digits);
        self.number_of(text);
    }

    /// Pushes the number of a literal.
    pub(super) fn number_of(&mut self, text: &'t str) {
        let plain = text.parse().ok().or_else(|| BigNum::parse(text)?.as_plain_int());
        match plain {
            Some(n) => self.emitter.constant(Constant::Int(n)),
            None => {
                self.emitter.constant(Constant::Str(text.into()));
                self.core("number", 1, &[]);
            }
        }
    }

    /// Pushes what constant steps from `root` lead to.
    fn path(&mut self, span: Span, root: RootSpec<'_>, steps: Run) {
        let (tree, source) = (self.tree, self.source.clone());
        let mut segments: SmallVec<[SegmentSpec<'t>; 8]> = SmallVec::new();
        for step in tree.steps(steps) {
            segments.push(self.segment(step));
        }
        self.at(span);
        self.emitter.load(&PathSpec { name: source.slice(span), roots: &[root], segments: &segments });
    }

    pub(super) fn segment(&mut self, step: &Step) -> SegmentSpec<'t> {
        match step.kind {
            StepKind::Attr(name) => SegmentSpec::Attr(self.tree.str(name), step.span),
            StepKind::Key(key) => {
                self.text(key);
                SegmentSpec::Index(step.span)
            }
            StepKind::Number(digits) => {
                self.number(digits);
                SegmentSpec::Index(step.span)
            }
        }
    }
}

/// Whether no key comes twice.
pub(super) fn distinct<'k>(keys: impl ExactSizeIterator<Item = &'k str>) -> bool {
    let mut seen = HashSet::with_capacity(keys.len());
    keys.into_iter().all(|key| seen.insert(key))
}

/// The instruction's operator; `&&` and `||` have none.
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
