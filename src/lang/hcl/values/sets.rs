//! Sets: removal of duplicates, and the order of elements.
//!
//! Strings, numbers and booleans are sorted, followed by null and unknown elements. Elements of other types are sorted
//! by key: a text that equal values share and different values mostly do not.

use std::cmp::Ordering;

use hashbrown::HashMap;

use super::elements::element_of;
use super::json::push_quoted;
use super::{contains_marked, equals, marked_by, number_of, unmark_deep};
use dropforge_machine::function::{Cx, Outcome};
use dropforge_value::{Extended, Layout, Type, Value};

/// Returns `true` if the value, which may be unknown or marked, is a set.
pub fn is_set(value: Value<'_>) -> bool {
    match value.unmarked().0.extended() {
        Some(Extended::Typed(ty, _) | Extended::Null(ty)) => matches!(ty, Type::Set(_)),
        Some(Extended::Unknown(unknown)) => matches!(unknown.ty, Type::Set(_)),
        _ => false,
    }
}

/// Makes a set of items of the type `element`. Unknown items equal no other item. All marks on and in the items move to
/// the set.
///
/// # Errors
/// The memory or step limit was reached, or values nest too deep.
pub fn set_of<'v>(cx: &Cx<'v>, element: Type<'v>, items: &[Value<'v>]) -> Outcome<Value<'v>> {
    cx.charge(items.len() * 2 * size_of::<Value>())?;
    cx.spend(items.len() as u64)?;
    let (mut marks, mut plain) = (Vec::new(), Vec::with_capacity(items.len()));
    for item in items {
        let mut item = *item;
        if contains_marked(cx, item)? {
            let own;
            (item, own) = unmark_deep(cx, item)?;
            marks.extend(own);
        }
        plain.push(element_of(cx, element, item));
    }
    let distinct = if sorted_texts(cx, &mut plain)? { plain } else { distinct(cx, &plain)? };
    let set = cx.arena().typed(cx.arena().set_type(element), cx.list(&distinct)?);
    marked_by(cx, set, &marks)
}

/// Sorts `items` and removes duplicates if all are strings. Returns `false` otherwise.
fn sorted_texts<'v>(cx: &Cx<'v>, items: &mut Vec<Value<'v>>) -> Outcome<bool> {
    if !items.iter().all(|item| matches!(item, Value::Str(_))) {
        return Ok(false);
    }
    cx.sort_by(items, |a, b| a.as_str().cmp(&b.as_str()))?;
    items.dedup_by(|a, b| a.as_str() == b.as_str());
    Ok(true)
}

/// Removes duplicates and sorts in the order of a set.
fn distinct<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Outcome<Vec<Value<'v>>> {
    let mut index = Index::of(cx, items)?;
    let order = |(a, key): &(Value<'v>, String), (b, other): &(Value<'v>, String)| {
        order(*a, *b).then_with(|| scalar_order(*a, *b).unwrap_or(key.cmp(other)))
    };
    cx.sort_by(&mut index.elements, order)?;
    Ok(index.into_elements())
}

/// Distinct values of one type, indexed by key, which avoids a quadratic number of comparisons.
#[derive(Default)]
pub struct Index<'v> {
    elements: Vec<(Value<'v>, String)>,
    by_key: HashMap<String, Vec<usize>>,
}

impl<'v> Index<'v> {
    /// Indexes `items`.
    pub fn of(cx: &Cx<'v>, items: &[Value<'v>]) -> Outcome<Self> {
        let mut index = Self::default();
        for item in items {
            index.add(cx, *item)?;
        }
        Ok(index)
    }

    /// Adds an element unless it is present.
    fn add(&mut self, cx: &Cx<'v>, item: Value<'v>) -> Outcome<()> {
        let key = key(cx, item)?;
        if !self.holds(cx, item, &key)? {
            self.by_key.entry(key.clone()).or_default().push(self.elements.len());
            self.elements.push((item, key));
        }
        Ok(())
    }

    /// Returns the elements in the order in which they were added.
    pub(crate) fn into_elements(self) -> Vec<Value<'v>> {
        self.elements.into_iter().map(|(item, _)| item).collect()
    }

    /// Returns `true` if an element is known to equal `item`.
    pub fn has(&self, cx: &Cx<'v>, item: Value<'v>) -> Outcome<bool> {
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

/// Orders known elements before unknown ones, and these before null.
fn order(a: Value<'_>, b: Value<'_>) -> Ordering {
    let rank = |value: Value<'_>| u8::from(!value.is_known()) + 2 * u8::from(value.is_null());
    rank(a).cmp(&rank(b))
}

/// Orders two known values of a primitive type. Two nulls or two unknown values are equal.
fn scalar_order(a: Value<'_>, b: Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(a.as_str().cmp(b.as_str())),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(&b)),
        _ if !a.is_known() || a.is_null() => Some(Ordering::Equal),
        _ => Some(number_of(a)?.compare(&number_of(b)?)),
    }
}

/// Returns `true` if `a` comes before `b` in a set of their type.
///
/// # Errors
/// The memory or step limit was reached.
pub fn comes_before<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Outcome<bool> {
    let ordering = order(a, b);
    let ordering = match scalar_order(a, b) {
        Some(scalar) => ordering.then(scalar),
        None => ordering.then(key(cx, a)?.cmp(&key(cx, b)?)),
    };
    Ok(ordering.is_lt())
}

/// Returns a text that orders values of one type, and that equal values share.
fn key<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    let mut key = String::new();
    match number_of(value).and_then(|number| number.to_i64()) {
        // All digits, unlike the keys of other numbers, so that few large whole numbers share a key.
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
        Value::Str(text) => push_text(key, text.as_str()),
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
            push_text(key, name);
            key.push(':');
        }
        push_key(cx, key, item)?;
        key.push(';');
    }
    key.push(close);
    Ok(())
}

fn push_text(key: &mut String, text: &str) {
    push_quoted(key, text, ("\"\\\u{7}\u{8}\u{c}\n\r\t\u{b}", "\"\\abfnrtv"), |c| {
        matches!(c, ..' ' | '\u{7f}').then(|| format!("\\x{:02x}", u32::from(c)))
    });
}
