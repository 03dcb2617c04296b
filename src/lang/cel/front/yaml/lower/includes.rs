//! `$include`. An included file is a chunk with the variables of `$with` as parameters. A template of another language is
//! called with a map, and its text is parsed. A path computed at render time is compared with the names of all candidates.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Body;
use crate::yaml::load::Templates;
use crate::yaml::syntax::tree::{Candidate, File, FileId, Include, Map, NodeId, NodeKind, Target};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{BinaryOp, Failure, Op};
use dropforge_machine::compiler::Constant;

/// Returns the parameters of each file: the variables of any `$with` that it mentions.
pub(super) fn parameters(templates: &Templates) -> Vec<Vec<Arc<str>>> {
    let mut given: Vec<BTreeSet<&Arc<str>>> = vec![BTreeSet::new(); templates.files().len()];
    let includes =
        templates.files().iter().flat_map(|file| &file.maps).filter_map(|map| map.directives().include.as_ref());
    for include in includes {
        for target in include.target.files() {
            if let Some(given) = given.get_mut(target.index()) {
                given.extend(include.with.iter().map(|with| &with.name));
            }
        }
    }
    let mentioned = |(file, given): (&File, BTreeSet<&Arc<str>>)| {
        given.into_iter().filter(|name| mentions(file, name)).cloned().collect()
    };
    templates.files().iter().zip(given).map(mentioned).collect()
}

/// Returns `true` if a file mentions a name that it does not define.
fn mentions(file: &File, name: &str) -> bool {
    let free = file.expressions.iter().flat_map(|expression| &expression.free);
    free.filter(|free| &*free.name == name).any(|free| free.variable.is_none()) || file.declares(name)
}

/// The value of a variable of `$with`.
#[derive(Clone, Copy)]
enum Given {
    /// The value of a node.
    Node(NodeId),
    /// A value in a slot.
    Slot(u32),
}

impl<'t> Body<'_, 't> {
    /// Pushes the value of `$include`.
    pub(super) fn include(&mut self, map: &'t Map) -> Result<()> {
        let Some(include) = &map.directives().include else { return Ok(()) };
        self.at(include.span);
        match &include.target {
            Target::Dynamic(folder, candidates) => self.dynamic(include, folder, candidates),
            target => {
                let given: Vec<_> = include.with.iter().map(|with| (&with.name, Given::Node(with.value))).collect();
                self.constant_include(include.span, target, &given)
            }
        }
    }

    /// Pushes the value of a constant target.
    fn constant_include(&mut self, position: Span, target: &'t Target, given: &[(&'t Arc<str>, Given)]) -> Result<()> {
        match target {
            Target::File(id) => self.call(position, *id, given),
            Target::Template(name) => self.template(position, name, given),
            Target::Missing(error) => {
                self.missing(position, error);
                Ok(())
            }
            Target::Dynamic(..) => Ok(()), // candidates are constant
        }
    }

    fn missing(&mut self, position: Span, error: &Diagnostic) {
        self.at(position);
        let (help, available) = (error.help.clone(), error.available.clone());
        self.fail(Failure { code: error.code, message: error.message.clone(), available, help });
    }

    fn given(&mut self, given: Given) -> Result<()> {
        match given {
            Given::Node(node) => self.within(node, |body| body.value(node)),
            Given::Slot(slot) => {
                self.emitter().load_slot_or_nothing(slot);
                Ok(())
            }
        }
    }

    /// Calls the chunk of a file with the variables of `$with`.
    fn call(&mut self, position: Span, id: FileId, given: &[(&'t Arc<str>, Given)]) -> Result<()> {
        let params = self.files.params.get(id.index()).cloned().unwrap_or_default();
        for (_, value) in given.iter().filter(|(name, _)| !params.contains(name)) {
            // A variable that the file does not use can still fail.
            if let Given::Node(node) = value
                && !self.is_constant(*node)
            {
                self.given(*value)?;
                self.drop();
            }
        }
        for param in &params {
            match given.iter().find(|(name, _)| *name == param) {
                Some((_, value)) => self.given(*value)?,
                None => self.emitter().undefined(),
            }
        }
        self.at(position);
        let chunk = self.files.chunk(id);
        self.emitter().op(Op::CallChunk, &[chunk, 0]);
        self.emitter().op(Op::Answered, &[]);
        Ok(())
    }

    /// Renders a template of another language, and parses its text.
    fn template(&mut self, position: Span, name: &'t str, given: &[(&'t Arc<str>, Given)]) -> Result<()> {
        for (_, value) in given {
            self.given(*value)?;
        }
        self.at(position);
        let keys: Vec<&str> = given.iter().map(|(name, _)| &***name).collect();
        self.emitter().map_some(&keys);
        self.emitter().call_template(name);
        self.emitter().constant(Constant::Str(name.into()));
        self.intrinsic("yaml", 2);
        Ok(())
    }

    fn is_constant(&self, id: NodeId) -> bool {
        self.file.node(id).is_some_and(|node| matches!(node.kind, NodeKind::Scalar(_)))
    }

    /// Compares a computed path with the names of the candidates.
    fn dynamic(&mut self, include: &'t Include, folder: &'t str, candidates: &'t [Candidate]) -> Result<()> {
        let mut given = Vec::with_capacity(include.with.len());
        for with in &include.with {
            self.given(Given::Node(with.value))?;
            given.push((&with.name, Given::Slot(self.emitter().store())));
        }
        self.within(include.path, |body| {
            body.value(include.path)?;
            body.emitter().constant(Constant::Str(folder.into()));
            body.intrinsic("path of file", 2);
            Ok(())
        })?;
        let (name, end) = (self.emitter().store(), self.emitter().new_label());
        let height = self.emitter().height();
        for candidate in candidates {
            let next = self.emitter().new_label();
            self.at(include.span);
            self.emitter().load_slot(name);
            self.emitter().constant(Constant::Str((&*candidate.name).into()));
            self.emitter().binary(BinaryOp::Eq);
            self.emitter().jump(Op::JumpUnless, next);
            self.constant_include(include.span, &candidate.target, &given)?;
            self.emitter().jump(Op::Jump, end);
            self.emitter().bind(next);
            self.emitter().set_height(height);
        }
        self.at(include.span);
        self.emitter().load_slot(name);
        for candidate in candidates {
            self.emitter().constant(Constant::Str((&*candidate.name).into()));
        }
        self.emitter().op(Op::List, &[Span::of(0..candidates.len()).end]);
        self.intrinsic("no such file", 2);
        self.emitter().bind(end);
        for slot in given.iter().filter_map(|(_, of)| if let Given::Slot(slot) = of { Some(*slot) } else { None }) {
            self.emitter().free(slot);
        }
        self.emitter().free(name);
        Ok(())
    }
}
