//! Elements, attributes and paths without conversion of keys. A missing element is a fault. The operators `[key]` and
//! `.name` are in [`super::traverse`].
//!
//! Sets have no duplicates. Strings, numbers and booleans in them are sorted, followed by null and unknown elements. Elements of
//! other types are sorted by key: a text that equal values share and different values mostly do not.

use std::cmp::Ordering;

use super::elements::element_of;
use super::json::push_quoted;
use super::{
    bool_or_unknown, contains_marked, equals, marked_by, number_of, propagate, raw_equals, same_type, shallow_type,
    type_of, unmark_deep,
};
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Extended, Layout, Type, Value};
use hashbrown::HashMap;

fn not_null(value: Value<'_>) -> Outcome<()> {
    if value.is_null() { Err(Fault::argument(0, "argument must not be null")) } else { Ok(()) }
}

/// Returns `true` if a list, tuple or map has an element at the key. The result is unknown if the value or the key is.
/// A key of the wrong type is not present.
///
/// # Errors
/// The value is null or has no keys.
pub fn has_index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [value, key], |[value, key]| Ok(bool_or_unknown(cx, known_index(cx, value, key)?)))
}

fn known_index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Option<bool>> {
    not_null(value)?;
    let known_length = value.elements().map(<[_]>::len);
    let (length, wants_number) = match shallow_type(cx, value) {
        Type::Dynamic if !value.is_known() => return Ok(None),
        Type::List(_) => (known_length, true),
        Type::Tuple(types) => (known_length.or(Some(types.len())), true),
        Type::Map(_) => (None, false),
        _ => return Err(no_keys()),
    };
    match key.as_unknown() {
        Some(unknown) if unknown.ty == Type::Dynamic => return Ok(None),
        Some(unknown) => return Ok(if (unknown.ty == Type::Number) == wants_number { None } else { Some(false) }),
        None => {}
    }
    match (number_of(key), key.as_str()) {
        (Some(at), _) if wants_number => Ok(length.map(|length| at.to_u64().is_some_and(|at| at < length as u64))),
        (_, Some(key)) if !wants_number => Ok(value.entries().map(|map| map.get(key).is_some())),
        _ => Ok(Some(false)),
    }
}

fn no_keys() -> Fault {
    Fault::wrong("a list, map or tuple is required")
}

/// Returns the element of a list, tuple or map at the key.
///
/// # Errors
/// The value has no keys, the key has the wrong type, or the element is missing.
#[inline]
pub fn index<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    if let (Value::List(list), Value::Int(at)) = (value, key)
        && let Some(item) = usize::try_from(at).ok().and_then(|at| list.items().get(at))
    {
        return Ok(*item);
    }
    propagate(cx, [value, key], |[value, key]| element_at(cx, value, key))
}

fn element_at<'v>(cx: &Cx<'v>, value: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    let arena = cx.arena();
    let (known, known_key) = (value.is_known(), key.is_known());
    let at = number_of(key).and_then(|at| at.to_u64()).and_then(|at| usize::try_from(at).ok());
    let found = match shallow_type(cx, value) {
        Type::Dynamic if !known => Some(arena.unknown(Type::Dynamic)),
        Type::List(element) | Type::Map(element) if !known || !known_key => Some(arena.unknown(*element)),
        Type::Tuple(_) if !known_key => Some(arena.unknown(Type::Dynamic)),
        Type::Tuple(types) if !known => at.and_then(|at| types.get(at)).map(|ty| arena.unknown(*ty)),
        Type::List(_) | Type::Tuple(_) => at.and_then(|at| value.elements()?.get(at).copied()),
        Type::Map(_) => key.as_str().and_then(|key| value.entries()?.get(key)),
        _ => return Err(no_keys()),
    };
    found.ok_or_else(|| Fault::wrong("the value has no element at the given key"))
}

/// Returns the attribute of an object.
///
/// # Errors
/// The value is not an object, or does not have the attribute.
pub fn get_attr<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Outcome<Value<'v>> {
    let (value, marks) = value.unmarked();
    let name = &*nfc(name);
    let attribute = match (value, shallow_type(cx, value)) {
        (Value::Map(map), _) => map.get(name),
        (_, Type::Dynamic) if !value.is_known() => Some(cx.arena().unknown(Type::Dynamic)),
        (_, ty @ Type::Object(_)) => ty.attribute(name).map(|attribute| cx.arena().unknown(attribute.ty)),
        _ => return Err(Fault::wrong("an object is required")),
    };
    let attribute = attribute.ok_or_else(|| Fault::wrong(format!("the object has no attribute {name:?}")))?;
    marked_by(cx, attribute, marks)
}

