//! The actions of the grammar, and Go's messages about its errors.

pub(super) use crate::error::quoted;

use bumpalo::Bump;

use super::token::{Spanned, Token};
use super::tree::{Command, Name, Operand, Pipeline, Term};
use dropforge_base::text::Span;

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
    /// The text of the file from the action on.
    pub text: &'a str,
    /// The operands of the open commands, innermost last.
    operands: Vec<Operand<'a>>,
    /// The commands of the open pipelines, innermost last.
    commands: Vec<Command<'a>>,
}

impl<'a> Build<'a> {
    /// Returns a builder of trees in `arena`.
    pub fn new(arena: &'a Bump) -> Self {
        Self { arena, text: "", operands: Vec::new(), commands: Vec::new() }
    }

    /// Forgets what an action with an error has left.
    pub fn restart(&mut self) {
        self.operands.clear();
        self.commands.clear();
    }

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

    /// Adds a command to the innermost pipeline.
    pub fn add_command(&mut self, command: Command<'a>) {
        self.commands.push(command);
    }

    /// Returns the last `count` commands, which are those of a pipeline.
    pub fn commands(&mut self, count: usize) -> &'a [Command<'a>] {
        taken(self.arena, &mut self.commands, count)
    }

    /// Adds an operand to the innermost command.
    pub fn add_operand(&mut self, operand: Operand<'a>) {
        self.operands.push(operand);
    }

    /// Returns the command of the last `count` operands.
    pub fn command(&mut self, count: usize, span: Span) -> Command<'a> {
        Command { operands: taken(self.arena, &mut self.operands, count), span }
    }

    /// Returns an operand: a term that ends at `end`, and the fields after it.
    pub fn operand(
        &self,
        term: Term<'a>,
        end: u32,
        fields: &'a [Name<'a>],
        span: Span,
    ) -> Result<Operand<'a>, Mistake> {
        let is_value = matches!(term, Term::Dot | Term::Nil | Term::Bool(_) | Term::Number(_) | Term::Str(_));
        if is_value && !fields.is_empty() {
            let text = self.text.get(span.start as usize..end as usize).unwrap_or("");
            return Err(Mistake { span, message: format!("unexpected . after term {}", quoted(text)) });
        }
        Ok(Operand { term, fields, span })
    }
}

/// Moves the last `count` items to the arena.
fn taken<'a, T: Copy>(arena: &'a Bump, items: &mut Vec<T>, count: usize) -> &'a [T] {
    let first = items.len().saturating_sub(count);
    let taken = arena.alloc_slice_copy(items.get(first..).unwrap_or(&[]));
    items.truncate(first);
    taken
}

/// Returns a token as messages show it. Long ones are cut.
fn token_text(token: Token<'_>, text: &str) -> String {
    if token.is_keyword() {
        return format!("<{text}>");
    }
    match text.char_indices().nth(10) {
        Some((end, _)) if text.len() > 10 => format!("{}...", quoted(text.get(..end).unwrap_or(text))),
        _ => quoted(text),
    }
}

/// Returns the message of the first token that the grammar does not expect, `tokens[at]`. `text` is its text, or `None`
/// at the end of the action.
pub fn unexpected(tokens: &[Spanned<'_>], at: usize, text: Option<&str>, end: &str) -> String {
    let found = match (tokens.get(at), text) {
        (Some((token, _)), Some(text)) => token_text(*token, text),
        _ => quoted(end),
    };
    let before = tokens.get(..at).unwrap_or(tokens);
    format!("unexpected {found} in {}", place(before))
}

/// Returns the part of an action after these tokens.
fn place(before: &[Spanned<'_>]) -> &'static str {
    let mut open = 0_usize;
    for (token, _) in before {
        match token {
            Token::Open => open += 1,
            Token::Close => open = open.saturating_sub(1),
            _ => {}
        }
    }
    let in_operands = before.iter().rev().find(|(token, _)| *token != Token::Space);
    let in_operands = in_operands.is_some_and(|(token, _)| token.ends_operand());
    match before {
        _ if open > 0 => return if in_operands { "operand" } else { Context::Parentheses.name() },
        [(Token::End, _), ..] => return "end",
        [(Token::Break, _), ..] => return "{{break}}",
        [(Token::Continue, _), ..] => return "{{continue}}",
        [(Token::Define, _), ..] => return "define clause",
        [(Token::Else, _)] => return "else",
        [(Token::Template, _)] => return Context::Template.name(),
        [(Token::Block, _)] => return Context::Block.name(),
        [(Token::Template, _), _] => return Context::Template.name(),
        [(Token::Block, _), _] => return Context::Block.name(),
        _ => {}
    }
    if in_operands { "operand" } else { clause(before).name() }
}

/// Returns the clause that an action begins with.
fn clause(tokens: &[Spanned<'_>]) -> Context {
    match tokens {
        [(Token::If, _), ..] | [(Token::Else, _), (Token::If, _), ..] => Context::If,
        [(Token::With, _), ..] | [(Token::Else, _), (Token::With, _), ..] => Context::With,
        [(Token::Range, _), ..] => Context::Range,
        [(Token::Template, _), ..] => Context::Template,
        [(Token::Block, _), ..] => Context::Block,
        _ => Context::Command,
    }
}
