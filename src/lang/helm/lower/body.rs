//! Bodies: text, output, conditions, loops, templates; the templates that may call themselves.

use hashbrown::{HashMap, HashSet};

use super::paths::PathUse;
use super::program::{Dot, Lower};
use crate::compile::Defined;
use crate::error::quoted;
use crate::syntax::tree::{Call, Choice, Name, Node, Pipeline, Placed, Range};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_machine::bytecode::{Delivery, EscapeMode, Op, Role};
use dropforge_machine::compiler::Constant;

impl<'a> Lower<'_, 'a> {
    /// Lowers a body. Its variables end with it.
    pub(super) fn body(&mut self, body: &'a [Node<'a>]) -> Result<()> {
        let (known, base) = (self.variables.len(), self.base);
        for node in body {
            self.base = 0;
            self.node(node)?;
            self.emitter.check_size()?;
        }
        self.base = base;
        self.variables.truncate(known);
        Ok(())
    }

    fn node(&mut self, node: &'a Node<'a>) -> Result<()> {
        match node {
            Node::Text(text, span) => {
                self.at(*span);
                self.emitter.text(text);
                Ok(())
            }
            Node::Emit(placed) => {
                self.base = placed.base;
                self.emit(placed.pipeline)
            }
            Node::Choice(choice) => self.deeper(span_of(choice), |lower| lower.choice(choice)),
            Node::Range(range) => self.deeper(range.pipeline.span(), |lower| lower.range(range)),
            Node::Call(call) => self.template_action(call),
            Node::Break(_) | Node::Continue(_) => {
                let Some(mark) = self.loops.last().copied() else { return Ok(()) };
                match node {
                    Node::Break(_) => self.emitter.break_loop(mark),
                    _ => self.emitter.continue_loop(mark),
                }
                Ok(())
            }
        }
    }

    /// Lowers `{{ pipeline }}`.
    fn emit(&mut self, pipeline: &'a Pipeline<'a>) -> Result<()> {
        if !pipeline.variables.is_empty() {
            self.pipeline(pipeline)?;
            return self.declare(pipeline.variables, pipeline.assigns);
        }
        if let Some((from, root, operand)) = self.plain_path(pipeline) {
            return self.path(from, root, operand.fields, operand.span, PathUse::Write);
        }
        self.pipeline(pipeline)?;
        self.at(pipeline.span);
        self.emitter.write(EscapeMode::Plain);
        Ok(())
    }

    /// Pops the value of a pipeline into a variable.
    fn declare(&mut self, variables: &'a [Name<'a>], assigns: bool) -> Result<()> {
        let Some(variable) = variables.last() else { return Ok(()) };
        self.emitter.op(Op::As, &[Role::Value as u32]);
        if assigns {
            match self.variable(variable.text) {
                Some(Dot::Slot(slot)) if variable.text != "$" || self.shadows_root() => {
                    self.emitter.op(Op::StoreSlot, &[slot]);
                }
                // The dot keeps its value.
                Some(_) => self.new_variable(variable.text),
                None => {
                    self.emitter.op(Op::Pop, &[]);
                    let message = format!("undefined variable: {}", variable.text);
                    self.fail(variable.span, Code::UndefinedVariable, message);
                }
            }
            return Ok(());
        }
        self.new_variable(variable.text);
        Ok(())
    }

    fn new_variable(&mut self, name: &'a str) {
        let slot = self.emitter.new_slot();
        self.emitter.op(Op::StoreSlot, &[slot]);
        self.variables.push(name, slot);
    }

    /// Returns `true` if `$` is a variable of its own.
    fn shadows_root(&self) -> bool {
        self.variables.latest("$").is_some()
    }

    /// Lowers `if` and `with`.
    fn choice(&mut self, choice: &'a Choice<'a>) -> Result<()> {
        let known = self.variables.len();
        let (end, dot) = (self.emitter.new_label(), self.dot);
        let (mut branches, mut taken) = (choice.branches.iter(), None);
        while let (Some((Placed { pipeline, base }, body)), None) = (branches.next(), taken) {
            self.base = *base;
            let (next, guess) = (self.emitter.new_label(), self.guess(pipeline));
            if choice.moves || !pipeline.variables.is_empty() {
                let slot = self.kept(pipeline)?;
                self.emitter.load_slot(slot);
                self.emitter.jump(Op::JumpUnless, next);
                self.dot = if choice.moves { Dot::Slot(slot) } else { dot };
            } else {
                self.branch(pipeline, false, next)?;
            }
            self.body_unless(guess == Some(false), body, pipeline.span)?;
            self.dot = dot;
            if branches.len() > 0 || !choice.otherwise.is_empty() {
                self.emitter.jump(Op::Jump, end);
            }
            self.emitter.bind(next);
            taken = (guess == Some(true)).then_some(pipeline.span);
        }
        match taken {
            Some(span) if branches.len() > 0 => self.leave_out(span),
            _ => self.body_unless(taken.is_some(), choice.otherwise, taken.unwrap_or_default())?,
        }
        self.emitter.bind(end);
        self.variables.truncate(known);
        Ok(())
    }

    /// Puts the value of a pipeline into a slot: that of its variable, if it has one.
    fn kept(&mut self, pipeline: &'a Pipeline<'a>) -> Result<u32> {
        self.pipeline(pipeline)?;
        if !pipeline.variables.is_empty() {
            self.declare(pipeline.variables, pipeline.assigns)?;
            let name = pipeline.variables.last().map_or("", |last| last.text);
            if let Some(Dot::Slot(slot)) = self.variable(name) {
                return Ok(slot);
            }
        }
        let slot = self.emitter.new_slot();
        self.emitter.op(Op::StoreSlot, &[slot]);
        Ok(slot)
    }

    fn range(&mut self, range: &'a Range<'a>) -> Result<()> {
        let (known, dot, Placed { pipeline, base }) = (self.variables.len(), self.dot, range.pipeline);
        self.base = base;
        let guess = self.guess(pipeline);
        self.pipeline(pipeline)?;
        self.at(pipeline.span);
        let (empty, end) = (self.emitter.new_label(), self.emitter.new_label());
        let slot = self.emitter.new_slots(2);
        if pipeline.variables.len() == 2 {
            // An integer has items but no keys.
            self.emitter.op(Op::As, &[Role::Answer as u32]);
        }
        let mark = self.emitter.begin_loop(2, slot, empty);
        let first = 2 - u32::try_from(pipeline.variables.len()).unwrap_or(2).min(2);
        for (variable, slot) in pipeline.variables.iter().zip(slot + first..) {
            if pipeline.assigns {
                self.emitter.load_slot(slot);
                self.declare(std::slice::from_ref(variable), true)?;
            } else {
                self.variables.push(variable.text, slot);
            }
        }
        self.dot = Dot::Slot(slot + 1);
        self.items.insert(slot + 1);
        self.loops.push(mark);
        self.body_unless(guess == Some(false), range.body, pipeline.span)?;
        self.loops.pop();
        self.dot = dot;
        self.variables.truncate(known);
        self.emitter.end_loop(mark);
        if range.otherwise.is_empty() {
            self.emitter.bind(empty);
            return Ok(());
        }
        self.emitter.jump(Op::Jump, end);
        self.emitter.bind(empty);
        self.body(range.otherwise)?;
        self.emitter.bind(end);
        Ok(())
    }

    /// Lowers `{{ template "name" data }}`.
    fn template_action(&mut self, call: &'a Call<'a>) -> Result<()> {
        let Some(chunk) = self.chunk_of(call.name) else {
            if self.sees.is_some_and(|sees| sees(call.name)) {
                return self.template_around(call);
            }
            let name = quoted(call.name);
            self.fail_template(call.span, call.name, format!("template {name} not defined"));
            return Ok(());
        };
        if self.set.recursive.contains(call.name) {
            return self.template_around(call);
        }
        self.data(call)?;
        self.at(call.span);
        self.emitter.op(Op::CallChunk, &[chunk, 0]);
        Ok(())
    }

    /// Calls a template by its name.
    fn template_around(&mut self, call: &'a Call<'a>) -> Result<()> {
        self.emitter.constant(Constant::Str(call.name.into()));
        self.data(call)?;
        self.at(call.span);
        self.emitter.call_named(1, Delivery::Output);
        Ok(())
    }

    /// Pushes the data of a template.
    fn data(&mut self, call: &'a Call<'a>) -> Result<()> {
        let Some(data) = &call.data else {
            self.emitter.undefined();
            return Ok(());
        };
        let base = std::mem::replace(&mut self.base, data.base);
        self.pipeline(data.pipeline)?;
        self.base = base;
        self.emitter.op(Op::As, &[Role::Value as u32]);
        Ok(())
    }
}

