//! The actions of the grammar.

use bumpalo::Bump;

use super::tree::{Command, Name, Operand, Pipeline, Term};
use super::wording::quoted;
use crate::text::Span;

/// The clause around a pipeline, as messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// A pipeline alone.
    Command,
    /// `if` and `else if`.
    If,
    /// `with` and `else with`.
    With,
    /// `range`.
    Range,
    /// `template`.
    Template,
    /// `block`.
    Block,
    /// Parentheses.
    Parentheses,
}

impl Context {
    /// Returns the name of the clause in messages.
    pub fn name(self) -> &'static str {
        match self {
            Context::Command => "command",
            Context::If => "if",
            Context::With => "with",
            Context::Range => "range",
            Context::Template => "template clause",
            Context::Block => "block clause",
            Context::Parentheses => "parenthesized pipeline",
        }
    }
}

/// An error of an action: its place and message.
#[derive(Debug, Clone)]
pub struct Mistake {
    /// The place.
    pub span: Span,
    /// The message.
    pub message: String,
}

/// Builds the tree of one action.
#[derive(Debug)]
pub struct Build<'a> {
    /// The arena of the tree.
    pub arena: &'a Bump,
    /// The text of the file.
    pub text: &'a str,
}

impl<'a> Build<'a> {
    /// Returns a pipeline that is not checked yet.
    pub fn pipeline(
        &self,
        variables: &[Name<'a>],
        assigns: bool,
        commands: &'a [Command<'a>],
        span: Span,
    ) -> Pipeline<'a> {
        Pipeline { variables: self.arena.alloc_slice_copy(variables), assigns, commands, span }
    }

    /// Returns a pipeline in parentheses.
    pub fn inner(&self, pipeline: Pipeline<'a>) -> Result<&'a Pipeline<'a>, Mistake> {
        Ok(self.arena.alloc(self.checked(pipeline, Context::Parentheses)?))
    }

    /// Checks a pipeline in its clause: the number of its declarations, and that it has commands which can be executed.
    pub fn checked(&self, pipeline: Pipeline<'a>, context: Context) -> Result<Pipeline<'a>, Mistake> {
        let allowed = if context == Context::Range { 2 } else { 1 };
        let mistake = |span, message| Err(Mistake { span, message });
        if let Some(excess) = pipeline.variables.get(allowed) {
            return mistake(excess.span, format!("too many declarations in {}", context.name()));
        }
        if pipeline.commands.is_empty() {
            return mistake(pipeline.span, format!("missing value for {}", context.name()));
        }
        let values = |command: &Command<'_>| {
            let [first, ..] = command.operands else { return false };
            let is_value = matches!(first.term, Term::Dot | Term::Nil | Term::Bool(_) | Term::Number(_) | Term::Str(_));
            is_value && first.fields.is_empty()
        };
        let stages = pipeline.commands.iter().enumerate().skip(1);
        match stages.map(|(at, command)| (at + 1, command)).find(|(_, command)| values(command)) {
            Some((stage, command)) => {
                mistake(command.span, format!("non executable command in pipeline stage {stage}"))
            }
            None => Ok(pipeline),
        }
    }

    /// Returns the commands of a pipeline.
    pub fn commands(&self, first: Command<'a>, rest: Vec<Command<'a>>) -> &'a [Command<'a>] {
        self.list(first, &rest)
    }

    fn list<T: Copy>(&self, first: T, rest: &[T]) -> &'a [T] {
        if rest.is_empty() {
            return std::slice::from_ref(self.arena.alloc(first));
        }
        self.arena.alloc_slice_fill_with(1 + rest.len(), |at| match at.checked_sub(1).and_then(|at| rest.get(at)) {
            Some(item) => *item,
            None => first,
        })
    }

    /// Returns a command.
    pub fn command(&self, first: Operand<'a>, rest: Vec<Operand<'a>>) -> Command<'a> {
        let last = rest.last().map_or(first.span, |last| last.span);
        Command { operands: self.list(first, &rest), span: first.span.to(last) }
    }

    /// Returns an operand: a term that may be a field itself, which ends at `end`, and further fields.
    pub fn operand(
        &self,
        (term, field, end): (Term<'a>, Option<Name<'a>>, u32),
        rest: Vec<Name<'a>>,
        span: Span,
    ) -> Result<Operand<'a>, Mistake> {
        let is_value = matches!(term, Term::Dot | Term::Nil | Term::Bool(_) | Term::Number(_) | Term::Str(_));
        if is_value && field.is_none() && !rest.is_empty() {
            let text = self.text.get(span.start as usize..end as usize).unwrap_or("");
            return Err(Mistake { span, message: format!("unexpected . after term {}", quoted(text)) });
        }
        let fields = match field {
            Some(field) => self.list(field, &rest),
            None if rest.is_empty() => &[],
            None => self.arena.alloc_slice_copy(&rest),
        };
        Ok(Operand { term, fields, span })
    }
}
