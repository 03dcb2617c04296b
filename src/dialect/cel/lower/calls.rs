//! Calls: operators, functions of a namespace, functions of a value.

use super::Lower;
use super::names::qualified;
use crate::bytecode::{BinaryOp, ImportKind, Literal, Op, Role};
use crate::compiler::{Constant, PathSpec, RootSpec, SegmentSpec};
use crate::diagnostics::{Code, Result, nearest};
use crate::dialect::cel::syntax::tree::{Call, Expr, ExprId, Function, Operator};
use crate::function::Params;

impl<'t> Lower<'t> {
    /// Pushes the answer of a call.
    pub(super) fn call(&mut self, id: ExprId, call: &Call) -> Result<()> {
        let args = self.tree.ids(call.args);
        match call.function {
            Function::Operator(operator) => self.operator(id, operator, args),
            Function::Named(name) => match (self.tree.name(name), args) {
                ("cel.@block", &[values, body]) => self.block(values, body),
                (name, args) => self.function(id, name, call, args),
            },
        }
    }

    fn operator(&mut self, id: ExprId, operator: Operator, args: &'t [ExprId]) -> Result<()> {
        match (operator, args) {
            (Operator::And | Operator::Or, &[left, right]) => self.logic(id, operator == Operator::And, left, right),
            (Operator::Conditional, &[condition, then, otherwise]) => self.conditional(condition, then, otherwise),
            (Operator::Index, &[value, index]) => self.index(id, value, index),
            (Operator::OptionalIndex, &[value, index]) => {
                self.value(value)?;
                self.value(index)?;
                self.at(id);
                self.core("index optional", 2);
                Ok(())
            }
            (Operator::Not | Operator::Negate, &[operand]) => {
                self.value(operand)?;
                self.at(id);
                self.emitter.op(if operator == Operator::Not { Op::Not } else { Op::Neg }, &[]);
                Ok(())
            }
            (operator, &[left, right]) if let Some(op) = binary(operator) => {
                self.value(left)?;
                self.value(right)?;
                self.at(id);
                self.emitter.binary(op);
                Ok(())
            }
            (operator, _) => {
                self.fail(id, Code::UnknownFunction, format!("`{}` cannot be called here", operator.id()));
                Ok(())
            }
        }
    }

    /// `&&` and `||`: the second operand is not looked at where the first decides; where one fails, the other may still
    /// decide.
    fn logic(&mut self, id: ExprId, and: bool, left: ExprId, right: ExprId) -> Result<()> {
        let end = self.emitter.new_label();
        let pair = self.emitter.mark_pair();
        self.protected(left)?;
        self.emitter.jump_is(if and { Literal::False } else { Literal::True }, end);
        self.emitter.op(Op::MarkSlot, &[pair + 1]);
        self.protected(right)?;
        self.at(id);
        self.emitter.op(if and { Op::And } else { Op::Or }, &[pair]);
        self.emitter.bind(end);
        self.emitter.free_pair(pair);
        Ok(())
    }

    /// Pushes a value; where there is an error, that is noted, and undefined is pushed.
    fn protected(&mut self, id: ExprId) -> Result<()> {
        let mark = self.emitter.begin_protect();
        self.value(id)?;
        self.emitter.end_protect(mark);
        Ok(())
    }

    /// The same for an answer: what is no boolean is an error.
    pub(super) fn protected_answer(&mut self, id: ExprId) -> Result<()> {
        let mark = self.emitter.begin_protect();
        self.value(id)?;
        self.at(id);
        self.emitter.op(Op::As, &[Role::Answer as u32]);
        self.emitter.end_protect(mark);
        Ok(())
    }

