//! Lowering of templates: from template trees to one program, which answers with the list of documents.
//!
//! | module | contents |
//! |---|---|
//! | this one | the program, its files, the code of one file |
//! | `maps` | maps and lists, keys, merging; constants, text with expressions |
//! | `directives` | `$schema`, `$let`, `$assert`, `$if`, `$for` |
//! | `includes` | `$include`; the inputs that every render reads |
//!
//! A value is left on the stack. A missing value is undefined, and lists and maps omit it. An included file is a chunk whose
//! parameters are the variables of `$with`; it sees nothing else.

mod directives;
mod includes;
mod maps;

use std::sync::Arc;

use super::syntax::{ExpressionId, File, FileId, Free, NodeId, PathStep, TemplateExpression, VariableId};
use crate::front::RawFiles;
use crate::lower::{FoldingBudget, Lower, LowerOptions, Outside, call_intrinsic};
use crate::semantics::Rules;
use crate::settings::Names;
use crate::yaml::load::Templates;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Dialect, Failure, Op, Program};
use dropforge_machine::compiler::{Emitter, PathSpec, RootSpec, Unit};
use dropforge_machine::function::Registry;
use includes::parameters;

/// Compiles templates to a program that answers with the list of documents.
///
/// # Errors
/// Limits of the code's size.
pub fn compile_templates(templates: &Templates, unit: &Unit<'_>, raw_files: &RawFiles<'_>) -> Result<Program> {
    let mut files = Files {
        templates,
        registry: unit.registry,
        emitter: Emitter::new(Dialect::CelYaml, &Rules, unit.limits.code_words).lenient(unit.lenient),
        options: LowerOptions { lenient: unit.lenient, files: Some(raw_files), ..LowerOptions::default() },
        chunks: vec![None; templates.files().len()],
        waiting: Vec::new(),
        params: parameters(templates),
        budget: FoldingBudget::default(),
        step: String::new(),
    };
    let entry = files.emitter.declare_chunk(templates.entry().source.name(), 0);
    files.file(FileId::of(0), entry, true)?;
    while let Some((id, chunk)) = files.waiting.pop() {
        files.file(id, chunk, false)?;
    }
    files.emitter.check_size()?;
    files.emitter.finish()
}

impl<'t> Files<'t> {
    fn file(&mut self, id: FileId, chunk: u32, entry: bool) -> Result<()> {
        let Some(file) = self.templates.file(id) else { return Ok(()) };
        self.emitter.begin_chunk(chunk);
        self.emitter.at(&file.source, Span::default());
        let params = self.params.get(id.index()).cloned().unwrap_or_default(); // the file may include itself
        let mut body = Body { files: self, file, params: &params, entry, slots: vec![None; file.variables.len()] };
        body.documents()?;
        self.emitter.op(Op::Answer, &[]);
        self.emitter.end_chunk();
        Ok(())
    }
}

/// Templates on the way into a program.
struct Files<'t> {
    pub templates: &'t Templates,
    pub registry: &'t Registry,
    pub emitter: Emitter<'t>,
    /// The options of expressions.
    pub options: LowerOptions<'t>,
    /// The chunk of each included file.
    pub chunks: Vec<Option<u32>>,
    /// The files without code so far.
    pub waiting: Vec<(FileId, u32)>,
    /// The parameters of each file.
    pub params: Vec<Vec<Arc<str>>>,
    /// The budget for constant folding.
    pub budget: FoldingBudget,
    /// Memory for the text of a step.
    pub step: String,
}

impl Files<'_> {
    /// Returns the chunk of an included file.
    pub fn chunk(&mut self, id: FileId) -> u32 {
        if let Some(Some(chunk)) = self.chunks.get(id.index()) {
            return *chunk;
        }
        let name = self.templates.file(id).map_or("", |file| file.source.name());
        let params = self.params.get(id.index()).map_or(0, Vec::len);
        let chunk = self.emitter.declare_chunk(name, Span::of(0..params).end);
        if let Some(slot) = self.chunks.get_mut(id.index()) {
            *slot = Some(chunk);
        }
        self.waiting.push((id, chunk));
        chunk
    }
}

/// A file during the emission of its code.
struct Body<'l, 't> {
    pub files: &'l mut Files<'t>,
    pub file: &'t File,
    /// The parameters of an included file, each in the slot of its position.
    pub params: &'l [Arc<str>],
    /// Set for the file to render, which sees the inputs.
    pub entry: bool,
    /// The slots of its variables.
    pub slots: Vec<Option<u32>>,
}