fn span_of(choice: &Choice<'_>) -> dropforge_base::text::Span {
    choice.branches.first().map_or_else(Default::default, |(placed, _)| placed.span())
}

/// Returns the names of all templates on a cycle of calls by literal names, and of those between two cycles.
pub(crate) fn recursive<'a>(templates: &HashMap<&'a str, Defined<'a>>) -> HashSet<&'a str> {
    let numbers: HashMap<&'a str, usize> = templates.keys().copied().zip(0..).collect();
    let mut calls: Vec<(usize, usize)> = Vec::new();
    for (caller, defined) in templates.values().enumerate() {
        let called = defined.template.calls.iter().filter_map(|called| numbers.get(called));
        calls.extend(called.map(|called| (caller, *called)));
    }
    let without_callers = without_roots(calls, numbers.len());
    let back = without_callers.into_iter().map(|(caller, called)| (called, caller)).collect();
    let left: HashSet<usize> = without_roots(back, numbers.len()).into_iter().map(|(number, _)| number).collect();
    templates.keys().copied().zip(0..).filter(|(_, number)| left.contains(number)).map(|(name, _)| name).collect()
}

/// Removes the edges from nodes to which no edge leads, until there are none.
fn without_roots(mut edges: Vec<(usize, usize)>, nodes: usize) -> Vec<(usize, usize)> {
    edges.small_sort_by(Ord::cmp);
    let mut leading = vec![0_usize; nodes];
    edges.iter().for_each(|(_, end)| leading[*end] += 1);
    let from = |node: usize| edges.partition_point(|(start, _)| *start < node);
    let mut roots: Vec<usize> = (0..nodes).filter(|node| leading[*node] == 0).collect();
    let mut is_root = vec![false; nodes];
    while let Some(root) = roots.pop() {
        is_root[root] = true;
        for (_, end) in edges.iter().skip(from(root)).take_while(|(start, _)| *start == root) {
            leading[*end] -= 1;
            if leading[*end] == 0 {
                roots.push(*end);
            }
        }
    }
    edges.retain(|(start, _)| !is_root[*start]);
    edges
}
