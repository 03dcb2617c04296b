//! Checks templates before they run: what names mean, the types of all expressions, and whether they fit the places they
//! stand in; branches that are never taken, too.
//!
//! What `$schema` says of an input is its type, and what is said of none is of any. A variable of `$let` has the type of
//! its value, one of `$for` that of an element. An included file sees what `$with` gives it, nothing else: it is checked
//! for each of the ways in which it is included; where its path is not known yet, whatever it is given. There is one environment for all of this, into which only the names of
//! the expression at hand are put; a text that stands in many places, its names meaning the same types, is checked once.

mod fits;
mod include;
mod places;
mod values;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::files::Templates;
use super::tree::{ExpressionId, File, FileId, Free, Let, LetValue, NodeId, VariableId};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, once_each};
use crate::dialect::cel::check::{Environment, Options, TypeId, Types, check_one_of_many};
use crate::function::Registry;
use crate::limits::Limits;
use crate::schema::Schema;
use crate::text::Span;

/// Steps that finding out all types may take, and holding constants against schemas.
const STEPS: u64 = 50_000_000;

/// How many characters of an expression are shown with what is wrong in it.
const SHOWN: usize = 60;

/// In how many ways a file is checked that is included with other types each time.
const WAYS: usize = 16;

/// Everything that is wrong with `templates`: each with its place in its file, its path (`items[0].name`, a field) and
/// how one comes there through includes.
///
/// ```
/// use dropforge::compiler::NoLoader;
/// use dropforge::dialect::cel::{registry, yaml};
/// use dropforge::{limits::Limits, text::Source};
/// let source = Source::new("t.yaml", "$schema: {port: integer, on: boolean}\na: ${port + 'x'}\n$if: port\nb: ${on}\n");
/// let limits = Limits::default();
/// let templates = yaml::read(&source, &NoLoader, &limits, &yaml::Options::default()).unwrap();
/// let told: Vec<_> = yaml::check(&templates, &registry(), &limits).iter().map(|error| error.to_string()).collect();
/// assert_eq!(told, [
///     "E0301: found no matching overload for '_+_' applied to '(int, string)' in `port + 'x'` (t.yaml:2:11)",
///     "E0301: `$if` asks whether something is true, and this is of type 'int' (t.yaml:3:6)",
/// ]);
/// ```
pub fn check(templates: &Templates, registry: &Registry, limits: &Limits) -> Vec<Box<Diagnostic>> {
    let mut check = Check {
        templates,
        env: Environment::new(registry).with_names_that_hide(),
        schemas: HashMap::new(),
        checked: HashMap::new(),
        steps: STEPS,
        visits: vec![Visit { file: FileId::of(0), with: None, from: None }],
        ways: HashMap::from([(FileId::of(0), HashSet::from([None]))]),
        errors: Vec::new(),
    };
    let mut at = 0;
    while at < check.visits.len() && check.steps > 0 {
        check.visit(at);
        at += 1;
    }
    let mut errors = once_each(check.errors);
    let file_order = |name: &str| templates.files().iter().position(|file| file.source.name() == name);
    let order = |error: &Diagnostic| error.primary().map(|label| (file_order(label.source.name()), label.span));
    errors.sort_by_key(|error| order(error));
    errors.truncate(limits.diagnostics);
    errors
}

/// The names that an included file sees, and their types.
type With = BTreeMap<Arc<str>, TypeId>;

/// A file that is checked, by one of the ways that lead to it.
struct Visit {
    file: FileId,
    /// Everything it sees; `None` for the file that is rendered, which sees all inputs, and for those that may be included
    /// by a path that is not known yet.
    with: Option<Arc<With>>,
    /// The visit of the file that includes it, and where.
    from: Option<(usize, Span)>,
}

/// A text and the types of its names.
type Asked = (usize, Vec<Option<TypeId>>);

