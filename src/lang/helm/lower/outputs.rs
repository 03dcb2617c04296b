//! A main chunk that renders several templates, one after another, and answers the list of the ends of their texts.
//!
//! If the program changes maps, all templates of a chart share one dot, so that each sees the changes of those before
//! it. Main puts the name of each template into `.Template`, which is one map, too: the dot itself stays unchanged, so
//! that the reads of it stay fast. Otherwise each template has a dot of its own.
//!
//! A template is left out, and its text is empty, if an input of its own is true.
//!
//! Branches are left out of a program if the values of its first render do not seem to take them, because most of a
//! large chart is turned off by its values. A branch that is left out fails when a run reaches it, and then the whole
//! program is compiled. So a wrong guess costs time but changes nothing, and guesses may be simple: they look at
//! `.Values` alone, and only in the text of a file that is rendered, whose dot is known.

use super::program::{Lower, Reached};
use crate::chart::{Plan, PlannedChart, PlannedTemplate};
use crate::compile::Set;
use crate::syntax::tree::{Node, Operand, Pipeline, Term};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Failure, Op, Role};
use dropforge_machine::compiler::{Constant, Emitter, PathSpec, RootSpec, SegmentSpec, Unit};
use dropforge_value::{Data, DataMap};

/// The key of the facts about the template that is rendered.
const TEMPLATE: &str = "Template";

/// Lowers a main chunk that renders the templates of a plan in order, with the templates that they reach. A `partial`
/// program leaves out branches that the values of the plan do not seem to take.
///
/// # Errors
/// Limits of nesting and of code size.
pub(crate) fn lower_all<'a>(
    unit: &Unit<'_>,
    set: &Set<'a>,
    emitter: &mut Emitter<'a>,
    plan: &Plan,
    partial: bool,
) -> Result<Reached> {
    let values = || plan.templates().iter().map(|one| plan.values_of(one.chart())).collect::<Vec<_>>();
    let values = partial.then(values);
    let mut lower = Lower::new(unit, set, emitter);
    lower.values = values.as_deref();
    lower.decide_mutable();
    let main = lower.emitter.declare_chunk("main", 0);
    lower.emitter.at(unit.entry, Default::default());
    lower.emitter.begin_chunk(main);
    lower.emitter.begin_gather();
    for template in plan.templates().iter().filter(|template| !template.is_partial()) {
        let chart = plan.charts().get(template.chart()).map_or("", PlannedChart::path);
        lower.output(template, chart);
        lower.emitter.check_size()?;
    }
    lower.emitter.end_gather();
    lower.emitter.op(Op::Answer, &[]);
    lower.emitter.end_chunk();
    lower.rest()?;
    Ok(lower.reached(None))
}

impl Lower<'_, '_> {
    /// Writes the text of a template, unless it is left out, and gathers its end.
    fn output(&mut self, template: &PlannedTemplate, chart: &str) {
        let left_out = self.emitter.new_label();
        let skip = template.skip();
        self.emitter.peek(&PathSpec { name: &skip, roots: &[RootSpec::Global(&skip)], segments: &[] });
        self.emitter.jump(Op::JumpIf, left_out);
        self.text_of(template.name(), chart);
        self.emitter.bind(left_out);
        self.intrinsic("length", 0);
        self.emitter.op(Op::Keep, &[]);
    }

    /// Writes the text of a template.
    fn text_of(&mut self, template: &str, chart: &str) {
        if self.mutates {
            let steps = [SegmentSpec::Attr(TEMPLATE, Span::default())];
            let place = PathSpec { name: TEMPLATE, roots: &[RootSpec::Global(chart)], segments: &steps };
            self.emitter.load(&place);
            self.emitter.constant(Constant::Str("Name".into()));
            self.input(template);
            self.intrinsic("put", 3);
            self.emitter.op(Op::Pop, &[]);
        }
        if let Some(chunk) = self.chunk_of(template) {
            self.input(if self.mutates { chart } else { template });
            self.emitter.op(Op::As, &[Role::Value as u32]);
            self.emitter.op(Op::CallChunk, &[chunk, 0]);
        }
    }

    /// Pushes a top-level input.
    fn input(&mut self, name: &str) {
        self.emitter.load(&PathSpec { name, roots: &[RootSpec::Global(name)], segments: &[] });
    }
}

/// The values of the chart of each file, by the index of the file.
pub(crate) type ValuesOfFiles<'v> = [Option<&'v DataMap>];

