//! Static cost estimates: the minimum and maximum cost of an expression, by the constants of the reference.
//!
//! A comprehension costs as much as its body for each element. The sizes of values come from literals and constructors,
//! and from [`Hints`] about variables. Other sizes are unknown.

mod calls;

pub use crate::cost::Range;

use std::collections::HashMap;

use crate::check::types::{Kind, TypeId};
use crate::check::{Checked, Reference};
use crate::cost::{LIST, MAP, MESSAGE, STEP};
use crate::syntax::ACCUMULATOR;
use crate::syntax::tree::{Comprehension, Expr, ExprId, Literal, Name, Run, Selection, Tree};

/// The sizes of variables: characters of strings, bytes, elements of lists and maps. A path is a variable's name followed
/// by dots and names of fields, `@items` (the elements of a list), `@keys` or `@values` (of a map).
#[derive(Debug, Clone, Default)]
pub struct Hints {
    sizes: HashMap<String, Range>,
    /// Set if `has(…)` costs nothing.
    pub free_presence: bool,
}

impl Hints {
    /// Adds the size of a path.
    #[must_use]
    pub fn with(mut self, path: impl Into<String>, size: Range) -> Self {
        self.sizes.insert(path.into(), size);
        self
    }
}

/// The cost of a name or a selection.
const NAME: Range = Range::fixed(STEP);

/// Estimates the cost of an expression.
///
/// ```
/// use dropforge::dialect::cel::check::{Environment, check, cost::{Hints, Range, estimate}};
/// use dropforge::dialect::cel::{builtins, syntax::{Options, parse}};
/// use dropforge::{function::Registry, text::Source};
/// let mut environment = Environment::new(&Registry::of(builtins::STANDARD));
/// environment.declare("ports", "list(int)").unwrap();
/// let tree = parse(&Source::new("e", "ports.all(p, p > 1024)"), &Options::default()).unwrap();
/// let checked = check(&tree, &environment).unwrap();
/// let hints = Hints::default().with("ports", Range::new(0, 10));
/// assert_eq!(estimate(&tree, &checked, &hints), Range::new(2, 52));
/// assert_eq!(estimate(&tree, &checked, &Hints::default()).max, u64::MAX);
/// ```
pub fn estimate(tree: &Tree, checked: &Checked, hints: &Hints) -> Range {
    Estimator { tree, checked, hints, facts: HashMap::new(), locals: Vec::new() }.cost(tree.root)
}

/// The sizes of the keys and values of a list or map.
#[derive(Debug, Clone, Copy)]
struct Entries {
    is_list: bool,
    key: Range,
    pub value: Range,
}

impl Entries {
    /// Returns the sizes that contain both, if both are known.
    pub fn union(this: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (this, other) = (this?, other?);
        Some(Self { is_list: this.is_list, key: this.key.union(other.key), value: this.value.union(other.value) })
    }
}

/// Facts about a value, if known.
#[derive(Default)]
struct Facts {
    /// Its path, if it comes from a variable.
    path: Option<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Estimator<'w> {
    pub tree: &'w Tree,
    pub checked: &'w Checked,
    hints: &'w Hints,
    facts: HashMap<ExprId, Facts>,
    /// The variables of comprehensions in scope, the innermost last.
    locals: Vec<(Name, Facts)>,
}

