//! The front end: parses the text of one file to the templates that it defines.
//!
//! `lexer` splits a file into text and actions, and an action into tokens. The LALRPOP grammar (`grammar/helm.lalrpop`)
//! parses one action. `parser` nests actions into blocks with a stack of its own, and continues after each error, so that
//! all errors of a file are found. Actions that files repeat are kept, and the trees of actions that
//! differ in their names and literals only: the grammar sees only the kinds of tokens, so actions with the same kinds have the
//! same tree. It is parsed once and filled with the tokens of each. `literal` has the values of literals, `action` the messages of Go.
//!
//! Invariant: blocks and parentheses nest as deep as [`Limits::nesting`](dropforge_base::limits::Limits::nesting) allows, and
//! `else if` chains and pipelines are flat lists, so that later stages may recurse over trees.

mod action;
mod blocks;
mod lexer;
mod literal;
mod parser;
mod token;
pub mod tree;

use bumpalo::Bump;
use dropforge_base::text::Span;
use hashbrown::HashMap;

pub use lexer::Delimiters;
use parser::Work;
pub(crate) use parser::parse_next;
pub use parser::{Names, parse};
use token::Token;
use tree::{Action, Command, Name, Operand, Pipeline, Term};

/// The typical number of bytes of files for each action of its own.
const ACTION: usize = 360;

/// A parsed action without errors.
#[derive(Debug, Clone, Copy)]
struct KnownAction<'a> {
    /// The tree. Its places are relative to the offset after the opening delimiter.
    pub action: &'a Action<'a>,
    /// The place of the action for errors, if it is not the whole action, relative as well.
    pub at: Option<Span>,
    /// `true` if its end trims the text after it.
    pub trims: bool,
    /// The variables that have to be in scope before it.
    pub used: &'a [&'a str],
    /// The variables that it declares.
    pub declared: &'a [&'a str],
    /// The literal names of the templates that it includes.
    pub includes: &'a [&'a str],
}

/// The actions of the files of one name space, by their text up to the end of the closing delimiter.
#[derive(Debug, Default)]
pub(crate) struct KnownActions<'a> {
    actions: HashMap<&'a str, &'a KnownAction<'a>>,
    /// The trees of others with the same kinds of tokens.
    shapes: Shapes<'a>,
    work: Option<Work<'a>>,
}

impl<'a> KnownActions<'a> {
    /// Returns a set with room for the actions of files of `bytes` bytes.
    pub(crate) fn for_bytes(bytes: usize) -> Self {
        Self { actions: HashMap::with_capacity(bytes / ACTION), shapes: Shapes::default(), work: None }
    }

    /// Keeps an action, unless it defines a template.
    fn keep(&mut self, arena: &'a Bump, text: &'a str, known: KnownAction<'a>) {
        if !matches!(known.action, Action::Define(_) | Action::Block(..)) {
            self.actions.insert(text, arena.alloc(known));
        }
    }
}

/// Maximum nesting of parentheses in a tree that is kept.
const DEPTH: usize = 16;

/// A symbol of the grammar between two places.
type Symbol<'a> = (u32, Token<'a>, u32);

/// Trees of actions. Instead of an offset, every place in them is the number of a symbol.
#[derive(Debug, Default)]
struct Shapes<'a> {
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

    /// Returns the name of a template, which is after the first word.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::tree::Node;
    use crate::syntax::{Delimiters, parse};
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;

    /// Calls `see` with the nodes of a text.
    fn parsed<T>(text: &str, see: impl FnOnce(&[Node<'_>]) -> T) -> T {
        let (arena, source) = (Bump::new(), Source::new("t", text));
        let templates = parse(&arena, &source, Delimiters::default(), &|_| true, &Limits::default()).unwrap();
        see(templates.last().unwrap().body)
    }

    /// Returns the nodes of a text, without the first `skip`.
    fn nodes(text: &str, skip: usize) -> String {
        parsed(text, |nodes| format!("{:?}", nodes.get(skip..).unwrap()))
    }

    fn count(text: &str) -> usize {
        parsed(text, |nodes| nodes.len())
    }

    #[test]
    fn a_repeated_action_is_the_same_as_one_that_is_parsed_there() {
        for text in [
            "{{ .a.b }}",
            "{{- f \"x\" .a 1 | g (h $.b (i . `y`)).c -}}",
            "{{ if not .a }}x{{ else if eq .b 2 }}y{{ else }}z{{ end }}",
            "{{ range $k, $v := .a }}{{ $v.x }}{{ $k }}{{ $v.x }}{{ else }}{{ break_ . }}{{ end }}",
            "{{ with $x := .a.b }}{{ $x = 1 }}{{ template \"t\" $x }}{{ template \"t\" }}{{ end }}",
            "{{ \"}}\" }}",
            "{{/* comment */}}{{ .a }}",
        ] {
            let other = "-".repeat(text.len());
            let first = nodes(&other, 0).matches("Text(").count();
            let (once, twice) = (nodes(&format!("{other}.{text}"), first), nodes(&format!("{text}.{text}"), 2));
            assert_eq!(twice, once, "{text}");
        }
    }

    #[test]
    fn an_action_of_a_known_shape_has_its_own_tokens() {
        for (first, second) in [
            ("{{ .a.b }}", "{{.ccc.d.e}}"),
            (
                "{{ f \"x\" .a 1 true | g (h $.b (i . `y`)).c }}",
                "{{ff  `yy` .aa 22 false|gg ( hh $.bb ( ii . \"zz\" ) ).cc.d}}",
            ),
            ("{{ if $x := .a }}{{ $x }}{{ end }}", "{{ if $long := .b.c }}{{ $long }}{{ end }}"),
            ("{{ range $k, $v := f }}{{ end }}", "{{ range $key , $value := gg }}{{ end }}"),
            ("{{ template \"a\" .b }}{{ template \"c\" }}", "{{ template `bb` .c.d }}{{ template `d` }}"),
            ("{{ (f).x.y 1 }}", "{{ ( gg ).z 2.5 }}"),
        ] {
            let blank = "-".repeat(first.len());
            let alone = nodes(&format!("{blank}{second}"), 1);
            let behind = nodes(&format!("{first}{second}"), count(first));
            assert_eq!(behind, alone, "{second}");
        }
    }

    #[test]
    fn variables_are_looked_up_where_an_action_is_repeated() {
        let (arena, source) = (Bump::new(), Source::new("t", "{{ if $x := .a }}{{ $x }}{{ end }}\n{{ $x }}{{ $x }}"));
        let errors = parse(&arena, &source, Delimiters::default(), &|_| true, &Limits::default()).unwrap_err();
        let places: Vec<_> = errors.iter().map(|error| error.position().unwrap().to_string()).collect();
        assert_eq!(places, ["2:4", "2:12"]);
    }
}
