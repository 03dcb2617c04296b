//! `$for`: iterations that make items of the surrounding list, or entries of the map.

use super::body::Body;
use crate::yaml::syntax::tree::{For, Map, NodeId};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::{Claim, Op};

impl<'t> Body<'_, 't> {
    /// Adds the items of a map with a loop to the list under construction.
    pub(super) fn splice(&mut self, map: &'t Map) -> Result<()> {
        let Some(each) = &map.directives().each else { return Ok(()) };
        let absent = self.emitter().new_label();
        let from = self.emitter().begin_region();
        self.before(map)?;
        if let Some(guard) = &map.directives().condition {
            self.condition(&guard.condition, guard.span)?;
            self.emitter().jump(Op::JumpUnless, absent);
        }
        self.over(each)?;
        self.emitter().end_element(from);
        self.iterations(each, |body| body.item(each.body))?;
        self.emitter().bind(absent);
        Ok(())
    }

    /// Adds the entries of a loop to the map under construction.
    pub(super) fn entries_of_loop(&mut self, map: &'t Map) -> Result<()> {
        let Some(each) = &map.directives().each else { return Ok(()) };
        self.over(each)?;
        self.iterations(each, |body| {
            if let Some(made) = body.entries_only(each.body) {
                body.before(made)?;
                return made.entries().try_for_each(|entry| body.entry(entry, Claim::Yields));
            }
            body.value(each.body)?;
            body.keep_entries(Claim::Yields, body.file.node(each.body).map(|node| node.span));
            Ok(())
        })
    }

    /// Returns the map of a node if its entries can be added one by one: it has only entries, with distinct keys.
    fn entries_only(&self, id: NodeId) -> Option<&'t Map> {
        let map = self.file.map_of(id).filter(|map| map.is_plain() && !map.items.is_empty())?;
        let distinct = map.items.len() == 1 || map.entries().all(|entry| self.file.string(entry.key).is_some());
        let tagged = self.file.node(id).is_some_and(|node| node.tag.is_some());
        (distinct && !tagged).then_some(map)
    }

    /// Pushes the range of a loop.
    fn over(&mut self, each: &'t For) -> Result<()> {
        self.within_step("$for", |body| {
            body.expression(each.over)?;
            body.intrinsic(if each.key.is_some() { "in pairs" } else { "one by one" }, 1);
            Ok(())
        })
    }

    /// Emits a loop over the top value, with the code of an iteration.
    fn iterations(&mut self, each: &'t For, iteration: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let end = self.emitter().new_label();
        let names = 1 + u32::from(each.key.is_some());
        let slots = self.emitter().new_slots(names);
        if let Some(key) = each.key {
            self.set_slot(key, slots);
        }
        let value = slots + names - 1;
        self.set_slot(each.value, value);
        let mark = self.emitter().begin_loop(names, slots, end);
        let from = self.emitter().begin_region();
        iteration(self)?;
        for (variable, slot) in [(Some(each.value), value), (each.key, slots)] {
            let Some(variable) = variable.and_then(|id| self.file.variable(id)) else { continue };
            self.emitter().end_name(from, &variable.name, slot);
        }
        self.at(each.span);
        self.emitter().end_loop(mark);
        self.emitter().bind(end);
        Ok(())
    }
}
