//! Trees by the kinds of their tokens. The grammar sees only kinds, so actions with the same kinds have the same tree. It is
//! parsed once and filled with the tokens of each.

use bumpalo::Bump;
use hashbrown::HashMap;

use super::token::Token;
use super::tree::{Action, Command, Name, Operand, Pipeline, Term};
use dropforge_base::text::Span;

/// Maximum nesting of parentheses in a tree that is kept.
const DEPTH: usize = 16;

/// A symbol of the grammar between two places.
pub(super) type Symbol<'a> = (u32, Token<'a>, u32);

/// Trees of actions. Instead of an offset, every place in them is the number of a symbol.
#[derive(Debug, Default)]
pub(super) struct Shapes<'a> {
    /// The trees by the kinds of the symbols.
    shapes: HashMap<&'a [u8], Action<'a>>,
    kinds: Vec<u8>,
}

impl<'a> Shapes<'a> {
    /// Returns the tree of some symbols, which `parse` makes of numbered ones if it is not known. `None` if they have an
    /// error or nest deep.
    pub fn get(
        &mut self,
        arena: &'a Bump,
        symbols: &[Symbol<'a>],
        parse: impl FnOnce(&mut dyn Iterator<Item = Symbol<'a>>) -> Option<Action<'a>>,
    ) -> Option<Action<'a>> {
        self.kinds.clear();
        self.kinds.extend(symbols.iter().map(|(_, token, _)| token.kind()));
        let filled = |action: Action<'a>| Fill { arena, symbols }.action(action);
        if let Some(action) = self.shapes.get(self.kinds.as_slice()) {
            return Some(filled(*action));
        }
        if symbols.iter().filter(|(_, token, _)| matches!(token, Token::Open)).count() > DEPTH {
            return None;
        }
        let mut numbered = (0..).zip(symbols).map(|(number, (_, token, _))| (number, *token, number));
        let action = parse(&mut numbered)?;
        self.shapes.insert(arena.alloc_slice_copy(&self.kinds), action);
        Some(filled(action))
    }
}

/// Replaces numbers by the symbols that have them.
struct Fill<'a, 's> {
    arena: &'a Bump,
    symbols: &'s [Symbol<'a>],
}

impl<'a> Fill<'a, '_> {
    fn symbol(&self, number: u32) -> Symbol<'a> {
        self.symbols.get(number as usize).copied().unwrap_or((0, Token::Broken, 0))
    }

    fn span(&self, numbers: Span) -> Span {
        Span::new(self.symbol(numbers.start).0, self.symbol(numbers.end).2)
    }

    fn action(&self, action: Action<'a>) -> Action<'a> {
        match action {
            Action::Emit(pipeline) => Action::Emit(self.pipeline(&pipeline)),
            Action::If(pipeline) => Action::If(self.pipeline(&pipeline)),
            Action::With(pipeline) => Action::With(self.pipeline(&pipeline)),
            Action::Range(pipeline) => Action::Range(self.pipeline(&pipeline)),
            Action::ElseIf(pipeline) => Action::ElseIf(self.pipeline(&pipeline)),
            Action::ElseWith(pipeline) => Action::ElseWith(self.pipeline(&pipeline)),
            Action::Define(_) => Action::Define(self.template()),
            Action::Block(_, pipeline) => Action::Block(self.template(), self.pipeline(&pipeline)),
            Action::Template(_, data) => Action::Template(self.template(), data.map(|data| self.pipeline(&data))),
            Action::Else | Action::End | Action::Break | Action::Continue => action,
        }
    }

    /// Returns the name of a template, which is behind the first word.
    fn template(&self) -> &'a [u8] {
        match self.symbol(1).1 {
            Token::Str(name) => name,
            _ => &[],
        }
    }

    fn slice<T: Copy>(&self, items: &[T], fill: impl FnMut(&T) -> T) -> &'a [T] {
        if items.is_empty() { &[] } else { self.arena.alloc_slice_fill_iter(items.iter().map(fill)) }
    }

    /// Fills a pipeline. The nesting of pipelines is bounded.
    fn pipeline(&self, pipeline: &Pipeline<'a>) -> Pipeline<'a> {
        Pipeline {
            variables: self.slice(pipeline.variables, |name| self.name(name)),
            commands: self.slice(pipeline.commands, |command| self.command(command)),
            span: self.span(pipeline.span),
            ..*pipeline
        }
    }

    fn name(&self, name: &Name<'a>) -> Name<'a> {
        let (start, token, end) = self.symbol(name.span.start);
        let text = if let Token::Variable(text) = token { text } else { "" };
        Name { text, span: Span::new(start, end) }
    }

    fn command(&self, command: &Command<'a>) -> Command<'a> {
        let operands = self.slice(command.operands, |operand| self.operand(operand));
        Command { operands, span: self.span(command.span) }
    }

    fn operand(&self, operand: &Operand<'a>) -> Operand<'a> {
        let (start, first, _) = self.symbol(operand.span.start);
        let (_, last, end) = self.symbol(operand.span.end);
        let fields = if let Token::Fields(fields) = last { fields } else { &[] };
        let term = match (operand.term, first) {
            (Term::Pipeline(inner), _) => Term::Pipeline(self.arena.alloc(self.pipeline(inner))),
            (_, Token::Bool(truth)) => Term::Bool(truth),
            (_, Token::Number(number)) => Term::Number(number),
            (_, Token::Str(text)) => Term::Str(text),
            (_, Token::Variable(name)) => Term::Variable(name),
            (_, Token::Function(name)) => Term::Function(name),
            (term, _) => term,
        };
        Operand { term, fields, span: Span::new(start, end) }
    }
}