    fn conditional(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> Result<()> {
        let (other, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.value(condition)?;
        self.at(condition);
        self.emitter.jump(Op::JumpUnless, other);
        let height = self.emitter.height();
        self.value(then)?;
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(other);
        self.emitter.set_height(height);
        self.value(otherwise)?;
        self.emitter.bind(end);
        Ok(())
    }

    fn index(&mut self, id: ExprId, value: ExprId, index: ExprId) -> Result<()> {
        self.value(value)?;
        let slot = self.emitter.store();
        self.value(index)?;
        self.at(id);
        let (source, span) = (self.source.clone(), self.tree.span(id));
        let segments = [SegmentSpec::Index(self.tree.span(index))];
        self.emitter.load(&PathSpec { name: source.slice(span), roots: &[RootSpec::Slot(slot)], segments: &segments });
        self.emitter.free(slot);
        Ok(())
    }

    /// A function by its name in a namespace, or of a value.
    fn function(&mut self, id: ExprId, name: &'t str, call: &Call, args: &'t [ExprId]) -> Result<()> {
        if let Some(full) = self.namespaced(name, call) {
            return self.import(id, &full, None, args);
        }
        match call.receiver {
            Some(receiver) => self.import(id, name, Some(receiver), args),
            None => self.import(id, name, None, args),
        }
    }

    /// The full name of a function that is called by its name and not on a value.
    fn namespaced(&self, name: &str, call: &Call) -> Option<String> {
        let (path, rooted) = match call.receiver {
            None => (name.to_owned(), call.rooted),
            Some(receiver) => {
                let (parts, rooted, root) = qualified(self.tree, receiver)?;
                let is_local =
                    matches!(self.tree.expr(root), Expr::Ident { name, rooted: false } if self.local(name).is_some());
                if is_local {
                    return None;
                }
                (format!("{}.{name}", parts.join(".")), rooted)
            }
        };
        let known = |name: &String| self.registry.get(ImportKind::Function, name).is_some();
        self.names.candidates(&path, rooted).into_iter().find(known)
    }

    fn import(&mut self, id: ExprId, name: &str, receiver: Option<ExprId>, args: &'t [ExprId]) -> Result<()> {
        let registry = self.registry;
        let Some(function) = registry.get(ImportKind::Function, name) else {
            self.unknown(id, name);
            return Ok(());
        };
        let mut params = Vec::with_capacity(args.len() + 1);
        if let Some(receiver) = receiver {
            self.value(receiver)?;
            params.push(Params::RECEIVER);
        }
        for &arg in args {
            self.value(arg)?;
            params.push(Params::BY_PLACE);
        }
        self.at(id);
        self.emitter.call(ImportKind::Function, name, function.signature(), &params, false);
        Ok(())
    }

    fn unknown(&mut self, id: ExprId, name: &str) {
        let near = nearest(name, self.registry.names(ImportKind::Function));
        let help = near.map(|near| format!("did you mean `{near}`?"));
        let message = format!("undeclared reference to '{name}': there is no function of this name");
        self.at(id);
        let failure = crate::bytecode::Failure { code: Code::UnknownFunction, message, available: None, help };
        self.emitter.fail(&failure);
        let height = self.emitter.height();
        self.emitter.set_height(height + 1);
    }

    /// `cel.block`: each value once, in its order, and what sees them.
    fn block(&mut self, values: ExprId, body: ExprId) -> Result<()> {
        let Expr::List(run) = self.tree.expr(values) else { return self.value(body) };
        let outer = self.block.clone();
        for (at, element) in self.tree.elements(run).iter().enumerate() {
            self.value(element.value)?;
            let slot = self.emitter.new_slot();
            self.emitter.op(Op::StoreSlot, &[slot]);
            self.block.insert(format!("@index{at}"), slot);
        }
        self.value(body)?;
        self.block = outer;
        Ok(())
    }

    /// Pushes a truth value.
    pub(super) fn truth(&mut self, truth: bool) {
        self.emitter.constant(Constant::Bool(truth));
    }
}

/// The instruction's operator.
fn binary(operator: Operator) -> Option<BinaryOp> {
    Some(match operator {
        Operator::Equal => BinaryOp::Eq,
        Operator::NotEqual => BinaryOp::Ne,
        Operator::Less => BinaryOp::Lt,
        Operator::LessEqual => BinaryOp::Le,
        Operator::Greater => BinaryOp::Gt,
        Operator::GreaterEqual => BinaryOp::Ge,
        Operator::In => BinaryOp::In,
        Operator::Add => BinaryOp::Add,
        Operator::Subtract => BinaryOp::Sub,
        Operator::Multiply => BinaryOp::Mul,
        Operator::Divide => BinaryOp::Div,
        Operator::Modulo => BinaryOp::Rem,
        _ => return None,
    })
}