/// Maximum nesting of parentheses that a guess looks into.
const DEPTH: usize = 8;

impl<'a> Lower<'_, 'a> {
    /// Returns the truth that a condition seems to have.
    pub(super) fn guess(&self, pipeline: &Pipeline<'a>) -> Option<bool> {
        let values = self.values.filter(|_| self.in_file)?.get(self.file).copied()??;
        KnownValues { values, dot_is_root: self.dot == self.root }.truth(pipeline, DEPTH)
    }

    /// Lowers a body, or leaves it out unless it is only text.
    pub(super) fn body_unless(&mut self, untaken: bool, body: &'a [Node<'a>], span: Span) -> Result<()> {
        if untaken && body.iter().any(|node| !matches!(node, Node::Text(..))) {
            self.leave_out(span);
            return Ok(());
        }
        self.body(body)
    }

    /// Emits code that fails.
    pub(super) fn leave_out(&mut self, span: Span) {
        self.at(span);
        if let Some(failure) = self.left_out {
            return self.emitter.fail_again(failure);
        }
        let (code, message) = (Code::UnknownTemplate, "this part of the template is not compiled".to_owned());
        self.left_out = self.emitter.fail(&Failure { code, message, available: None, help: None });
    }
}

/// What is known of the values that a file sees.
#[derive(Clone, Copy)]
struct KnownValues<'v> {
    values: &'v DataMap,
    dot_is_root: bool,
}

impl<'v> KnownValues<'v> {
    fn truth(self, pipeline: &Pipeline<'_>, depth: usize) -> Option<bool> {
        let [command] = pipeline.commands else { return None };
        match command.operands {
            [operand] => self.truth_of(operand, depth),
            [first, arguments @ ..] if first.fields.is_empty() => {
                let Term::Function(name) = first.term else { return None };
                let mut truths = arguments.iter().map(|argument| self.truth_of(argument, depth));
                match name {
                    "not" => truths.next()?.map(|truth| !truth),
                    "and" => all(truths),
                    "or" => all(truths.map(|truth| truth.map(|truth| !truth))).map(|none| !none),
                    "eq" => self.equal(arguments),
                    "ne" => self.equal(arguments).map(|equal| !equal),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn truth_of(self, operand: &Operand<'_>, depth: usize) -> Option<bool> {
        if let (Term::Pipeline(inner), []) = (operand.term, operand.fields) {
            return self.truth(inner, depth.checked_sub(1)?);
        }
        Some(match self.value(operand)? {
            None | Some(Data::Null) => false,
            Some(Data::Bool(truth)) => *truth,
            Some(Data::Int(n)) => *n != 0,
            Some(Data::Uint(n)) => *n != 0,
            Some(Data::Float(n)) => *n != 0.0,
            Some(Data::Number(_)) => true,
            Some(Data::Str(text)) => !text.is_empty(),
            Some(Data::List(items)) => !items.is_empty(),
            Some(Data::Map(map)) => !map.is_empty(),
        })
    }

    /// Returns `true` if a value equals a text, and `None` for anything else that is compared.
    fn equal(self, arguments: &[Operand<'_>]) -> Option<bool> {
        let [one, other] = arguments else { return None };
        let (path, text) = if matches!(one.term, Term::Str(_)) { (other, one) } else { (one, other) };
        let Term::Str(text) = text.term else { return None };
        self.value(path)?.map(|value| value.as_str().is_some_and(|value| value.as_bytes() == text))
    }

    /// Returns the value of a path below `.Values`, if there is one. `None` for other operands.
    fn value(self, operand: &Operand<'_>) -> Option<Option<&'v Data>> {
        let is_root = match operand.term {
            Term::Dot => self.dot_is_root,
            Term::Variable(name) => name == "$",
            _ => false,
        };
        let [top, path @ .., last] = operand.fields else { return None };
        if !is_root || top.text != "Values" {
            return None;
        }
        let inner = path.iter().try_fold(self.values, |map, name| map.get(name.text)?.as_map());
        Some(inner.and_then(|map| map.get(last.text)))
    }
}

/// Returns `Some(false)` if one truth is false, and `Some(true)` if all are true.
fn all(truths: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut are_known = true;
    for truth in truths {
        match truth {
            Some(false) => return Some(false),
            Some(true) => {}
            None => are_known = false,
        }
    }
    are_known.then_some(true)
}
