//! Defaults of optional attributes: what takes the place of an attribute that is missing or null, at any depth.

use super::convert::uniform;
use super::elements::{list_of, map_of};
use super::refine::Refine;
use super::unify::converted;
use super::{Fault, Outcome, set_of};
use crate::function::Cx;
use crate::value::{Extended, Map, Type, Value};

/// The defaults of a type expression.
#[derive(Debug, Clone)]
pub struct Defaults<'v> {
    /// The type that they belong to.
    pub ty: Type<'v>,
    /// The default of each attribute that has one, sorted by name.
    pub values: Vec<(&'v str, Value<'v>)>,
    /// The defaults of what is in a value of the type.
    pub children: Children<'v>,
}

/// Defaults of what is in a value.
#[derive(Debug, Clone)]
pub enum Children<'v> {
    /// There are none.
    None,
    /// Of each element of a collection.
    Element(Box<Defaults<'v>>),
    /// Of elements of a tuple, sorted by index.
    Elements(Vec<(usize, Defaults<'v>)>),
    /// Of attributes of an object, sorted by name.
    Attributes(Vec<(&'v str, Defaults<'v>)>),
}

impl<'v> Children<'v> {
    fn is_none(&self) -> bool {
        matches!(self, Children::None)
    }

    fn at(&self, index: usize) -> Option<&Defaults<'v>> {
        match self {
            Children::Element(element) => Some(element),
            Children::Elements(elements) => {
                let found = elements.binary_search_by_key(&index, |(at, _)| *at).ok()?;
                elements.get(found).map(|(_, defaults)| defaults)
            }
            _ => None,
        }
    }

    fn of(&self, name: &str) -> Option<&Defaults<'v>> {
        match self {
            Children::Element(element) => Some(element),
            Children::Attributes(attributes) => {
                let found = attributes.binary_search_by_key(&name, |(attribute, _)| attribute).ok()?;
                attributes.get(found).map(|(_, defaults)| defaults)
            }
            _ => None,
        }
    }
}

impl<'v> Defaults<'v> {
    /// `value` with the defaults in it. Its type may become another one, and need not be the one that the defaults
    /// belong to: it still has to be converted. What does not look like that type is left as it is.
    pub fn apply(&self, cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
        cx.spend(1)?;
        if !value.is_known() || value.is_null() || (self.values.is_empty() && self.children.is_none()) {
            return Ok(value);
        }
        let (plain, marks) = value.unmarked();
        let made = match (plain.elements(), plain.entries()) {
            (Some(items), _) => self.sequence(cx, plain, items)?,
            (_, Some(entries)) => self.mapping(cx, plain, entries)?,
            _ => plain,
        };
        Ok(cx.arena().marked(made, marks))
    }

    fn sequence(&self, cx: &Cx<'v>, value: Value<'v>, items: &[Value<'v>]) -> Outcome<Value<'v>> {
        let mut made = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            made.push(match self.children.at(at) {
                Some(defaults) => defaults.apply(cx, *item)?,
                None => *item,
            });
        }
        if let Some(ty @ (Type::Set(_) | Type::List(_))) = collection(value) {
            if made.is_empty() {
                return Ok(value);
            }
            if let Some((element, items)) = alike(cx, &made)? {
                return match ty {
                    Type::Set(_) => set_of(cx, element, &items),
                    _ => list_of(cx, element, &items),
                };
            }
        }
        Ok(cx.list(&made)?)
    }

    fn mapping(&self, cx: &Cx<'v>, value: Value<'v>, entries: &Map<'v>) -> Outcome<Value<'v>> {
        let mut made = Vec::with_capacity(entries.len() + self.values.len());
        for (name, value) in entries.iter_sorted() {
            let value = match self.children.of(name) {
                Some(defaults) => defaults.apply(cx, value)?,
                None => value,
            };
            made.push((name, value));
        }
        self.fill(cx, &mut made)?;
        if collection(value).is_some() {
            if made.is_empty() {
                return Ok(value);
            }
            let values: Vec<Value<'v>> = made.iter().map(|(_, value)| *value).collect();
            if let Some((element, values)) = alike(cx, &values)? {
                let entries: Vec<_> = made.iter().map(|(name, _)| *name).zip(values).collect();
                return map_of(cx, element, &entries);
            }
        }
        Ok(cx.map(&made)?)
    }

    /// Puts the defaults where there is nothing or null.
    fn fill(&self, cx: &Cx<'v>, made: &mut Vec<(&'v str, Value<'v>)>) -> Outcome<()> {
        for (name, default) in &self.values {
            let at = made.binary_search_by(|(other, _)| (*other).cmp(name));
            let given = at.ok().and_then(|at| made.get(at)).map(|(_, value)| *value).filter(|value| !value.is_null());
            let value = match (given, self.children.of(name)) {
                (Some(value), _) => value,
                (None, Some(defaults)) => defaults.apply(cx, *default)?,
                (None, None) => *default,
            };
            let value = if is_not_null(*default) { Refine::of(value).not_null().done(cx)? } else { value };
            match at {
                Ok(at) => made[at].1 = value,
                Err(at) => made.insert(at, (*name, value)),
            }
        }
        Ok(())
    }
}

/// Whether a value cannot be null.
fn is_not_null(value: Value<'_>) -> bool {
    value.as_unknown().map_or(!value.is_null(), |unknown| unknown.refinement.not_null)
}

/// The type of a list, set or map.
fn collection<'v>(value: Value<'v>) -> Option<Type<'v>> {
    if let Some(Extended::Typed(ty, _)) = value.extended() { Some(*ty) } else { None }
}

/// The values as elements of one collection, and their type; nothing where they cannot be that.
fn alike<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Option<(Type<'v>, Vec<Value<'v>>)>> {
    let Some((ty, mut values)) = converted(cx, values)? else { return Ok(None) };
    match uniform(cx, &mut values, ty, "collection") {
        Ok(element) => Ok(Some((element, values))),
        Err(Fault::Wrong(_)) => Ok(None),
        Err(limit) => Err(limit),
    }
}
