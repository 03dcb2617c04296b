//! `for` expressions and splats.

use std::ops::Range;

use super::Lowering;
use crate::syntax::{ExprId, For, ForId};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::Op;

impl<'t> Lowering<'t> {
    /// Pushes the tuple or object of a `for` expression.
    ///
    /// Unknown conditions, and the marks of conditions, are noted. The intrinsic at the end of the loop reads the notes
    /// since the mark.
    pub(super) fn for_value(&mut self, span: Span, id: ForId) -> Result<()> {
        let Some(of) = self.tree.for_expr(id) else { return Ok(()) };
        let mark = self.emitter.mark();
        self.value(of.collection)?;
        let collection = self.emitter.store();
        self.at(span);
        self.emitter.begin_gather();
        self.iterations(span, of, collection, |lowering| match of.key {
            Some(key) => lowering.entry(key, of.value),
            None => {
                lowering.value(of.value)?;
                lowering.emitter.op(Op::Keep, &[]);
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
        self.intrinsic(end, 3, &[self.span(of.collection), key]);
        self.emitter.free(mark);
        self.emitter.free(collection);
        Ok(())
    }

    /// Emits a loop over the collection in a slot.
    pub(super) fn iterations(
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
            self.intrinsic("for ready", 1, &[self.span(of.collection)]);
            self.emitter.jump(Op::JumpUnless, end);
            self.rehearsal(span, condition, collection, slots..slots + names)?;
            self.emitter.jump(Op::JumpUnless, end);
        }
        self.emitter.load_slot(collection);
        self.at(span);
        let start = self.emitter.begin_loop(names, slots, end);
        self.emitter.details([self.span(of.collection)]);
        if let Some(condition) = of.condition {
            self.value(condition)?;
            self.at(self.span(condition));
            self.emitter.continue_unless(start);
        }
        body(self)?;
        self.emitter.end_loop(start);
        self.emitter.bind(end);
        self.locals.truncate(outer);
        Ok(())
    }

    /// Evaluates a condition once with unknown loop variables and pushes whether the loop over the collection in a slot
    /// begins. Errors that do not depend on the variables are reported once, and the loop has no iterations.
    fn rehearsal(&mut self, span: Span, condition: ExprId, collection: u32, slots: Range<u32>) -> Result<()> {
        for slot in slots {
            self.intrinsic("dynamic", 0, &[]);
            self.emitter.op(Op::StoreSlot, &[slot]);
        }
        let mark = self.emitter.mark();
        self.value(condition)?;
        self.emitter.load_slot(mark);
        self.emitter.load_slot(collection);
        self.emitter.free(mark);
        self.at(span);
        self.intrinsic("for rehearsal", 3, &[self.span(condition)]);
        Ok(())
    }

    /// Keeps the key and the value of an entry, unless the entry has no key.
    fn entry(&mut self, key: ExprId, value: ExprId) -> Result<()> {
        let (keep, next) = (self.emitter.new_label(), self.emitter.new_label());
        self.value(key)?;
        self.intrinsic("for key", 1, &[self.span(key)]);
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

    /// Replaces the source on the stack by the result of a splat. `mark` is the slot of the number of notes before the
    /// source was evaluated.
    ///
    /// A second pass goes over unknown values of the types of the items, where the items do not tell the type of the
    /// result.
    pub(super) fn splat(&mut self, [source, marker, span]: [Span; 3], each: ExprId, mark: u32) -> Result<()> {
        let slot = self.emitter.store();
        self.emitter.load_slot(slot);
        self.emitter.load_slot(mark);
        self.at(span);
        self.intrinsic("splat source", 2, &[source, marker]);
        let passes = self.emitter.store();
        let (items, second) = (self.emitter.mark(), self.emitter.mark());
        let [end, ready, pass_end] = [(); 3].map(|()| self.emitter.new_label());
        let (pass, item) = (self.emitter.new_slot(), self.emitter.new_slot());
        self.emitter.begin_gather();
        self.emitter.load_slot(passes);
        let outer = self.emitter.begin_loop(1, pass, end);
        self.emitter.op(Op::MarkSlot, &[second]);
        self.emitter.load_slot_or_nothing(pass);
        self.emitter.jump(Op::JumpPresent, ready);
        for slot in [slot, mark, items] {
            self.emitter.load_slot(slot);
        }
        self.intrinsic("splat types", 3, &[]);
        self.emitter.bind(ready);
        let inner = self.emitter.begin_loop(1, item, pass_end);
        self.items.push(item);
        self.value(each)?;
        self.items.pop();
        self.emitter.op(Op::Keep, &[]);
        self.emitter.end_loop(inner);
        self.emitter.bind(pass_end);
        self.emitter.end_loop(outer);
        self.emitter.bind(end);
        self.at(span);
        self.emitter.end_gather();
        for slot in [passes, slot, mark, items, second] {
            self.emitter.load_slot(slot);
        }
        self.intrinsic("splat", 6, &[self.span(each)]);
        [slot, passes, items, second].into_iter().for_each(|slot| self.emitter.free(slot));
        Ok(())
    }
}
