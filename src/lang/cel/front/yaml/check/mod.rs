//! The checks of templates: names, the types of all expressions, and whether they fit their positions; even in branches that
//! never run.
//!
//! The type of an input is that of its schema, or `dyn`. The type of a variable of `$let` is that of its value, of `$for`
//! that of an element. An included file sees only the variables of `$with`: it is checked for each combination of their
//! types, or with unknown types if its path is computed. All expressions share one environment, which gets the names of the
//! current expression; an expression whose names have the same types again is not checked again.

mod includes;
mod positions;

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::syntax::{ExpressionId, File, FileId, Free, Let, LetValue, NodeId, VariableId};
use crate::check::{Environment, Strictness, TypeId, Types, check_one_of_many};
use crate::syntax::tree::Tree;
use crate::yaml::Recent;
use crate::yaml::load::Templates;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, PROBLEM, at_most, nearest, without_duplicates};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::small_sort::{SmallSort as _, tree_map};
use dropforge_base::text::Span;
use dropforge_machine::function::Registry;
use dropforge_schema::Schema;

/// The number of types after which a check begins without those of earlier ones.
const TYPES: usize = 1 << 16;

/// The steps for type inference and for the validation of constants against schemas.
const STEPS: u64 = 50_000_000;

/// The maximum number of characters of an expression in an error message.
const SHOWN: usize = 60;

/// The maximum number of combinations of types that an included file is checked with.
const COMBINATIONS: usize = 16;

/// Checks templates. Each error has its position, its path (`items[0].name`) as a field, and the includes that lead to it.
///
/// ```
/// use dropforge::compiler::NoLoader;
/// use dropforge::dialect::cel::{registry, yaml};
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("t.yaml", "$schema: {port: integer, on: boolean}\na: ${port + 'x'}\n$if: port\nb: ${on}\n");
/// let limits = Limits::default();
/// let templates = yaml::read(&source, &NoLoader, &limits, &yaml::Options::default()).unwrap();
/// let reported: Vec<_> = yaml::check(&templates, &registry(), &limits).iter().map(|error| error.to_string()).collect();
/// assert_eq!(reported, [
///     "E0301: found no matching overload for '_+_' applied to '(int, string)' in `port + 'x'` (t.yaml:2:11)",
///     "E0301: `$if` asks whether something is true, and this is of type 'int' (t.yaml:3:6)",
/// ]);
/// ```
pub fn check(templates: &Templates, registry: &Registry, limits: &Limits) -> Vec<Box<Diagnostic>> {
    let options = Strictness { literals: true, ..Strictness::default() };
    check_again(templates, registry, options, limits, &mut Checks::default())
}

/// Checks templates, except for expressions whose types were found before.
pub(in crate::front::yaml) fn check_again(
    templates: &Templates,
    registry: &Registry,
    options: Strictness,
    limits: &Limits,
    checks: &mut Checks,
) -> Vec<Box<Diagnostic>> {
    checks.next_round(registry);
    let mut checker = TemplateChecker {
        templates,
        options,
        checks,
        steps: STEPS,
        visits: vec![Visit { file: FileId::of(0), with: None, from: None }],
        combinations: HashMap::from([(FileId::of(0), HashSet::from([None]))]),
        errors: Vec::new(),
    };
    let mut at = 0;
    while at < checker.visits.len() && checker.steps > 0 {
        checker.visit(at);
        at += 1;
    }
    let mut errors = without_duplicates(checker.errors);
    let file_order = |name: &str| templates.files().iter().position(|file| file.source.name() == name);
    let order = |error: &Diagnostic| error.primary().map(|label| (file_order(label.source.name()), label.span));
    errors.small_sort_by_key(|error| order(error));
    at_most(errors, limits.diagnostics, 0)
}

/// An expression, by the address of its tree, and the types of its names.
type TypedNames = (usize, SmallVec<[Option<TypeId>; 4]>);

/// The result of a check of an expression.
struct CheckedExpression {
    pub found: Result<TypeId, Diagnostics>,
    /// The steps that it took.
    pub steps: u64,
    /// Keeps the address in use.
    pub _tree: Arc<Tree>,
}

/// An environment, and the types that were found in it.
#[derive(Default)]
pub(in crate::front::yaml) struct Checks {
    /// The functions of the environment.
    registry: Option<Registry>,
    env: Environment,
    /// The types of schemas, by the address of each, which is kept in use.
    schemas: Recent<usize, (Arc<Schema>, TypeId)>,
    /// The types of expressions.
    expressions: Recent<TypedNames, CheckedExpression>,
}

impl Checks {
    /// Begins a check with the functions of `registry`.
    fn next_round(&mut self, registry: &Registry) {
        let is_same = self.registry.as_ref().is_some_and(|known| known.is(registry));
        if !is_same || self.env.types().len() > TYPES {
            let env = Environment::new(registry).with_hidden_namespaces();
            *self = Self { registry: Some(registry.clone()), env, ..Self::default() };
        }
        self.schemas.next_round();
        self.expressions.next_round();
    }
}