/// Returns `true` if a set has an element. The result is unknown if only an unknown element could be it.
///
/// # Errors
/// The value is null or not a set.
pub fn has_element<'v>(cx: &Cx<'v>, set: Value<'v>, element: Value<'v>) -> Outcome<Value<'v>> {
    propagate(cx, [set, element], |[set, element]| Ok(bool_or_unknown(cx, known_element(cx, set, element)?)))
}

fn known_element<'v>(cx: &Cx<'v>, set: Value<'v>, element: Value<'v>) -> Outcome<Option<bool>> {
    not_null(set)?;
    if !set.is_known() {
        return Ok(None);
    }
    if !is_set(set) {
        return Err(Fault::argument(0, "a set is required"));
    }
    let wanted = type_of(cx, set)?.element().copied().unwrap_or(Type::Dynamic);
    let own = type_of(cx, element)?;
    let same = same_type(cx, &own, &wanted)?;
    if !same && (element.is_known() || own != Type::Dynamic && wanted != Type::Dynamic) {
        return Ok(Some(false));
    }
    if !element.is_known() {
        return Ok(None);
    }
    let mut certain = Some(false);
    for other in set.elements().unwrap_or(&[]) {
        cx.spend(1)?;
        if matches!(equals(cx, *other, element)?, Value::Bool(true)) {
            return Ok(Some(true));
        }
        if certain.is_some() && !super::is_wholly_known(cx, *other)? {
            certain = None;
        }
    }
    Ok(certain)
}

/// A step into a value.
#[derive(Debug, Clone, Copy)]
pub enum Step<'v> {
    /// An attribute of an object.
    Attr(&'v str),
    /// The element of a list, tuple or map at this key, or this element of a set.
    Index(Value<'v>),
}

/// Returns `true` if both paths have the same steps.
pub fn same_path<'v>(cx: &Cx<'v>, a: &[Step<'v>], b: &[Step<'v>]) -> bool {
    a.len() == b.len() && has_prefix(cx, a, b)
}

/// Returns `true` if the path starts with the steps of `prefix`.
pub fn has_prefix<'v>(cx: &Cx<'v>, path: &[Step<'v>], prefix: &[Step<'v>]) -> bool {
    path.len() >= prefix.len() && path.iter().zip(prefix).all(|(a, b)| same_step(cx, a, b))
}

fn same_step<'v>(cx: &Cx<'v>, a: &Step<'v>, b: &Step<'v>) -> bool {
    match (a, b) {
        (Step::Attr(a), Step::Attr(b)) => a == b,
        (Step::Index(a), Step::Index(b)) => raw_equals(cx, *a, *b).unwrap_or(false),
        _ => false,
    }
}

/// Returns the value at the end of a path. Keys are not converted.
///
/// # Errors
/// A step leads nowhere.
pub fn apply_path<'v>(cx: &Cx<'v>, value: Value<'v>, path: &[Step<'v>]) -> Outcome<Value<'v>> {
    path.iter().try_fold(value, |value, step| apply_step(cx, value, *step))
}

fn apply_step<'v>(cx: &Cx<'v>, value: Value<'v>, step: Step<'v>) -> Outcome<Value<'v>> {
    match step {
        Step::Attr(_) if value.is_null() => Err(Fault::wrong("a null value has no attributes")),
        Step::Attr(name) => get_attr(cx, value, name),
        Step::Index(_) if value.is_null() => Err(Fault::wrong("a null value has no elements")),
        Step::Index(key) if is_set(value) => element_of_set(cx, value, key),
        Step::Index(key) => match has_index(cx, value, key)?.unmarked().0 {
            Value::Bool(false) => Err(Fault::wrong("the value has no element at the given key")),
            _ => index(cx, value, key),
        },
    }
}

/// Returns the element of a set that equals `key`.
fn element_of_set<'v>(cx: &Cx<'v>, set: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    let element = type_of(cx, set)?.element().copied().unwrap_or(Type::Dynamic);
    let (present, marks) = has_element(cx, set, key)?.unmarked();
    match present {
        Value::Bool(true) => marked_by(cx, key, marks),
        Value::Bool(false) => Err(Fault::wrong("the set does not have the given element")),
        _ => marked_by(cx, cx.arena().unknown(element), marks),
    }
}

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
