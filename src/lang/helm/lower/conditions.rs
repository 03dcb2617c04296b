//! Pipelines as conditions; `and`, `or`, `not`.

use super::pipelines::Piped;
use super::program::Lower;
use crate::syntax::tree::{Command, Operand, Pipeline, Term};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::Op;
use dropforge_machine::compiler::Label;
use dropforge_machine::function::Target;

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

    /// Pushes the first operand whose truth is `decides`, or the last one. Those behind it are not evaluated, except for
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
