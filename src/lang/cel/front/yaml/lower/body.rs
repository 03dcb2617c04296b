//! The code of one file.

use std::sync::Arc;

use super::files::Files;
use crate::lower::{Document, Lower, Outside, call_intrinsic};
use crate::resolution::Names;
use crate::yaml::syntax::tree::{Expression, ExpressionId, File, Free, NodeId, Step, VariableId};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{Failure, Op};
use dropforge_machine::compiler::{Emitter, PathSpec, RootSpec};

/// A file during the emission of its code.
pub(super) struct Body<'l, 't> {
    pub files: &'l mut Files<'t>,
    pub file: &'t File,
    /// The parameters of an included file, each in the slot of its position.
    pub params: &'l [Arc<str>],
    /// Set for the file to render, which sees the inputs.
    pub entry: bool,
    /// The slots of its variables.
    pub slots: Vec<Option<u32>>,
}

/// The names that an expression sees in its file.
struct Visible<'s> {
    expression: &'s Expression,
    slots: &'s [Option<u32>],
    params: &'s [Arc<str>],
    entry: bool,
}

impl Document for Visible<'_> {
    fn outside(&self, name: &str) -> Outside {
        let variable = self.expression.free(name).and_then(|free| free.variable);
        let slot = variable.and_then(|id| self.slots.get(id.index()).copied().flatten());
        match slot {
            Some(slot) => Outside::Slot(slot),
            None => outside(self.entry, self.params, name),
        }
    }
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

    /// Pushes the value of a node, or undefined if there is none.
    pub(super) fn value_or_undefined(&mut self, node: Option<NodeId>) -> Result<()> {
        match node {
            Some(node) => self.value(node),
            None => {
                self.emitter().undefined();
                Ok(())
            }
        }
    }

    pub(super) fn emitter(&mut self) -> &mut Emitter<'t> {
        &mut self.files.emitter
    }

    pub(super) fn at(&mut self, span: Span) {
        self.files.emitter.at(&self.file.source, span);
    }

    /// Calls an intrinsic with the top `arguments` values.
    pub(super) fn intrinsic(&mut self, name: &str, arguments: u32) {
        call_intrinsic(&mut self.files.emitter, self.files.registry, name, arguments);
    }

    /// Allocates the slot of a variable.
    pub(super) fn define(&mut self, id: VariableId) -> u32 {
        let slot = self.emitter().new_slot();
        self.set_slot(id, slot);
        slot
    }

    pub(super) fn set_slot(&mut self, id: VariableId, slot: u32) {
        if let Some(known) = self.slots.get_mut(id.index()) {
            *known = Some(slot);
        }
    }

    /// Returns the slot of a variable, if it is defined.
    pub(super) fn slot(&self, variable: Option<VariableId>) -> Option<u32> {
        variable.and_then(|id| self.slots.get(id.index()).copied().flatten())
    }

    /// Emits the code of the value of a node, which errors name in their path.
    pub(super) fn within(&mut self, id: NodeId, emit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
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
    pub(super) fn within_step(&mut self, step: &str, emit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let from = self.emitter().begin_region();
        emit(self)?;
        self.emitter().end_step(from, step);
        Ok(())
    }

    /// Pushes the value of an expression.
    pub(super) fn expression(&mut self, id: ExpressionId) -> Result<()> {
        let Some(expression) = self.file.expression(id) else { return Ok(()) };
        self.later(expression)?;
        let visible = Visible { expression, slots: &self.slots, params: self.params, entry: self.entry };
        let names = Names::default();
        let mut lower = Lower::new(&expression.tree, self.files.registry, &names, &mut self.files.emitter);
        lower.source = self.file.source.clone();
        lower.places = Some(&expression.places);
        lower.document = Some(&visible);
        lower.options.lenient = self.files.lenient;
        lower.foldable.budget = self.files.budget;
        lower.find_foldable(expression.tree.root);
        lower.value(expression.tree.root)?;
        self.files.budget = lower.foldable.budget;
        self.at(expression.span);
        Ok(())
    }

    /// Raises an error for names that are defined later, unless there are inputs with these names.
    fn later(&mut self, expression: &'t Expression) -> Result<()> {
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
    pub(super) fn name_or_undefined(&mut self, name: &str, slot: Option<u32>) {
        match slot {
            Some(slot) => self.emitter().load_slot_or_nothing(slot),
            None if !self.peek(name) => self.emitter().undefined(),
            None => {}
        }
    }

    /// Pushes the value of a name from outside the file, or undefined. Pushes nothing and returns `false` if there is no such
    /// name.
    pub(super) fn peek(&mut self, name: &str) -> bool {
        let root = match outside(self.entry, self.params, name) {
            Outside::Slot(slot) => RootSpec::Slot(slot),
            Outside::Input => RootSpec::Global(name),
            Outside::Nowhere(_) => return false,
        };
        self.emitter().peek(&PathSpec { name, roots: &[root], segments: &[] });
        true
    }

    /// Drops the top value.
    pub(super) fn drop(&mut self) {
        self.emitter().op(Op::Pop, &[]);
    }

    /// Raises an error in place of a value.
    pub(super) fn fail(&mut self, failure: Failure) {
        self.emitter().fail(&failure);
        let height = self.emitter().height();
        self.emitter().set_height(height + 1); // unreachable
    }
}

impl Step {
    /// Returns `true` for a step in the value of the template; `false` for a directive that only chooses or repeats.
    fn is_in_value(&self) -> bool {
        !matches!(self, Step::Document | Step::Directive("$then" | "$else" | "$do"))
    }
}
