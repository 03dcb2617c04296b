//! The type checker: resolves names, finds the overloads of calls, and infers the type of every expression.
//!
//! [`check`] walks the expanded tree once, with the declarations of an [`Environment`], and reports all errors. An
//! expression whose type cannot be inferred is `dyn`, which is assignable to every type: its type shows at runtime.

mod calls;
pub mod cost;
mod environment;
mod types;
mod unify;

pub use environment::{Declared, Environment};
pub use types::{Kind, Object, TypeId, Types};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::syntax::tree::{Expr, ExprId, Literal, Name, QualifiedName, Selection, Tree};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, PROBLEM};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Span;
use environment::NameDeclaration;
use unify::Unify;

/// The steps for type inference, in addition to [`STEPS_PER_NODE`].
const STEPS: u64 = 1_000_000;

/// The steps for type inference for each node of the tree.
const STEPS_PER_NODE: u64 = 500;

/// The maximum number of errors.
const ERRORS: usize = 100;

/// The meaning of a name or a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A variable of a comprehension.
    Local,
    /// A declared variable, by its full name.
    Variable(Arc<str>),
    /// A type as a value.
    Type(TypeId),
    /// A call of a function.
    Function {
        /// The full name of the function.
        name: Arc<str>,
        /// The overloads that the arguments may match. Empty for a function that takes any arguments.
        overloads: Vec<Arc<str>>,
        /// Set for a member function. Otherwise the expression before the dot is a part of the name.
        member: bool,
    },
}

/// The types and references of an expression.
#[derive(Debug, Clone)]
pub struct Checked {
    types: Types,
    of: Vec<TypeId>,
    references: Vec<Option<Reference>>,
    root: ExprId,
}

impl Checked {
    /// Returns the types.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// Returns the type of an expression; `dyn` for one that was not checked, such as the name of a namespace.
    pub fn type_of(&self, id: ExprId) -> TypeId {
        self.of.get(id.index()).copied().unwrap_or(Types::DYN)
    }

    /// Returns the kind of an expression's type.
    pub fn kind_of(&self, id: ExprId) -> &Kind {
        self.types.kind(self.type_of(id))
    }

    /// Returns the meaning of a name or a call.
    pub fn reference(&self, id: ExprId) -> Option<&Reference> {
        self.references.get(id.index())?.as_ref()
    }

    /// Returns the overloads that a call may dispatch to.
    pub fn overloads(&self, id: ExprId) -> &[Arc<str>] {
        match self.reference(id) {
            Some(Reference::Function { overloads, .. }) => overloads,
            _ => &[],
        }
    }

    /// Returns the type of the whole expression.
    pub fn result(&self) -> TypeId {
        self.type_of(self.root)
    }

    /// Returns the type of the whole expression as text.
    pub fn result_text(&self) -> String {
        self.types.text(self.result())
    }
}

/// The strictness of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strictness {
    /// Require that all elements of a list, all keys and all values of a map have one type. Otherwise mixed types are
    /// `dyn`.
    pub homogeneous: bool,
    /// Parse literal arguments of functions: durations, timestamps, regular expressions, addresses. An invalid one is an
    /// error even in a branch that never runs.
    pub literals: bool,
}

/// Checks an expression.
///
/// # Errors
/// All type errors in source order, at most 100; or [`Code::LimitFuel`] if the types are too large.
///
/// ```
/// use dropforge::dialect::cel::{builtins, check::{Environment, check}, syntax::{Options, parse}};
/// use dropforge::{function::Registry, text::Source};
/// let registry = Registry::of(builtins::STANDARD);
/// let mut environment = Environment::new(&registry);
/// environment.declare("ports", "list(int)").unwrap();
/// let checked = |text: &str| {
///     let tree = parse(&Source::new("<input>", text), &Options::default()).unwrap();
///     check(&tree, &environment).map(|checked| checked.result_text()).map_err(|errors| errors.to_string())
/// };
/// assert_eq!(checked("ports.map(p, {string(p): p > 1024})").unwrap(), "list(map(string, bool))");
/// assert_eq!(
///     checked("ports[0] + 'x'").unwrap_err(),
///     "E0301: found no matching overload for '_+_' applied to '(int, string)' (<input>:1:10)"
/// );
/// ```
pub fn check(tree: &Tree, environment: &Environment) -> Result<Checked, Diagnostics> {
    check_with(tree, environment, Strictness::default())
}

/// Checks an expression with options.
///
/// # Errors
/// The errors of [`check`].
pub fn check_with(tree: &Tree, environment: &Environment, options: Strictness) -> Result<Checked, Diagnostics> {
    let steps = (tree.len() as u64).saturating_mul(STEPS_PER_NODE).saturating_add(STEPS);
    let mut checker = Checker::new(tree, environment, options, Unify::new(environment.types.clone(), steps));
    checker.check(tree.root);
    checker.finish()
}

