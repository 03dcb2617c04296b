//! The names in a file, for editors.

use std::sync::Arc;

use bumpalo::Bump;

use super::syntax::tree::{Choice, Command, Name, Node, Operand, Pipeline, Placed, Range, Template, Term};
use super::syntax::{Delimiters, parse};
use dropforge_base::diagnostics::Diagnostic;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::compiler::{Given, Key, Mark, MarkList, Named};
use dropforge_machine::function::Registry;

/// The functions whose first argument is the name of a template.
const INCLUDES: [&str; 1] = ["include"];

/// Returns the names in a file. The data of a `define` is taken for that of the file, as most are called with it.
///
/// # Errors
/// All syntax errors.
pub fn marks(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
    let arena = Bump::new();
    let known = |name: &str| registry.get(ImportKind::Function, name).is_some();
    let templates = parse(&arena, source, Delimiters::default(), &known, limits)?;
    let mut marking = Marking { source, list: MarkList::default(), dot: Some(Vec::new()) };
    let last = templates.len().saturating_sub(1);
    for (at, template) in templates.iter().enumerate() {
        marking.template(template, at == last);
    }
    Ok(marking.list.finish())
}

struct Marking<'s> {
    source: &'s Arc<Source>,
    list: MarkList,
    /// The input that `.` is. An empty path is the data of the file.
    dot: Option<Vec<Key>>,
}

impl Marking<'_> {
    fn template(&mut self, template: &Template<'_>, is_file: bool) {
        self.dot = Some(Vec::new());
        if is_file {
            return self.body(template.body);
        }
        let span = self.unquoted(template.span, template.name);
        let open = self.list.begin(Mark::definition(Named::Template, template.name, span, template.span));
        self.body(template.body);
        self.list.end(open);
    }

    /// Returns the place of a text without its quotes.
    fn unquoted(&self, span: Span, text: &str) -> Span {
        let found = self.source.slice(span).find(text).map(|at| span.start + at as u32);
        found.map_or(span, |start| Span::new(start, start + text.len() as u32))
    }

    fn body(&mut self, body: &[Node<'_>]) {
        let scope = self.list.enter();
        body.iter().for_each(|node| self.node(node));
        self.list.leave(scope);
    }

    fn node(&mut self, node: &Node<'_>) {
        match node {
            Node::Text(_, span) | Node::Break(span) | Node::Continue(span) => self.list.reach(*span),
            Node::Emit(placed) => drop(self.placed(*placed)),
            Node::Choice(choice) => self.choice(choice),
            Node::Range(range) => self.range(range),
            Node::Call(call) => {
                let span = self.unquoted(call.span, call.name);
                self.list.add(Mark { whole: call.span, ..Mark::new(Named::Template, call.name, span) });
                call.data.into_iter().for_each(|data| drop(self.placed(data)));
            }
        }
    }

    fn choice(&mut self, choice: &Choice<'_>) {
        let scope = self.list.enter();
        for (condition, body) in choice.branches {
            let input = self.placed(*condition);
            let outer = self.dot.clone();
            if choice.moves {
                self.dot = input;
            }
            self.body(body);
            self.dot = outer;
        }
        self.body(choice.otherwise);
        self.list.leave(scope);
    }

    fn range(&mut self, range: &Range<'_>) {
        let scope = self.list.enter();
        let Placed { pipeline, base } = range.pipeline;
        let item = self.commands(pipeline, base).map(|mut input| {
            input.push(Key::Any);
            input
        });
        if let Some((last, others)) = pipeline.variables.split_last() {
            others.iter().for_each(|name| self.list.define(name.text, name.span.moved(base), None, None));
            let given = expression(pipeline, base).map(Given::Items);
            self.list.define(last.text, last.span.moved(base), given, item.clone());
        }
        let outer = std::mem::replace(&mut self.dot, item);
        self.body(range.body);
        self.dot = outer;
        self.body(range.otherwise);
        self.list.leave(scope);
    }

    /// Marks a pipeline and what it declares. Returns the input that it is, if it is one.
    fn placed(&mut self, Placed { pipeline, base }: Placed<'_>) -> Option<Vec<Key>> {
        let input = self.commands(pipeline, base);
        for name in pipeline.variables {
            let (span, given) = (name.span.moved(base), expression(pipeline, base).map(Given::Value));
            match pipeline.assigns {
                true => self.list.assign(name.text, span, given, None),
                false => self.list.define(name.text, span, given, input.clone()),
            }
        }
        input
    }

    fn commands(&mut self, pipeline: &Pipeline<'_>, base: u32) -> Option<Vec<Key>> {
        self.list.reach(pipeline.span.moved(base));
        pipeline.commands.iter().for_each(|command| self.command(command, base));
        match pipeline.commands {
            [Command { operands: [operand], .. }] => self.input(operand),
            _ => None,
        }
    }

    fn command(&mut self, command: &Command<'_>, base: u32) {
        for (at, operand) in command.operands.iter().enumerate() {
            let span = operand.span.moved(base);
            match operand.term {
                Term::Function(name) => {
                    let place = Span::new(span.start, span.start + name.len() as u32);
                    let mark = Mark::new(Named::Import(ImportKind::Function), name, place);
                    self.list.add(Mark { whole: command.span.moved(base), ..mark });
                }
                Term::Str(text) if at == 1 && is_include(command) => {
                    let name = String::from_utf8_lossy(text);
                    let place = self.unquoted(span, &name);
                    self.list.add(Mark { whole: span, ..Mark::new(Named::Template, name, place) });
                }
                Term::Pipeline(inner) => drop(self.placed(Placed { pipeline: inner, base })),
                Term::Dot | Term::Variable(_) => self.path(operand, base),
                Term::Nil | Term::Bool(_) | Term::Number(_) | Term::Str(_) => {}
            }
        }
    }

    /// Returns the input that an operand is, if it is one.
    fn input(&self, operand: &Operand<'_>) -> Option<Vec<Key>> {
        let mut input = match operand.term {
            Term::Dot => self.dot.clone()?,
            Term::Variable("$") => Vec::new(),
            Term::Variable(name) => self.list.input(name, &[])?,
            Term::Pipeline(inner) => match inner.commands {
                [Command { operands: [operand], .. }] => self.input(operand)?,
                _ => return None,
            },
            _ => return None,
        };
        input.extend(operand.fields.iter().map(|name| Key::Name(name.text.to_owned())));
        Some(input)
    }

    fn path(&mut self, operand: &Operand<'_>, base: u32) {
        let whole = operand.span.moved(base);
        // The place of a field begins with its point.
        let step = |name: &Name<'_>| {
            let span = name.span.moved(base);
            let point = u32::from(self.source.slice(span).starts_with('.'));
            (Key::Name(name.text.to_owned()), Span::new(span.start + point, span.end))
        };
        let mut steps: Vec<_> = operand.fields.iter().map(step).collect();
        match operand.term {
            Term::Variable(name) if name != "$" => {
                let span = Span::new(whole.start, whole.start + name.len() as u32);
                self.list.path(name, span, whole, steps);
            }
            _ if steps.is_empty() => {}
            term => {
                let (key, span) = steps.remove(0);
                let Key::Name(name) = key else { return };
                let around = if matches!(term, Term::Dot) { self.dot.clone() } else { Some(Vec::new()) };
                let input = around.map(|mut input| {
                    input.push(Key::Name(name.clone()));
                    input
                });
                self.list.add(Mark { whole, input, steps, ..Mark::new(Named::Input, name, span) });
            }
        }
    }
}

