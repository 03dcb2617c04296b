//! `$schema`, `$let`, `$assert`, `$if`: what comes before the keys of a map.

use super::Body;
use crate::bytecode::{Failure, Op};
use crate::compiler::Constant;
use crate::diagnostics::{Code, Result};
use crate::dialect::cel::syntax::tree::{Expr, Function, Literal, Selection};
use crate::dialect::cel::yaml::tree::{Assert, Condition, DeclaredId, ExpressionId, Let, LetValue, Map, NodeId};
use crate::schema::Schemas;
use crate::text::Span;
use crate::value::Data;

impl<'t> Body<'_, 't> {
    /// What is done before anything of a map is made.
    pub(super) fn before(&mut self, map: &'t Map) -> Result<()> {
        if !map.schema.is_empty() {
            self.schema(&map.schema)?;
        }
        map.lets.iter().try_for_each(|of| self.assign(of))?;
        map.asserts.iter().try_for_each(|of| self.assert(of))
    }

    /// Holds what is declared against its schemas, and takes the defaults of inputs that are not there.
    fn schema(&mut self, declared: &'t [DeclaredId]) -> Result<()> {
        let file = self.file;
        let declared = || declared.iter().filter_map(move |id| file.declared(*id));
        let place = declared().map(|declared| declared.span).reduce(Span::to).unwrap_or_default();
        self.at(place);
        let text = Schemas::text(declared().map(|declared| (&*declared.name, &*declared.schema)));
        self.emitter().constant(Constant::Str(text.into()));
        let mut count = 0;
        for declared in declared() {
            let slot = declared.of.and_then(|id| self.slots.get(id.index()).copied().flatten());
            match slot {
                Some(slot) => self.emitter().load_slot_or_nothing(slot),
                None if !self.peek(&declared.name) => self.emitter().undefined(),
                None => {}
            }
            count += 1;
        }
        self.emitter().op(Op::List, &[count]);
        self.core("schema", 2);
        let names: Vec<Span> = declared().map(|declared| declared.span).collect();
        self.emitter().details(names);
        self.drop();
        for declared in declared() {
            let (Some(variable), Some(value)) = (declared.default, declared.schema.default_value()) else { continue };
            self.at(declared.span);
            let end = self.emitter().new_label();
            if self.peek(&declared.name) {
                self.emitter().jump(Op::JumpPresent, end);
            }
            self.data(value)?;
            self.emitter().bind(end);
            let slot = self.define(variable);
            self.emitter().op(Op::StoreSlot, &[slot]);
        }
        Ok(())
    }

    /// Pushes a value of a schema.
    fn data(&mut self, data: &'t Data) -> Result<()> {
        match data {
            Data::Null => self.emitter().constant(Constant::Null),
            Data::Bool(truth) => self.emitter().constant(Constant::Bool(*truth)),
            Data::Int(n) => self.emitter().constant(Constant::Int(*n)),
            Data::Uint(n) => {
                self.emitter().constant(Constant::Int(n.cast_signed()));
                self.core("uint", 1);
            }
            Data::Float(n) => self.emitter().constant(Constant::Float(*n)),
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

    /// A variable of `$let`.
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

    /// An expression where one of its names is there, else the text.
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

    /// Pushes whether a condition holds.
    pub(super) fn condition(&mut self, condition: &Condition, span: Span) -> Result<()> {
        match condition {
            Condition::Known(known) => {
                self.at(span);
                self.emitter().constant(Constant::Bool(*known));
            }
            Condition::Expression(id) => {
                self.expression(*id)?;
                if !self.is_truth(*id) {
                    self.core("condition", 1);
                }
            }
        }
        Ok(())
    }

    /// Whether the value of an expression is true or false, whatever its names mean.
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
            body.core("assertion", 2);
            body.drop();
            body.emitter().bind(held);
            Ok(())
        })
    }

    /// Pushes the message that a template makes, and no values.
    fn own_message(&mut self, message: NodeId) -> Result<()> {
        self.value(message)?;
        self.emitter().op(Op::List, &[0]);
        Ok(())
    }

    /// Pushes a message that says what the condition is, and a list of the names in it and their values.
    fn own_text(&mut self, condition: &Condition) -> Result<()> {
        let Condition::Expression(id) = condition else {
            self.emitter().constant(Constant::Str("false".into()));
            self.emitter().op(Op::List, &[0]);
            return Ok(());
        };
        let Some(expression) = self.file.expression(*id) else { return Ok(()) };
        let text = expression.tree.source().text().split_whitespace().collect::<Vec<_>>().join(" ");
        self.emitter().constant(Constant::Str(text.into()));
        let mut count = 0;
        for free in &expression.free {
            let slot = free.variable.and_then(|id| self.slots.get(id.index()).copied().flatten());
            self.emitter().constant(Constant::Str((&*free.name).into()));
            match slot {
                Some(slot) => self.emitter().load_slot_or_nothing(slot),
                None if !self.peek(&free.name) => self.emitter().undefined(),
                None => {}
            }
            count += 2;
        }
        self.emitter().op(Op::List, &[count]);
        Ok(())
    }

    /// Pushes what the branch makes that the condition chooses.
    pub(super) fn branch(&mut self, map: &'t Map) -> Result<()> {
        let Some(of) = &map.condition else { return Ok(()) };
        let (other, end) = (self.emitter().new_label(), self.emitter().new_label());
        self.condition(&of.condition, of.span)?;
        self.emitter().jump(Op::JumpUnless, other);
        let height = self.emitter().height();
        self.taken(of.then)?;
        self.emitter().jump(Op::Jump, end);
        self.emitter().bind(other);
        self.emitter().set_height(height);
        self.taken(of.otherwise)?;
        self.emitter().bind(end);
        Ok(())
    }

    fn taken(&mut self, branch: Option<NodeId>) -> Result<()> {
        match branch {
            Some(branch) => self.value(branch),
            None => {
                self.emitter().undefined();
                Ok(())
            }
        }
    }

    /// Raises an error where the code gets there, in the place of a value.
    pub(super) fn fail(&mut self, code: Code, message: String, help: Option<String>, available: Option<Vec<String>>) {
        self.emitter().fail(&Failure { code, message, available, help });
        let height = self.emitter().height();
        self.emitter().set_height(height + 1); // nothing leads on
    }
}