/// Infers the type of one of the expressions of a file, whose names are these `variables`. The expressions share the types
/// of `environment` and `steps`.
///
/// # Errors
/// The errors of [`check`].
pub(crate) fn check_one_of_many(
    tree: &Tree,
    environment: &mut Environment,
    variables: BTreeMap<Arc<str>, TypeId>,
    options: Strictness,
    steps: &mut u64,
) -> Result<TypeId, Diagnostics> {
    let allowed = (*steps).min((tree.len() as u64).saturating_mul(STEPS_PER_NODE).saturating_add(STEPS));
    let unify = Unify::new(std::mem::replace(&mut environment.types, Types::without_any()), allowed);
    environment.variables = variables;
    let mut checker = Checker::new(tree, environment, options, unify);
    let mut root = [checker.check(tree.root)];
    checker.unify.settle(&mut root);
    let outcome = checker.outcome();
    *steps -= allowed - checker.unify.left().min(allowed);
    let types = checker.unify.types;
    environment.types = types;
    outcome.map(|()| root[0])
}

struct Checker<'c> {
    pub tree: &'c Tree,
    pub env: &'c Environment,
    pub options: Strictness,
    pub unify: Unify,
    of: Vec<TypeId>,
    references: Vec<Option<Reference>>,
    /// The variables of comprehensions in scope, the innermost last.
    pub locals: Vec<(Name, TypeId)>,
    errors: Vec<(Span, Box<Diagnostic>)>,
}

