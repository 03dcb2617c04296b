//! Maps and lists.

use super::Body;
use crate::bytecode::{Claim, Op};
use crate::compiler::{Constant, Emitter};
use crate::diagnostics::Result;
use crate::dialect::cel::syntax::tree::{Expr, Function};
use crate::dialect::cel::yaml::tree::{Entry, ExpressionId, Item, Map, MapId, NodeId, NodeKind, Run};
use crate::text::Span;
use crate::value::yaml::Kind;

/// How many values lie on the stack at once at most; a longer list is gathered.
const AT_ONCE: usize = 256;

impl<'t> Body<'_, 't> {
    pub(super) fn list(&mut self, run: Run) -> Result<()> {
        let items = self.file.elements(run);
        if items.len() > AT_ONCE || items.iter().any(|item| self.makes_items(*item)) {
            self.emitter().begin_gather();
            items.iter().try_for_each(|item| self.item(*item))?;
            self.emitter().end_gather();
            return Ok(());
        }
        let place = self.emitter_place();
        for item in items {
            self.within(*item, |body| body.value(*item))?;
        }
        self.at(place);
        let count = Span::of(0..items.len()).end;
        let op = if items.iter().any(|item| self.may_be_absent(*item)) { Op::ListSome } else { Op::List };
        self.emitter().op(op, &[count]);
        Ok(())
    }

    /// Adds an item, or all that a loop makes, to the list that is gathered.
    pub(super) fn item(&mut self, id: NodeId) -> Result<()> {
        if let Some(map) = self.map_of(id).filter(|_| self.makes_items(id)) {
            return self.splice(map);
        }
        let from = self.emitter().begin_region();
        self.value(id)?;
        let op = if self.may_be_absent(id) { Op::KeepSome } else { Op::Keep };
        self.emitter().op(op, &[]);
        self.emitter().end_element(from);
        Ok(())
    }

    pub(super) fn map_of(&self, id: NodeId) -> Option<&'t Map> {
        match self.file.node(id)?.kind {
            NodeKind::Map(map) => self.file.map(map),
            _ => None,
        }
    }

    /// Whether a node is a loop that makes items of the list around it.
    fn makes_items(&self, id: NodeId) -> bool {
        self.map_of(id).and_then(|map| map.each.as_ref()).is_some_and(|each| each.in_list)
    }

    /// Whether the value of a node may be undefined, or an optional.
    pub(super) fn may_be_absent(&self, id: NodeId) -> bool {
        let Some(node) = self.file.node(id) else { return true };
        match &node.kind {
            NodeKind::Scalar(_) | NodeKind::Text(_) | NodeKind::List(_) => false,
            NodeKind::Expression(id) => !self.is_there(*id),
            NodeKind::Map(id) => self.file.map(*id).is_none_or(|map| map.condition.is_some() || map.include.is_some()),
        }
    }

    /// Whether the value of an expression is no optional, whatever its names mean.
    fn is_there(&self, id: ExpressionId) -> bool {
        let Some(expression) = self.file.expression(id) else { return false };
        match expression.tree.expr(expression.tree.root) {
            Expr::Literal(_) | Expr::List(_) | Expr::Map(_) => true,
            Expr::Call(call) => match call.function {
                Function::Operator(operator) => operator.is_test() || operator.is_arithmetic(),
                Function::Named(_) => false,
            },
            _ => false,
        }
    }

    /// Pushes what a map makes.
    pub(super) fn map(&mut self, id: MapId) -> Result<()> {
        let Some(map) = self.file.map(id) else { return Ok(()) };
        let place = self.emitter_place();
        self.before(map)?;
        let guard = map.condition.as_ref().filter(|condition| condition.then.is_none());
        let Some(guard) = guard else { return self.content(map, place) };
        let (absent, end) = (self.emitter().new_label(), self.emitter().new_label());
        self.condition(&guard.condition, guard.span)?;
        self.emitter().jump(Op::JumpUnless, absent);
        let height = self.emitter().height();
        self.content(map, place)?;
        self.emitter().jump(Op::Jump, end);
        self.emitter().bind(absent);
        self.emitter().set_height(height);
        self.emitter().undefined();
        self.emitter().bind(end);
        Ok(())
    }

    /// Pushes what the keys of a map and the directives that make keys make.
    fn content(&mut self, map: &'t Map, place: Span) -> Result<()> {
        match map.items.as_slice() {
            [Item::Branch] => return self.branch(map),
            [Item::Include] => return self.include(map),
            _ => {}
        }
        if let Some(keys) = self.constant_keys(map) {
            let mut absent = false;
            for entry in entries(map) {
                self.within(entry.value, |body| body.value(entry.value))?;
                absent |= self.may_be_absent(entry.value);
            }
            self.at(place);
            if absent {
                self.emitter().map_some(&keys)
            } else {
                self.emitter().map(&keys)
            }
            return Ok(());
        }
        self.emitter().begin_gather();
        for item in &map.items {
            match item {
                Item::Entry(entry) => self.entry(*entry, Claim::Stays)?,
                Item::Loop => self.entries_of_loop(map)?,
                Item::Branch => {
                    self.branch(map)?;
                    self.keep_entries(Claim::Yields, map.condition.as_ref().map(|branch| branch.span));
                }
                Item::Include => {
                    self.include(map)?;
                    self.keep_entries(Claim::Yields, map.include.as_ref().map(|include| include.span));
                }
            }
        }
        self.at(place);
        self.emitter().end_entries();
        Ok(())
    }

    pub(super) fn keep_entries(&mut self, claim: Claim, place: Option<Span>) {
        if let Some(place) = place {
            self.at(place);
        }
        self.emitter().op(Op::KeepEntries, &[claim as u32]);
    }

    /// Adds an entry to the map that is gathered.
    pub(super) fn entry(&mut self, entry: Entry, claim: Claim) -> Result<()> {
        let Some(key) = self.file.node(entry.key) else { return Ok(()) };
        match &key.kind {
            NodeKind::Scalar(scalar) if matches!(scalar.kind, Kind::Null) => {
                self.within(entry.value, |body| body.value(entry.value))?;
                self.core("entry of null", 1);
                self.keep_entries(claim, Some(key.span));
                return Ok(());
            }
            NodeKind::Scalar(scalar) if matches!(scalar.kind, Kind::Float(_)) => {
                self.emitter().constant(Constant::Str((&*scalar.text).into()));
            }
            _ => self.within(entry.key, |body| body.value(entry.key))?,
        }
        self.within(entry.value, |body| body.value(entry.value))?;
        self.at(key.span);
        self.emitter().op(Op::KeepEntry, &[claim as u32]);
        Ok(())
    }

    /// The keys of a map that has nothing but keys, all of them texts that are known; the front end has found that none
    /// comes twice.
    fn constant_keys(&self, map: &'t Map) -> Option<Vec<&'t str>> {
        if map.items.len() > Emitter::KEYS.min(AT_ONCE) {
            return None;
        }
        map.items
            .iter()
            .map(|item| if let Item::Entry(entry) = item { self.constant_key(*entry) } else { None })
            .collect()
    }

    /// The text of a key that is one.
    pub(super) fn constant_key(&self, entry: Entry) -> Option<&'t str> {
        match &self.file.node(entry.key)?.kind {
            NodeKind::Scalar(scalar) if matches!(scalar.kind, Kind::Str) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Where the code that is emitted now comes from.
    fn emitter_place(&mut self) -> Span {
        self.emitter().place()
    }
}

/// The keys of a map with their values.
pub(super) fn entries(map: &Map) -> impl Iterator<Item = Entry> {
    map.items.iter().filter_map(|item| if let Item::Entry(entry) = item { Some(*entry) } else { None })
}
