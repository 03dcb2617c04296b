//! A main chunk that renders several templates, one after another, and answers the list of the ends of their texts.
//!
//! If the program changes maps, all templates of a chart share one dot, so that each sees the changes of those before it.
//! Main puts the name of each template into `.Template`, which is one map, too: the dot itself stays unchanged, so that
//! the reads of it stay fast. Otherwise each template has a dot of its own.
//!
//! A template is left out, and its text is empty, if an input of its own is true.

use super::program::{Lower, Reached};
use super::untaken::ValuesOfFiles;
use crate::set::Set;
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Op, Role};
use dropforge_machine::compiler::{Constant, Emitter, PathSpec, RootSpec, SegmentSpec, Unit};

/// The key of the facts about the template that is rendered.
const TEMPLATE: &str = "Template";

/// A template to render.
#[derive(Debug)]
pub struct Output {
    /// Its name.
    pub template: String,
    /// The path of its chart.
    pub chart: String,
    /// The name of the input that leaves it out.
    pub skip: String,
}

/// Lowers a main chunk that renders templates in order, with the templates that they reach. With `values`, branches that
/// they do not seem to take are left out.
///
/// # Errors
/// Limits of nesting and of code size.
pub(crate) fn lower_all<'a>(
    unit: &Unit<'_>,
    set: &Set<'a>,
    emitter: &mut Emitter<'a>,
    outputs: &[Output],
    values: Option<&ValuesOfFiles<'_>>,
) -> Result<Reached> {
    let mut lower = Lower::new(unit, set, emitter);
    lower.values = values;
    lower.decide_mutable();
    let main = lower.emitter.declare_chunk("main", 0);
    lower.emitter.at(unit.entry, Default::default());
    lower.emitter.begin_chunk(main);
    lower.emitter.begin_gather();
    for output in outputs {
        lower.output(output);
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
    fn output(&mut self, output: &Output) {
        let left_out = self.emitter.new_label();
        let skip = output.skip.as_str();
        self.emitter.peek(&PathSpec { name: skip, roots: &[RootSpec::Global(skip)], segments: &[] });
        self.emitter.jump(Op::JumpIf, left_out);
        self.text_of(output);
        self.emitter.bind(left_out);
        self.intrinsic("length", 0);
        self.emitter.op(Op::Keep, &[]);
    }

    /// Writes the text of a template.
    fn text_of(&mut self, output: &Output) {
        if self.mutates {
            let (chart, steps) = (output.chart.as_str(), [SegmentSpec::Attr(TEMPLATE, Span::default())]);
            let place = PathSpec { name: TEMPLATE, roots: &[RootSpec::Global(chart)], segments: &steps };
            self.emitter.load(&place);
            self.emitter.constant(Constant::Str("Name".into()));
            self.input(&output.template);
            self.intrinsic("put", 3);
            self.emitter.op(Op::Pop, &[]);
        }
        if let Some(chunk) = self.chunk_of(&output.template) {
            self.input(if self.mutates { &output.chart } else { &output.template });
            self.emitter.op(Op::As, &[Role::Value as u32]);
            self.emitter.op(Op::CallChunk, &[chunk, 0]);
        }
    }

    /// Pushes a top-level input.
    fn input(&mut self, name: &str) {
        self.emitter.load(&PathSpec { name, roots: &[RootSpec::Global(name)], segments: &[] });
    }
}
