//! Maps and lists, constants, and text with expressions.

use super::Body;
use crate::syntax::tree::{Expr, Function};
use crate::yaml::syntax::{ExpressionId, Item, Map, MapId, NodeId, NodeKind, Run, TemplateEntry, TextPart};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Claim, Op};
use dropforge_machine::compiler::{Constant, Emitter};
use dropforge_value::yaml::{self, Kind, keeps_spelling};

/// The maximum number of values on the stack. A longer list is built step by step.
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
        let position = self.emitter().place();
        for item in items {
            self.within(*item, |body| body.value(*item))?;
        }
        self.at(position);
        let count = Span::of(0..items.len()).end;
        let op = if items.iter().any(|item| self.may_be_absent(*item)) { Op::ListSome } else { Op::List };
        self.emitter().op(op, &[count]);
        Ok(())
    }

    /// Adds an item, or the items of a loop, to the list under construction.
    pub(super) fn item(&mut self, id: NodeId) -> Result<()> {
        if let Some(map) = self.file.map_of(id).filter(|_| self.makes_items(id)) {
            return self.splice(map);
        }
        let from = self.emitter().begin_region();
        self.value(id)?;
        let op = if self.may_be_absent(id) { Op::KeepSome } else { Op::Keep };
        self.emitter().op(op, &[]);
        self.emitter().end_element(from);
        Ok(())
    }

    /// Returns `true` for a loop that makes items of the surrounding list.
    fn makes_items(&self, id: NodeId) -> bool {
        self.file.map_of(id).and_then(|map| map.directives().each.as_ref()).is_some_and(|each| each.in_list)
    }

    /// Returns `true` if the value of a node can be undefined or an optional.
    fn may_be_absent(&self, id: NodeId) -> bool {
        let Some(node) = self.file.node(id) else { return true };
        match &node.kind {
            NodeKind::Scalar(_) | NodeKind::Text(_) | NodeKind::List(_) => false,
            NodeKind::Expression(id) => !self.is_there(*id),
            NodeKind::Map(id) => self
                .file
                .map(*id)
                .is_none_or(|map| map.directives().condition.is_some() || map.directives().include.is_some()),
        }
    }

    /// Returns `true` if the value of an expression cannot be an optional.
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

    /// Pushes the value of a map.
    pub(super) fn map(&mut self, id: MapId) -> Result<()> {
        let Some(map) = self.file.map(id) else { return Ok(()) };
        let position = self.emitter().place();
        self.before(map)?;
        let guard = map.directives().condition.as_ref().filter(|condition| condition.then.is_none());
        let Some(guard) = guard else { return self.content(map, position) };
        let (absent, end) = (self.emitter().new_label(), self.emitter().new_label());
        self.condition(&guard.condition, guard.span)?;
        self.emitter().jump(Op::JumpUnless, absent);
        let height = self.emitter().height();
        self.content(map, position)?;
        self.emitter().jump(Op::Jump, end);
        self.emitter().bind(absent);
        self.emitter().set_height(height);
        self.emitter().undefined();
        self.emitter().bind(end);
        Ok(())
    }

    /// Pushes the map of the entries, and of the directives that make entries.
    fn content(&mut self, map: &'t Map, position: Span) -> Result<()> {
        match map.items.as_slice() {
            [Item::Branch] => return self.branch(map),
            [Item::Include] => return self.include(map),
            _ => {}
        }
        if let Some(keys) = self.constant_keys(map) {
            let mut absent = false;
            for entry in map.entries() {
                self.within(entry.value, |body| body.value(entry.value))?;
                absent |= self.may_be_absent(entry.value);
            }
            self.at(position);
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
                    self.keep_entries(Claim::Stays, map.directives().condition.as_ref().map(|branch| branch.span));
                }
                Item::Include => {
                    self.include(map)?;
                    self.keep_entries(Claim::Yields, map.directives().include.as_ref().map(|include| include.span));
                }
            }
        }
        self.at(position);
        self.emitter().end_entries();
        Ok(())
    }

    pub(super) fn keep_entries(&mut self, claim: Claim, position: Option<Span>) {
        if let Some(position) = position {
            self.at(position);
        }
        self.emitter().op(Op::KeepEntries, &[claim as u32]);
    }

    /// Adds an entry to the map under construction.
    pub(super) fn entry(&mut self, entry: TemplateEntry, claim: Claim) -> Result<()> {
        let Some(key) = self.file.node(entry.key) else { return Ok(()) };
        match &key.kind {
            NodeKind::Scalar(scalar) if matches!(scalar.kind, Kind::Null) => {
                self.within(entry.value, |body| body.value(entry.value))?;
                self.intrinsic("entry of null", 1);
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

    /// Returns the keys of a map with only constant string keys. They are distinct, as the front end has checked.
    fn constant_keys(&self, map: &'t Map) -> Option<Vec<&'t str>> {
        let few = map.items.len() <= Emitter::KEYS.min(AT_ONCE);
        let only_entries = map.entries().count() == map.items.len();
        let keys = || map.entries().map(|entry| self.file.string(entry.key).map(|key| &**key)).collect();
        (few && only_entries).then(keys).flatten()
    }
}

impl<'t> Body<'_, 't> {
    /// Pushes the value of a node, undefined if it is missing.
    pub(super) fn value(&mut self, id: NodeId) -> Result<()> {
        let Some(node) = self.file.node(id) else { return Ok(()) };
        self.at(node.span);
        match &node.kind {
            NodeKind::Scalar(scalar) => self.scalar(scalar),
            NodeKind::Expression(expression) => self.expression(*expression)?,
            NodeKind::Text(run) => self.text(*run, node.span)?,
            NodeKind::List(run) => self.list(*run)?,
            NodeKind::Map(map) => self.map(*map)?,
        }
        if let Some(tag) = &node.tag {
            self.at(tag_span(self.file.source.text(), node.span, tag));
            self.emitter().constant(Constant::Str((&**tag).into()));
            self.intrinsic("tagged", 2);
        }
        self.emitter().check_size()
    }

    /// Pushes a constant with its spelling.
    pub(super) fn scalar(&mut self, scalar: &'t yaml::Node) {
        match scalar.kind {
            Kind::Null | Kind::List(_) | Kind::Map(_) => self.emitter().constant(Constant::Null),
            Kind::Bool(truth) => self.emitter().constant(Constant::Bool(truth)),
            Kind::Int(n) => {
                self.emitter().constant(Constant::Int(n));
                self.spelled(scalar, &n.to_string());
            }
            Kind::Uint(n) => {
                self.emitter().constant(Constant::Int(n.cast_signed()));
                self.intrinsic("uint", 1);
            }
            Kind::Float(n) => {
                self.emitter().constant(Constant::Float(n));
                self.spelled(scalar, &format!("{n:?}"));
            }
            Kind::Str => self.emitter().constant(Constant::Str((&*scalar.text).into())),
        }
    }

    /// Attaches the spelling to the number on top, if it differs from the plain form.
    fn spelled(&mut self, scalar: &'t yaml::Node, plain: &str) {
        if &*scalar.text != plain && keeps_spelling(&scalar.text) {
            self.emitter().constant(Constant::Str((&*scalar.text).into()));
            self.intrinsic("spelled", 2);
        }
    }

    fn text(&mut self, run: Run, span: Span) -> Result<()> {
        let file = self.file;
        let parts = file.parts(run);
        for part in parts {
            match part {
                TextPart::Text(text) => self.emitter().constant(Constant::Str((&**text).into())),
                TextPart::Expression(id) => self.expression(*id)?,
            }
        }
        self.at(span);
        self.emitter().join(Span::of(0..parts.len()).end);
        let position = |part: &TextPart| match part {
            TextPart::Text(_) => span,
            TextPart::Expression(id) => file.expression(*id).map_or(span, |expression| expression.span),
        };
        self.emitter().details(parts.iter().map(position));
        Ok(())
    }
}

/// The maximum number of bytes between a tag and its node.
const NEAR: usize = 200;

/// Returns the span of the tag before a node, or of the node if the tag is elsewhere, as that of an alias is.
fn tag_span(text: &str, node: Span, tag: &str) -> Span {
    let (end, near) = (node.start as usize, tag.len() + NEAR);
    let from = (end.saturating_sub(near)..=end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
    let before = text.get(from..end).unwrap_or("");
    let only_space = |rest: &str| rest.get(tag.len()..).is_some_and(|rest| rest.split_whitespace().all(is_property));
    let found = before.rfind(tag).filter(|at| before.get(*at..).is_some_and(only_space));
    found.map_or(node, |at| Span::of(from + at..from + at + tag.len()))
}

/// Returns `true` for an anchor.
fn is_property(word: &str) -> bool {
    word.starts_with('&')
}
