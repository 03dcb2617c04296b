//! From template trees to bytecode: one program, whose answer is the list of the documents.
//!
//! | room | what is in it |
//! |---|---|
//! | `scalars` | constants, expressions, text with expressions in it |
//! | `maps` | maps and lists, keys, what is merged |
//! | `directives` | `$schema`, `$let`, `$assert`, `$if` |
//! | `loops` | `$for` |
//! | `includes` | `$include` |
//!
//! A value is left on the stack; one that is not there is undefined, and whatever takes values into a list or a map leaves
//! it out. A file that is included is a chunk: what `$with` gives are its parameters, and it sees nothing else.

mod directives;
mod includes;
mod loops;
mod maps;
mod scalars;

use std::sync::Arc;

use super::check::check;
use super::files::{Options, Templates, read};
use super::tree::{ExpressionId, File, FileId, Include, NodeId, Step, Target, VariableId};
use crate::bytecode::{Dialect, Failure, Op, Program};
use crate::compiler::{Compiled, Emitter, Unit};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::cel::lower::{self, Budget, Document, Lower, Names, Outside};
use crate::dialect::cel::semantics::Rules;
use crate::function::Registry;
use crate::limits::Limits;
use crate::text::Span;

/// Compiles a template with everything that it includes.
///
/// # Errors
/// Everything that is wrong with the files; limits of the code's size.
pub fn compile(unit: &Unit<'_>) -> std::result::Result<Compiled, Vec<Box<Diagnostic>>> {
    let templates = read(unit.entry, unit.loader, unit.limits, &Options { strict_let: unit.strict })?;
    let wrong = check(&templates, unit.registry, unit.limits);
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let unlisted = unlisted(&templates, unit);
    if !unlisted.is_empty() {
        return Err(unlisted);
    }
    let program = compile_templates(&templates, unit.registry, unit.limits).map_err(|error| vec![error])?;
    let others = templates.files().iter().skip(1);
    let mut reaches: Vec<String> = others.map(|file| file.source.name().to_owned()).collect();
    reaches.sort_unstable();
    Ok(Compiled { program, lints: templates.lints, reaches })
}

/// Includes whose paths are made when the template is rendered, where it is not known what files there are.
fn unlisted(templates: &Templates, unit: &Unit<'_>) -> Vec<Box<Diagnostic>> {
    let message = "the path of `$include` is made when the template is rendered, and the loader has no list of the files \
                   that there are";
    let place = |file: &File, include: &Include| {
        let error = Diagnostic::new(Code::UnknownTemplate, message).at(&file.source, include.span, "");
        error.with_field("path", file.path(include.path))
    };
    let dynamic = |include: &&Include| matches!(include.target, Target::Dynamic(..));
    let includes = |file: &'_ File| -> Vec<_> {
        let all = file.maps().iter().filter_map(|map| map.include.as_ref()).filter(dynamic);
        all.map(|include| place(file, include)).collect()
    };
    let found: Vec<_> = templates.files().iter().flat_map(includes).collect();
    if found.is_empty() || !unit.loader.names().is_empty() { Vec::new() } else { found }
}

/// The program of templates that were read: it answers with the list of the documents.
///
/// # Errors
/// Limits of the code's size.
pub fn compile_templates(templates: &Templates, registry: &Registry, limits: &Limits) -> Result<Program> {
    let mut files = Files {
        templates,
        registry,
        emitter: Emitter::new(Dialect::CelYaml, &Rules, limits.code_words),
        chunks: vec![None; templates.files().len()],
        waiting: Vec::new(),
        params: includes::parameters(templates),
        budget: Budget::default(),
    };
    let entry = files.emitter.declare_chunk(templates.entry().source.name(), 0);
    files.file(FileId::of(0), entry, true)?;
    while let Some((id, chunk)) = files.waiting.pop() {
        files.file(id, chunk, false)?;
    }
    files.emitter.check_size()?;
    files.emitter.finish()
}

/// What is lowered into one program.
struct Files<'t> {
    templates: &'t Templates,
    registry: &'t Registry,
    emitter: Emitter<'t>,
    /// The chunk of each file that is included, where one comes to it.
    chunks: Vec<Option<u32>>,
    /// Those whose code is still to be emitted.
    waiting: Vec<(FileId, u32)>,
    /// The names that each file is given.
    params: Vec<Vec<Arc<str>>>,
    /// What may still be computed of parts that depend on nothing.
    budget: Budget,
}

impl<'t> Files<'t> {
    fn file(&mut self, id: FileId, chunk: u32, entry: bool) -> Result<()> {
        let Some(file) = self.templates.file(id) else { return Ok(()) };
        self.emitter.begin_chunk(chunk);
        self.emitter.at(&file.source, Span::default());
        let params = self.params.get(id.index()).cloned().unwrap_or_default(); // the file may include itself
        let mut body = Body { files: self, file, params: &params, entry, slots: vec![None; file.variables().len()] };
        if entry {
            body.documents()?
        } else {
            body.document()?
        }
        self.emitter.op(Op::Answer, &[]);
        self.emitter.end_chunk();
        Ok(())
    }

    /// The chunk of an included file.
    fn chunk(&mut self, id: FileId) -> u32 {
        if let Some(Some(known)) = self.chunks.get(id.index()) {
            return *known;
        }
        let name = self.templates.file(id).map_or("", |file| file.source.name());
        let params = self.params.get(id.index()).map_or(0, Vec::len);
        let chunk = self.emitter.declare_chunk(name, Span::of(0..params).end);
        if let Some(place) = self.chunks.get_mut(id.index()) {
            *place = Some(chunk);
        }
        self.waiting.push((id, chunk));
        chunk
    }
}