/// The variables that an included file sees, and their types.
type With = BTreeMap<Arc<str>, TypeId>;

/// The check of a file with one combination of types.
struct Visit {
    pub file: FileId,
    /// The variables that it sees; `None` for the file to render, which sees all inputs, and for files with a computed path.
    pub with: Option<Arc<With>>,
    /// The visit of the including file, and the span of the include.
    pub from: Option<(usize, Span)>,
}

struct TemplateChecker<'t> {
    pub templates: &'t Templates,
    pub options: Strictness,
    pub checks: &'t mut Checks,
    pub steps: u64,
    pub visits: Vec<Visit>,
    /// The combinations of types that each file is included with.
    pub combinations: HashMap<FileId, HashSet<Option<Arc<With>>>>,
    errors: Vec<Box<Diagnostic>>,
}

/// The definition of a variable.
#[derive(Clone, Copy)]
enum Definition<'t> {
    Let(&'t LetValue),
    Key(ExpressionId),
    Value(ExpressionId),
}

/// A file during its check.
struct TypedFile<'t> {
    pub visit: usize,
    pub file: &'t File,
    pub with: Option<Arc<With>>,
    pub definitions: HashMap<VariableId, Definition<'t>>,
    /// Strings of `$let` that are expressions only if certain inputs exist.
    unless: HashSet<ExpressionId>,
    pub variables: HashMap<VariableId, TypeId>,
    /// The types of the expressions that were checked.
    types: Vec<TypeId>,
}

impl<'t> TypedFile<'t> {
    fn new(visit: usize, file: &'t File, with: Option<Arc<With>>) -> Self {
        let (mut definitions, mut unless) = (HashMap::new(), HashSet::new());
        for map in &file.maps {
            for Let { variable, value } in &map.directives().lets {
                definitions.insert(*variable, Definition::Let(value));
                if let LetValue::Unless { expression, .. } = value {
                    unless.insert(*expression);
                }
            }
            if let Some(each) = &map.directives().each {
                definitions.insert(each.value, Definition::Value(each.over));
                definitions.extend(each.key.map(|key| (key, Definition::Key(each.over))));
            }
        }
        let types = Vec::with_capacity(file.expressions.len());
        Self { visit, file, with, definitions, unless, variables: HashMap::new(), types }
    }

    /// Returns the type of an expression.
    pub fn of(&self, id: ExpressionId) -> TypeId {
        self.types.get(id.index()).copied().unwrap_or(Types::DYN)
    }

    /// Returns the type of a name from outside the file, `dyn` if unknown.
    pub fn input(&self, name: &str) -> Option<TypeId> {
        match &self.with {
            Some(with) => with.get(name).copied(),
            None => Some(Types::DYN),
        }
    }
}

impl<'t> TemplateChecker<'t> {
    fn visit(&mut self, at: usize) {
        let Some(visit) = self.visits.get(at) else { return };
        let Some(file) = self.templates.file(visit.file) else { return };
        let mut typed = TypedFile::new(at, file, visit.with.clone());
        for at in 0..file.expressions.len() {
            let ty = self.expression(&mut typed, ExpressionId::of(at));
            typed.types.push(ty);
            if self.steps == 0 {
                let error = Diagnostic::new(Code::LimitFuel, "the types of these templates are too large to infer");
                return self.error(&typed, file.documents.first().copied(), Span::default(), error);
            }
        }
        self.positions(&mut typed);
        self.includes(&mut typed);
    }

    /// Reports an error at `span`, with the path of `owner` and the includes that lead to the file.
    pub fn error(&mut self, typed: &TypedFile<'_>, owner: Option<NodeId>, span: Span, error: Box<Diagnostic>) {
        let mut error = error.at(&typed.file.source, span, "");
        // Labels from before are secondary.
        if let Some(primary) = error.labels.pop() {
            error.labels.insert(0, primary);
        }
        self.report(typed, owner, error);
    }

    fn report(&mut self, typed: &TypedFile<'_>, owner: Option<NodeId>, mut error: Box<Diagnostic>) {
        let path = owner.map(|owner| typed.file.path(owner)).unwrap_or_default();
        if !path.is_empty() {
            if let Some(label) = error.labels.first_mut().filter(|label| label.text.is_empty()) {
                label.text = format!("in `{path}`");
            }
            error = error.with_field("path", path);
        }
        let mut next = self.visits.get(typed.visit).and_then(|visit| visit.from);
        while let Some((by, span)) = next {
            let Some(visit) = self.visits.get(by) else { break };
            let Some(file) = self.templates.file(visit.file) else { break };
            error = error.at(&file.source, span, "included here");
            next = visit.from;
        }
        self.errors.push(error);
    }

