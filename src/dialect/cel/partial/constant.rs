//! Values as expressions.

use super::facts::Known;
use crate::bytecode::ImportKind;
use crate::dialect::cel::lower::names::Meaning;
use crate::dialect::cel::syntax::tree::{
    Call, Element, Entry, Expr, ExprId, Function, Literal, Name, Node, Selection, Tree,
};
use crate::dialect::cel::values::text::plain;
use crate::dialect::cel::values::{TYPE_NAMES, as_optional};
use crate::text::Span;
use crate::value::{Extended, Value};

/// About how many characters one constant takes at most.
const EACH: usize = 16 << 10;

/// The same of all constants of a residual together.
const ALL: usize = 48 << 10;

/// How deep lists and maps in a constant nest.
const DEEP: u16 = 32;

/// What may still become constants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    left: usize,
    deep: u16,
}

impl Room {
    /// What a source that has the expression already may hold besides.
    pub fn most(tree: &Tree) -> Self {
        let room = ALL.saturating_sub(tree.source().text().len() / 2);
        Self { left: room, deep: DEEP }
    }

    /// Only what is no deeper than what it stands for.
    pub const FLAT: Self = Self { left: ALL, deep: 0 };
}

/// Makes constants.
pub(super) struct Maker<'m> {
    pub tree: &'m mut Tree,
    pub known: Known<'m>,
    /// Names that are around the place.
    pub scope: &'m [Name],
    pub span: Span,
}

impl Maker<'_> {
    /// The expression of a value; `None` where there is none, or where it is too large.
    pub fn constant(&mut self, value: Value<'_>, room: &mut Room) -> Option<ExprId> {
        if value.depth() > room.deep
            || room.deep == 0 && value.extended().is_some_and(|of| !matches!(of, Extended::Bytes(_)))
        {
            return None;
        }
        let mut size = EACH.min(room.left);
        measure(value, &mut size)?;
        let used = EACH.min(room.left) - size;
        let made = self.value(value)?;
        room.left -= used;
        Some(made)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.tree.add(expr, self.span, self.span.start)
    }

    fn literal(&mut self, literal: Literal) -> Option<ExprId> {
        Some(self.add(Expr::Literal(literal)))
    }

    fn text(&mut self, text: &str) -> Option<ExprId> {
        let name = self.tree.intern(text);
        self.literal(Literal::String(name))
    }

    fn value(&mut self, value: Value<'_>) -> Option<ExprId> {
        match value {
            Value::Null => self.literal(Literal::Null),
            Value::Bool(truth) => self.literal(Literal::Bool(truth)),
            Value::Int(n) => self.literal(Literal::Int(n)),
            Value::Uint(n) => self.literal(Literal::Uint(n)),
            Value::Float(n) if n.is_finite() => self.literal(Literal::Double(n)),
            Value::Float(_) => self.of_text("double", value),
            Value::Str(text) => self.text(text.as_str()),
            Value::List(list) => {
                let values: Option<Vec<_>> = list.items().iter().map(|item| self.value(*item)).collect();
                let elements: Vec<_> = values?.into_iter().map(|value| Element { value, optional: false }).collect();
                let run = self.tree.add_elements(&elements);
                Some(self.add(Expr::List(run)))
            }
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| Some((self.text(key)?, self.value(value)?)));
                let entries = entries.collect::<Option<Vec<_>>>()?;
                Some(self.map(entries))
            }
            Value::Undefined => None,
            Value::Extended(_) => self.extended(value),
        }
    }

    fn map(&mut self, entries: Vec<(ExprId, ExprId)>) -> ExprId {
        let at = self.span.start;
        let entries: Vec<_> =
            entries.into_iter().map(|(key, value)| Entry { key, value, optional: false, at }).collect();
        let run = self.tree.add_entries(&entries);
        self.add(Expr::Map(run))
    }

    fn extended(&mut self, value: Value<'_>) -> Option<ExprId> {
        match *value.extended()? {
            Extended::Bytes(bytes) => {
                let run = self.tree.add_bytes(bytes);
                self.literal(Literal::Bytes(run))
            }
            Extended::Entries(entries) => {
                let entries = entries.iter().map(|(key, value)| Some((self.value(key)?, self.value(value)?)));
                let entries = entries.collect::<Option<Vec<_>>>()?;
                Some(self.map(entries))
            }
            Extended::Timestamp { .. } => self.of_text("timestamp", value),
            // The text of the longest span that is negative cannot be read.
            Extended::Duration(nanos) if nanos > i64::MIN => self.of_text("duration", value),
            Extended::Optional(held) => self.optional(held),
            Extended::Named(name) => self.type_name(name),
            _ => None,
        }
    }

    /// The call of a function that makes the value of its text.
    fn of_text(&mut self, function: &str, value: Value<'_>) -> Option<ExprId> {
        let text = self.text(&plain(value).ok()??)?;
        self.call(None, function, &[text])
    }

    /// A call, if the function is the one that is meant by its name here.
    fn call(&mut self, namespace: Option<&str>, function: &str, args: &[ExprId]) -> Option<ExprId> {
        let receiver = namespace.map(|name| {
            let name = self.tree.intern(name);
            self.add(Expr::Ident { name, rooted: false })
        });
        let name = self.tree.intern(function);
        let args = self.tree.add_ids(args);
        let call = Call { function: Function::Named(name), rooted: false, receiver, args };
        let full = namespace.map_or(function.to_owned(), |namespace| format!("{namespace}.{function}"));
        let is_local = |name| self.scope.contains(&name);
        let meant = self.known.names.namespaced(self.tree, self.known.registry, function, &call, is_local);
        if meant.as_deref() != Some(&full) || self.known.registry.get(ImportKind::Function, &full).is_none() {
            return None;
        }
        Some(self.add(Expr::Call(call)))
    }

    fn optional(&mut self, held: Value<'_>) -> Option<ExprId> {
        if held.is_undefined() {
            return self.call(Some("optional"), "none", &[]);
        }
        let held = self.value(held)?;
        self.call(Some("optional"), "of", &[held])
    }

    /// A type, if that is what its name stands for here.
    fn type_name(&mut self, name: &str) -> Option<ExprId> {
        let known = TYPE_NAMES.iter().find(|known| **known == name)?;
        let parts: Vec<&str> = known.split('.').collect();
        let (first, fields) = parts.split_first()?;
        let root = self.tree.intern(first);
        let free = !self.scope.contains(&root) && self.known.is_no_variable(first);
        if !free || !matches!(self.known.names.meaning(&parts, false), Meaning::Type(meant) if meant == *known) {
            return None;
        }
        let mut at = self.add(Expr::Ident { name: root, rooted: false });
        for field in fields {
            let field = self.tree.intern(field);
            at = self.add(Expr::Select { operand: at, field, selection: Selection::Plain });
        }
        Some(at)
    }
}

