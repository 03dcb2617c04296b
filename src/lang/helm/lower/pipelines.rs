//! Pipelines, commands and operands as values; pipelines as conditions; `and`, `or`, `not`.

use super::calls::is_quiet;
use super::paths::PathUse;
use super::program::{Dot, Lower};
use crate::syntax::tree::{Command, Operand, Pipeline, Term};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Op, Role};
use dropforge_machine::compiler::{Constant, Label};
use dropforge_machine::function::Target;

impl<'a> Lower<'_, 'a> {
    /// Returns the path that a pipeline is, if it is no more than that.
    pub(super) fn plain_path(&self, pipeline: &Pipeline<'a>) -> Option<(Dot<'a>, &'a str, &'a Operand<'a>)> {
        let [Command { operands: [operand], .. }] = pipeline.commands else { return None };
        match operand.term {
            Term::Dot => Some((self.dot, "dot", operand)),
            Term::Variable(name) => Some((self.variable(name)?, name, operand)),
            _ => None,
        }
    }

    /// Pushes the value of a pipeline, whatever its declarations.
    pub(super) fn pipeline(&mut self, pipeline: &'a Pipeline<'a>) -> Result<()> {
        self.deeper(pipeline.span, |lower| lower.stages(pipeline.commands))
    }

    /// Pushes the value of the last of these commands.
    fn stages(&mut self, commands: &'a [Command<'a>]) -> Result<()> {
        let Some((last, before)) = commands.split_last() else {
            self.emitter.undefined();
            return Ok(());
        };
        if before.is_empty() {
            return self.command(last, None);
        }
        // Literals and variables cannot fail or change anything, so they may be pushed before the piped value.
        let early = self.takes_arguments_early(last);
        if !early {
            self.deeper(last.span, |lower| lower.stages(before))?;
            let slot = self.emitter.store();
            self.command(last, Some(Piped::Slot(slot)))?;
            self.emitter.free(slot);
            return Ok(());
        }
        self.command(last, Some(Piped::Stages(before)))
    }

    /// Returns `true` if the arguments of a command may be pushed before the value that is piped into it.
    fn takes_arguments_early(&self, command: &Command<'a>) -> bool {
        let [first, arguments @ ..] = command.operands else { return false };
        let Term::Function(name) = first.term else { return false };
        let special = matches!(name, "and" | "or") && self.is_own(name);
        first.fields.is_empty() && !special && arguments.iter().all(is_quiet)
    }

    /// Pushes the value that is piped into a command.
    pub(super) fn piped(&mut self, piped: Piped<'a>) -> Result<()> {
        match piped {
            Piped::Slot(slot) => {
                self.emitter.load_slot(slot);
                Ok(())
            }
            Piped::Stages(commands) => {
                let span = commands.last().map_or_else(Span::default, |last| last.span);
                self.deeper(span, |lower| lower.stages(commands))
            }
        }
    }

    /// Pushes the value of a command.
    fn command(&mut self, command: &'a Command<'a>, piped: Option<Piped<'a>>) -> Result<()> {
        let [first, arguments @ ..] = command.operands else {
            self.emitter.undefined();
            return Ok(());
        };
        if let (Term::Function(name), []) = (first.term, first.fields) {
            return self.function(name, first.span, arguments, piped, command.span);
        }
        if arguments.is_empty() && piped.is_none() {
            if matches!(first.term, Term::Nil) {
                self.fail_value(first.span, Code::TypeMismatch, "nil is not a command");
                return Ok(());
            }
            return self.operand(first, Target::Any);
        }
        match (first.term, first.fields) {
            (Term::Dot | Term::Variable(_), [.., _]) => self.method(first, arguments, piped),
            (Term::Pipeline(_) | Term::Function(_), [.., _]) => self.method(first, arguments, piped),
            _ => {
                // Parentheses are no part of a pipeline's text.
                let span = match first.term {
                    Term::Pipeline(pipeline) if first.fields.is_empty() => pipeline.span,
                    _ => first.span,
                };
                let text = self.text_at(span).to_owned();
                let message = match first.term {
                    Term::Nil => "nil is not a command".to_owned(),
                    _ => format!("can't give argument to non-function {text}"),
                };
                self.fail_value(first.span, Code::TypeMismatch, message);
                Ok(())
            }
        }
    }

    /// Calls the last field of an operand as a method of the value before it.
    fn method(
        &mut self,
        operand: &'a Operand<'a>,
        arguments: &'a [Operand<'a>],
        piped: Option<Piped<'a>>,
    ) -> Result<()> {
        let Some((name, fields)) = operand.fields.split_last() else { return Ok(()) };
        let receiver = Operand { fields, ..*operand };
        self.operand(&receiver, Target::Any)?;
        // What has no such method is an error before the arguments are evaluated.
        self.emitter.constant(Constant::Str(name.text.into()));
        let is_item = !fields.is_empty() || self.is_item(&receiver);
        self.emitter.constant(Constant::Bool(is_item));
        self.at(operand.span);
        self.intrinsic("receiver", 3);
        for argument in arguments {
            self.operand(argument, Target::Any)?;
        }
        let count = 2 + arguments.len() + usize::from(piped.is_some());
        if let Some(piped) = piped {
            self.piped(piped)?;
        }
        self.emitter.constant(Constant::Str(name.text.into()));
        self.at(operand.span);
        self.intrinsic("method", count);
        Ok(())
    }

    /// Returns `true` if an operand without fields is an item of a loop, whose type is known by its value alone.
    fn is_item(&self, operand: &Operand<'a>) -> bool {
        let from = match operand.term {
            Term::Dot => Some(self.dot),
            Term::Variable(name) => self.variable(name),
            _ => None,
        };
        matches!(from, Some(Dot::Slot(slot)) if self.items.contains(&slot))
    }

    /// Pushes the value of an operand, for a parameter of this type.
    pub(super) fn operand(&mut self, operand: &Operand<'a>, target: Target) -> Result<()> {
        self.at(operand.span);
        match operand.term {
            Term::Dot => self.path(self.dot, "dot", operand.fields, operand.span, PathUse::Load),
            Term::Variable(name) => match self.variable(name) {
                Some(from) => self.path(from, name, operand.fields, operand.span, PathUse::Load),
                None => {
                    let message = format!("undefined variable: {name}");
                    self.fail_value(operand.span, Code::UndefinedVariable, message);
                    Ok(())
                }
            },
            Term::Pipeline(pipeline) => {
                if let (Some(variable), true) = (pipeline.variables.last(), !pipeline.variables.is_empty()) {
                    return self.declaring(pipeline, variable.text, operand);
                }
                self.pipeline(pipeline)?;
                self.fields_of(operand)
            }
            Term::Function(name) => {
                self.function(name, operand.span, &[], None, operand.span)?;
                self.fields_of(operand)
            }
            term => {
                self.literal(term, operand.span, target);
                Ok(())
            }
        }
    }

    /// Pushes a pipeline in parentheses that declares a variable, which is in scope from here on.
    fn declaring(&mut self, pipeline: &'a Pipeline<'a>, name: &'a str, operand: &Operand<'a>) -> Result<()> {
        self.pipeline(pipeline)?;
        self.emitter.op(Op::As, &[Role::Value as u32]);
        let slot = match self.variable(name) {
            Some(Dot::Slot(slot)) if pipeline.assigns => slot,
            _ => {
                let slot = self.emitter.new_slot();
                self.variables.push(name, slot);
                slot
            }
        };
        self.emitter.op(Op::StoreSlot, &[slot]);
        self.path(Dot::Slot(slot), name, operand.fields, operand.span, PathUse::Load)
    }

    /// Replaces the top value by the fields of it. Nil has no fields, but that is no error here.
    fn fields_of(&mut self, operand: &Operand<'a>) -> Result<()> {
        if operand.fields.is_empty() {
            return Ok(());
        }
        self.emitter.op(Op::As, &[Role::Value as u32]);
        let slot = self.emitter.store();
        self.path(Dot::Slot(slot), "()", operand.fields, operand.span, PathUse::Load)?;
        self.emitter.free(slot);
        Ok(())
    }
}