/// One file while its code is emitted.
struct Body<'l, 't> {
    files: &'l mut Files<'t>,
    file: &'t File,
    /// The names that it is given, each in the slot of its place, where it is included.
    params: &'l [Arc<str>],
    /// Whether it is the file that is rendered, which sees the inputs.
    entry: bool,
    /// The slots of its variables.
    slots: Vec<Option<u32>>,
}

/// What the names of an expression mean in its file.
struct Seen<'s> {
    expression: &'s super::tree::Expression,
    slots: &'s [Option<u32>],
    params: &'s [Arc<str>],
    entry: bool,
}

impl Document for Seen<'_> {
    fn outside(&self, name: &str) -> Outside {
        let variable = self.expression.free(name).and_then(|free| free.variable);
        let slot = variable.and_then(|id| self.slots.get(id.index()).copied().flatten());
        match slot {
            Some(slot) => Outside::Slot(slot),
            None => outside(self.entry, self.params, name),
        }
    }
}

/// What a name means that the file does not define.
fn outside(entry: bool, params: &[Arc<str>], name: &str) -> Outside {
    if entry {
        return Outside::Input;
    }
    match params.iter().position(|param| &**param == name) {
        Some(at) => Outside::Slot(Span::of(0..at).end),
        None => Outside::Nowhere(Box::new(Failure {
            code: Code::UndefinedVariable,
            message: format!("no such attribute: {name}"),
            available: Some(params.iter().map(|param| param.as_ref().to_owned()).collect()),
            help: Some("an included file sees only what `$with` gives it".to_owned()),
        })),
    }
}

impl<'t> Body<'_, 't> {
    /// Pushes the list of the documents.
    fn documents(&mut self) -> Result<()> {
        self.emitter().begin_gather();
        for root in &self.file.documents {
            self.value(*root)?;
            self.emitter().op(Op::KeepSome, &[]);
        }
        self.emitter().end_gather();
        Ok(())
    }

    /// Pushes the one document of an included file.
    fn document(&mut self) -> Result<()> {
        match self.file.documents.first() {
            Some(root) => self.value(*root),
            None => {
                self.emitter().undefined();
                Ok(())
            }
        }
    }

    fn emitter(&mut self) -> &mut Emitter<'t> {
        &mut self.files.emitter
    }

    fn at(&mut self, span: Span) {
        self.files.emitter.at(&self.file.source, span);
    }

    fn core(&mut self, name: &str, arguments: u32) {
        lower::core(&mut self.files.emitter, self.files.registry, name, arguments);
    }

    /// The slot of a variable, from here on.
    fn define(&mut self, id: VariableId) -> u32 {
        let slot = self.emitter().new_slot();
        self.place(id, slot);
        slot
    }

    fn place(&mut self, id: VariableId, slot: u32) {
        if let Some(place) = self.slots.get_mut(id.index()) {
            *place = Some(slot);
        }
    }

    /// Emits what `emit` emits, as what makes the value that `id` is the node of.
    fn within(&mut self, id: NodeId, emit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Some(step) = self.file.node(id).and_then(|node| node.step.in_value()) else { return emit(self) };
        self.within_step(&step, emit)
    }

    fn within_step(&mut self, step: &str, emit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let from = self.emitter().begin_region();
        emit(self)?;
        self.emitter().end_step(from, step);
        Ok(())
    }

    /// Pushes the value of an expression.
    fn expression(&mut self, id: ExpressionId) -> Result<()> {
        let Some(expression) = self.file.expression(id) else { return Ok(()) };
        self.later(expression)?;
        let seen = Seen { expression, slots: &self.slots, params: self.params, entry: self.entry };
        let names = Names::default();
        let mut lower = Lower::new(&expression.tree, self.files.registry, &names, &mut self.files.emitter);
        lower.source = self.file.source.clone();
        lower.places = Some(&expression.places);
        lower.document = Some(&seen);
        lower.parts.budget = self.files.budget;
        lower.survey(expression.tree.root);
        lower.value(expression.tree.root)?;
        self.files.budget = lower.parts.budget;
        self.at(expression.span);
        Ok(())
    }

    /// Names that are defined later: where there is no input of the name either, that is the error.
    fn later(&mut self, expression: &'t super::tree::Expression) -> Result<()> {
        let later = expression.free.iter().filter_map(|free| free.later.map(|span| (free, span)));
        for (free, span) in later {
            self.at(free.span);
            let there = self.emitter().new_label();
            if self.peek(&free.name) {
                self.emitter().jump(Op::JumpPresent, there);
            }
            let place = self.file.source.position(span.start);
            self.emitter().fail(&Failure {
                code: Code::UndefinedVariable,
                message: format!("no such attribute: {}", free.name),
                available: None,
                help: Some(format!("`{}` is defined later, at {place}; a variable sees those before it", free.name)),
            });
            let height = self.emitter().height();
            self.emitter().set_height(height + 1);
            self.emitter().bind(there);
            self.emitter().op(Op::Pop, &[]);
        }
        Ok(())
    }
}

impl Step {
    /// The step in the value that a template makes, where it is one: a directive that only chooses or repeats is none.
    fn in_value(&self) -> Option<String> {
        if let Step::Document | Step::Directive("$then" | "$else" | "$do") = self {
            return None;
        }
        let mut step = String::new();
        self.write(&mut step);
        Some(step)
    }
}
