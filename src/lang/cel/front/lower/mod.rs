//! Lowering: from trees to bytecode. An expression becomes a chunk that answers with its value.
//!
//! Macros are comprehensions in the tree. Lowering recognises those that collect, quantify or bind, and emits what each
//! of them needs.

mod calls;
mod chains;
mod folding;
mod lazy;
mod loops;

pub(super) use folding::FoldingBudget;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::RawFiles;
use crate::attributes::Patterns;
use crate::check::Checked;
use crate::semantics::Rules;
use crate::settings::{Names, Resolution};
use crate::syntax::tree::{ExprId, Name, QualifiedName, Tree};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::encodings::base64;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{BinaryOp, Dialect, Failure, ImportKind, Op, Program};
use dropforge_machine::compiler::{Constant, Emitter, Fold, Unit};
use dropforge_machine::function::Registry;
use dropforge_value::yaml::Places;
use folding::Foldable;
use lazy::Lazy;

/// Options of lowering.
#[derive(Clone, Copy)]
pub(crate) struct LowerOptions<'t> {
    /// The result of the checker, if the expression was checked.
    pub checked: Option<&'t Checked>,
    /// Fold constants, and recognise special forms of comprehensions.
    pub optimise: bool,
    /// Emit instructions that meter the cost.
    pub metered: bool,
    /// Let presence tests find nothing in values without members.
    pub lenient: bool,
    /// The files that the expressions of a template may read.
    pub files: Option<&'t RawFiles<'t>>,
}

impl Default for LowerOptions<'_> {
    fn default() -> Self {
        Self { checked: None, optimise: true, metered: false, lenient: true, files: None }
    }
}

/// The unknown attributes of a program of parts, and the nodes that were examined so far.
struct UnknownAttributes<'t> {
    pub patterns: &'t Patterns,
    /// Nodes of attributes that are known as a whole.
    pub known: HashSet<ExprId>,
    /// The slots of computed keys of attributes.
    pub keys: HashMap<ExprId, u32>,
}

/// An expression on the way into a program.
pub struct Lower<'e, 't> {
    pub tree: &'t Tree,
    pub source: Arc<Source>,
    /// The position of the expression, if it is a part of the source.
    pub places: Option<&'t Places>,
    pub registry: &'e Registry,
    pub names: &'e Names<'e>,
    /// Returns the meaning of a name that the expression does not bind, if a document contains it.
    pub document: Option<&'e dyn Fn(&str) -> Outside>,
    pub options: LowerOptions<'e>,
    pub emitter: &'e mut Emitter<'t>,
    /// The variables of comprehensions in scope and their slots, the innermost last.
    pub locals: Vec<(Name, u32)>,
    /// The slots of the values of `cel.block`, by name.
    pub block: HashMap<String, u32>,
    /// The variables in scope that are computed when they are first read, the innermost last.
    lazy: Vec<Lazy>,
    pub foldable: Foldable,
    unknown: Option<UnknownAttributes<'e>>,
}

impl<'e, 't> Lower<'e, 't> {
    /// Starts an expression that is its whole source and sees only inputs.
    pub fn new(tree: &'t Tree, registry: &'e Registry, names: &'e Names<'e>, emitter: &'e mut Emitter<'t>) -> Self {
        Self {
            tree,
            source: tree.source().clone(),
            places: None,
            registry,
            names,
            document: None,
            options: LowerOptions::default(),
            emitter,
            locals: Vec::new(),
            block: HashMap::new(),
            lazy: Vec::new(),
            foldable: Foldable::default(),
            unknown: None,
        }
    }

    /// Returns the span of an expression in the source.
    fn span(&self, id: ExprId) -> Span {
        self.in_source(self.tree.span(id))
    }

    /// Converts a span of the expression's text to one of the source.
    fn in_source(&self, span: Span) -> Span {
        self.places.map_or(span, |places| places.span(span))
    }

    /// Sets the position of the code that follows.
    fn at(&mut self, id: ExprId) {
        let span = self.span(id);
        self.emitter.at(&self.source, span);
    }

