//! The walk over a checked expression.

use std::collections::HashMap;

use super::{Hints, Range};
use crate::dialect::cel::check::types::{Kind, TypeId};
use crate::dialect::cel::check::{Checked, Reference};
use crate::dialect::cel::cost;
use crate::dialect::cel::syntax::ACCUMULATOR;
use crate::dialect::cel::syntax::tree::{Comprehension, Expr, ExprId, Literal, Name, Run, Selection, Tree};

/// What a name or a select costs.
const NAME: Range = Range::fixed(cost::STEP);
/// What making a list costs.
pub(super) const LIST: Range = Range::fixed(cost::LIST);
/// What making a map costs.
const MAP: Range = Range::fixed(cost::MAP);
/// What making a message costs.
const MESSAGE: Range = Range::fixed(cost::MESSAGE);

/// The sizes of what is in a list or map.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entries {
    is_list: bool,
    key: Range,
    pub value: Range,
}

impl Entries {
    /// What holds both.
    pub fn union(this: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (this, other) = (this?, other?);
        Some(Self { is_list: this.is_list, key: this.key.union(other.key), value: this.value.union(other.value) })
    }
}

/// A variable of a loop or a binding.
struct Local {
    name: Name,
    path: Option<String>,
    size: Option<Range>,
    entries: Option<Entries>,
}

pub(super) struct Walk<'w> {
    pub tree: &'w Tree,
    pub checked: &'w Checked,
    hints: &'w Hints,
    paths: HashMap<ExprId, String>,
    sizes: HashMap<ExprId, Range>,
    entries: HashMap<ExprId, Entries>,
    locals: Vec<Local>,
}

impl<'w> Walk<'w> {
    pub fn new(tree: &'w Tree, checked: &'w Checked, hints: &'w Hints) -> Self {
        let (paths, sizes, entries) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { tree, checked, hints, paths, sizes, entries, locals: Vec::new() }
    }

    /// What an expression costs.
    pub fn cost(&mut self, id: ExprId) -> Range {
        if let Some(Reference::Variable(name)) = self.checked.reference(id) {
            self.paths.insert(id, name.to_string());
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
                tree.fields(fields).iter().fold(MESSAGE, |sum, field| sum.plus(self.cost(field.value)))
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
            // It is a call, the name of the field being a constant.
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
        let (tree, mut cost, mut value) = (self.tree, LIST, None);
        for element in tree.elements(run) {
            cost = cost.plus(self.cost(element.value));
            value = Some(joined(value, self.size_or_unknown(element.value)));
        }
        let value = value.unwrap_or_default();
        self.entries.insert(id, Entries { is_list: true, key: Range::fixed(1), value });
        cost
    }

    fn map(&mut self, id: ExprId, run: Run) -> Range {
        let (tree, mut cost, mut key, mut value) = (self.tree, MAP, None, None);
        for entry in tree.entries(run) {
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value));
            key = Some(joined(key, self.size_or_unknown(entry.key)));
            value = Some(joined(value, self.size_or_unknown(entry.value)));
        }
        let entries = Entries { is_list: false, key: key.unwrap_or_default(), value: value.unwrap_or_default() };
        self.entries.insert(id, entries);
        cost
    }

    /// Whether it only gives a value a name.
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

    /// Adds a variable that is a value.
    fn push(&mut self, name: Name, value: ExprId) {
        let (path, entries) = (self.path(value), self.entries_of(value));
        let size = self.size(value);
        self.locals.push(Local { name, path, size, entries });
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

    /// Adds the variables of a loop.
    fn push_iterated(&mut self, of: &Comprehension) {
        let entries = self.entries_of(of.iter_range);
        let declared = matches!(self.checked.kind_of(of.iter_range), Kind::List(_));
        let is_list = entries.map_or(declared, |entries| entries.is_list);
        let path = self.path(of.iter_range);
        let path = |part: &str| path.as_ref().map(|path| format!("{path}.{part}"));
        let key = |name, part: &str| Local { name, path: path(part), size: entries.map(|of| of.key), entries: None };
        let value =
            |name, part: &str| Local { name, path: path(part), size: entries.map(|of| of.value), entries: None };
        match (of.iter_var2, is_list) {
            (Some(second), true) => {
                self.locals.extend([key(of.iter_var, "@indices"), value(second, "@items")]);
            }
            (Some(second), false) => self.locals.extend([key(of.iter_var, "@keys"), value(second, "@values")]),
            (None, true) => self.locals.push(value(of.iter_var, "@items")),
            (None, false) => self.locals.push(key(of.iter_var, "@keys")),
        }
    }

    fn local(&self, name: Name) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn local_of(&self, id: ExprId) -> Option<&Local> {
        match self.tree.expr(id) {
            Expr::Ident { name, rooted: false } => self.local(name),
            _ => None,
        }
    }

    /// The path of a value that comes from a variable.
    pub fn path(&self, id: ExprId) -> Option<String> {
        match self.local_of(id) {
            Some(local) => local.path.clone(),
            None => self.paths.get(&id).cloned(),
        }
    }

    pub fn set_path(&mut self, id: ExprId, path: Option<String>) {
        if let Some(path) = path {
            self.paths.insert(id, path);
        }
    }

    /// The size of a value, where anything is known of it.
    pub fn size(&self, id: ExprId) -> Option<Range> {
        let hinted = || self.path(id).and_then(|path| self.hints.sizes.get(&path).copied());
        let scalar = || is_scalar(self.checked, self.checked.type_of(id)).then_some(Range::fixed(1));
        let local = || self.local_of(id).and_then(|local| local.size);
        self.sizes.get(&id).copied().or_else(|| self.written_size(id)).or_else(hinted).or_else(scalar).or_else(local)
    }

    /// The size of what is written there.
    fn written_size(&self, id: ExprId) -> Option<Range> {
        let size = match self.tree.expr(id) {
            Expr::Literal(Literal::String(text)) => self.tree.name(text).chars().count(),
            Expr::Literal(Literal::Bytes(run)) => self.tree.bytes(run).len(),
            Expr::Literal(_) => 1,
            Expr::List(run) | Expr::Map(run) => run.len(),
            _ => return None,
        };
        Some(Range::fixed(size as u64))
    }

    pub fn size_or_unknown(&self, id: ExprId) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    pub fn set_size(&mut self, id: ExprId, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(id, size);
        }
    }

    /// The sizes of what is in a list or map, where anything is known of it.
    pub fn entries_of(&self, id: ExprId) -> Option<Entries> {
        self.entries.get(&id).copied().or_else(|| self.local_of(id).and_then(|local| local.entries))
    }

    pub fn set_entries(&mut self, id: ExprId, entries: Option<Entries>) {
        if let Some(entries) = entries {
            self.entries.insert(id, entries);
        }
    }

    pub fn copy_sizes(&mut self, to: ExprId, from: ExprId) {
        let (size, entries) = (self.size(from), self.entries_of(from));
        self.set_size(to, size);
        self.set_entries(to, entries);
    }
}

fn joined(so_far: Option<Range>, more: Range) -> Range {
    so_far.map_or(more, |so_far| so_far.union(more))
}

/// Whether all values of a type have one size.
fn is_scalar(checked: &Checked, ty: TypeId) -> bool {
    match checked.types().kind(ty) {
        Kind::Bool | Kind::Double | Kind::Duration | Kind::Int | Kind::Timestamp | Kind::Uint => true,
        Kind::Optional(of) | Kind::Nullable(of) => is_scalar(checked, *of),
        _ => false,
    }
}