impl<'c> Checker<'c> {
    fn new(tree: &'c Tree, env: &'c Environment, options: Strictness, unify: Unify) -> Self {
        Self {
            tree,
            env,
            options,
            unify,
            of: vec![Types::DYN; tree.len()],
            references: vec![None; tree.len()],
            locals: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Returns the errors in source order, if any.
    fn outcome(&mut self) -> Result<(), Diagnostics> {
        if self.unify.exhausted {
            let error = Diagnostic::new(Code::LimitFuel, "the types of this expression are too large to infer");
            self.report(self.tree.span(self.tree.root), error);
        }
        if self.errors.is_empty() {
            return Ok(());
        }
        self.errors.small_sort_by_key(|(span, _)| span.start);
        self.errors.truncate(ERRORS);
        Err(self.errors.drain(..).map(|(_, error)| error).collect::<Vec<_>>().into())
    }

    fn finish(mut self) -> Result<Checked, Diagnostics> {
        self.unify.settle(&mut self.of);
        self.outcome()?;
        let Self { tree, unify, of, references, .. } = self;
        Ok(Checked { types: unify.types, of, references, root: tree.root })
    }

    /// Checks an expression and returns its type.
    pub fn check(&mut self, id: ExprId) -> TypeId {
        if self.unify.exhausted || self.errors.len() >= ERRORS {
            return Types::ERROR;
        }
        let ty = match self.tree.expr(id) {
            Expr::Invalid => Types::ERROR,
            Expr::Literal(literal) => of_literal(literal),
            Expr::Ident { name, rooted } => self.ident(id, name, rooted),
            Expr::Select { operand, field, selection } => self.select(id, operand, field, selection),
            Expr::Call(call) => self.call(id, call),
            Expr::List(run) => self.list(run),
            Expr::Map(run) => self.map(run),
            Expr::Message { name, fields } => self.message(id, name, fields),
            Expr::Comprehension(of) => self.tree.comprehension(of).map_or(Types::ERROR, |of| self.comprehension(of)),
        };
        self.set_type(id, ty);
        ty
    }

    /// Returns the type of an expression that was checked.
    pub fn type_of(&self, id: ExprId) -> TypeId {
        self.of.get(id.index()).copied().unwrap_or(Types::ERROR)
    }

    pub fn set_type(&mut self, id: ExprId, ty: TypeId) {
        if let Some(slot) = self.of.get_mut(id.index()) {
            *slot = ty;
        }
    }

    pub fn refer(&mut self, id: ExprId, to: Reference) {
        if let Some(slot) = self.references.get_mut(id.index()) {
            *slot = Some(to);
        }
    }

    /// Adds an error about an expression.
    pub fn error(&mut self, id: ExprId, code: Code, message: impl Into<String>) {
        self.report(self.tree.place(id), Diagnostic::new(code, message));
    }

    /// Adds an error at a span of the source.
    pub fn report(&mut self, span: Span, error: Box<Diagnostic>) {
        self.errors.push((span, error.at(self.tree.source(), span, "")));
    }

    /// Reports a type that is not the expected one.
    pub fn mismatch(&mut self, id: ExprId, expected: TypeId, found: TypeId) {
        let [expected, found] = [expected, found].map(|ty| self.text(ty));
        self.error(id, Code::TypeMismatch, format!("expected type '{expected}' but found '{found}'"));
    }

    /// Returns the text of a type, with the inferred types of variables.
    pub fn text(&mut self, ty: TypeId) -> String {
        let mut settled = [ty];
        self.unify.settle(&mut settled);
        self.unify.types.text(settled[0])
    }

    /// Returns the type of a local variable.
    pub fn local(&self, name: Name) -> Option<TypeId> {
        self.locals.iter().rev().find(|(known, _)| *known == name).map(|(_, ty)| *ty)
    }

    fn ident(&mut self, id: ExprId, name: Name, rooted: bool) -> TypeId {
        if let Some(ty) = self.local(name).filter(|_| !rooted) {
            self.refer(id, Reference::Local);
            return ty;
        }
        let text = self.tree.name(name);
        match self.env.find(text, rooted) {
            Some(found) => self.found(id, found),
            None if self.env.open => self.found(id, NameDeclaration::Variable(text.into(), Types::DYN)),
            None => {
                let error = self.undeclared(Code::UndefinedVariable, text);
                let error = error.with_suggestion(text, self.env.variable_names());
                self.report(self.tree.place(id), error);
                Types::ERROR
            }
        }
    }

    /// Makes the error of an undeclared name.
    pub fn undeclared(&self, code: Code, name: &str) -> Box<Diagnostic> {
        let container = &self.env.container;
        let problem = format!("undeclared reference to '{name}'");
        Diagnostic::new(code, format!("{problem} (in container '{container}')")).with_field(PROBLEM, problem)
    }

    fn found(&mut self, id: ExprId, found: NameDeclaration) -> TypeId {
        match found {
            NameDeclaration::Variable(name, ty) => {
                self.refer(id, Reference::Variable(name));
                ty
            }
            NameDeclaration::Type(of) => {
                self.refer(id, Reference::Type(of));
                // With open names, an input can have the name of a type.
                if self.env.open { Types::DYN } else { self.unify.types.type_of(of) }
            }
        }
    }

    /// Returns the qualified name that an expression is, unless it starts with a local variable.
    pub fn qualified(&self, id: ExprId) -> Option<QualifiedName<'c>> {
        self.tree.qualified(id).filter(|name| name.local().is_none_or(|local| self.local(local).is_none()))
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: Name, selection: Selection) -> TypeId {
        if let Some(name) = self.qualified(id)
            && let Some(found) = self.env.find(&name.text(), name.rooted)
        {
            return self.found(id, found);
        }
        let ty = self.field(id, operand, field, selection == Selection::Optional);
        if selection == Selection::Optional {
            let (name, overloads) = ("_?._".into(), vec![Arc::from("select_optional_field")]);
            self.refer(id, Reference::Function { name, overloads, member: false });
        }
        if selection == Selection::Test { Types::BOOL } else { self.unify.resolved(ty) }
    }

    /// Checks `operand` and returns the type of its field.
    fn field(&mut self, id: ExprId, operand: ExprId, field: Name, optional: bool) -> TypeId {
        let of = self.check(operand);
        let of = self.unify.resolved(of);
        let (of, is_optional) = self.unify.types.unwrapped(of);
        let ty = self.field_of(id, of, field);
        if optional || is_optional { self.unify.types.optional(ty) } else { ty }
    }

    /// Returns the type of a field of a value of type `of`.
    pub(crate) fn field_of(&mut self, id: ExprId, of: TypeId, field: Name) -> TypeId {
        match *self.unify.types.kind(of) {
            Kind::Map(_, value) => value,
            Kind::Nullable(of) => self.field_of(id, of, field),
            Kind::Object(at) => self.known_field(id, at, field),
            Kind::Var(_) => {
                // The operand becomes `dyn`, so that no later inference contradicts the selection.
                self.unify.assignable(Types::DYN, of);
                Types::DYN
            }
            Kind::Dyn | Kind::Error => Types::DYN,
            _ => {
                let text = self.text(of);
                self.error(id, Code::TypeMismatch, format!("type '{text}' does not support field selection"));
                Types::DYN
            }
        }
    }

    fn known_field(&mut self, id: ExprId, object: u32, field: Name) -> TypeId {
        let name = self.tree.name(field);
        let Some(object) = self.unify.types.object(object) else { return Types::DYN };
        if let Some(&ty) = object.fields.get(name).or(object.rest.as_ref()) {
            return ty;
        }
        let names = || object.fields.keys().map(String::as_str);
        let error = Diagnostic::new(Code::UndefinedVariable, format!("undefined field '{name}'"))
            .with_available(names())
            .with_suggestion(name, names());
        self.report(self.tree.place(id), error);
        Types::ERROR
    }
}

fn of_literal(literal: Literal) -> TypeId {
    match literal {
        Literal::Null => Types::NULL,
        Literal::Bool(_) => Types::BOOL,
        Literal::Int(_) => Types::INT,
        Literal::Uint(_) => Types::UINT,
        Literal::Double(_) => Types::DOUBLE,
        Literal::String(_) => Types::STRING,
        Literal::Bytes(_) => Types::BYTES,
    }
}

/// Formats the types of arguments: `(int, string)`, or `int.(string)` with a receiver.
fn applied_to(types: &Types, args: &[TypeId], member: bool) -> String {
    let (receiver, args) = match args.split_first() {
        Some((receiver, args)) if member => (format!("{}.", types.text(*receiver)), args),
        _ => (String::new(), args),
    };
    let args: Vec<_> = args.iter().map(|&of| types.text(of)).collect();
    format!("{receiver}({})", args.join(", "))
}

#[cfg(test)]
mod tests;
