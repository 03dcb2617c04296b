//! `for` expressions and splats.

use std::ops::Range;

use super::Lower;
use crate::bytecode::Op;
use crate::diagnostics::Result;
use crate::dialect::hcl::syntax::tree::{ExprId, For, ForId};
use crate::text::Span;

impl<'t> Lower<'t> {
    /// Pushes the tuple or object that a `for` expression makes.
    ///
    /// What its condition does not answer, and the marks of its answers, are noted; the function that ends the loop
    /// looks for that from the mark on.
    pub(super) fn for_value(&mut self, span: Span, id: ForId) -> Result<()> {
        let Some(of) = self.tree.for_expr(id) else { return Ok(()) };
        let mark = self.emitter.mark();
        self.value(of.collection)?;
        let collection = self.emitter.store();
        self.at(span);
        self.emitter.begin_gather();
        self.turns(span, of, collection, |lower| match of.key {
            Some(key) => lower.entry(key, of.value),
            None => {
                lower.value(of.value)?;
                lower.emitter.op(Op::Keep, &[]);
                Ok(())
            }
        })?;
        self.at(span);
        self.emitter.end_gather();
        self.emitter.load_slot(mark);
        self.emitter.load_slot(collection);
        let end = match (of.key, of.group) {
            (None, _) => "for tuple",
            (Some(_), false) => "for object",
            (Some(_), true) => "for groups",
        };
        let key = of.key.map_or(span, |key| self.span(key));
        self.core(end, 3, &[self.span(of.collection), key]);
        self.emitter.free(mark);
        self.emitter.free(collection);
        Ok(())
    }

    /// The turns of a loop over what is in the slot `collection`.
    pub(super) fn turns(
        &mut self,
        span: Span,
        of: &'t For,
        collection: u32,
        body: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let end = self.emitter.new_label();
        let names = 1 + u32::from(of.key_var.is_some());
        let slots = self.emitter.new_slots(names);
        let outer = self.locals.len();
        self.locals.extend(of.key_var.map(|name| (self.tree.str(name), slots)));
        self.locals.push((self.tree.str(of.value_var), slots + names - 1));
        if let Some(condition) = of.condition {
            self.emitter.load_slot(collection);
            self.at(span);
            self.core("for ready", 1, &[self.span(of.collection)]);
            self.emitter.jump(Op::JumpUnless, end);
            self.rehearse(span, condition, slots..slots + names)?;
            self.emitter.jump(Op::JumpUnless, end);
        }
        self.emitter.load_slot(collection);
        self.at(span);
        let turns = self.emitter.begin_loop(names, slots, end);
        self.emitter.details([self.span(of.collection)]);
        if let Some(condition) = of.condition {
            self.value(condition)?;
            self.at(self.span(condition));
            self.emitter.continue_unless(turns);
        }
        body(self)?;
        self.emitter.end_loop(turns);
        self.emitter.bind(end);
        self.locals.truncate(outer);
        Ok(())
    }

    /// Evaluates a condition once with names of which nothing is known: what is wrong whatever they are is reported
    /// once, and there are no turns. Pushes whether all is well.
    fn rehearse(&mut self, span: Span, condition: ExprId, slots: Range<u32>) -> Result<()> {
        for slot in slots {
            self.core("dynamic", 0, &[]);
            self.emitter.op(Op::StoreSlot, &[slot]);
        }
        let mark = self.emitter.mark();
        self.value(condition)?;
        self.emitter.load_slot(mark);
        self.emitter.free(mark);
        self.at(span);
        self.core("for rehearsal", 2, &[self.span(condition)]);
        Ok(())
    }

    /// Keeps key and value of an entry, unless the key is none.
    fn entry(&mut self, key: ExprId, value: ExprId) -> Result<()> {
        let (keep, next) = (self.emitter.new_label(), self.emitter.new_label());
        self.value(key)?;
        self.core("for key", 1, &[self.span(key)]);
        self.emitter.jump(Op::JumpPresent, keep);
        let height = self.emitter.height();
        self.emitter.jump(Op::Jump, next);
        self.emitter.bind(keep);
        self.emitter.set_height(height + 1);
        self.emitter.op(Op::Keep, &[]);
        self.value(value)?;
        self.emitter.op(Op::Keep, &[]);
        self.emitter.bind(next);
        Ok(())
    }

    /// Replaces the source on the stack by what a splat makes of it; `mark` is the slot of how many notes there were
    /// before the source was evaluated.
    pub(super) fn splat(&mut self, [source, marker, span]: [Span; 3], each: ExprId, mark: u32) -> Result<()> {
        let slot = self.emitter.store();
        self.emitter.load_slot(slot);
        self.emitter.load_slot(mark);
        self.at(span);
        self.core("splat source", 2, &[source, marker]);
        let items = self.emitter.mark();
        let (end, item) = (self.emitter.new_label(), self.emitter.new_slot());
        let list = self.emitter.store();
        self.emitter.begin_gather();
        self.emitter.load_slot(list);
        let turns = self.emitter.begin_loop(1, item, end);
        self.items.push(item);
        self.value(each)?;
        self.items.pop();
        self.emitter.op(Op::Keep, &[]);
        self.emitter.end_loop(turns);
        self.emitter.bind(end);
        self.at(span);
        self.emitter.end_gather();
        for slot in [slot, mark, items] {
            self.emitter.load_slot(slot);
        }
        self.core("splat", 4, &[Span::new(marker.start, span.end)]);
        [slot, items, list].into_iter().for_each(|slot| self.emitter.free(slot));
        Ok(())
    }
}
