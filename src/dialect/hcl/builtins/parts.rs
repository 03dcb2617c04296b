//! What the functions of collections have in common: which kind of value they got, and how they build theirs.

use crate::dialect::hcl::values::types::{name, type_of};
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known, number_of};
use crate::function::Cx;
use crate::value::{Extended, Type, Value};

/// What kind of type a value has, told without making its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Dynamic,
    String,
    List,
    Set,
    Map,
    Tuple,
    Object,
    /// A boolean, a number, or a value of the host's.
    Other,
}

impl Kind {
    /// The kind of `value`, known or not, null or not, whatever its marks.
    pub(super) fn of(value: Value<'_>) -> Self {
        match value.unmarked().0 {
            Value::Undefined | Value::Null => Self::Dynamic,
            Value::Str(_) => Self::String,
            Value::List(_) => Self::Tuple,
            Value::Map(_) => Self::Object,
            value => match value.extended() {
                Some(Extended::Null(ty) | Extended::Typed(ty, _)) => Self::of_type(ty),
                Some(Extended::Unknown(unknown)) => Self::of_type(&unknown.ty),
                _ => Self::Other,
            },
        }
    }

    /// The kind of `ty`.
    pub(super) const fn of_type(ty: &Type<'_>) -> Self {
        match ty {
            Type::Dynamic => Self::Dynamic,
            Type::String => Self::String,
            Type::List(_) => Self::List,
            Type::Set(_) => Self::Set,
            Type::Map(_) => Self::Map,
            Type::Tuple(_) => Self::Tuple,
            Type::Object(_) => Self::Object,
            Type::Bool | Type::Number | Type::Capsule(_) => Self::Other,
        }
    }

    /// Whether it has elements in an order.
    pub(super) const fn is_sequence(self) -> bool {
        matches!(self, Self::List | Self::Tuple)
    }

    /// Whether it has elements without keys.
    pub(super) const fn has_elements(self) -> bool {
        matches!(self, Self::List | Self::Tuple | Self::Set)
    }
}

/// The name of the type of `value`, for messages.
pub(super) fn named<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    Ok(name(&type_of(cx, value)?))
}

/// The whole number of 64 bits that `value` is.
pub(super) fn whole(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(n) => Some(n),
        value => number_of(value)?.to_i64(),
    }
}

/// What a number must be that says which or how many.
pub(super) const WHOLE: &str = "a whole number of 64 bits is required";

/// The elements of a list, set or tuple that is known.
pub(super) fn items<'v>(value: Value<'v>) -> &'v [Value<'v>] {
    value.elements().unwrap_or(&[])
}

/// `value` with the marks that each of `from` carries itself.
pub(super) fn marked_as<'v>(cx: &Cx<'v>, value: Value<'v>, from: &[Value<'v>]) -> Value<'v> {
    from.iter().fold(value, |value, from| cx.arena().marked(value, from.unmarked().1))
}

/// The type of the elements of a list, set or map type; of any other the dynamic type.
pub(super) fn element_of<'v>(ty: &Type<'v>) -> Type<'v> {
    ty.element().copied().unwrap_or(Type::Dynamic)
}

/// The type of the elements of a list that is known; nothing for any other value. Makes nothing.
pub(super) fn type_of_list<'v>(value: Value<'v>) -> Option<Type<'v>> {
    match value.unmarked().0.extended() {
        Some(Extended::Typed(Type::List(element), _)) => Some(**element),
        _ => None,
    }
}

/// Whether it is known how many elements a list, set or tuple has. In a set, what is not known may be equal to another.
pub(super) fn length_is_known<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<bool> {
    match value.elements() {
        None => Ok(false),
        Some(items) => Ok(Kind::of(value) != Kind::Set || items.len() == 1 || is_wholly_known(cx, value)?),
    }
}

/// The fault of argument `at`.
pub(super) fn of_argument(mut fault: Fault, at: usize) -> Fault {
    if let Fault::Wrong(wrong) = &mut fault {
        wrong.argument = Some(at);
    }
    fault
}

/// Whether `value` is known to be true.
pub(super) fn is_true(value: Value<'_>) -> bool {
    matches!(value.unmarked().0, Value::Bool(true))
}
