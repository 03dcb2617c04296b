//! The inputs that every render reads. If one of them is missing, the error names all of them that are.

use hashbrown::HashSet;

use super::Body;
use crate::syntax::tree::{Call, Expr, ExprId, Function, Operator, Selection, Tree};
use crate::values::type_names;
use crate::yaml::syntax::tree::{Condition, ExpressionId, File, Free, LetValue, Map, NodeId, NodeKind, TextPart};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Span;
use dropforge_machine::bytecode::{ImportKind, Op};
use dropforge_machine::compiler::Constant;
use dropforge_machine::function::Registry;

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