impl Estimator<'_> {
    /// Returns the cost of an expression.
    pub fn cost(&mut self, id: ExprId) -> Range {
        if let Some(Reference::Variable(name)) = self.checked.reference(id) {
            self.set_path(id, Some(name.to_string()));
            return NAME;
        }
        match self.tree.expr(id) {
            Expr::Invalid | Expr::Literal(_) => Range::default(),
            Expr::Ident { name, .. } => {
                let path = self.local(name).and_then(|local| local.path.clone());
                self.set_path(id, path);
                NAME
            }
            Expr::Select { .. } if self.checked.reference(id).is_some_and(|to| matches!(to, Reference::Type(_))) => {
                NAME
            }
            Expr::Select { operand, field, selection } => self.select(id, operand, field, selection),
            Expr::Call(call) => self.call(id, call),
            Expr::List(run) => self.list(id, run),
            Expr::Map(run) => self.map(id, run),
            Expr::Message { fields, .. } => {
                let tree = self.tree;
                tree.fields(fields).iter().fold(Range::fixed(MESSAGE), |sum, field| sum.plus(self.cost(field.value)))
            }
            Expr::Comprehension(of) => match self.tree.comprehension(of) {
                Some(of) if self.is_binding(of) => self.binding(id, of),
                Some(of) => self.comprehension(id, of),
                None => Range::default(),
            },
        }
    }

    fn select(&mut self, id: ExprId, operand: ExprId, field: Name, selection: Selection) -> Range {
        let cost = self.cost(operand);
        match selection {
            // It is a call whose second argument is the name of the field.
            Selection::Optional => cost.plus(NAME),
            Selection::Test if self.hints.free_presence => cost,
            Selection::Test => cost.plus(NAME),
            Selection::Plain => {
                let path = self.path(operand).map(|path| format!("{path}.{}", self.tree.name(field)));
                self.set_path(id, path);
                let known =
                    matches!(self.checked.kind_of(operand), Kind::Map(..) | Kind::Object(_) | Kind::Nullable(_));
                if known { cost.plus(NAME) } else { cost }
            }
        }
    }

    fn list(&mut self, id: ExprId, run: Run) -> Range {
        let (tree, mut cost, mut value) = (self.tree, Range::fixed(LIST), None);
        for element in tree.elements(run) {
            cost = cost.plus(self.cost(element.value));
            value = Some(joined(value, self.size_or_unknown(element.value)));
        }
        let value = value.unwrap_or_default();
        self.set_entries(id, Some(Entries { is_list: true, key: Range::fixed(1), value }));
        cost
    }

    fn map(&mut self, id: ExprId, run: Run) -> Range {
        let (tree, mut cost, mut key, mut value) = (self.tree, Range::fixed(MAP), None, None);
        for entry in tree.entries(run) {
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value));
            key = Some(joined(key, self.size_or_unknown(entry.key)));
            value = Some(joined(value, self.size_or_unknown(entry.value)));
        }
        let entries = Entries { is_list: false, key: key.unwrap_or_default(), value: value.unwrap_or_default() };
        self.set_entries(id, Some(entries));
        cost
    }

    /// Returns `true` for a comprehension that only binds a value to a name.
    fn is_binding(&self, of: &Comprehension) -> bool {
        let empty = matches!(self.tree.expr(of.iter_range), Expr::List(run) if run.is_empty());
        let never = self.tree.expr(of.loop_condition) == Expr::Literal(Literal::Bool(false));
        empty && never && self.tree.name(of.accu_var) != ACCUMULATOR
    }

    fn binding(&mut self, id: ExprId, of: &Comprehension) -> Range {
        let cost = self.cost(of.iter_range).plus(self.cost(of.accu_init));
        self.push(of.accu_var, of.accu_init);
        let cost = cost.plus(self.cost(of.result));
        self.copy_sizes(id, of.result);
        self.locals.pop();
        cost
    }

    /// Brings a variable with this value into scope.
    fn push(&mut self, name: Name, value: ExprId) {
        let facts = Facts { path: self.path(value), size: self.size(value), entries: self.entries_of(value) };
        self.locals.push((name, facts));
    }

    fn comprehension(&mut self, id: ExprId, of: &Comprehension) -> Range {
        let cost = self.cost(of.iter_range).plus(self.cost(of.accu_init));
        let outside = self.locals.len();
        self.push(of.accu_var, of.accu_init);
        self.push_iterated(of);
        let each = self.cost(of.loop_condition).plus(self.cost(of.loop_step));
        self.locals.truncate(outside + 1);
        let cost = cost.plus(self.cost(of.result));
        self.locals.truncate(outside);
        let count = self.size_or_unknown(of.iter_range);
        match self.tree.expr(of.accu_init) {
            Expr::Literal(_) => {
                let size = self.size(of.accu_init);
                self.set_size(id, size);
            }
            Expr::List(_) | Expr::Map(_) => {
                self.set_size(id, Some(count));
                let entries = self.entries_of(of.loop_step);
                self.set_entries(id, entries);
            }
            _ => {}
        }
        cost.plus(count.times(each))
    }

    /// Brings the variables of a loop into scope.
    fn push_iterated(&mut self, of: &Comprehension) {
        let entries = self.entries_of(of.iter_range);
        let declared = matches!(self.checked.kind_of(of.iter_range), Kind::List(_));
        let is_list = entries.map_or(declared, |entries| entries.is_list);
        let path = self.path(of.iter_range);
        let path = |part: &str| path.as_ref().map(|path| format!("{path}.{part}"));
        let (keys, values) = if is_list { ("@indices", "@items") } else { ("@keys", "@values") };
        let local = |name, part: &str, size: fn(Entries) -> Range| {
            (name, Facts { path: path(part), size: entries.map(size), entries: None })
        };
        let key = |name| local(name, keys, |of| of.key);
        let value = |name| local(name, values, |of| of.value);
        match of.iter_var2 {
            Some(second) => self.locals.extend([key(of.iter_var), value(second)]),
            None => self.locals.push(if is_list { value(of.iter_var) } else { key(of.iter_var) }),
        }
    }

    fn local(&self, name: Name) -> Option<&Facts> {
        self.locals.iter().rev().find(|(local, _)| *local == name).map(|(_, facts)| facts)
    }

    fn local_of(&self, id: ExprId) -> Option<&Facts> {
        match self.tree.expr(id) {
            Expr::Ident { name, rooted: false } => self.local(name),
            _ => None,
        }
    }

    /// Returns the path of a value that comes from a variable.
    pub fn path(&self, id: ExprId) -> Option<String> {
        match self.local_of(id) {
            Some(local) => local.path.clone(),
            None => self.facts.get(&id).and_then(|facts| facts.path.clone()),
        }
    }

    pub(crate) fn set_path(&mut self, id: ExprId, path: Option<String>) {
        if path.is_some() {
            self.facts.entry(id).or_default().path = path;
        }
    }

    /// Returns the size of a value, if known.
    pub fn size(&self, id: ExprId) -> Option<Range> {
        let hinted = || self.path(id).and_then(|path| self.hints.sizes.get(&path).copied());
        let scalar = || is_scalar(self.checked, self.checked.type_of(id)).then_some(Range::fixed(1));
        let local = || self.local_of(id).and_then(|local| local.size);
        let own = self.facts.get(&id).and_then(|facts| facts.size);
        own.or_else(|| self.literal_size(id)).or_else(hinted).or_else(scalar).or_else(local)
    }

    /// Returns the size of a literal or constructor.
    fn literal_size(&self, id: ExprId) -> Option<Range> {
        let size = match self.tree.expr(id) {
            Expr::Literal(Literal::String(text)) => self.tree.name(text).chars().count(),
            Expr::Literal(Literal::Bytes(run)) => self.tree.bytes(run).len(),
            Expr::Literal(_) => 1,
            Expr::List(run) | Expr::Map(run) => run.len(),
            _ => return None,
        };
        Some(Range::fixed(size as u64))
    }

    pub(crate) fn size_or_unknown(&self, id: ExprId) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    pub fn set_size(&mut self, id: ExprId, size: Option<Range>) {
        if size.is_some() {
            self.facts.entry(id).or_default().size = size;
        }
    }

    /// Returns the sizes of the keys and values of a list or map, if known.
    pub(crate) fn entries_of(&self, id: ExprId) -> Option<Entries> {
        let own = self.facts.get(&id).and_then(|facts| facts.entries);
        own.or_else(|| self.local_of(id).and_then(|local| local.entries))
    }

    pub(crate) fn set_entries(&mut self, id: ExprId, entries: Option<Entries>) {
        if entries.is_some() {
            self.facts.entry(id).or_default().entries = entries;
        }
    }

    pub(crate) fn copy_sizes(&mut self, to: ExprId, from: ExprId) {
        let (size, entries) = (self.size(from), self.entries_of(from));
        self.set_size(to, size);
        self.set_entries(to, entries);
    }
}

fn joined(so_far: Option<Range>, more: Range) -> Range {
    so_far.map_or(more, |so_far| so_far.union(more))
}

/// Returns `true` for a type whose values all have size 1.
fn is_scalar(checked: &Checked, ty: TypeId) -> bool {
    match checked.types().kind(ty) {
        Kind::Bool | Kind::Double | Kind::Duration | Kind::Int | Kind::Number | Kind::Timestamp | Kind::Uint => true,
        Kind::Optional(of) | Kind::Nullable(of) => is_scalar(checked, *of),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
