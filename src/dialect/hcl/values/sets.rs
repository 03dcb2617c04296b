//! Sets: which values are one element, and the order of the elements.
//!
//! Strings, numbers and booleans are in their own order, null and unknown elements behind them. Elements of other
//! types are in the order of their keys, texts that equal values share and others mostly do not.

use std::cmp::Ordering;

use hashbrown::HashMap;

use super::Outcome;
use super::elements::element_of;
use super::equality::equals;
use super::marks::{contains_marked, marked_by, unmark_deep};
use super::numbers::number_of;
use crate::function::Cx;
use crate::value::{Extended, Layout, Type, Value};

/// Whether the value, whatever its marks, is a set, known or not.
pub fn is_set(value: Value<'_>) -> bool {
    match value.unmarked().0.extended() {
        Some(Extended::Typed(ty, _) | Extended::Null(ty)) => matches!(ty, Type::Set(_)),
        Some(Extended::Unknown(unknown)) => matches!(unknown.ty, Type::Set(_)),
        _ => false,
    }
}

/// A set of the type `element`, which all of `items` have: each value once, in the order of the set. What is unknown
/// is no other's equal. Marks of the elements, and of what is in them, are on the set.
///
/// # Errors
/// The memory or the steps of the render are spent, or values nest too deep.
pub fn set_of<'v>(cx: &Cx<'v>, element: Type<'v>, items: &[Value<'v>]) -> Outcome<Value<'v>> {
    cx.charge(items.len() * 2 * size_of::<Value>())?;
    cx.spend(items.len() as u64)?;
    let mut marks = Vec::new();
    let mut plain = Vec::with_capacity(items.len());
    for item in items {
        let item = if contains_marked(cx, *item)? {
            let (item, own) = unmark_deep(cx, *item)?;
            marks.extend(own);
            item
        } else {
            *item
        };
        plain.push(element_of(cx, element, item));
    }
    let distinct = if sorted_texts(&mut plain) { plain } else { distinct(cx, &plain)? };
    let set = cx.arena().typed(cx.arena().set_type(element), cx.list(&distinct)?);
    marked_by(cx, set, &marks, &[])
}

/// Sorts a list of texts and leaves each once; says whether it is one.
fn sorted_texts(items: &mut Vec<Value<'_>>) -> bool {
    if !items.iter().all(|item| matches!(item, Value::Str(_))) {
        return false;
    }
    items.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    items.dedup_by(|a, b| a.as_str() == b.as_str());
    true
}

/// Each value once, in the order of a set.
fn distinct<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Outcome<Vec<Value<'v>>> {
    let mut kept = Index::of(cx, items)?.elements;
    kept.sort_by(|(a, key), (b, other)| order(*a, *b).then_with(|| scalar_order(*a, *b).unwrap_or(key.cmp(other))));
    Ok(kept.into_iter().map(|(item, _)| item).collect())
}

/// Values of one type, each once, found by their keys: among many, no time square goes into finding them.
#[derive(Default)]
pub(crate) struct Index<'v> {
    elements: Vec<(Value<'v>, String)>,
    by_key: HashMap<String, Vec<usize>>,
}

