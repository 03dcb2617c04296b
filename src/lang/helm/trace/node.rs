//! The node of a tree that a place belongs to, as the reference prints it, and the values that it reads.

use std::fmt::Write as _;
use std::sync::Arc;

use bumpalo::Bump;

use crate::error::quoted;
use crate::syntax::tree::{Call, Command, Node, Operand, Pipeline, Placed, Template, Term};
use crate::syntax::{Delimiters, parse};
use dropforge_base::diagnostics::Label;
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};

/// A node with its place.
#[derive(Debug)]
pub(super) struct FailingNode {
    /// `file:line:column`
    place: String,
    /// The name of the template that has the node.
    template: String,
    /// The node as the reference prints it.
    text: String,
    /// The name of the function that the node calls.
    pub function: Option<String>,
    /// The name of the method that the node may call.
    pub method: Option<String>,
    /// The paths below `.Values` that the node reads.
    pub reads: Vec<Vec<String>>,
    /// The functions that the pipeline around it calls.
    pub functions: Vec<String>,
}

impl FailingNode {
    /// Returns the beginning of a text about the node.
    pub fn head(&self) -> String {
        format!("template: {}: executing {} at <{}>: ", self.place, quoted(&self.template), self.text)
    }
}

/// Returns the node at a label.
pub(super) fn find(label: &Label) -> Option<FailingNode> {
    let arena = Bump::new();
    let limits = Limits { diagnostics: 1, ..Limits::default() };
    let templates = parse(&arena, &label.source, Delimiters::default(), &|_| true, &limits).ok()?;
    templates.iter().find_map(|template| in_template(template, label))
}

fn in_template(template: &Template<'_>, label: &Label) -> Option<FailingNode> {
    let mut search = Search { span: label.span, base: 0, best: None, around: None };
    let mut open = vec![template.body];
    while let Some(body) = open.pop() {
        for node in body {
            match node {
                Node::Text(..) | Node::Break(_) | Node::Continue(_) => {}
                Node::Emit(placed) => search.placed(*placed),
                Node::Call(call) => search.call(call),
                Node::Choice(choice) => {
                    open.push(choice.otherwise);
                    for (placed, body) in choice.branches {
                        search.placed(*placed);
                        open.push(body);
                    }
                }
                Node::Range(range) => {
                    search.placed(range.pipeline);
                    open.extend([range.body, range.otherwise]);
                }
            }
        }
    }
    let reads = values(search.best.map(|best| best.piece), search.around);
    let functions = functions(search.around);
    search.best.map(|best| FailingNode {
        reads,
        functions,
        ..best.piece.found(template.name, &label.source, best.base)
    })
}

/// A part of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) enum TreePart<'a> {
    Call(&'a Call<'a>),
    Pipeline(Pipeline<'a>),
    Command(Command<'a>),
    Operand(Operand<'a>),
}

/// The smallest part so far.
#[derive(Debug, Clone, Copy)]
struct Best<'a> {
    span: Span,
    piece: TreePart<'a>,
    /// The offset to which the places in the part are relative.
    base: u32,
}

/// The search for the smallest part of a template around a span.
struct Search<'a> {
    span: Span,
    /// The offset to which the places of the parts that are offered are relative.
    base: u32,
    best: Option<Best<'a>>,
    /// The smallest pipeline around the span.
    around: Option<Pipeline<'a>>,
}

impl<'a> Search<'a> {
    /// Offers a part. Returns `true` if the span is in it.
    fn offer(&mut self, span: Span, piece: TreePart<'a>) -> bool {
        let (place, base) = (span.moved(self.base), self.base);
        let is_around = place.start <= self.span.start && self.span.end <= place.end;
        let len = |span: Span| span.end - span.start;
        if is_around && self.best.is_none_or(|best| len(span) <= len(best.span)) {
            self.best = Some(Best { span, piece, base });
        }
        is_around
    }

