//! What is asked about types: of which type a value is, whether two are the same, how they are named.

use super::Outcome;
use crate::function::Cx;
use crate::value::{Arena, Attribute, Extended, Type, Value};

/// The type of `value`, made in the arena of `cx` and paid for by its size: parts that a value shares count as often
/// as they come.
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
        Value::Extended(extension) => match extension.kind() {
            Extended::Marked(inner, _) => type_of(cx, *inner),
            _ => Ok(value.type_in(cx.arena())),
        },
        _ => Ok(value.type_in(cx.arena())),
    }
}

/// The type of each of `values`.
pub fn types_of<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Outcome<Vec<Type<'v>>> {
    values.iter().map(|value| type_of(cx, *value)).collect()
}

/// Whether both are the same type, optional attributes included: `==`, paid for by what is compared.
pub fn same_type(cx: &Cx<'_>, a: &Type<'_>, b: &Type<'_>) -> Outcome<bool> {
    cx.spend(1)?;
    match (a, b) {
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            same_type(cx, a, b)
        }
        (Type::Tuple(a), Type::Tuple(b)) => all(a.len() == b.len(), a.iter().zip(*b), |(a, b)| same_type(cx, a, b)),
        (Type::Object(a), Type::Object(b)) => all(a.len() == b.len(), a.iter().zip(*b), |(a, b)| {
            Ok(a.name == b.name && a.optional == b.optional && same_type(cx, &a.ty, &b.ty)?)
        }),
        _ => Ok(a == b),
    }
}

/// Whether `first` holds, and `holds` for each of `items`.
fn all<T>(first: bool, items: impl Iterator<Item = T>, holds: impl Fn(T) -> Outcome<bool>) -> Outcome<bool> {
    if !first {
        return Ok(false);
    }
    for item in items {
        if !holds(item)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a value of type `ty` meets `constraint` as it is, where the dynamic type in the constraint stands for any
/// type. Whether attributes are optional does not matter.
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

/// Whether some attribute anywhere in `ty` is optional.
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

/// `ty` with every attribute required, at every depth: the type of a value that was converted to it.
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

/// Whether nothing in `value` is unknown of the dynamic type: its type will not change when what is unknown becomes
/// known.
pub fn has_known_type(cx: &Cx<'_>, value: Value<'_>) -> Outcome<bool> {
    if !value.is_qualified() {
        return Ok(true);
    }
    cx.spend(1)?;
    if let Some(unknown) = value.as_unknown() {
        return Ok(!unknown.ty.has_dynamic());
    }
    if let Some(items) = value.elements() {
        return all(true, items.iter(), |item| has_known_type(cx, *item));
    }
    match value.entries() {
        Some(map) => all(true, map.values().iter(), |item| has_known_type(cx, *item)),
        None => Ok(true),
    }
}

/// The name of a type in a sentence about a value: `list of string`.
pub fn name(ty: &Type<'_>) -> String {
    named(ty, "dynamic", "dynamic")
}

/// The name of a type in a sentence about what is wanted: `list of any single type`.
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
