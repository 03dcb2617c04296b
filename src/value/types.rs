//! Types of values, for typed languages: primitive types, collections with one element type, and structural types.

use super::{Arena, Extended, Value};
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// A type. `Copy`: it borrows from an arena or from static data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type<'v> {
    /// Any type: the type of a value without a known type, and the constraint that every value satisfies.
    Dynamic,
    /// Booleans.
    Bool,
    /// Numbers of any size.
    Number,
    /// Text.
    String,
    /// A sequence with one element type.
    List(&'v Type<'v>),
    /// Distinct elements of one type.
    Set(&'v Type<'v>),
    /// Text keys with values of one type.
    Map(&'v Type<'v>),
    /// A sequence with one type per element.
    Tuple(&'v [Type<'v>]),
    /// Named attributes with one type each.
    Object(&'v [Attribute<'v>]),
    /// Values of the host, by the name of their kind.
    Capsule(&'v str),
}

/// An attribute of an object type. The attributes of a type are sorted by name, without duplicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'v> {
    /// The name.
    pub name: &'v str,
    /// The type.
    pub ty: Type<'v>,
    /// `true` if a conversion to the type may omit the attribute. Types of values have no optional attributes.
    pub optional: bool,
}

impl<'v> Type<'v> {
    /// Returns the element type of a list, a set or a map.
    pub const fn element(&self) -> Option<&'v Type<'v>> {
        match self {
            Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element),
            _ => None,
        }
    }

    /// Returns the attributes of an object type.
    pub const fn attributes(&self) -> Option<&'v [Attribute<'v>]> {
        match self {
            Type::Object(attributes) => Some(attributes),
            _ => None,
        }
    }

    /// Returns the attribute `name` of an object type.
    pub fn attribute(&self, name: &str) -> Option<&'v Attribute<'v>> {
        let attributes = self.attributes()?;
        attributes.get(attributes.binary_search_by(|attribute| attribute.name.cmp(name)).ok()?)
    }

    /// Returns `true` for strings, numbers and booleans.
    pub const fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }

    /// Returns `true` if the type is or contains [`Type::Dynamic`].
    pub fn has_dynamic(&self) -> bool {
        match self {
            Type::Dynamic => true,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_dynamic(),
            Type::Tuple(elements) => elements.iter().any(Type::has_dynamic),
            Type::Object(attributes) => attributes.iter().any(|attribute| attribute.ty.has_dynamic()),
            _ => false,
        }
    }

    /// Returns a copy of the type in `arena`.
    pub fn in_arena<'a>(&self, arena: &'a Arena) -> Type<'a> {
        let boxed = |element: &Type<'_>| -> &'a Type<'a> { arena.bump().alloc(element.in_arena(arena)) };
        match self {
            Type::Dynamic => Type::Dynamic,
            Type::Bool => Type::Bool,
            Type::Number => Type::Number,
            Type::String => Type::String,
            Type::List(element) => Type::List(boxed(element)),
            Type::Set(element) => Type::Set(boxed(element)),
            Type::Map(element) => Type::Map(boxed(element)),
            Type::Tuple(elements) => {
                Type::Tuple(arena.bump().alloc_slice_fill_iter(elements.iter().map(|element| element.in_arena(arena))))
            }
            Type::Object(attributes) => {
                Type::Object(arena.bump().alloc_slice_fill_iter(attributes.iter().map(|attribute| Attribute {
                    name: arena.copy_str(attribute.name),
                    ty: attribute.ty.in_arena(arena),
                    optional: attribute.optional,
                })))
            }
            Type::Capsule(name) => Type::Capsule(arena.copy_str(name)),
        }
    }
}

impl Arena {
    /// Returns a list type with elements of type `element`.
    pub fn list_type<'v>(&'v self, element: Type<'v>) -> Type<'v> {
        Type::List(self.bump().alloc(element))
    }

    /// Returns a set type with elements of type `element`.
    pub fn set_type<'v>(&'v self, element: Type<'v>) -> Type<'v> {
        Type::Set(self.bump().alloc(element))
    }

    /// Returns a map type with elements of type `element`.
    pub fn map_type<'v>(&'v self, element: Type<'v>) -> Type<'v> {
        Type::Map(self.bump().alloc(element))
    }

    /// Returns a tuple type with one type per element.
    pub fn tuple_type<'v>(&'v self, elements: &[Type<'v>]) -> Type<'v> {
        Type::Tuple(self.bump().alloc_slice_copy(elements))
    }

    /// Returns an object type with `attributes` in any order. The last attribute of a name wins.
    pub fn object_type<'v>(&'v self, attributes: &[Attribute<'v>]) -> Type<'v> {
        let mut sorted: Vec<_> = attributes.iter().rev().copied().collect();
        sorted.small_sort_by_key(|attribute| attribute.name);
        sorted.dedup_by_key(|attribute| attribute.name);
        Type::Object(self.bump().alloc_slice_copy(&sorted))
    }
}

impl<'v> Value<'v> {
    /// Returns the type of the value. Lists and maps without an element type are tuples and objects, allocated in
    /// `arena`.
    #[doc(hidden)]
    pub fn type_in(&self, arena: &'v Arena) -> Type<'v> {
        match self {
            Value::Undefined | Value::Null => Type::Dynamic,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => Type::Number,
            Value::Str(_) => Type::String,
            Value::List(list) => {
                let elements = list.items().iter().map(|item| item.type_in(arena));
                Type::Tuple(arena.bump().alloc_slice_fill_iter(elements))
            }
            Value::Map(map) => {
                let sorted = (0..map.len()).filter_map(|at| map.sorted_entry(at));
                let attributes: Vec<_> = sorted
                    .map(|(name, value)| Attribute { name: name.as_str(), ty: value.type_in(arena), optional: false })
                    .collect();
                Type::Object(arena.bump().alloc_slice_copy(&attributes))
            }
            Value::Extended(extended) => match extended.kind() {
                Extended::Number(_) => Type::Number,
                Extended::Null(ty) | Extended::Typed(ty, _) => *ty,
                Extended::Unknown(unknown) => unknown.ty,
                Extended::Marked(value, _) | Extended::Written(value, _) => value.type_in(arena),
                Extended::Capsule(capsule) => Type::Capsule(capsule.name),
                other => Type::Capsule(other.name()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_sorted_and_the_last_of_a_name_counts() {
        let arena = Arena::new();
        let attribute = |name, ty| Attribute { name, ty, optional: false };
        let given = [attribute("b", Type::Bool), attribute("a", Type::String), attribute("b", Type::Number)];
        let wanted = [attribute("a", Type::String), attribute("b", Type::Number)];
        assert_eq!(arena.object_type(&given), Type::Object(&wanted));
        assert_eq!(Type::Object(&wanted).attribute("b"), Some(&wanted[1]));
    }
}
