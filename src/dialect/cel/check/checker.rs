//! The walk over an expression.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::environment::{Environment, Found};
use super::report::Report;
use super::types::{Kind, TypeId, Types};
use super::unify::Unify;
use super::{Checked, Reference};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dialect::cel::syntax::tree::{Expr, ExprId, Literal, Name, Selection, Tree};

/// How many steps finding out types may take, beside [`STEPS_PER_NODE`].
const STEPS: u64 = 1_000_000;

/// How many steps it may take for each node of the tree.
const STEPS_PER_NODE: u64 = 500;

/// How strict a check is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Whether all elements of a list, all keys and all values of a map must have one type. Otherwise those that have
    /// several are `dyn`.
    pub homogeneous: bool,
    /// Whether constant texts are tried that a function has to read: durations, timestamps, patterns, addresses. What
    /// it refuses is an error then, even where it would never run.
    pub literals: bool,
}

/// Checks an expression.
///
/// # Errors
/// Everything that is wrong with it, in the order of the source, at most 100 errors; or one of
/// [`Code::LimitFuel`] where its types are too large.
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
    check_with(tree, environment, Options::default())
}

/// The same with options.
///
/// # Errors
/// As [`check`].
pub fn check_with(tree: &Tree, environment: &Environment, options: Options) -> Result<Checked, Diagnostics> {
    let steps = (tree.len() as u64).saturating_mul(STEPS_PER_NODE).saturating_add(STEPS);
    let mut checker = Checker::new(tree, environment, options, Unify::new(environment.types.clone(), steps));
    checker.check(tree.root);
    checker.finish()
}

/// The type of one of the many expressions of a file, in the types of `environment`, where its names are these
/// `variables`. `steps` is what all of them may take together.
///
/// # Errors
/// As [`check`].
pub(in crate::dialect::cel) fn check_one_of_many(
    tree: &Tree,
    environment: &mut Environment,
    variables: BTreeMap<Arc<str>, TypeId>,
    options: Options,
    steps: &mut u64,
) -> Result<TypeId, Diagnostics> {
    let allowed = (*steps).min((tree.len() as u64).saturating_mul(STEPS_PER_NODE).saturating_add(STEPS));
    let unify = Unify::new(std::mem::take(&mut environment.types), allowed);
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

pub(super) struct Checker<'c> {
    pub tree: &'c Tree,
    pub env: &'c Environment,
    pub options: Options,
    pub unify: Unify,
    of: Vec<TypeId>,
    references: Vec<Option<Reference>>,
    /// The variables of the loops and bindings around, the innermost last.
    pub locals: Vec<(Name, TypeId)>,
    pub report: Report,
}

impl<'c> Checker<'c> {
    fn new(tree: &'c Tree, env: &'c Environment, options: Options, unify: Unify) -> Self {
        Self {
            tree,
            env,
            options,
            unify,
            of: vec![Types::DYN; tree.len()],
            references: vec![None; tree.len()],
            locals: Vec::new(),
            report: Report::default(),
        }
    }

    /// Everything that is wrong, where something is.
    fn outcome(&mut self) -> Result<(), Diagnostics> {
        if self.unify.exhausted {
            let error = Diagnostic::new(Code::LimitFuel, "the types of this expression are too large to be found out");
            self.report.add(self.tree, self.tree.span(self.tree.root), error);
        }
        std::mem::take(&mut self.report).finish()
    }

    fn finish(mut self) -> Result<Checked, Diagnostics> {
        self.unify.settle(&mut self.of);
        self.outcome()?;
        let Self { tree, unify, of, references, .. } = self;
        Ok(Checked { types: unify.types, of, references, root: tree.root })
    }

    /// Checks an expression and says its type.
    pub fn check(&mut self, id: ExprId) -> TypeId {
        if self.unify.exhausted || self.report.is_full() {
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

    /// The type of an expression that was checked.
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

    pub fn error(&mut self, id: ExprId, code: Code, message: impl Into<String>) {
        self.report.at(self.tree, id, code, message);
    }

    /// The error of a type that is not the one that is asked for.
    pub fn mismatch(&mut self, id: ExprId, wanted: TypeId, found: TypeId) {
        let mut both = [wanted, found];
        self.unify.settle(&mut both);
        let [wanted, found] = both.map(|ty| self.unify.types.text(ty));
        self.error(id, Code::TypeMismatch, format!("expected type '{wanted}' but found '{found}'"));
    }

    /// The variable of this name of a loop or binding around.
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
            None if self.env.open => self.found(id, Found::Variable(text.into(), Types::DYN)),
            None => {
                let error = self.undeclared(Code::UndefinedVariable, text);
                let error = error.with_suggestion(text, self.env.variable_names());
                self.report.add(self.tree, self.tree.place(id), error);
                Types::ERROR
            }
        }
    }

    /// The error of a name that stands for nothing.
    pub fn undeclared(&self, code: Code, name: &str) -> Box<Diagnostic> {
        let container = &self.env.container;
        Diagnostic::new(code, format!("undeclared reference to '{name}' (in container '{container}')"))
    }

    fn found(&mut self, id: ExprId, found: Found) -> TypeId {
        match found {
            Found::Variable(name, ty) => {
                self.refer(id, Reference::Variable(name));
                ty
            }
            Found::Type(of) => {
                self.refer(id, Reference::Type(of));
                // Where names are open, an input may be called so.
                if self.env.open { Types::DYN } else { self.unify.types.type_of(of) }
            }
        }
    }

    /// The qualified name that an expression may be, and whether it begins with a dot: names with selects behind them,
    /// the first of which is no variable of a loop.
    pub fn qualified(&self, id: ExprId) -> Option<(String, bool)> {
        let (mut parts, mut at) = (Vec::new(), id);
        loop {
            match self.tree.expr(at) {
                Expr::Select { operand, field, selection: Selection::Plain } => {
                    parts.push(self.tree.name(field));
                    at = operand;
                }
                Expr::Ident { name, rooted } if rooted || self.local(name).is_none() => {
                    parts.push(self.tree.name(name));
                    parts.reverse();
                    return Some((parts.join("."), rooted));
                }
                _ => return None,
            }
        }
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: Name, selection: Selection) -> TypeId {
        if let Some((name, rooted)) = self.qualified(id)
            && let Some(found) = self.env.find(&name, rooted)
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

    /// The type of a field of `operand`.
    fn field(&mut self, id: ExprId, operand: ExprId, field: Name, optional: bool) -> TypeId {
        let of = self.check(operand);
        let of = self.unify.resolved(of);
        let (of, is_optional) = self.unify.types.unwrapped(of);
        let ty = self.field_of(id, of, field);
        if optional || is_optional { self.unify.types.optional(ty) } else { ty }
    }

    /// The type of a field of a value of type `of`.
    pub fn field_of(&mut self, id: ExprId, of: TypeId, field: Name) -> TypeId {
        match *self.unify.types.kind(of) {
            Kind::Map(_, value) => value,
            Kind::Nullable(of) => self.field_of(id, of, field),
            Kind::Object(at) => self.known_field(id, at, field),
            Kind::Var(_) => {
                // What it is stays open: nothing that is found out later may contradict the field.
                self.unify.assignable(Types::DYN, of);
                Types::DYN
            }
            Kind::Dyn | Kind::Error => Types::DYN,
            _ => {
                let mut of = [of];
                self.unify.settle(&mut of);
                let text = self.unify.types.text(of[0]);
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
        self.report.add(self.tree, self.tree.place(id), error);
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