    fn call(&mut self, call: &'a Call<'a>) {
        self.base = 0;
        if self.offer(call.span, TreePart::Call(call))
            && let Some(data) = call.data
        {
            self.placed(data);
        }
    }

    fn placed(&mut self, placed: Placed<'a>) {
        self.base = placed.base;
        let mut open = vec![*placed.pipeline];
        while let Some(pipeline) = open.pop() {
            if !self.offer(pipeline.span, TreePart::Pipeline(pipeline)) {
                continue;
            }
            // Those inside come later.
            self.around = Some(pipeline);
            for command in pipeline.commands {
                self.offer(command.span, TreePart::Command(*command));
                for operand in command.operands {
                    let is_call = command.operands.len() == 1 && matches!(operand.term, Term::Function(_));
                    if !is_call {
                        self.offer(operand.span, TreePart::Operand(*operand));
                    }
                    if let Term::Pipeline(inner) = operand.term {
                        open.push(*inner);
                    }
                }
            }
        }
    }
}

impl TreePart<'_> {
    /// Returns the part as the reference prints it. Its places are relative to `base`.
    fn found(self, template: &str, source: &Arc<Source>, base: u32) -> FailingNode {
        let mut printer = NodePrinter { source, base, text: String::new() };
        let mut method = None;
        let (at, function) = match self {
            TreePart::Call(call) => {
                printer.call(call);
                (name_of_call(call, source), None)
            }
            TreePart::Pipeline(pipeline) => {
                match pipeline.commands.last().and_then(|command| command.operands.last()) {
                    Some(last) => return TreePart::Operand(*last).found(template, source, base),
                    None => printer.pipeline(&pipeline),
                }
                (pipeline.span.start, None)
            }
            TreePart::Command(command) => {
                printer.command(&command);
                let function = command.operands.first().and_then(|first| match first.term {
                    Term::Function(name) if first.fields.is_empty() => Some(name.to_owned()),
                    _ => None,
                });
                (command.span.start, function)
            }
            TreePart::Operand(operand) => {
                let operand = evaluated(operand);
                method = operand.fields.last().map(|name| name.text.to_owned());
                printer.operand(&operand);
                (start_of(&operand), None)
            }
        };
        let text = printer.text;
        let (place, template) = (place(source, base + at), template.to_owned());
        FailingNode { place, template, text, function, method, reads: Vec::new(), functions: Vec::new() }
    }
}

/// Returns the operand that is evaluated last in another one: in parentheses, that of the last command.
fn evaluated(mut operand: Operand<'_>) -> Operand<'_> {
    while let Term::Pipeline(inner) = operand.term {
        match inner.commands.last().and_then(|command| command.operands.last()) {
            Some(last) if operand.fields.is_empty() => operand = *last,
            _ => break,
        }
    }
    operand
}

/// Returns the place of an operand as the reference counts it: that of the second field of a chain.
fn start_of(operand: &Operand<'_>) -> u32 {
    let fields = match operand.term {
        Term::Dot => operand.fields.get(1..).unwrap_or(&[]),
        _ => operand.fields,
    };
    fields.first().map_or(operand.span.start, |field| field.span.start)
}

/// Returns the place of the name in `{{template "name"}}`.
fn name_of_call(call: &Call<'_>, source: &Source) -> u32 {
    let found = source.slice(call.span).find(['"', '`']).and_then(|at| u32::try_from(at).ok());
    call.span.start + found.unwrap_or(0)
}

/// Returns `file:line:column`. The column counts bytes from 0.
fn place(source: &Source, at: u32) -> String {
    let before = source.text().get(..at as usize).unwrap_or("");
    let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
    let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
    format!("{}:{line}:{column}", source.name())
}

/// Prints nodes as the reference does. Parentheses nest as deep as the parser allows.
struct NodePrinter<'s> {
    source: &'s Source,
    base: u32,
    text: String,
}

