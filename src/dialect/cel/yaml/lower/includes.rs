//! `$include`: a file that is included is a chunk, and what `$with` gives are its parameters. A template of another
//! language is called with a map, and its text read. Where the path is made when the template is rendered, it is compared
//! with the names of all that there is.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Body;
use crate::bytecode::{BinaryOp, Op};
use crate::compiler::Constant;
use crate::diagnostics::{Diagnostic, Result};
use crate::dialect::cel::yaml::files::Templates;
use crate::dialect::cel::yaml::tree::{Candidate, File, FileId, Include, Map, NodeId, NodeKind, Target};
use crate::text::Span;

/// The names that each file is given: those that some `$with` has and that it says something of.
pub(super) fn parameters(templates: &Templates) -> Vec<Vec<Arc<str>>> {
    let mut given: Vec<BTreeSet<&Arc<str>>> = vec![BTreeSet::new(); templates.files().len()];
    let includes = templates.files().iter().flat_map(File::maps).filter_map(|map| map.include.as_ref());
    for include in includes {
        for target in include.target.files() {
            if let Some(given) = given.get_mut(target.index()) {
                given.extend(include.with.iter().map(|with| &with.name));
            }
        }
    }
    let known = |(file, given): (&File, BTreeSet<&Arc<str>>)| {
        given.into_iter().filter(|name| mentions(file, name)).cloned().collect()
    };
    templates.files().iter().zip(given).map(known).collect()
}

/// Whether a file says anything of a name that it does not define.
fn mentions(file: &File, name: &str) -> bool {
    let free = file.expressions().iter().flat_map(|expression| &expression.free);
    free.filter(|free| &*free.name == name).any(|free| free.variable.is_none()) || file.declares(name)
}

/// What `$with` gives for a name.
#[derive(Clone, Copy)]
enum Given {
    /// What a node makes.
    Node(NodeId),
    /// What was made.
    Slot(u32),
}

impl<'t> Body<'_, 't> {
    /// Pushes what the file of `$include` makes.
    pub(super) fn include(&mut self, map: &'t Map) -> Result<()> {
        let Some(include) = &map.include else { return Ok(()) };
        self.at(include.span);
        match &include.target {
            Target::Dynamic(folder, candidates) => self.dynamic(include, folder, candidates),
            target => {
                let given: Vec<_> = include.with.iter().map(|with| (&with.name, Given::Node(with.value))).collect();
                self.known(include.span, target, &given)
            }
        }
    }

    /// Pushes what a file or template makes that is known.
    fn known(&mut self, place: Span, target: &'t Target, given: &[(&'t Arc<str>, Given)]) -> Result<()> {
        match target {
            Target::File(id) => self.call(place, *id, given),
            Target::Template(name) => self.template(place, name, given),
            Target::Missing(error) => {
                self.missing(place, error);
                Ok(())
            }
            Target::Dynamic(..) => Ok(()), // of a candidate it is known
        }
    }

    fn missing(&mut self, place: Span, error: &Diagnostic) {
        self.at(place);
        let (help, available) = (error.help.clone(), error.available.clone());
        self.fail(error.code, error.message.clone(), help, available);
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

    /// Calls the chunk of a file with what `$with` gives it.
    fn call(&mut self, place: Span, id: FileId, given: &[(&'t Arc<str>, Given)]) -> Result<()> {
        let params = self.files.params.get(id.index()).cloned().unwrap_or_default();
        for (_, value) in given.iter().filter(|(name, _)| !params.contains(name)) {
            // What the file does not look at may still be wrong.
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
        self.at(place);
        let chunk = self.files.chunk(id);
        self.emitter().op(Op::CallChunk, &[chunk, 0]);
        self.emitter().op(Op::Answered, &[]);
        Ok(())
    }

    /// Renders a template of another language, and reads its text.
    fn template(&mut self, place: Span, name: &'t str, given: &[(&'t Arc<str>, Given)]) -> Result<()> {
        for (_, value) in given {
            self.given(*value)?;
        }
        self.at(place);
        let keys: Vec<&str> = given.iter().map(|(name, _)| &***name).collect();
        self.emitter().map_some(&keys);
        self.emitter().call_template(name);
        self.emitter().constant(Constant::Str(name.into()));
        self.core("yaml", 2);
        Ok(())
    }

    fn is_constant(&self, id: NodeId) -> bool {
        self.file.node(id).is_some_and(|node| matches!(node.kind, NodeKind::Scalar(_)))
    }

    /// Compares the path, when it is made, with the names of all that it may be.
    fn dynamic(&mut self, include: &'t Include, folder: &'t str, candidates: &'t [Candidate]) -> Result<()> {
        let mut given = Vec::with_capacity(include.with.len());
        for with in &include.with {
            self.given(Given::Node(with.value))?;
            given.push((&with.name, Given::Slot(self.emitter().store())));
        }
        self.within(include.path, |body| {
            body.value(include.path)?;
            body.emitter().constant(Constant::Str(folder.into()));
            body.core("path of file", 2);
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
            self.known(include.span, &candidate.target, &given)?;
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
        self.core("no such file", 2);
        self.emitter().bind(end);
        for slot in given.iter().filter_map(|(_, of)| if let Given::Slot(slot) = of { Some(*slot) } else { None }) {
            self.emitter().free(slot);
        }
        self.emitter().free(name);
        Ok(())
    }
}
