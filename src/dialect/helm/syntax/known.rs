//! Actions that were parsed before. Charts repeat most of their actions, so a tree is copied to its new place instead.

use bumpalo::Bump;
use hashbrown::HashMap;

use super::tree::{Action, Command, Name, Operand, Pipeline, Term};
use crate::text::Span;

/// Maximum nesting of parentheses in an action that is kept.
const DEPTH: usize = 16;

/// The typical number of bytes of files for each action of its own.
const ACTION: usize = 512;

/// A parsed action without errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    /// The tree at the place where it was parsed.
    pub action: Action<'a>,
    /// The offset behind the opening delimiter at that place.
    pub start: u32,
    /// The place of the action for errors, if it is not the whole action.
    pub at: Option<Span>,
    /// `true` if its end trims the text behind it.
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
pub struct KnownActions<'a> {
    actions: HashMap<&'a str, &'a Known<'a>>,
}

impl<'a> KnownActions<'a> {
    /// Returns a set with room for the actions of files of `bytes` bytes.
    pub fn for_bytes(bytes: usize) -> Self {
        Self { actions: HashMap::with_capacity(bytes / ACTION) }
    }

    /// Returns the action with this text.
    pub(super) fn get(&self, text: &str) -> Option<&'a Known<'a>> {
        self.actions.get(text).copied()
    }

    /// Keeps an action, unless it defines a template or nests deep.
    pub(super) fn keep(&mut self, arena: &'a Bump, text: &'a str, known: Known<'a>) {
        let defines = matches!(known.action, Action::Define(_) | Action::Block(..));
        if !defines && memchr::memchr_iter(b'(', text.as_bytes()).count() <= DEPTH {
            self.actions.insert(text, arena.alloc(known));
        }
    }
}

/// Copies trees to another place of a file, or to another file.
pub(super) struct Move<'a> {
    pub arena: &'a Bump,
    /// The distance, which may wrap around.
    pub by: u32,
}

impl<'a> Move<'a> {
    pub fn span(&self, span: Span) -> Span {
        Span::new(span.start.wrapping_add(self.by), span.end.wrapping_add(self.by))
    }

    /// Copies an action that defines no template.
    pub fn action(&self, action: Action<'a>) -> Action<'a> {
        match action {
            Action::Emit(pipeline) => Action::Emit(self.pipeline(&pipeline)),
            Action::If(pipeline) => Action::If(self.pipeline(&pipeline)),
            Action::With(pipeline) => Action::With(self.pipeline(&pipeline)),
            Action::Range(pipeline) => Action::Range(self.pipeline(&pipeline)),
            Action::ElseIf(pipeline) => Action::ElseIf(self.pipeline(&pipeline)),
            Action::ElseWith(pipeline) => Action::ElseWith(self.pipeline(&pipeline)),
            Action::Block(name, pipeline) => Action::Block(name, self.pipeline(&pipeline)),
            Action::Template(name, data) => Action::Template(name, data.map(|data| self.pipeline(&data))),
            Action::Else | Action::End | Action::Break | Action::Continue | Action::Define(_) => action,
        }
    }

    fn slice<T: Copy>(&self, items: &[T], copy: impl FnMut(&T) -> T) -> &'a [T] {
        if items.is_empty() { &[] } else { self.arena.alloc_slice_fill_iter(items.iter().map(copy)) }
    }

    /// Copies a pipeline. The nesting of pipelines was bounded when the action was kept.
    fn pipeline(&self, pipeline: &Pipeline<'a>) -> Pipeline<'a> {
        Pipeline {
            variables: self.names(pipeline.variables),
            commands: self.slice(pipeline.commands, |command| self.command(command)),
            span: self.span(pipeline.span),
            ..*pipeline
        }
    }

    fn command(&self, command: &Command<'a>) -> Command<'a> {
        let operands = self.slice(command.operands, |operand| self.operand(operand));
        Command { operands, span: self.span(command.span) }
    }

    fn operand(&self, operand: &Operand<'a>) -> Operand<'a> {
        let term = match operand.term {
            Term::Pipeline(inner) => Term::Pipeline(self.arena.alloc(self.pipeline(inner))),
            term => term,
        };
        Operand { term, fields: self.names(operand.fields), span: self.span(operand.span) }
    }

    fn names(&self, names: &[Name<'a>]) -> &'a [Name<'a>] {
        self.slice(names, |name| Name { span: self.span(name.span), ..*name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::helm::syntax::{Delimiters, parse};
    use crate::limits::Limits;
    use crate::text::Source;

    /// Returns the nodes of a text, without those of the first `skip` nodes.
    fn nodes(text: &str, skip: usize) -> String {
        let (arena, source) = (Bump::new(), Source::new("t", text));
        let templates = parse(&arena, &source, Delimiters::default(), &|_| true, &Limits::default()).unwrap();
        format!("{:?}", templates.last().unwrap().body.get(skip..).unwrap())
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
    fn variables_are_looked_up_where_an_action_is_repeated() {
        let (arena, source) = (Bump::new(), Source::new("t", "{{ if $x := .a }}{{ $x }}{{ end }}\n{{ $x }}{{ $x }}"));
        let errors = parse(&arena, &source, Delimiters::default(), &|_| true, &Limits::default()).unwrap_err();
        let places: Vec<_> = errors.iter().map(|error| error.position().unwrap().to_string()).collect();
        assert_eq!(places, ["2:4", "2:12"]);
    }
}
