//! `$include`. An included file is a chunk with the variables of `$with` as parameters. A template of another language is
//! called with a map, and its text is parsed. A path computed at render time is compared with the names of all candidates.
//!
//! If one of the inputs that every render reads is missing, the error names all of them that are.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Body;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Operator, Selection, Tree};
use crate::values::type_names;
use crate::yaml::load::Templates;
use crate::yaml::syntax::{
    Candidate, Condition, ExpressionId, File, FileId, Free, Include, LetValue, Map, NodeId, NodeKind, Target, TextPart,
};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{BinaryOp, Failure, ImportKind, Op};
use dropforge_machine::compiler::Constant;
use dropforge_machine::function::Registry;
use hashbrown::HashSet;

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

/// The maximum number of inputs.
const MOST: usize = 64;

impl Body<'_, '_> {
    /// Pushes the value that `emit` pushes. If it fails because an input is missing, the error gets those of other inputs.
    pub(super) fn with_inputs(&mut self, emit: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let required = required_inputs(self.file, self.files.registry);
        if required.len() < 2 {
            return emit(self);
        }
        let mark = self.emitter().begin_protect();
        emit(self)?;
        self.emitter().end_protect(mark);
        let done = self.emitter().new_label();
        self.emitter().jump(Op::JumpPresent, done);
        for (input, owner) in &required {
            self.emitter().constant(Constant::Str(input.name.to_string().into()));
            let path = self.file.path(*owner);
            self.emitter().constant(Constant::Str(path.into()));
        }
        let count = Span::of(0..required.len()).end;
        self.emitter().op(Op::List, &[2 * count]);
        for (input, _) in &required {
            self.name_or_undefined(&input.name, None);
        }
        self.emitter().op(Op::List, &[count]);
        self.intrinsic("missing inputs", 2);
        self.emitter().details(required.iter().map(|(input, _)| input.span));
        self.emitter().bind(done);
        Ok(())
    }
}

/// Returns the inputs that every render of a file reads, each with the node that reads it, in the order of the file, at
/// most [`MOST`].
fn required_inputs<'f>(file: &'f File, registry: &'f Registry) -> Vec<(&'f Free, NodeId)> {
    let mut reads = Reads { file, registry, seen: HashSet::new(), found: Vec::new() };
    file.documents.iter().for_each(|root| reads.node(*root));
    reads.found.truncate(MOST);
    reads.found
}

struct Reads<'f> {
    file: &'f File,
    registry: &'f Registry,
    seen: HashSet<&'f str>,
    found: Vec<(&'f Free, NodeId)>,
}

/// The recursion is bounded by the nesting of YAML and of expressions.
impl<'f> Reads<'f> {
    fn node(&mut self, id: NodeId) {
        let file = self.file;
        match file.node(id).map(|node| &node.kind) {
            Some(NodeKind::Expression(id)) => self.expression(*id),
            Some(NodeKind::Text(run)) => {
                for part in file.parts(*run) {
                    if let TextPart::Expression(id) = part {
                        self.expression(*id);
                    }
                }
            }
            Some(NodeKind::List(run)) => file.elements(*run).iter().for_each(|item| self.node(*item)),
            Some(NodeKind::Map(map)) => file.map(*map).into_iter().for_each(|map| self.map(map)),
            Some(NodeKind::Scalar(_)) | None => {}
        }
    }

    fn map(&mut self, map: &Map) {
        for of in &map.directives().lets {
            match of.value {
                LetValue::Template(node) => self.node(node),
                LetValue::Expression(id) => self.expression(id),
                LetValue::Unless { .. } => {}
            }
        }
        map.directives().asserts.iter().for_each(|of| self.condition(of.condition));
        if let Some(condition) = &map.directives().condition {
            self.condition(condition.condition);
            if condition.then.is_none() {
                return;
            }
        }
        if let Some(each) = &map.directives().each {
            self.expression(each.over);
        }
        if let Some(include) = &map.directives().include {
            include.with.iter().for_each(|with| self.node(with.value));
            self.node(include.path);
        }
        for entry in map.entries() {
            self.node(entry.key);
            self.node(entry.value);
        }
    }

    fn condition(&mut self, condition: Condition) {
        if let Condition::Expression(id) = condition {
            self.expression(id);
        }
    }

    fn expression(&mut self, id: ExpressionId) {
        let file = self.file;
        let Some(expression) = file.expression(id) else { return };
        if !expression.free.iter().any(|free| self.is_new(free)) {
            return;
        }
        let mut names = HashSet::new();
        self.names(&expression.tree, expression.tree.root, &mut names);
        for free in expression.free.iter().filter(|free| names.contains(&*free.name)) {
            if self.is_new(free) {
                self.seen.insert(&free.name);
                self.found.push((free, expression.owner));
            }
        }
    }

    /// Returns `true` for an input that was not found before.
    fn is_new(&self, free: &Free) -> bool {
        !self.seen.contains(&*free.name) && self.is_input(free)
    }

    /// Returns `true` for an input without a default.
    fn is_input(&self, free: &Free) -> bool {
        let declared = free.declared.and_then(|id| self.file.declared(id));
        let given = match declared {
            Some(declared) => declared.of.is_none() && declared.schema.default_value().is_none(),
            None => free.variable.is_none(),
        };
        let begins =
            |ty: &str| ty.strip_prefix(&*free.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        given && free.later.is_none() && free.elsewhere.is_none() && !type_names().any(begins)
    }

    /// Adds the names that an evaluation of an expression always reads.
    fn names<'t>(&self, tree: &'t Tree, id: ExprId, names: &mut HashSet<&'t str>) {
        let expr = tree.expr(id);
        match expr {
            Expr::Ident { name, .. } => {
                names.insert(tree.name(name));
            }
            Expr::Select { operand, selection: Selection::Plain, .. } => self.names(tree, operand, names),
            Expr::Call(call) => self.call(tree, call, names),
            Expr::List(_) | Expr::Map(_) => tree.children(expr).into_iter().for_each(|id| self.names(tree, id, names)),
            Expr::Comprehension(of) => {
                if let Some(of) = tree.comprehension(of) {
                    self.names(tree, of.iter_range, names);
                }
            }
            Expr::Invalid | Expr::Literal(_) | Expr::Select { .. } | Expr::Message { .. } => {}
        }
    }

    fn call<'t>(&self, tree: &'t Tree, call: Call, names: &mut HashSet<&'t str>) {
        let args = tree.ids(call.args);
        let args = match call.function {
            Function::Operator(Operator::And | Operator::Or | Operator::OptionalIndex | Operator::NotStrictlyFalse) => {
                &[]
            }
            Function::Operator(Operator::Conditional) => args.get(..1).unwrap_or(&[]),
            Function::Named(name) if tree.name(name) == "cel.@block" => &[],
            _ => args,
        };
        args.iter().for_each(|arg| self.names(tree, *arg, names));
        let Some(receiver) = call.receiver else { return };
        let function = tree.function(call.function);
        let namespace = tree.qualified(receiver).map(|name| format!("{}.{function}", name.text()));
        if namespace.is_none_or(|name| self.registry.get(ImportKind::Function, &name).is_none()) {
            self.names(tree, receiver, names);
        }
    }
}