    /// Returns the slot of a local variable.
    fn local(&self, name: Name) -> Option<u32> {
        let slot = self.locals.iter().rev().find(|(local, _)| *local == name).map(|(_, slot)| *slot);
        slot.or_else(|| self.block.get(self.tree.name(name)).copied())
    }

    fn push_text(&mut self, text: &'t str) {
        self.emitter.constant(Constant::Str(text.into()));
    }

    fn push_bool(&mut self, truth: bool) {
        self.emitter.constant(Constant::Bool(truth));
    }

    fn push_uint(&mut self, n: u64) {
        self.emitter.constant(Constant::Int(n.cast_signed()));
        self.intrinsic("uint", 1);
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        self.emitter.constant(Constant::Str(base64(bytes).into()));
        self.intrinsic("bytes", 1);
    }

    /// Calls an intrinsic with the top `arguments` values.
    fn intrinsic(&mut self, name: &str, arguments: u32) {
        call_intrinsic(self.emitter, self.registry, name, arguments);
    }

    /// Raises an error in place of a value.
    fn fail(&mut self, id: ExprId, code: Code, message: impl Into<String>) {
        self.at(id);
        self.raise_failure(&Failure { code, message: message.into(), available: None, help: None });
    }

    /// Raises an error in place of a value, at the current position.
    fn raise_failure(&mut self, failure: &Failure) {
        self.emitter.fail(failure);
        let height = self.emitter.height();
        self.emitter.set_height(height + 1); // unreachable
    }
}

/// Calls an intrinsic with the top `arguments` values.
pub(crate) fn call_intrinsic(emitter: &mut Emitter<'_>, registry: &Registry, name: &str, arguments: u32) {
    let Some(function) = registry.get(ImportKind::Intrinsic, name) else { return };
    let signature = function.signature();
    if matches!(name, "uint" | "bytes" | "type" | "spelled") {
        let params: Vec<u32> = (0..arguments).collect();
        emitter.call(ImportKind::Intrinsic, name, signature, &params, true); // the arguments are constants
    } else {
        emitter.apply(ImportKind::Intrinsic, name, signature, arguments);
    }
}

/// The meaning of a name in a document.
pub enum Outside {
    /// The value of a slot.
    Slot(u32),
    /// Whatever the names of the expression say.
    Input,
    /// No variable; possibly a type or a namespace.
    Nowhere(Box<Failure>),
}

/// The meaning of a qualified name in an expression.
enum Meaning<'n> {
    /// The value of a slot, and the number of parts after it, which are fields.
    Slot(u32, usize),
    /// An input, and the number of parts after it, which are fields.
    Input(Cow<'n, str>, usize),
    /// The input of the first part, or this type if there is no such input.
    InputOrType(&'static str),
    /// A type.
    Type(&'static str),
    /// Nothing: this is the error.
    Undeclared(Box<Failure>),
}

impl Lower<'_, '_> {
    /// Resolves a qualified name: first a local variable, then the document, then an input, then a type.
    fn meaning<'n>(&self, name: &QualifiedName<'n>) -> Meaning<'n> {
        if let Some(slot) = name.local().and_then(|name| self.local(name)) {
            return Meaning::Slot(slot, name.fields());
        }
        let outside = match (self.document, name.parts.first()) {
            (Some(document), Some(first)) => document(first),
            _ => Outside::Input,
        };
        let open = self.names.declared.is_none();
        match (outside, self.names.resolve(&name.parts, name.rooted)) {
            (Outside::Slot(slot), _) => Meaning::Slot(slot, name.fields()),
            (Outside::Nowhere(failure), Resolution::Variable(..) | Resolution::Undeclared) => {
                Meaning::Undeclared(failure)
            }
            (Outside::Input, Resolution::Type(ty)) if open => Meaning::InputOrType(ty),
            (_, Resolution::Type(ty)) => Meaning::Type(ty),
            (Outside::Input, Resolution::Variable(name, fields)) => Meaning::Input(name, fields),
            (Outside::Input, Resolution::Undeclared) => Meaning::Undeclared(Box::new(Failure {
                code: Code::UndefinedVariable,
                message: format!("undeclared reference to '{}'", name.text()),
                available: None,
                help: None,
            })),
        }
    }
}

