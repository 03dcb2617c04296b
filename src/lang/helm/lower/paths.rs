//! Reads of fields and variables.

use smallvec::SmallVec;

use super::program::{Dot, Lower};
use crate::syntax::tree::{Name, Node, Operand, Pipeline, Term};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limit;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::EscapeMode;
use dropforge_machine::compiler::{PathSpec, RootSpec, SegmentSpec};

/// Maximum number of steps of a path.
const SEGMENTS: usize = 60_000;

/// The use of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathUse {
    /// Its value is pushed.
    Load,
    /// Its value is written.
    Write,
}

/// A path that was lowered before: the address of its fields, or else of its root's name, and the number of fields; the value
/// it starts from; whether that is an item of a loop. Equal actions share their trees, so addresses tell them apart.
pub(super) type PathKey<'a> = ((*const (), usize), Dot<'a>, bool);

impl<'a> Lower<'_, 'a> {
    /// Reads fields of the dot or of a variable.
    pub(super) fn path(
        &mut self,
        from: Dot<'a>,
        root: &'a str,
        fields: &'a [Name<'a>],
        span: Span,
        to: PathUse,
    ) -> Result<()> {
        if fields.len() > SEGMENTS {
            let limit = self.unit.limits.code_words;
            return Err(Limit::CodeWords.error(limit as u64).at(self.source(), span.moved(self.base), "this path"));
        }
        self.at(span);
        let is_item = matches!(from, Dot::Slot(slot) if self.items.contains(&slot));
        let address = if fields.is_empty() { root.as_ptr().cast() } else { fields.as_ptr().cast() };
        let key: PathKey<'a> = ((address, fields.len()), from, is_item);
        if let Some(path) = self.paths.get(&key).copied() {
            match to {
                PathUse::Load => self.emitter.load_again(path),
                PathUse::Write => self.emitter.write_path_again(path, EscapeMode::Plain),
            }
            return Ok(());
        }
        let (start, steps) = match (from, fields) {
            (Dot::Slot(slot) | Dot::Inputs(Some(slot)), []) => (RootSpec::Slot(slot), fields),
            (Dot::Inputs(_), [first, rest @ ..]) => (RootSpec::Global(first.text), rest),
            (Dot::Slot(slot), _) => (RootSpec::Slot(slot), fields),
            (Dot::Input(name), _) => (RootSpec::Global(name), fields),
            (Dot::Inputs(None), []) => return self.no_inputs(to),
        };
        let start_name = if let RootSpec::Global(name) = start { name } else { "" };
        let root = match (from, fields) {
            (Dot::Inputs(_), [_, ..]) => "",
            (Dot::Input(_), _) => "data",
            (Dot::Slot(_), _) if is_item => match root {
                "dot" => "item",
                variable => &format!("item{variable}"),
            },
            _ => root,
        };
        let mut name = std::mem::take(&mut self.name);
        self.path_name(root, fields, &mut name);
        let mut segments = SmallVec::<[SegmentSpec<'a>; 4]>::new();
        for (at, step) in steps.iter().enumerate() {
            // The values of a chart have a method that returns them as a plain map.
            let before = at.checked_sub(1).and_then(|at| steps.get(at)).map_or(start_name, |before| before.text);
            if step.text != "AsMap" || before != "Values" {
                segments.push(SegmentSpec::Attr(step.text, step.span.moved(self.base)));
            }
        }
        let spec = PathSpec { name: &name, roots: &[start], segments: &segments };
        let path = match to {
            PathUse::Load => self.emitter.load(&spec),
            PathUse::Write => self.emitter.write_path(&spec, EscapeMode::Plain),
        };
        if let Some(path) = path {
            self.paths.insert(key, path);
        }
        self.name = name;
        Ok(())
    }

    /// Stands for a value that `whole_dot` did not see. It always does.
    fn no_inputs(&mut self, to: PathUse) -> Result<()> {
        self.emitter.undefined();
        if to == PathUse::Write {
            self.emitter.write(EscapeMode::Plain);
        }
        Ok(())
    }

    /// Makes the name of a path: the mark of the missing keys, the root, the fields.
    fn path_name(&self, root: &str, fields: &[Name<'a>], name: &mut String) {
        name.clear();
        name.push_str(self.missing.mark());
        name.push_str(root);
        for field in fields {
            name.push('.');
            name.push_str(field.text);
        }
    }

    /// Returns the value of `$` or of another variable.
    pub(super) fn variable(&self, name: &str) -> Option<Dot<'a>> {
        match self.variables.latest(name) {
            Some((_, slot)) => Some(Dot::Slot(*slot)),
            None => (name == "$").then_some(self.root),
        }
    }
}