/// The value that is piped into a command.
#[derive(Debug, Clone, Copy)]
pub(super) enum Piped<'a> {
    /// It is in a slot.
    Slot(u32),
    /// It is the value of these commands, which are lowered after the arguments.
    Stages(&'a [Command<'a>]),
}

/// A pipeline that decides without a value of its own.
enum Decision<'a> {
    /// `not` of an operand.
    Not(&'a Operand<'a>),
    /// `and` (`false`) or `or` (`true`) of operands: the truth that decides.
    AndOr(&'a [Operand<'a>], bool),
    /// The truth of a value.
    Value,
}

impl<'a> Lower<'_, 'a> {
    /// Jumps to `label` if the truth of a pipeline is `when`.
    pub(super) fn branch(&mut self, pipeline: &'a Pipeline<'a>, when: bool, label: Label) -> Result<()> {
        match self.decision(pipeline) {
            Decision::Not(operand) => self.branch_operand(operand, !when, label),
            Decision::AndOr(operands, decides) => self.branch_and_or(operands, decides, when, label),
            Decision::Value => {
                self.pipeline(pipeline)?;
                self.at(pipeline.span);
                self.emitter.jump(if when { Op::JumpIf } else { Op::JumpUnless }, label);
                Ok(())
            }
        }
    }

    fn decision(&self, pipeline: &Pipeline<'a>) -> Decision<'a> {
        let [Command { operands: [first, arguments @ ..], .. }] = pipeline.commands else { return Decision::Value };
        let (Term::Function(name), [], [_, ..]) = (first.term, first.fields, arguments) else { return Decision::Value };
        let decision = match (name, arguments) {
            ("not", [operand]) => Decision::Not(operand),
            ("and", _) => Decision::AndOr(arguments, false),
            ("or", _) => Decision::AndOr(arguments, true),
            _ => return Decision::Value,
        };
        if self.is_own(name) && pipeline.variables.is_empty() { decision } else { Decision::Value }
    }

    fn branch_operand(&mut self, operand: &'a Operand<'a>, when: bool, label: Label) -> Result<()> {
        if let (Term::Pipeline(pipeline), []) = (operand.term, operand.fields)
            && pipeline.variables.is_empty()
        {
            return self.deeper(operand.span, |lower| lower.branch(pipeline, when, label));
        }
        self.operand(operand, Target::Any)?;
        self.at(operand.span);
        self.emitter.jump(if when { Op::JumpIf } else { Op::JumpUnless }, label);
        Ok(())
    }

    fn branch_and_or(&mut self, operands: &'a [Operand<'a>], decides: bool, when: bool, label: Label) -> Result<()> {
        if decides == when {
            return operands.iter().try_for_each(|operand| self.branch_operand(operand, when, label));
        }
        let Some((last, others)) = operands.split_last() else { return Ok(()) };
        let skip = self.emitter.new_label();
        for operand in others {
            self.branch_operand(operand, decides, skip)?;
        }
        self.branch_operand(last, when, label)?;
        self.emitter.bind(skip);
        Ok(())
    }

    /// Pushes the first operand whose truth is `decides`, or the last one. Those after it are not evaluated, except for
    /// the piped value, which comes last but exists already.
    pub(super) fn and_or(
        &mut self,
        operands: &'a [Operand<'a>],
        piped: Option<Piped<'a>>,
        decides: bool,
    ) -> Result<()> {
        let (slot, end) = (self.emitter.take_slot(), self.emitter.new_label());
        let jump = if decides { Op::JumpIf } else { Op::JumpUnless };
        for (at, operand) in operands.iter().enumerate() {
            self.operand(operand, Target::Any)?;
            self.emitter.op(Op::StoreSlot, &[slot]);
            if at + 1 < operands.len() || piped.is_some() {
                self.emitter.load_slot(slot);
                self.emitter.jump(jump, end);
            }
        }
        if let Some(piped) = piped {
            self.piped(piped)?;
            self.emitter.op(Op::StoreSlot, &[slot]);
        }
        self.emitter.bind(end);
        self.emitter.load_slot(slot);
        self.emitter.free(slot);
        Ok(())
    }
}