struct Check<'t> {
    templates: &'t Templates,
    env: Environment,
    /// The types of schemas that were asked for.
    schemas: HashMap<usize, TypeId>,
    /// What is known of texts whose names are of certain types.
    checked: HashMap<Asked, Result<TypeId, Diagnostics>>,
    steps: u64,
    visits: Vec<Visit>,
    /// The ways in which each file is included.
    ways: HashMap<FileId, HashSet<Option<Arc<With>>>>,
    errors: Vec<Box<Diagnostic>>,
}

/// What a variable is defined by.
#[derive(Clone, Copy)]
enum Definition<'t> {
    Let(&'t LetValue),
    Key(ExpressionId),
    Value(ExpressionId),
}

/// A file that is being checked.
struct Typed<'t> {
    visit: usize,
    file: &'t File,
    with: Option<Arc<With>>,
    definitions: HashMap<VariableId, Definition<'t>>,
    /// The texts of `$let` that are expressions only where there are inputs of certain names.
    unless: HashSet<ExpressionId>,
    variables: HashMap<VariableId, TypeId>,
    /// The types of the expressions that have been checked.
    types: Vec<TypeId>,
}

impl<'t> Typed<'t> {
    fn new(visit: usize, file: &'t File, with: Option<Arc<With>>) -> Self {
        let (mut definitions, mut unless) = (HashMap::new(), HashSet::new());
        for map in file.maps() {
            for Let { variable, value } in &map.lets {
                definitions.insert(*variable, Definition::Let(value));
                if let LetValue::Unless { expression, .. } = value {
                    unless.insert(*expression);
                }
            }
            if let Some(each) = &map.each {
                definitions.insert(each.value, Definition::Value(each.over));
                definitions.extend(each.key.map(|key| (key, Definition::Key(each.over))));
            }
        }
        let types = Vec::with_capacity(file.expressions().len());
        Self { visit, file, with, definitions, unless, variables: HashMap::new(), types }
    }

    /// The type of an expression.
    fn of(&self, id: ExpressionId) -> TypeId {
        self.types.get(id.index()).copied().unwrap_or(Types::DYN)
    }

    /// Whether a name that means nothing in the file is one of what it sees, of whatever type where that is not known.
    fn input(&self, name: &str) -> Option<TypeId> {
        match &self.with {
            Some(with) => with.get(name).copied(),
            None => Some(Types::DYN),
        }
    }
}

impl<'t> Check<'t> {
    fn visit(&mut self, at: usize) {
        let Some(visit) = self.visits.get(at) else { return };
        let Some(file) = self.templates.file(visit.file) else { return };
        let mut typed = Typed::new(at, file, visit.with.clone());
        for at in 0..file.expressions().len() {
            let ty = self.expression(&mut typed, ExpressionId::of(at));
            typed.types.push(ty);
            if self.steps == 0 {
                let error =
                    Diagnostic::new(Code::LimitFuel, "the types of these templates are too large to be found out");
                return self.error(&typed, file.documents.first().copied(), Span::default(), error);
            }
        }
        self.places(&mut typed);
        self.includes(&mut typed);
    }

    /// Reports what is wrong at `span`, with the path of `owner` and the includes that lead to the file.
    fn error(&mut self, typed: &Typed<'_>, owner: Option<NodeId>, span: Span, error: Box<Diagnostic>) {
        let mut error = error.at(&typed.file.source, span, "");
        // A place that was there before is one of what the error is about.
        if let Some(place) = error.labels.pop() {
            error.labels.insert(0, place);
        }
        self.placed(typed, owner, error);
    }