/// Returns `true` if a body may use the value of `.` or `$` as a whole while it is the inputs.
pub(super) fn whole_dot(body: &[Node<'_>]) -> bool {
    let mut open = vec![(body, true)];
    while let Some((body, is_inputs)) = open.pop() {
        for node in body {
            let uses = |pipeline: &Pipeline<'_>| uses_whole(pipeline, is_inputs);
            let found = match node {
                Node::Text(..) | Node::Break(_) | Node::Continue(_) => false,
                Node::Emit(placed) => uses(placed.pipeline),
                Node::Call(call) => call.data.is_some_and(|data| uses(data.pipeline)),
                Node::Choice(choice) => {
                    let moved = is_inputs && !choice.moves;
                    open.extend(choice.branches.iter().map(|(_, body)| (*body, moved)));
                    open.push((choice.otherwise, is_inputs));
                    choice.branches.iter().any(|(placed, _)| uses(placed.pipeline))
                }
                Node::Range(range) => {
                    open.extend([(range.body, false), (range.otherwise, is_inputs)]);
                    uses(range.pipeline.pipeline)
                }
            };
            if found {
                return true;
            }
        }
    }
    false
}

fn uses_whole(pipeline: &Pipeline<'_>, is_inputs: bool) -> bool {
    any_operand(pipeline, &mut |operand| {
        operand.fields.is_empty()
            && match operand.term {
                Term::Dot => is_inputs,
                Term::Variable(name) => name == "$",
                _ => false,
            }
    }) || any_operand(pipeline, &mut |operand| {
        // A field with arguments is a method of what is before it.
        operand.fields.len() == 1 && matches!(operand.term, Term::Dot | Term::Variable("$"))
    }) && has_arguments(pipeline)
}

/// Returns `true` if a command that is no call of a function has arguments.
fn has_arguments(pipeline: &Pipeline<'_>) -> bool {
    let mut open = vec![pipeline];
    while let Some(pipeline) = open.pop() {
        for (at, command) in pipeline.commands.iter().enumerate() {
            let is_call = command.operands.first().is_some_and(|first| matches!(first.term, Term::Function(_)));
            if !is_call && command.operands.len() + at.min(1) > 1 {
                return true;
            }
            open.extend(command.operands.iter().filter_map(|operand| match operand.term {
                Term::Pipeline(inner) => Some(inner),
                _ => None,
            }));
        }
    }
    false
}

/// Returns `true` if `test` holds for an operand of a pipeline, at any depth.
fn any_operand<'a>(pipeline: &Pipeline<'a>, test: &mut dyn FnMut(&Operand<'a>) -> bool) -> bool {
    let mut open = vec![*pipeline];
    while let Some(pipeline) = open.pop() {
        for operand in pipeline.commands.iter().flat_map(|command| command.operands) {
            if test(operand) {
                return true;
            }
            if let Term::Pipeline(inner) = operand.term {
                open.push(*inner);
            }
        }
    }
    false
}

/// Returns `true` if a body names a function for which `test` holds.
pub(super) fn uses(body: &[Node<'_>], test: &impl Fn(&str) -> bool) -> bool {
    let in_pipeline = |pipeline: &Pipeline<'_>| {
        any_operand(pipeline, &mut |operand| matches!(operand.term, Term::Function(name) if test(name)))
    };
    let mut open = vec![body];
    while let Some(body) = open.pop() {
        for node in body {
            let found = match node {
                Node::Text(..) | Node::Break(_) | Node::Continue(_) => false,
                Node::Emit(placed) => in_pipeline(placed.pipeline),
                Node::Call(call) => call.data.is_some_and(|data| in_pipeline(data.pipeline)),
                Node::Choice(choice) => {
                    open.extend(choice.branches.iter().map(|(_, body)| *body));
                    open.push(choice.otherwise);
                    choice.branches.iter().any(|(placed, _)| in_pipeline(placed.pipeline))
                }
                Node::Range(range) => {
                    open.extend([range.body, range.otherwise]);
                    in_pipeline(range.pipeline.pipeline)
                }
            };
            if found {
                return true;
            }
        }
    }
    false
}