/// Returns the place of the commands of a pipeline.
fn expression(pipeline: &Pipeline<'_>, base: u32) -> Option<Span> {
    let (first, last) = (pipeline.commands.first()?, pipeline.commands.last()?);
    Some(first.span.to(last.span).moved(base))
}

/// Returns `true` if the first argument of a command is the name of a template.
fn is_include(command: &Command<'_>) -> bool {
    let first = command.operands.first().map(|operand| operand.term);
    matches!(first, Some(Term::Function(name)) if INCLUDES.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn names_are_marked_with_the_inputs_they_lead_to() {
        let text = "{{define \"a.b\"}}{{.Values.x}}{{end}}{{range $i, $p := .Values.ports}}{{.name}}{{$p.number}}\
                    {{$.Release.Name}}{{end}}{{include \"a.b\" . | quote}}{{template \"a.b\"}}\
                    {{with .Values.w}}{{.y}}{{end}}{{- $v := .z | quote -}}{{$v = 1}}";
        let source = Source::new("t.yaml", text);
        let found = marks(&source, &registry(), &Limits::default()).unwrap();
        let told = |mark: &Mark| {
            let sort = if mark.is_definition { "def " } else { "" };
            let key = |key: &Key| match key {
                Key::Name(name) => name.clone(),
                Key::Any => "*".to_owned(),
            };
            let input = mark.input_at(u32::MAX).map(|(input, _)| input).unwrap_or_default();
            let input = input.iter().map(key).collect::<Vec<_>>().join(".");
            format!("{sort}{:?} {} {input}", mark.kind, source.slice(mark.span))
        };
        let all: Vec<_> = found.iter().map(told).collect();
        assert_eq!(
            all,
            [
                "def Template a.b ",
                "Input Values Values.x",
                "def Variable $i ",
                "def Variable $p Values.ports.*",
                "Input Values Values.ports",
                "Input name Values.ports.*.name",
                "Variable $p Values.ports.*.number",
                "Input Release Release.Name",
                "Import(Function) include ",
                "Template a.b ",
                "Import(Function) quote ",
                "Template a.b ",
                "Input Values Values.w",
                "Input y Values.w.y",
                "def Variable $v ",
                "Input z z",
                "Import(Function) quote ",
                "def Variable $v ",
            ]
        );
        let given: Vec<_> = found.iter().filter_map(|mark| mark.given).collect();
        let [Given::Items(ports), Given::Value(first), Given::Value(second)] = *given else { panic!("{given:?}") };
        assert_eq!([ports, first, second].map(|span| source.slice(span)), [".Values.ports", ".z | quote", "1"]);
    }
}
