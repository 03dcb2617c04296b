//! Calls of operators and functions.

use super::Lower;
use crate::builtins::RAW_FILE;
use crate::cost::Price;
use crate::dialects::help_for_unknown;
use crate::syntax::tree::{self, Call, Expr, ExprId, Literal, Operator};
use dropforge_base::diagnostics::{Code, Result, nearest};
use dropforge_machine::bytecode::{self, BinaryOp, Failure, ImportKind, Op, Role};
use dropforge_machine::compiler::Constant;
use dropforge_machine::function::{Function, Params};

impl<'t> Lower<'_, 't> {
    /// Pushes the result of a call.
    pub(super) fn call(&mut self, id: ExprId, call: &Call) -> Result<()> {
        let args = self.tree.ids(call.args);
        match call.function {
            tree::Function::Operator(operator) => self.operator(id, operator, args),
            tree::Function::Named(name) => match (self.tree.name(name), args) {
                ("cel.@block", &[values, body]) => self.block(values, body),
                (name, args) => self.function(id, name, call, args),
            },
        }
    }

    fn operator(&mut self, id: ExprId, operator: Operator, args: &'t [ExprId]) -> Result<()> {
        match (operator, args) {
            (Operator::And | Operator::Or, &[left, right]) => self.logic(id, operator == Operator::And, left, right),
            (Operator::Conditional, &[condition, then, otherwise]) => self.conditional(condition, then, otherwise),
            (Operator::Index | Operator::OptionalIndex, &[value, index]) => {
                self.indexed(id, operator, value, index, true)
            }
            (Operator::Not | Operator::Negate, &[_]) => self.priced(id, args, self.price(id), |lower| {
                lower.emitter.op(if operator == Operator::Not { Op::Not } else { Op::Neg }, &[]);
            }),
            (operator, &[_, _]) if let Some(op) = binary(operator) => {
                let price = match op {
                    BinaryOp::Eq | BinaryOp::Ne => Price::EQUALITY,
                    _ => self.price(id),
                };
                self.priced(id, args, price, |lower| lower.emitter.binary(op))
            }
            (operator, _) => {
                self.fail(id, Code::UnknownFunction, format!("`{}` cannot be called here", operator.id()));
                Ok(())
            }
        }
    }

    /// `&&` and `||`: the first operand may decide alone. If one operand fails, the other may still decide.
    fn logic(&mut self, id: ExprId, and: bool, left: ExprId, right: ExprId) -> Result<()> {
        if let Some((truth, cost)) = self.folded_bool(left)?
            && truth != and
        {
            self.meter(cost);
            self.push_bool(truth);
            return Ok(());
        }
        let end = self.emitter.new_label();
        let pair = self.emitter.mark_pair();
        self.protected(left)?;
        self.emitter.jump_is(if and { bytecode::Literal::False } else { bytecode::Literal::True }, end);
        self.emitter.op(Op::MarkSlot, &[pair + 1]);
        self.protected(right)?;
        self.at(id);
        self.emitter.op(if and { Op::And } else { Op::Or }, &[pair]);
        self.emitter.bind(end);
        self.emitter.free_pair(pair);
        Ok(())
    }

    /// Pushes a value. An error is noted, and undefined takes the place of the value.
    pub(super) fn protected(&mut self, id: ExprId) -> Result<()> {
        let mark = self.emitter.begin_protect();
        self.sometimes(|lower| lower.value(id))?;
        self.emitter.end_protect(mark);
        Ok(())
    }

    /// Pushes the value of a predicate, as [`Self::protected`] does. A value that is not a boolean is an error.
    pub(super) fn protected_predicate(&mut self, id: ExprId) -> Result<()> {
        let mark = self.emitter.begin_protect();
        self.sometimes(|lower| lower.value(id))?;
        self.at(id);
        self.emitter.op(Op::As, &[Role::Answer as u32]);
        self.emitter.end_protect(mark);
        Ok(())
    }

    fn conditional(&mut self, condition: ExprId, then: ExprId, otherwise: ExprId) -> Result<()> {
        if let Some((truth, cost)) = self.folded_bool(condition)? {
            self.meter(cost);
            return self.branch(if truth { then } else { otherwise });
        }
        let (other, end) = (self.emitter.new_label(), self.emitter.new_label());
        self.value(condition)?;
        self.at(condition);
        self.emitter.jump(Op::JumpUnless, other);
        let (height, states) = (self.emitter.height(), self.states());
        self.branch(then)?;
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(other);
        self.emitter.set_height(height);
        let states = self.replace_states(&states);
        self.branch(otherwise)?;
        self.emitter.bind(end);
        self.join(&states);
        Ok(())
    }

    /// A function in a namespace, or a member function.
    fn function(&mut self, id: ExprId, name: &'t str, call: &Call, args: &'t [ExprId]) -> Result<()> {
        let is_local = |name| self.local(name).is_some();
        if let Some(full) = self.names.function(self.tree, self.registry, name, call, is_local) {
            return self.import(id, &full, None, args);
        }
        self.import(id, name, call.receiver, args)
    }

    fn import(&mut self, id: ExprId, name: &str, receiver: Option<ExprId>, args: &'t [ExprId]) -> Result<()> {
        let registry = self.registry;
        let Some(function) = registry.get(ImportKind::Function, name) else {
            self.unknown(id, name);
            return Ok(());
        };
        if let (RAW_FILE, None, &[path]) = (name, receiver, args)
            && self.raw_file(id, path)?
        {
            return Ok(());
        }
        if let (Some(optional), [other], "or" | "orValue") = (receiver, args, name)
            && takes_optional(function)
        {
            return self.otherwise(id, function, optional, *other);
        }
        let given: Vec<_> = receiver.into_iter().chain(args.iter().copied()).collect();
        self.priced(id, &given, self.price(id), |lower| lower.called(function, receiver.is_some(), given.len()))
    }

    /// Pushes the text of a file, if the path is a literal string and files can be read. A missing file is an error at run time
    /// and a warning now, as the call may never run.
    fn raw_file(&mut self, id: ExprId, path: ExprId) -> Result<bool> {
        let (Some(files), Expr::Literal(Literal::String(name))) = (self.options.files, self.tree.expr(path)) else {
            return Ok(false);
        };
        let span = self.span(path);
        match files.read(&self.source, span, self.tree.name(name))? {
            Ok(text) => {
                self.at(id);
                self.emitter.constant(Constant::Str(text.into()));
            }
            Err(failure) => {
                self.at(path);
                self.raise_failure(&failure);
            }
        }
        Ok(true)
    }

    /// Calls a function with the top `count` values.
    fn called(&mut self, function: &Function, member: bool, count: usize) {
        let mut params = vec![Params::BY_PLACE; count];
        if let (true, Some(first)) = (member, params.first_mut()) {
            *first = Params::RECEIVER;
        }
        let (kind, name) = match function.compiles_to {
            Some(intrinsic) => (ImportKind::Intrinsic, intrinsic),
            None => (ImportKind::Function, &*function.name),
        };
        self.emitter.call(kind, name, function.signature(), &params, false);
    }

    /// `optional.or(other)`, `optional.orValue(other)`: evaluates `other` only if the optional is empty.
    fn otherwise(&mut self, id: ExprId, function: &Function, optional: ExprId, other: ExprId) -> Result<()> {
        let (some, end) = (self.emitter.new_label(), self.emitter.new_label());
        let plain = function.name == "orValue" && matches!(self.tree.expr(other), Expr::Literal(_));
        if plain && self.held_by_step(optional)? {
            self.emitter.jump(Op::JumpPresent, end);
            self.value(other)?;
            self.emitter.bind(end);
            return Ok(());
        }
        self.value(optional)?;
        let slot = self.emitter.store();
        self.emitter.load_slot(slot);
        self.at(id);
        self.intrinsic("held", 1);
        let height = self.emitter.height();
        self.emitter.jump(Op::JumpPresent, some);
        if function.name == "or" {
            // The reference takes any value here, such as null.
            self.sometimes(|lower| lower.value(other))?;
        } else {
            self.emitter.load_slot(slot);
            self.sometimes(|lower| lower.value(other))?;
            self.at(id);
            self.called(function, true, 2);
        }
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(some);
        self.emitter.set_height(height);
        if function.name == "or" {
            self.emitter.op(Op::Pop, &[]);
            self.emitter.load_slot(slot);
        }
        self.emitter.bind(end);
        self.emitter.free(slot);
        Ok(())
    }

    fn unknown(&mut self, id: ExprId, name: &str) {
        let near = || nearest(name, self.registry.names(ImportKind::Function));
        let help = help_for_unknown(name).or_else(|| near().map(|near| format!("did you mean `{near}`?")));
        let message = format!("undeclared reference to '{name}': there is no function of this name");
        self.at(id);
        self.raise_failure(&Failure { code: Code::UnknownFunction, message, available: None, help });
    }

    /// `cel.block`: values that later ones and the body can read.
    fn block(&mut self, values: ExprId, body: ExprId) -> Result<()> {
        let Expr::List(run) = self.tree.expr(values) else { return self.value(body) };
        let (outer, outer_lazy) = (self.block.clone(), self.lazy.len());
        let elements = self.tree.elements(run);
        for (at, element) in elements.iter().enumerate() {
            let text = format!("@index{at}");
            let Some(name) = self.tree.find_name(&text) else { continue };
            let later = elements.iter().skip(at + 1).map(|element| element.value);
            let readers: Vec<_> = later.chain([body]).collect();
            let slot = self.bind(name, element.value, &readers)?;
            self.block.insert(text, slot);
        }
        self.value(body)?;
        self.unbind(outer_lazy);
        self.block = outer;
        Ok(())
    }
}

/// Returns `true` for the functions `or` and `orValue` of optionals.
fn takes_optional(function: &Function) -> bool {
    let Params::Overloaded(overloads) = &function.params else { return false };
    overloads.iter().all(|overload| overload.id.starts_with("optional_or"))
}

/// Returns the operator of the binary instruction.
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
