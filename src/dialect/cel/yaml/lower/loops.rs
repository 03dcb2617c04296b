//! `$for`: its results are items of the list around it, or entries of the map.

use super::Body;
use super::maps::entries;
use crate::bytecode::{Claim, Op};
use crate::diagnostics::Result;
use crate::dialect::cel::yaml::tree::{For, Item, Map, NodeId};

impl<'t> Body<'_, 't> {
    /// Adds what a map with a loop makes to the list that is gathered.
    pub(super) fn splice(&mut self, map: &'t Map) -> Result<()> {
        let Some(each) = &map.each else { return Ok(()) };
        let absent = self.emitter().new_label();
        let from = self.emitter().begin_region();
        self.before(map)?;
        if let Some(guard) = &map.condition {
            self.condition(&guard.condition, guard.span)?;
            self.emitter().jump(Op::JumpUnless, absent);
        }
        self.over(each)?;
        self.emitter().end_element(from);
        self.turns(each, |body| body.item(each.body))?;
        self.emitter().bind(absent);
        Ok(())
    }

    /// Adds the entries that the loop of a map makes to the map that is gathered.
    pub(super) fn entries_of_loop(&mut self, map: &'t Map) -> Result<()> {
        let Some(each) = &map.each else { return Ok(()) };
        self.over(each)?;
        self.turns(each, |body| {
            if let Some(made) = body.entries_only(each.body) {
                body.before(made)?;
                return entries(made).try_for_each(|entry| body.entry(entry, Claim::Yields));
            }
            body.value(each.body)?;
            body.keep_entries(Claim::Yields, body.file.node(each.body).map(|node| node.span));
            Ok(())
        })
    }

    /// The map of a node where its entries can be added one by one: there are only keys, and no two are the same.
    fn entries_only(&self, id: NodeId) -> Option<&'t Map> {
        let map = self.map_of(id).filter(|map| map.condition.is_none() && !map.items.is_empty())?;
        let only = map.items.iter().all(|item| matches!(item, Item::Entry(_)));
        let distinct = map.items.len() == 1 || entries(map).all(|entry| self.constant_key(entry).is_some());
        let tagged = self.file.node(id).is_some_and(|node| node.tag.is_some());
        (only && distinct && !tagged).then_some(map)
    }

    /// Pushes what a loop goes over.
    fn over(&mut self, each: &'t For) -> Result<()> {
        self.within_step("$for", |body| {
            body.expression(each.over)?;
            body.core(if each.key.is_some() { "in pairs" } else { "one by one" }, 1);
            Ok(())
        })
    }

    /// A loop over the top, which does what `turn` emits in each turn.
    fn turns(&mut self, each: &'t For, turn: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let end = self.emitter().new_label();
        let names = 1 + u32::from(each.key.is_some());
        let slots = self.emitter().new_slots(names);
        if let Some(key) = each.key {
            self.place(key, slots);
        }
        let value = slots + names - 1;
        self.place(each.value, value);
        let mark = self.emitter().begin_loop(names, slots, end);
        let from = self.emitter().begin_region();
        turn(self)?;
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
