//! `$schema`, `$let`, `$assert`, `$if`: the directives before the keys of a map; and `$for`, whose iterations make items of
//! the surrounding list, or entries of the map.

use super::Body;
use crate::syntax::tree::{Expr, Function, Literal, Selection};
use crate::yaml::syntax::{Assert, Condition, DeclaredId, DeclaredName, ExpressionId, For, Let, LetValue, Map, NodeId};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::{Span, one_line};
use dropforge_machine::bytecode::{Claim, Op};
use dropforge_machine::compiler::{Constant, PathSpec, RootSpec, SegmentSpec};
use dropforge_schema::Schemas;
use dropforge_value::Data;

impl<'t> Body<'_, 't> {
    /// Emits the directives that run before the keys.
    pub(super) fn before(&mut self, map: &'t Map) -> Result<()> {
        if !map.directives().schema.is_empty() {
            self.schema(&map.directives().schema)?;
        }
        map.directives().lets.iter().try_for_each(|of| self.assign(of))?;
        map.directives().asserts.iter().try_for_each(|of| self.assert(of))
    }

    /// Validates names against their schemas, and assigns defaults to missing inputs.
    fn schema(&mut self, declared: &'t [DeclaredId]) -> Result<()> {
        let file = self.file;
        let declared = || declared.iter().filter_map(move |id| file.declared(*id));
        self.at(declared().map(|declared| declared.span).reduce(Span::to).unwrap_or_default());
        let text = Schemas::text(declared().map(|declared| (&*declared.name, &*declared.schema)));
        self.emitter().constant(Constant::Str(text.into()));
        let mut count = 0;
        for declared in declared() {
            self.given_or_default(declared)?;
            count += 1;
        }
        self.emitter().op(Op::List, &[count]);
        self.intrinsic("schema", 2);
        let names: Vec<Span> = declared().map(|declared| declared.span).collect();
        self.emitter().details(names);
        if declared().all(|declared| declared.checked.is_none()) {
            self.drop();
            return Ok(());
        }
        let values = self.emitter().store();
        for (at, declared) in (0..).zip(declared()) {
            let Some(variable) = declared.checked else { continue };
            self.at(declared.span);
            self.emitter().constant(Constant::Int(at));
            let (roots, segments) = ([RootSpec::Slot(values)], [SegmentSpec::Index(declared.span)]);
            self.emitter().peek(&PathSpec { name: &declared.name, roots: &roots, segments: &segments });
            let slot = self.define(variable);
            self.emitter().op(Op::StoreSlot, &[slot]);
        }
        self.emitter().free(values);
        Ok(())
    }

    /// Pushes the value of a declared name, its default if it is a missing input, or undefined.
    fn given_or_default(&mut self, declared: &'t DeclaredName) -> Result<()> {
        let default = declared.schema.default_value().filter(|_| declared.of.is_none());
        let Some(default) = default else {
            self.name_or_undefined(&declared.name, self.slot(declared.of));
            return Ok(());
        };
        let end = self.emitter().new_label();
        if self.peek(&declared.name) {
            self.emitter().jump(Op::JumpPresent, end);
        }
        self.data(default)?;
        self.emitter().bind(end);
        Ok(())
    }

    /// Pushes a default value.
    fn data(&mut self, data: &'t Data) -> Result<()> {
        match data {
            Data::Null => self.emitter().constant(Constant::Null),
            Data::Bool(truth) => self.emitter().constant(Constant::Bool(*truth)),
            Data::Int(n) => self.emitter().constant(Constant::Int(*n)),
            Data::Uint(n) => {
                self.emitter().constant(Constant::Int(n.cast_signed()));
                self.intrinsic("uint", 1);
            }
            Data::Float(n) => self.emitter().constant(Constant::Float(*n)),
            Data::Number(text) => {
                self.emitter().constant(Constant::Float(text.parse().unwrap_or(f64::NAN)));
                self.emitter().constant(Constant::Str((&**text).into()));
                self.intrinsic("spelled", 2);
            }
            Data::Str(text) => self.emitter().constant(Constant::Str(text.as_str().into())),
            Data::List(items) => {
                items.iter().try_for_each(|item| self.data(item))?;
                self.emitter().op(Op::List, &[Span::of(0..items.len()).end]);
            }
            Data::Map(map) => {
                map.values().try_for_each(|value| self.data(value))?;
                let keys: Vec<&str> = map.keys().map(String::as_str).collect();
                self.emitter().map(&keys);
            }
        }
        self.emitter().check_size()
    }

    /// Emits the assignment of a variable of `$let`.
    fn assign(&mut self, of: &'t Let) -> Result<()> {
        match of.value {
            LetValue::Template(node) => self.within(node, |body| body.value(node))?,
            LetValue::Expression(id) => self.within_owner(id, |body| body.expression(id))?,
            LetValue::Unless { expression, text } => {
                self.within_owner(expression, |body| body.unless(expression, text))?;
            }
        }
        let slot = self.define(of.variable);
        self.emitter().op(Op::StoreSlot, &[slot]);
        Ok(())
    }

    fn within_owner(&mut self, id: ExpressionId, emit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        match self.file.expression(id).map(|expression| expression.owner) {
            Some(owner) => self.within(owner, emit),
            None => emit(self),
        }
    }

    /// Pushes the value of an expression if one of its names exists, otherwise the text.
    fn unless(&mut self, id: ExpressionId, text: NodeId) -> Result<()> {
        let Some(expression) = self.file.expression(id) else { return Ok(()) };
        let (there, end) = (self.emitter().new_label(), self.emitter().new_label());
        self.at(expression.span);
        let mut any = false;
        for free in &expression.free {
            if self.peek(&free.name) {
                any = true;
                self.emitter().jump(Op::JumpPresent, there);
            }
        }
        let height = self.emitter().height();
        self.value(text)?;
        if !any {
            return Ok(());
        }
        self.emitter().jump(Op::Jump, end);
        self.emitter().bind(there);
        self.emitter().set_height(height + 1);
        self.drop();
        self.expression(id)?;
        self.emitter().bind(end);
        Ok(())
    }

    /// Pushes the value of a condition.
    pub(super) fn condition(&mut self, condition: &Condition, span: Span) -> Result<()> {
        match condition {
            Condition::Constant(truth) => {
                self.at(span);
                self.emitter().constant(Constant::Bool(*truth));
            }
            Condition::Expression(id) => {
                self.expression(*id)?;
                if !self.is_truth(*id) {
                    self.intrinsic("condition", 1);
                }
            }
        }
        Ok(())
    }

    /// Returns `true` if the value of an expression can only be a boolean.
    fn is_truth(&self, id: ExpressionId) -> bool {
        let Some(expression) = self.file.expression(id) else { return false };
        match expression.tree.expr(expression.tree.root) {
            Expr::Literal(Literal::Bool(_)) | Expr::Select { selection: Selection::Test, .. } => true,
            Expr::Call(call) => matches!(call.function, Function::Operator(operator) if operator.is_test()),
            _ => false,
        }
    }

    fn assert(&mut self, of: &'t Assert) -> Result<()> {
        self.within_step("$assert", |body| {
            let held = body.emitter().new_label();
            body.condition(&of.condition, of.span)?;
            body.emitter().jump(Op::JumpIf, held);
            match of.message {
                Some(message) => body.own_message(message)?,
                None => body.own_text(&of.condition)?,
            }
            body.at(of.span);
            body.intrinsic("assertion", 2);
            body.drop();
            body.emitter().bind(held);
            Ok(())
        })
    }

    /// Pushes the message of a template, and an empty list of values.
    fn own_message(&mut self, message: NodeId) -> Result<()> {
        self.value(message)?;
        self.emitter().op(Op::List, &[0]);
        Ok(())
    }

    /// Pushes a message with the condition, and a list of its names and their values.
    fn own_text(&mut self, condition: &Condition) -> Result<()> {
        let Condition::Expression(id) = condition else {
            self.emitter().constant(Constant::Str("false".into()));
            self.emitter().op(Op::List, &[0]);
            return Ok(());
        };
        let Some(expression) = self.file.expression(*id) else { return Ok(()) };
        let text = one_line(expression.tree.source().text(), usize::MAX);
        self.emitter().constant(Constant::Str(text.into()));
        let mut count = 0;
        for free in &expression.free {
            self.emitter().constant(Constant::Str((&*free.name).into()));
            self.name_or_undefined(&free.name, self.slot(free.variable));
            count += 2;
        }
        self.emitter().op(Op::List, &[count]);
        Ok(())
    }

    /// Pushes the value of the branch that the condition selects.
    pub(super) fn branch(&mut self, map: &'t Map) -> Result<()> {
        let Some(of) = &map.directives().condition else { return Ok(()) };
        let (other, end) = (self.emitter().new_label(), self.emitter().new_label());
        self.condition(&of.condition, of.span)?;
        self.emitter().jump(Op::JumpUnless, other);
        let height = self.emitter().height();
        self.value_or_undefined(of.then)?;
        self.emitter().jump(Op::Jump, end);
        self.emitter().bind(other);
        self.emitter().set_height(height);
        self.value_or_undefined(of.otherwise)?;
        self.emitter().bind(end);
        Ok(())
    }
}

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
                return made.entries().try_for_each(|entry| body.entry(entry, Claim::Stays));
            }
            body.value(each.body)?;
            body.keep_entries(Claim::Stays, body.file.node(each.body).map(|node| node.span));
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