    fn placed(&mut self, typed: &Typed<'_>, owner: Option<NodeId>, mut error: Box<Diagnostic>) {
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

    /// The type of an expression; what is wrong with it is reported.
    fn expression(&mut self, typed: &mut Typed<'t>, id: ExpressionId) -> TypeId {
        let file = typed.file;
        let Some(expression) = file.expression(id) else { return Types::DYN };
        if typed.unless.contains(&id) && !expression.free.iter().any(|free| self.is_given(typed, free)) {
            // It may be no expression at all.
            return Types::DYN;
        }
        let asked: Vec<_> = expression.free.iter().map(|free| self.name(typed, expression.owner, free)).collect();
        let key = (Arc::as_ptr(&expression.tree).addr(), asked);
        let known = match self.checked.get(&key) {
            Some(known) => known.clone(),
            None => {
                let types = expression.free.iter().zip(&key.1);
                let variables = types.filter_map(|(free, ty)| Some((free.name.clone(), (*ty)?))).collect();
                let options = Options { literals: true, ..Options::default() };
                let found = check_one_of_many(&expression.tree, &mut self.env, variables, options, &mut self.steps);
                self.checked.insert(key, found.clone());
                found
            }
        };
        known.unwrap_or_else(|errors| {
            let text = shown(expression.tree.source().text());
            for mut error in errors.into_vec() {
                // There are no containers here.
                let message = error.message.strip_suffix(" (in container '')").unwrap_or(&error.message);
                error.message = format!("{message} in `{text}`");
                for label in &mut error.labels {
                    label.source = file.source.clone();
                    label.span = expression.places.span(label.span);
                }
                self.placed(typed, Some(expression.owner), error);
            }
            Types::ERROR
        })
    }

    /// Whether it is known that a name stands for something.
    fn is_given(&self, typed: &Typed<'_>, free: &Free) -> bool {
        let from_outside = || typed.with.as_ref().is_some_and(|with| with.contains_key(&free.name));
        free.variable.is_some() || free.declared.is_some() || from_outside()
    }

    /// The type of what a name means; none where it is the name of a type or the first part of one, or of nothing at all,
    /// which is reported.
    fn name(&mut self, typed: &mut Typed<'t>, owner: NodeId, free: &Free) -> Option<TypeId> {
        let said = free.declared.and_then(|id| typed.file.declared(id)).map(|declared| declared.schema.clone());
        let said = said.map(|schema| self.schema_type(&schema));
        let is = match free.variable {
            Some(variable) => Some(self.variable(typed, variable)),
            None => typed.input(&free.name),
        };
        match (is, said) {
            (Some(Types::DYN) | None, Some(said)) => Some(said),
            (Some(is), _) => Some(is),
            (None, None) if self.env.is_namespace(&free.name) => None,
            (None, None) => {
                self.undeclared(typed, owner, free);
                Some(Types::ERROR)
            }
        }
    }

    /// A name of an included file that nothing gives it.
    fn undeclared(&mut self, typed: &Typed<'_>, owner: NodeId, free: &Free) {
        let message = format!("undeclared reference to '{}'", free.name);
        let error = Diagnostic::new(Code::UndefinedVariable, message);
        let names: Vec<_> = typed.with.iter().flat_map(|with| with.keys()).map(|name| name.to_string()).collect();
        let near = crate::diagnostics::nearest(&free.name, names.iter().map(String::as_str));
        let help = match (near, free.later) {
            (_, Some(_)) => "a variable is seen by what comes after it".to_owned(),
            (Some(near), None) => format!("did you mean `{near}`?"),
            (None, None) => {
                format!("an included file sees only what `$with` gives it: `{}: ${{{}}}`", free.name, free.name)
            }
        };
        let mut error = error.with_available(names).with_help(help);
        if let Some(later) = free.later {
            error = error.at(&typed.file.source, later, "defined later");
        }
        self.error(typed, Some(owner), free.span, error);
    }

    fn schema_type(&mut self, schema: &Arc<Schema>) -> TypeId {
        let key = Arc::as_ptr(schema).addr();
        if let Some(known) = self.schemas.get(&key) {
            return *known;
        }
        let ty = self.env.types().of_schema(&schema.to_data());
        self.schemas.insert(key, ty);
        ty
    }
}

/// The text of an expression on one line.
fn shown(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text,
    }
}
