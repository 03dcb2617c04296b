//! Types of values, for languages that have them: primitive types, collections of one element type, and structures.

use super::{Arena, Extended, Value};

/// A type. `Copy`; what it refers to lies in an arena, or lives as long as the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type<'v> {
    /// Any type: that of a value of which nothing is known, and the constraint that everything meets.
    Dynamic,
    /// True or false.
    Bool,
    /// A number of any size.
    Number,
    /// Text.
    String,
    /// A sequence whose elements have one type.
    List(&'v Type<'v>),
    /// Distinct values of one type.
    Set(&'v Type<'v>),
    /// Text keys, each with a value of one type.
    Map(&'v Type<'v>),
    /// A sequence whose elements have a type each.
    Tuple(&'v [Type<'v>]),
    /// Named attributes, each with a type of its own.
    Object(&'v [Attribute<'v>]),
    /// A value of the host's, by the name of its kind.
    Capsule(&'v str),
}

/// An attribute of an object type. Those of one type are sorted by their names' bytes, each name once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'v> {
    /// Its name.
    pub name: &'v str,
    /// Its type.
    pub ty: Type<'v>,
    /// Whether a conversion to the type may go without it. Types of values have no optional attributes.
    pub optional: bool,
}

impl<'v> Type<'v> {
    /// The type of the elements, where this is a list, a set or a map.
    pub const fn element(&self) -> Option<&'v Type<'v>> {
        match self {
            Type::List(element) | Type::Set(element) | Type::Map(element) => Some(element),
            _ => None,
        }
    }

    /// The attributes, where this is an object type.
    pub const fn attributes(&self) -> Option<&'v [Attribute<'v>]> {
        match self {
            Type::Object(attributes) => Some(attributes),
            _ => None,
        }
    }

    /// The attribute of this name, where this is an object type that has it.
    pub fn attribute(&self, name: &str) -> Option<&'v Attribute<'v>> {
        let attributes = self.attributes()?;
        attributes.get(attributes.binary_search_by(|attribute| attribute.name.cmp(name)).ok()?)
    }

    /// Whether this is a string, number or boolean.
    pub const fn is_primitive(&self) -> bool {
        matches!(self, Type::Bool | Type::Number | Type::String)
    }

    /// Whether the dynamic type is this or anywhere in it.
    pub fn has_dynamic(&self) -> bool {
        match self {
            Type::Dynamic => true,
            Type::List(element) | Type::Set(element) | Type::Map(element) => element.has_dynamic(),
            Type::Tuple(elements) => elements.iter().any(Type::has_dynamic),
            Type::Object(attributes) => attributes.iter().any(|attribute| attribute.ty.has_dynamic()),
            _ => false,
        }
    }

    /// The type in `arena`.
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
    /// The type of a list whose elements have type `element`.
    pub fn list_type<'v>(&'v self, element: Type<'v>) -> Type<'v> {
        Type::List(self.bump().alloc(element))
    }

    /// The type of a set whose elements have type `element`.
    pub fn set_type<'v>(&'v self, element: Type<'v>) -> Type<'v> {
        Type::Set(self.bump().alloc(element))
    }

    /// The type of a map whose elements have type `element`.
    pub fn map_type<'v>(&'v self, element: Type<'v>) -> Type<'v> {
        Type::Map(self.bump().alloc(element))
    }

    /// The type of a tuple whose elements have the types `elements`.
    pub fn tuple_type<'v>(&'v self, elements: &[Type<'v>]) -> Type<'v> {
        Type::Tuple(self.bump().alloc_slice_copy(elements))
    }

    /// The type of an object with `attributes`, in whatever order; of a name that comes twice the last one counts.
    pub fn object_type<'v>(&'v self, attributes: &[Attribute<'v>]) -> Type<'v> {
        let mut sorted: Vec<_> = attributes.iter().rev().copied().collect();
        sorted.sort_by_key(|attribute| attribute.name);
        sorted.dedup_by_key(|attribute| attribute.name);
        Type::Object(self.bump().alloc_slice_copy(&sorted))
    }
}

impl<'v> Value<'v> {
    /// The value's type. Lists and maps without a type of their own are tuples and objects, made in `arena`.
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
