//! Defaults of optional attributes, which replace missing and null attributes at any depth.

use super::convert::uniform;
use super::elements::collection_type;
use super::unify::converted;
use super::{Refine, is_definitely_not_null, list_of, map_of, set_of};
use dropforge_machine::function::{Cx, Outcome, fitting};
use dropforge_value::{Map, Type, Value};

/// The defaults of a type expression.
#[derive(Debug, Clone)]
pub struct Defaults<'v> {
    /// The type that they belong to.
    pub ty: Type<'v>,
    /// Defaults of attributes, sorted by name.
    pub values: Vec<(&'v str, Value<'v>)>,
    /// Defaults within elements and attributes.
    pub children: Children<'v>,
}

/// Defaults within the elements or attributes of a value.
#[derive(Debug, Clone)]
pub enum Children<'v> {
    /// No defaults.
    None,
    /// Defaults within each element of a collection.
    Element(Box<Defaults<'v>>),
    /// Defaults within elements of a tuple, sorted by index.
    Elements(Vec<(usize, Defaults<'v>)>),
    /// Defaults within attributes of an object, sorted by name.
    Attributes(Vec<(&'v str, Defaults<'v>)>),
}

impl<'v> Children<'v> {
    fn at(&self, index: usize) -> Option<&Defaults<'v>> {
        match self {
            Children::Element(element) => Some(element),
            Children::Elements(elements) => found(elements, &index),
            _ => None,
        }
    }

    fn of(&self, name: &'v str) -> Option<&Defaults<'v>> {
        match self {
            Children::Element(element) => Some(element),
            Children::Attributes(attributes) => found(attributes, &name),
            _ => None,
        }
    }
}

fn found<'a, K: Ord, V>(sorted: &'a [(K, V)], key: &K) -> Option<&'a V> {
    let at = sorted.binary_search_by(|(own, _)| own.cmp(key)).ok()?;
    sorted.get(at).map(|(_, value)| value)
}

impl<'v> Defaults<'v> {
    /// Fills in the defaults. The value need not have the type of the defaults, and may get another type: it still has
    /// to be converted. Parts that do not match that type stay as they are.
    pub fn apply(&self, cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
        cx.spend(1)?;
        if !value.is_known() || value.is_null() || (self.values.is_empty() && matches!(self.children, Children::None)) {
            return Ok(value);
        }
        let (plain, marks) = value.unmarked();
        let filled = match (plain.elements(), plain.entries()) {
            (Some(items), _) => self.sequence(cx, plain, items)?,
            (_, Some(entries)) => self.mapping(cx, plain, entries)?,
            _ => plain,
        };
        Ok(cx.arena().marked(filled, marks))
    }

    fn sequence(&self, cx: &Cx<'v>, value: Value<'v>, items: &[Value<'v>]) -> Outcome<Value<'v>> {
        let mut filled = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            filled.push(self.children.at(at).map_or(Ok(*item), |defaults| defaults.apply(cx, *item))?);
        }
        if let Some(ty @ (Type::Set(_) | Type::List(_))) = collection_type(value) {
            if filled.is_empty() {
                return Ok(value);
            }
            if let Some((element, items)) = uniform_values(cx, &filled)? {
                return match ty {
                    Type::Set(_) => set_of(cx, element, &items),
                    _ => list_of(cx, element, &items),
                };
            }
        }
        Ok(cx.list(&filled)?)
    }

    fn mapping(&self, cx: &Cx<'v>, value: Value<'v>, entries: &Map<'v>) -> Outcome<Value<'v>> {
        let mut filled = Vec::with_capacity(entries.len() + self.values.len());
        for (name, value) in entries.iter_sorted() {
            let value = self.children.of(name).map_or(Ok(value), |defaults| defaults.apply(cx, value))?;
            filled.push((name, value));
        }
        self.fill(cx, &mut filled)?;
        if collection_type(value).is_some() {
            if filled.is_empty() {
                return Ok(value);
            }
            let values: Vec<Value<'v>> = filled.iter().map(|(_, value)| *value).collect();
            if let Some((element, values)) = uniform_values(cx, &values)? {
                let entries: Vec<_> = filled.iter().map(|(name, _)| *name).zip(values).collect();
                return map_of(cx, element, &entries);
            }
        }
        Ok(cx.map(&filled)?)
    }

    /// Replaces missing and null entries by their defaults.
    fn fill(&self, cx: &Cx<'v>, entries: &mut Vec<(&'v str, Value<'v>)>) -> Outcome<()> {
        for (name, default) in &self.values {
            let at = entries.binary_search_by(|(other, _)| (*other).cmp(name));
            let given = found(entries, name).copied().filter(|value| !value.is_null());
            let value = match (given, self.children.of(name)) {
                (Some(value), _) => value,
                (None, Some(defaults)) => defaults.apply(cx, *default)?,
                (None, None) => *default,
            };
            let value = if is_definitely_not_null(*default) { Refine::of(value).not_null().done(cx)? } else { value };
            match at {
                Ok(at) => entries[at].1 = value,
                Err(at) => entries.insert(at, (*name, value)),
            }
        }
        Ok(())
    }
}

/// Converts the values to elements of one collection, and returns their type as well. The result is `None` if they have
/// no common type.
fn uniform_values<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Option<(Type<'v>, Vec<Value<'v>>)>> {
    let Some((ty, mut values)) = converted(cx, values)? else { return Ok(None) };
    Ok(fitting(uniform(cx, &mut values, ty, "collection"))?.map(|element| (element, values)))
}