    /// Checks an expression and returns its type.
    fn expression(&mut self, typed: &mut TypedFile<'t>, id: ExpressionId) -> TypeId {
        let file = typed.file;
        let Some(expression) = file.expression(id) else { return Types::DYN };
        if typed.unless.contains(&id) && !expression.free.iter().any(|free| self.is_defined(typed, free)) {
            // It may not be an expression.
            return Types::DYN;
        }
        let types = expression.free.iter().map(|free| self.name(typed, expression.owner, free)).collect();
        let key: TypedNames = (Arc::as_ptr(&expression.tree).addr(), types);
        let checked = match self.checks.expressions.get(&key) {
            Some((checked, is_first)) => {
                self.steps -= if is_first { checked.steps.min(self.steps) } else { 0 };
                checked.found.clone()
            }
            None => {
                let types = expression.free.iter().zip(&key.1);
                let variables = tree_map(types.filter_map(|(free, ty)| Some((free.name.clone(), (*ty)?))));
                let (tree, before) = (expression.tree.clone(), self.steps);
                let found = check_one_of_many(&tree, &mut self.checks.env, variables, self.options, &mut self.steps);
                let checked = CheckedExpression { found: found.clone(), steps: before - self.steps, _tree: tree };
                self.checks.expressions.insert(key, checked);
                found
            }
        };
        checked.unwrap_or_else(|errors| {
            let text = shown(expression.tree.source().text());
            for mut error in errors.into_vec() {
                // Documents have no container.
                error.message = format!("{} in `{text}`", error.fields.remove(PROBLEM).unwrap_or(error.message));
                for label in &mut error.labels {
                    label.source = file.source.clone();
                    label.span = expression.places.span(label.span);
                }
                self.report(typed, Some(expression.owner), error);
            }
            Types::ERROR
        })
    }

    /// Returns `true` if a name is defined.
    pub(crate) fn is_defined(&self, typed: &TypedFile<'_>, free: &Free) -> bool {
        let from_outside = || typed.with.as_ref().is_some_and(|with| with.contains_key(&free.name));
        free.variable.is_some() || free.declared.is_some() || from_outside()
    }

    /// Returns the type of a name; `None` for a type or a namespace. Reports an undeclared name.
    fn name(&mut self, typed: &mut TypedFile<'t>, owner: NodeId, free: &Free) -> Option<TypeId> {
        let schema = free.declared.and_then(|id| typed.file.declared(id)).map(|declared| declared.schema.clone());
        let has_numbers = schema.as_ref().is_some_and(|schema| schema.has_numbers());
        let schema = schema.map(|schema| self.schema_type(&schema));
        let ty = match free.variable {
            Some(variable) => Some(self.variable(typed, variable)),
            None => typed.input(&free.name),
        };
        match (ty, schema) {
            (Some(Types::DYN) | None, Some(schema)) => Some(schema),
            // The numbers are converted.
            (Some(_), Some(schema)) if has_numbers && schema != Types::DYN => Some(schema),
            (Some(ty), _) => Some(ty),
            (None, None) if self.checks.env.is_namespace(&free.name) => None,
            (None, None) => {
                self.undeclared(typed, owner, free);
                Some(Types::ERROR)
            }
        }
    }

    /// Reports an undeclared name of an included file.
    fn undeclared(&mut self, typed: &TypedFile<'_>, owner: NodeId, free: &Free) {
        let message = format!("undeclared reference to '{}'", free.name);
        let error = Diagnostic::new(Code::UndefinedVariable, message);
        let names: Vec<_> = typed.with.iter().flat_map(|with| with.keys()).map(|name| name.to_string()).collect();
        let near = nearest(&free.name, names.iter().map(String::as_str));
        let help = match (near, free.later) {
            (_, Some(_)) => "a variable is seen by what comes after it".to_owned(),
            (Some(near), None) => format!("did you mean `{near}`?"),
            (None, None) => {
                format!("an included file sees only what `$with` gives it: `{}: ${{{}}}`", free.name, free.name)
            }
        };
        let mut error = match near.filter(|_| free.later.is_none()) {
            Some(near) => error.with_help(help).with_replacement(&*free.name, near),
            None => error.with_help(help),
        };
        error = error.with_available(names.iter().cloned());
        if let Some(later) = free.later {
            error = error.at(&typed.file.source, later, "defined later");
        }
        self.error(typed, Some(owner), free.span, error);
    }

    fn schema_type(&mut self, schema: &Arc<Schema>) -> TypeId {
        let key = Arc::as_ptr(schema).addr();
        if let Some(((_, ty), _)) = self.checks.schemas.get(&key) {
            return *ty;
        }
        let ty = self.checks.env.types().of_schema(schema);
        self.checks.schemas.insert(key, (schema.clone(), ty));
        ty
    }
}

/// Returns the text of an expression on one line.
fn shown(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text,
    }
}

#[cfg(test)]
mod tests;