impl<'v> Index<'v> {
    /// All of `items`.
    pub(crate) fn of(cx: &Cx<'v>, items: &[Value<'v>]) -> Outcome<Self> {
        let mut index = Self::default();
        for item in items {
            index.add(cx, *item)?;
        }
        Ok(index)
    }

    /// Adds an element that is not here yet; false for one that is.
    pub(crate) fn add(&mut self, cx: &Cx<'v>, item: Value<'v>) -> Outcome<bool> {
        let key = key(cx, item)?;
        let new = !self.holds(cx, item, &key)?;
        if new {
            self.by_key.entry(key.clone()).or_default().push(self.elements.len());
            self.elements.push((item, key));
        }
        Ok(new)
    }

    /// Whether an element certainly equals `item`.
    pub(crate) fn has(&self, cx: &Cx<'v>, item: Value<'v>) -> Outcome<bool> {
        self.holds(cx, item, &key(cx, item)?)
    }

    fn holds(&self, cx: &Cx<'v>, item: Value<'v>, key: &str) -> Outcome<bool> {
        for at in self.by_key.get(key).into_iter().flatten() {
            if let Some((other, _)) = self.elements.get(*at)
                && matches!(equals(cx, *other, item)?, Value::Bool(true))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Known elements before unknown ones, and those before null.
fn order(a: Value<'_>, b: Value<'_>) -> Ordering {
    let rank = |value: Value<'_>| u8::from(!value.is_known()) + 2 * u8::from(value.is_null());
    rank(a).cmp(&rank(b))
}

/// The order of two known values of a primitive type; two that are both null or both unknown are as they came.
fn scalar_order(a: Value<'_>, b: Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.as_str().cmp(b.as_str())),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(&b)),
        _ if !a.is_known() || a.is_null() => Some(Ordering::Equal),
        _ => Some(number_of(a)?.compare(&number_of(b)?)),
    }
}

/// Whether `a` comes before `b` in a set: both are of its element type.
///
/// # Errors
/// The memory or the steps of the render are spent.
pub fn comes_before<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    let ordering = order(a, b);
    let ordering = match scalar_order(a, b) {
        Some(scalar) => ordering.then(scalar),
        None => ordering.then(key(cx, a)?.cmp(&key(cx, b)?)),
    };
    Ok(ordering.is_lt())
}

/// A text that orders values of one type, and that equal values share.
fn key<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    let mut key = String::new();
    match number_of(value).and_then(|number| number.to_i64()) {
        // More than the digits that a key of other values has, so that few large whole numbers share one.
        Some(n) => key.push_str(&n.to_string()),
        None => push_key(cx, &mut key, value)?,
    }
    cx.charge(2 * key.len())?;
    Ok(key)
}

fn push_key<'v>(cx: &Cx<'v>, key: &mut String, value: Value<'v>) -> Outcome<()> {
    cx.spend(1)?;
    let (value, _) = value.unmarked();
    match value {
        _ if !value.is_known() => key.push('?'),
        _ if value.is_null() => key.push('~'),
        Value::Bool(b) => key.push(if b { 'T' } else { 'F' }),
        Value::Str(text) => push_quoted(key, text.as_str()),
        Value::Extended(_) if matches!(value.extended(), Some(Extended::Capsule(_))) => key.push_str("«?»"),
        _ => match number_of(value) {
            Some(number) => key.push_str(&number.format(Layout::General, Some(10))),
            None => push_elements(cx, key, value)?,
        },
    }
    Ok(())
}

fn push_elements<'v>(cx: &Cx<'v>, key: &mut String, value: Value<'v>) -> Outcome<()> {
    let typed = matches!(value.extended(), Some(Extended::Typed(..)));
    let is_map = typed && value.entries().is_some();
    let (open, close) = match (typed, is_map) {
        (true, true) => ('{', '}'),
        (true, false) => ('[', ']'),
        _ => ('<', '>'),
    };
    key.push(open);
    for item in value.elements().unwrap_or(&[]) {
        push_key(cx, key, *item)?;
        key.push(';');
    }
    for (name, item) in value.entries().into_iter().flat_map(|map| map.iter_sorted()) {
        if is_map {
            push_quoted(key, name);
            key.push(':');
        }
        push_key(cx, key, item)?;
        key.push(';');
    }
    key.push(close);
    Ok(())
}

/// A text in quotes, with escapes for what is not printed.
fn push_quoted(key: &mut String, text: &str) {
    key.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => key.extend(['\\', c]),
            '\u{7}' => key.push_str("\\a"),
            '\u{8}' => key.push_str("\\b"),
            '\u{c}' => key.push_str("\\f"),
            '\n' => key.push_str("\\n"),
            '\r' => key.push_str("\\r"),
            '\t' => key.push_str("\\t"),
            '\u{b}' => key.push_str("\\v"),
            ..' ' | '\u{7f}' => key.push_str(&format!("\\x{:02x}", u32::from(c))),
            _ => key.push(c),
        }
    }
    key.push('"');
}
