//! Types of values, comparison of types, and their names; defaults of optional attributes, which replace missing and null
//! attributes at any depth.

use super::convert::uniform;
use super::elements::{any, collection_type};
use super::unify::converted;
use super::{Refine, is_definitely_not_null, list_of, map_of, set_of};
use dropforge_base::diagnostics::{counted, with_article};
use dropforge_machine::function::{Cx, Outcome, fitting};
use dropforge_value::{Arena, Attribute, Map, Type, Value};

/// Returns the type of `value`, charged by its size. Shared parts of a value count every time.
pub fn type_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Type<'v>> {
    cx.spend(1)?;
    match value {
        Value::List(list) => {
            cx.charge(list.items().len() * size_of::<Type>())?;
            Ok(cx.arena().tuple_type(&types_of(cx, list.items())?))
        }
        Value::Map(map) => {
            cx.charge(map.len() * size_of::<Attribute>())?;
            let attribute = |(name, value)| Ok(Attribute { name, ty: type_of(cx, value)?, optional: false });
            Ok(cx.arena().object_type(&map.iter_sorted().map(attribute).collect::<Outcome<Vec<_>>>()?))
        }
        _ if value.is_marked() => type_of(cx, value.unmarked().0),
        _ => Ok(value.type_in(cx.arena())),
    }
}

/// Returns the type of `value`, which may be unknown or marked, with nothing in the types of tuples and objects. Costs
/// nothing.
pub(crate) fn shallow_type<'v>(cx: &Cx<'v>, value: Value<'v>) -> Type<'v> {
    match value.unmarked().0 {
        Value::List(_) => Type::Tuple(&[]),
        Value::Map(_) => Type::Object(&[]),
        value => value.type_in(cx.arena()),
    }
}

/// Returns the type of each of `values`.
pub fn types_of<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Vec<Type<'v>>> {
    values.iter().map(|value| type_of(cx, *value)).collect()
}

/// Says what differs between the types of the two results of a conditional: the first attribute or element that does,
/// as deep as it is.
pub fn difference(then: &Type<'_>, otherwise: &Type<'_>) -> String {
    let (mut path, mut then, mut otherwise) = (String::new(), then, otherwise);
    let why = loop {
        let (step, (a, b)) = match (then, otherwise) {
            (Type::Object(a), Type::Object(b)) => match first_difference(a, b) {
                Ok(Some((attribute, other))) => (format!(".{}", attribute.name), (&attribute.ty, &other.ty)),
                Ok(None) => break "they differ in a part that has no name".to_owned(),
                Err((name, has, lacks)) => {
                    break format!("the {has} result has the attribute `{name}`, the {lacks} one does not");
                }
            },
            (Type::Tuple(a), Type::Tuple(b)) if a.len() != b.len() => {
                break format!("the first result has {}, the second {}", counted(a.len(), "element"), b.len());
            }
            (Type::Tuple(a), Type::Tuple(b)) => match a.iter().zip(*b).enumerate().find(|(_, (a, b))| a != b) {
                Some((at, pair)) => (format!("[{at}]"), pair),
                None => break "they differ in a part that has no name".to_owned(),
            },
            (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
                ("[*]".to_owned(), (&**a, &**b))
            }
            _ => {
                break format!(
                    "the first result is {}, the second {}",
                    with_article(&name(then)),
                    with_article(&name(otherwise))
                );
            }
        };
        path += &step;
        (then, otherwise) = (a, b);
    };
    if path.is_empty() { why } else { format!("in `{}`, {why}", path.trim_start_matches('.')) }
}

/// Two attributes of one name whose types differ.
type Differing<'t, 'v> = Option<(&'t Attribute<'v>, &'t Attribute<'v>)>;

/// Finds the first attribute whose type differs. An attribute that only one type has is an error: its name, which of the
/// two has it, and which does not.
fn first_difference<'t, 'v>(
    a: &'t [Attribute<'v>],
    b: &'t [Attribute<'v>],
) -> Result<Differing<'t, 'v>, (&'v str, &'static str, &'static str)> {
    let of = |all: &'t [Attribute<'v>], name: &str| all.iter().find(|attribute| attribute.name == name);
    for attribute in a {
        match of(b, attribute.name) {
            None => return Err((attribute.name, "first", "second")),
            Some(other) if other.ty != attribute.ty => return Ok(Some((attribute, other))),
            Some(_) => {}
        }
    }
    match b.iter().find(|attribute| of(a, attribute.name).is_none()) {
        Some(extra) => Err((extra.name, "second", "first")),
        None => Ok(None),
    }
}