/// Returns the meaning of a name that the file does not define.
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
    /// Pushes the list of documents; for an included file, its only document.
    pub fn documents(&mut self) -> Result<()> {
        if !self.entry {
            return self.value_or_undefined(self.file.documents.first().copied());
        }
        self.with_inputs(|body| {
            body.emitter().begin_gather();
            for root in &body.file.documents {
                body.value(*root)?;
                body.emitter().op(Op::KeepSome, &[]);
            }
            body.emitter().end_gather();
            Ok(())
        })
    }

    /// Pushes the value of a node, or undefined without one.
    fn value_or_undefined(&mut self, node: Option<NodeId>) -> Result<()> {
        match node {
            Some(node) => self.value(node),
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

    /// Calls an intrinsic with the top `arguments` values.
    fn intrinsic(&mut self, name: &str, arguments: u32) {
        call_intrinsic(&mut self.files.emitter, self.files.registry, name, arguments);
    }

    /// Allocates the slot of a variable.
    fn define(&mut self, id: VariableId) -> u32 {
        let slot = self.emitter().new_slot();
        self.set_slot(id, slot);
        slot
    }

    fn set_slot(&mut self, id: VariableId, slot: u32) {
        if let Some(known) = self.slots.get_mut(id.index()) {
            *known = Some(slot);
        }
    }

    /// Returns the slot of a variable, if it is defined.
    fn slot(&self, variable: Option<VariableId>) -> Option<u32> {
        variable.and_then(|id| self.slots.get(id.index()).copied().flatten())
    }

    /// Emits the code of the value of a node, which errors name in their path.
    fn within(&mut self, id: NodeId, emit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let Some(step) = self.file.node(id).map(|node| &node.step).filter(|step| step.is_in_value()) else {
            return emit(self);
        };
        let from = self.emitter().begin_region();
        emit(self)?;
        let mut text = std::mem::take(&mut self.files.step);
        text.clear();
        step.write(&mut text);
        self.emitter().end_step(from, &text);
        self.files.step = text;
        Ok(())
    }

    /// Emits code that errors name as a step in their path.
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
        let (slots, params, entry) = (&self.slots, self.params, self.entry);
        let document = |name: &str| {
            let variable = expression.free(name).and_then(|free| free.variable);
            let slot = variable.and_then(|id| slots.get(id.index()).copied().flatten());
            slot.map_or_else(|| outside(entry, params, name), Outside::Slot)
        };
        let names = Names::default();
        let mut lower = Lower::new(&expression.tree, self.files.registry, &names, &mut self.files.emitter);
        lower.source = self.file.source.clone();
        lower.places = Some(&expression.places);
        lower.document = Some(&document);
        lower.options = self.files.options;
        lower.foldable.budget = self.files.budget;
        lower.find_foldable(expression.tree.root);
        lower.value(expression.tree.root)?;
        self.files.budget = lower.foldable.budget;
        self.at(expression.span);
        Ok(())
    }

    /// Raises an error for names that are defined later, unless there are inputs with these names.
    fn later(&mut self, expression: &'t TemplateExpression) -> Result<()> {
        let defined = |free: &'t Free| Some((free, free.later.or(free.elsewhere)?));
        for (free, span) in expression.free.iter().filter_map(defined) {
            self.at(free.span);
            let there = self.emitter().new_label();
            if self.peek(&free.name) {
                self.emitter().jump(Op::JumpPresent, there);
            }
            let position = self.file.source.position(span.start);
            let why = match free.later {
                Some(_) => "later, at {position}; a variable sees those before it",
                None => "for another document, at {position}; each document has variables of its own",
            };
            let why = why.replace("{position}", &position.to_string());
            self.fail(Failure {
                code: Code::UndefinedVariable,
                message: format!("no such attribute: {}", free.name),
                available: None,
                help: Some(format!("`{}` is defined {why}", free.name)),
            });
            self.emitter().bind(there);
            self.emitter().op(Op::Pop, &[]);
        }
        Ok(())
    }

    /// Pushes a free name or undefined.
    fn name_or_undefined(&mut self, name: &str, slot: Option<u32>) {
        match slot {
            Some(slot) => self.emitter().load_slot_or_nothing(slot),
            None if !self.peek(name) => self.emitter().undefined(),
            None => {}
        }
    }

    /// Pushes the value of a name from outside the file, or undefined. Pushes nothing and returns `false` if there is no such
    /// name.
    fn peek(&mut self, name: &str) -> bool {
        let root = match outside(self.entry, self.params, name) {
            Outside::Slot(slot) => RootSpec::Slot(slot),
            Outside::Input => RootSpec::Global(name),
            Outside::Nowhere(_) => return false,
        };
        self.emitter().peek(&PathSpec { name, roots: &[root], segments: &[] });
        true
    }

    /// Drops the top value.
    fn drop(&mut self) {
        self.emitter().op(Op::Pop, &[]);
    }

    /// Raises an error in place of a value.
    fn fail(&mut self, failure: Failure) {
        self.emitter().fail(&failure);
        let height = self.emitter().height();
        self.emitter().set_height(height + 1); // unreachable
    }
}

impl PathStep {
    /// Returns `true` for a step in the value of the template; `false` for a directive that only chooses or repeats.
    fn is_in_value(&self) -> bool {
        !matches!(self, PathStep::Document | PathStep::Directive("$then" | "$else" | "$do"))
    }
}