// Operators are folded once, on the tree, so the emitter does not fold them.
impl Fold for Rules {
    fn binary(&self, _: BinaryOp, _: &Constant<'_>, _: &Constant<'_>) -> Option<Constant<'static>> {
        None
    }
}

/// Compiles an expression to a program that answers with its value.
///
/// # Errors
/// Limits of the code's size.
pub(crate) fn compile_expression(
    tree: &Tree,
    registry: &Registry,
    names: &Names<'_>,
    options: LowerOptions<'_>,
    limits: &Limits,
) -> Result<Program> {
    program(tree, tree.root, registry, names, options, limits, |lower| lower.emitter.op(Op::Answer, &[]))
}

/// Compiles an expression to a program that answers with a list of one document, its value.
///
/// # Errors
/// Limits of the code's size.
pub(crate) fn compile_document(tree: &Tree, unit: &Unit<'_>, files: &RawFiles<'_>) -> Result<Program> {
    let options = LowerOptions { lenient: unit.lenient, files: Some(files), ..LowerOptions::default() };
    program(tree, tree.root, unit.registry, &Names::default(), options, unit.limits, |lower| {
        lower.emitter.op(Op::List, &[1]);
        lower.emitter.op(Op::Answer, &[]);
    })
}

/// Compiles the expression `root` of a tree; `end` emits the code that takes its value.
fn program<'t>(
    tree: &'t Tree,
    root: ExprId,
    registry: &Registry,
    names: &Names<'_>,
    options: LowerOptions<'_>,
    limits: &Limits,
    end: impl FnOnce(&mut Lower<'_, 't>),
) -> Result<Program> {
    let emitter = Emitter::new(Dialect::Cel, &Rules, limits.code_words);
    let mut emitter = emitter.optimising(options.optimise).lenient(options.lenient);
    let mut lower = Lower::new(tree, registry, names, &mut emitter);
    lower.options = options;
    lower.find_foldable(root);
    lower.begin_chunk();
    lower.value(root)?;
    end(&mut lower);
    emitter.end_chunk();
    emitter.check_size()?;
    emitter.finish()
}

/// A part of an expression, and the values of the local variables that it reads, the outermost first.
pub struct ProgramPart {
    pub locals: Vec<(Name, ExprId)>,
    pub id: ExprId,
}

/// Compiles parts of an expression to a program with a chunk for each, which answers with its value. Reading an attribute
/// that `patterns` match is an error.
///
/// # Errors
/// Limits of the code's size.
pub(crate) fn compile_parts(
    tree: &Tree,
    registry: &Registry,
    names: &Names<'_>,
    patterns: &Patterns,
    options: LowerOptions<'_>,
    limits: &Limits,
    parts: &[ProgramPart],
) -> Result<Program> {
    let mut emitter = Emitter::new(Dialect::Cel, &Rules, limits.code_words).lenient(options.lenient);
    let mut lower = Lower::new(tree, registry, names, &mut emitter);
    lower.options = options;
    lower.unknown = Some(UnknownAttributes { patterns, known: HashSet::new(), keys: HashMap::new() });
    for part in parts {
        lower.begin_chunk();
        for &(name, value) in &part.locals {
            lower.value(value)?;
            let slot = lower.emitter.store();
            lower.locals.push((name, slot));
        }
        lower.value(part.id)?;
        lower.emitter.op(Op::Answer, &[]);
        for (_, slot) in std::mem::take(&mut lower.locals) {
            lower.emitter.free(slot);
        }
        lower.emitter.end_chunk();
    }
    lower.emitter.check_size()?;
    lower.emitter.finish()
}

impl Lower<'_, '_> {
    fn begin_chunk(&mut self) {
        let id = self.emitter.declare_chunk(self.source.name(), 0);
        self.emitter.begin_chunk(id);
        self.emitter.at(&self.source, Span::default());
    }
}