/// Takes about as many characters from `left` as the value's expression has; `None` where there are not so many.
fn measure(value: Value<'_>, left: &mut usize) -> Option<()> {
    let escaped = |text: &str| text.chars().map(|char| if char.is_control() { 6 } else { 2 }).sum::<usize>();
    let own = match (value, value.extended()) {
        (Value::Str(text), _) => escaped(text.as_str()),
        (_, Some(Extended::Bytes(bytes))) => bytes.len().saturating_mul(4),
        _ => 8,
    };
    *left = left.checked_sub(own.saturating_add(4))?;
    let mut all = |values: &[Value<'_>]| values.iter().try_for_each(|value| measure(*value, left));
    match (value, value.extended()) {
        (Value::List(list), _) => all(list.items()),
        (Value::Map(map), _) => {
            all(map.values())?;
            let keys: usize = map.iter().map(|(key, _)| escaped(key) + 4).sum();
            *left = left.checked_sub(keys)?;
            Some(())
        }
        (_, Some(Extended::Entries(entries))) => all(entries.keys()).and_then(|()| all(entries.values())),
        _ => as_optional(value).filter(|held| !held.is_undefined()).map_or(Some(()), |held| measure(held, left)),
    }
}

/// Whether a node is a constant, and whether it is true or false.
pub(super) fn truth(node: Node) -> Option<bool> {
    match node.expr {
        Expr::Literal(Literal::Bool(truth)) => Some(truth),
        _ => None,
    }
}
