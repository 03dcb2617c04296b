//! Expressions that leave a value on the stack.

use std::collections::HashSet;

use super::Lower;
use super::names::{Standing, qualified};
use crate::bytecode::{Failure, Op};
use crate::compiler::{Constant, Emitter, PathSpec, RootSpec, SegmentSpec};
use crate::diagnostics::{Code, Result};
use crate::dialect::cel::cost;
use crate::dialect::cel::syntax::tree::{Element, Entry, Expr, ExprId, Literal, Run, Selection};
use crate::text::Span;

impl<'t> Lower<'_, 't> {
    /// Pushes the value of an expression. Its depth is bounded by the parser.
    pub(in crate::dialect::cel) fn value(&mut self, id: ExprId) -> Result<()> {
        match self.unknown {
            Some(_) => self.value_or_unknown(id),
            None => self.known_value(id),
        }
    }

    /// The same where it is no attribute that is not known.
    pub(super) fn known_value(&mut self, id: ExprId) -> Result<()> {
        let tree = self.tree;
        self.at(id);
        if self.folded(id)? {
            return self.emitter.check_size();
        }
        match tree.expr(id) {
            Expr::Invalid => self.fail(id, Code::UnexpectedToken, "what stands here is no expression"),
            Expr::Literal(literal) => self.literal(literal),
            Expr::Ident { .. } | Expr::Select { selection: Selection::Plain, .. } => self.name_or_field(id)?,
            Expr::Select { operand, field, selection } => self.asked(id, operand, field, selection)?,
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

    /// Raises an error where the code gets there.
    pub(super) fn fail(&mut self, id: ExprId, code: Code, message: impl Into<String>) {
        self.at(id);
        self.emitter.fail(&Failure { code, message: message.into(), available: None, help: None });
        let height = self.emitter.height();
        self.emitter.set_height(height + 1); // nothing leads on
    }

    fn literal(&mut self, literal: Literal) {
        let tree = self.tree;
        match literal {
            Literal::Null => self.emitter.constant(Constant::Null),
            Literal::Bool(truth) => self.emitter.constant(Constant::Bool(truth)),
            Literal::Int(n) => self.emitter.constant(Constant::Int(n)),
            Literal::Double(n) => self.emitter.constant(Constant::Float(n)),
            Literal::String(text) => self.text(tree.name(text)),
            Literal::Uint(n) => {
                self.emitter.constant(Constant::Int(n.cast_signed()));
                self.core("uint", 1);
            }
            Literal::Bytes(run) => {
                let text = crate::stdlib::encoding::base64(tree.bytes(run));
                self.emitter.constant(Constant::Str(text.into()));
                self.core("bytes", 1);
            }
        }
    }

    /// A variable, a type, or a field of a value.
    fn name_or_field(&mut self, id: ExprId) -> Result<()> {
        if self.how.metered {
            return self.chain(id, true);
        }
        let tree = self.tree;
        let Some((parts, rooted, root)) = qualified(tree, id) else { return self.field(id) };
        let local = match tree.expr(root) {
            Expr::Ident { name, rooted: false } => self.local(name),
            _ => None,
        };
        if let Some(slot) = local {
            self.path(id, RootSpec::Slot(slot), parts.len() - 1);
            return Ok(());
        }
        match self.standing(&parts, rooted) {
            Standing::Slot(slot, fields) => self.path(id, RootSpec::Slot(slot), fields),
            Standing::Input(name, fields) => self.path(id, RootSpec::Global(&name), fields),
            Standing::Type(name) => self.type_value(name),
            Standing::Nothing(failure) => self.nothing(&failure),
            Standing::InputOrType(name) => {
                let (first, fields) = (parts.first().copied().unwrap_or_default(), parts.len() - 1);
                self.input_or_type(first, name, |lower| {
                    if fields > 0 {
                        let slot = lower.emitter.store();
                        lower.path(id, RootSpec::Slot(slot), fields);
                        lower.emitter.free(slot);
                    }
                });
            }
        }
        Ok(())
    }

    /// Pushes a type as a value.
    pub(super) fn type_value(&mut self, name: &'static str) {
        self.emitter.constant(Constant::Str(name.into()));
        self.core("type", 1);
    }

    /// Raises an error in the place of a value.
    pub(super) fn nothing(&mut self, failure: &Failure) {
        self.emitter.fail(failure);
        let height = self.emitter.height();
        self.emitter.set_height(height + 1); // nothing leads on
    }

    /// The input of this name, of which `fields` makes what is asked of it, or where there is none the type.
    pub(super) fn input_or_type(&mut self, name: &str, ty: &'static str, fields: impl FnOnce(&mut Self)) {
        let (there, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.emitter.peek(&PathSpec { name, roots: &[RootSpec::Global(name)], segments: &[] });
        self.emitter.jump(Op::JumpPresent, there);
        self.type_value(ty);
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(there);
        fields(self);
        self.emitter.bind(end);
    }

    /// The slot of a loop's or a binding's name.
    pub(super) fn local(&self, name: crate::dialect::cel::syntax::tree::Name) -> Option<u32> {
        let slot = self.locals.iter().rev().find(|(local, _)| *local == name).map(|(_, slot)| *slot);
        slot.or_else(|| self.block.get(self.tree.name(name)).copied())
    }

    /// Pushes what the last `fields` names of a chain of selects lead to from `root`.
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

    /// A field of what is no name.
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
            self.core("list", 1);
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
        self.core("map", 1);
        Ok(())
    }

    /// The keys of entries, where each is a constant text that no other is.
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
