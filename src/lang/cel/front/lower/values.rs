//! Values: literals, names, fields, lists, maps.

use std::collections::HashSet;

use super::Lower;
use crate::cost;
use crate::syntax::tree::{Element, Entry, Expr, ExprId, Literal, Run, Selection};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::Op;
use dropforge_machine::compiler::{Constant, Emitter, PathSpec, RootSpec, SegmentSpec};

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