impl NodePrinter<'_> {
    fn call(&mut self, call: &Call<'_>) {
        let _ = write!(self.text, "{{{{template {}", quoted(call.name));
        if let Some(data) = &call.data {
            self.text.push(' ');
            self.base = data.base;
            self.pipeline(data.pipeline);
        }
        self.text.push_str("}}");
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'_>) {
        for (at, variable) in pipeline.variables.iter().enumerate() {
            self.text.push_str(if at > 0 { ", " } else { "" });
            self.text.push_str(variable.text);
        }
        if !pipeline.variables.is_empty() {
            self.text.push_str(if pipeline.assigns { " = " } else { " := " });
        }
        for (at, command) in pipeline.commands.iter().enumerate() {
            self.text.push_str(if at > 0 { " | " } else { "" });
            self.command(command);
        }
    }

    fn command(&mut self, command: &Command<'_>) {
        for (at, operand) in command.operands.iter().enumerate() {
            self.text.push_str(if at > 0 { " " } else { "" });
            self.operand(operand);
        }
    }

    fn operand(&mut self, operand: &Operand<'_>) {
        match operand.term {
            Term::Pipeline(inner) => {
                self.text.push('(');
                self.pipeline(inner);
                self.text.push(')');
            }
            Term::Dot if !operand.fields.is_empty() => {}
            _ => {
                let end = operand.fields.first().map_or(operand.span.end, |field| field.span.start);
                self.text.push_str(self.source.slice(Span::new(operand.span.start, end).moved(self.base)));
            }
        }
        for field in operand.fields {
            self.text.push('.');
            self.text.push_str(field.text.trim_start_matches('.'));
        }
    }
}

/// The key of the values in the data of a template.
const VALUES: &str = "Values";

/// Returns the paths below `.Values` that a part of a tree reads, or else those of the commands before it, whose value is
/// piped to it.
pub(super) fn values(piece: Option<TreePart<'_>>, around: Option<Pipeline<'_>>) -> Vec<Vec<String>> {
    let (own, end) = match piece {
        Some(TreePart::Call(Call { data: Some(data), .. })) => (of_commands(data.pipeline.commands), None),
        Some(TreePart::Command(command)) => (of_commands(&[command]), Some(command.span.start)),
        Some(TreePart::Operand(operand)) => (of_operands(&[operand]), None),
        Some(TreePart::Pipeline(pipeline)) => (of_commands(pipeline.commands), None),
        _ => return Vec::new(),
    };
    match (own.is_empty(), end, around) {
        (true, Some(end), Some(around)) => {
            let before = around.commands.iter().take_while(|command| command.span.start < end);
            of_commands(&before.copied().collect::<Vec<_>>())
        }
        _ => own,
    }
}

/// Returns the functions that the commands of a pipeline call.
pub(super) fn functions(pipeline: Option<Pipeline<'_>>) -> Vec<String> {
    let commands = pipeline.map_or(&[][..], |pipeline| pipeline.commands);
    let first = commands.iter().filter_map(|command| command.operands.first());
    first
        .filter_map(|operand| match operand.term {
            Term::Function(name) => Some(name.to_owned()),
            _ => None,
        })
        .collect()
}

fn of_commands(commands: &[Command<'_>]) -> Vec<Vec<String>> {
    commands.iter().flat_map(|command| of_operands(command.operands)).collect()
}

fn of_operands(operands: &[Operand<'_>]) -> Vec<Vec<String>> {
    let (mut open, mut found) = (operands.to_vec(), Vec::new());
    while let Some(operand) = open.pop() {
        match (operand.term, operand.fields) {
            (Term::Dot | Term::Variable("$"), [first, rest @ ..]) if first.text == VALUES && !rest.is_empty() => {
                found.push(rest.iter().map(|field| field.text.to_owned()).collect());
            }
            (Term::Pipeline(inner), _) => {
                open.extend(inner.commands.iter().flat_map(|command| command.operands));
            }
            _ => {}
        }
    }
    found
}