/// Compares two types like `==`, charged by the compared parts.
pub fn same_type(cx: &Cx<'_>, a: &Type<'_>, b: &Type<'_>) -> Outcome<bool> {
    cx.spend(1)?;
    match (a, b) {
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            same_type(cx, a, b)
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => all(a.iter().zip(*b), |(a, b)| same_type(cx, a, b)),
        (Type::Object(a), Type::Object(b)) if a.len() == b.len() => all(a.iter().zip(*b), |(a, b)| {
            Ok(a.name == b.name && a.optional == b.optional && same_type(cx, &a.ty, &b.ty)?)
        }),
        _ => Ok(a == b),
    }
}

/// Returns `true` if `holds` is true for all of `items`.
pub(super) fn all<T>(items: impl IntoIterator<Item = T>, holds: impl Fn(T) -> Outcome<bool>) -> Outcome<bool> {
    for item in items {
        if !holds(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns `true` if values of type `ty` satisfy `constraint` without conversion. The dynamic type in the constraint
/// stands for any type. Optional attributes are treated as required ones.
pub fn conforms(ty: &Type<'_>, constraint: &Type<'_>) -> bool {
    match (ty, constraint) {
        (_, Type::Dynamic) => true,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => conforms(a, b),
        (Type::Tuple(a), Type::Tuple(b)) => a.len() == b.len() && a.iter().zip(*b).all(|(a, b)| conforms(a, b)),
        (Type::Object(a), Type::Object(b)) => {
            a.len() == b.len() && a.iter().zip(*b).all(|(a, b)| a.name == b.name && conforms(&a.ty, &b.ty))
        }
        _ => ty == constraint,
    }
}

/// Returns `true` if `ty` has an optional attribute at any depth.
pub fn has_optional(ty: &Type<'_>) -> bool {
    match ty {
        Type::List(element) | Type::Set(element) | Type::Map(element) => has_optional(element),
        Type::Tuple(elements) => elements.iter().any(has_optional),
        Type::Object(attributes) => {
            attributes.iter().any(|attribute| attribute.optional || has_optional(&attribute.ty))
        }
        _ => false,
    }
}

/// Makes all attributes of `ty` required, at every depth: the type of a value that was converted to `ty`.
pub fn without_optional<'v>(arena: &'v Arena, ty: Type<'v>) -> Type<'v> {
    if !has_optional(&ty) {
        return ty;
    }
    match ty {
        Type::List(element) => arena.list_type(without_optional(arena, *element)),
        Type::Set(element) => arena.set_type(without_optional(arena, *element)),
        Type::Map(element) => arena.map_type(without_optional(arena, *element)),
        Type::Tuple(elements) => {
            arena.tuple_type(&elements.iter().map(|element| without_optional(arena, *element)).collect::<Vec<_>>())
        }
        Type::Object(attributes) => {
            let required = |attribute: &Attribute<'v>| Attribute {
                name: attribute.name,
                ty: without_optional(arena, attribute.ty),
                optional: false,
            };
            arena.object_type(&attributes.iter().map(required).collect::<Vec<_>>())
        }
        _ => ty,
    }
}

/// Returns `true` if the type of `value` cannot change once its unknown parts are known.
pub fn has_known_type(cx: &Cx<'_>, value: Value<'_>) -> Outcome<bool> {
    any(cx, value, &|value| value.as_unknown().is_some_and(|unknown| unknown.ty.has_dynamic())).map(|found| !found)
}

/// Returns the name of a type for messages about a value: `list of string`.
pub fn name(ty: &Type<'_>) -> String {
    named(ty, "dynamic", "dynamic")
}

/// Returns the name of a type for messages about a constraint: `list of any single type`.
pub fn constraint_name(ty: &Type<'_>) -> String {
    named(ty, "any type", "any single type")
}

fn named(ty: &Type<'_>, dynamic: &str, of_dynamic: &str) -> String {
    let of = |kind: &str, element: &Type<'_>| match element {
        Type::Dynamic => format!("{kind} of {of_dynamic}"),
        element => format!("{kind} of {}", named(element, dynamic, of_dynamic)),
    };
    match ty {
        Type::Dynamic => dynamic.to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Number => "number".to_owned(),
        Type::String => "string".to_owned(),
        Type::List(element) => of("list", element),
        Type::Set(element) => of("set", element),
        Type::Map(element) => of("map", element),
        Type::Tuple(_) => "tuple".to_owned(),
        Type::Object(_) => "object".to_owned(),
        Type::Capsule(name) => (*name).to_owned(),
    }
}

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
