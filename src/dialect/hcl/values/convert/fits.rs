//! The check whether a value needs a conversion.

use super::super::types::{conforms, has_optional};
use crate::value::{Attribute, Extended, Type, Value};

/// Returns `true` if `value` has the type `to`, where the dynamic type stands for any type. Inspects no more of the
/// value than necessary.
pub fn fits(value: Value<'_>, to: &Type<'_>) -> bool {
    match (value, to) {
        (_, Type::Dynamic)
        | (Value::Str(_), Type::String)
        | (Value::Int(_) | Value::Uint(_) | Value::Float(_), Type::Number)
        | (Value::Bool(_), Type::Bool) => true,
        (Value::List(list), Type::Tuple(types)) => {
            list.items().len() == types.len() && list.items().iter().zip(*types).all(|(item, ty)| fits(*item, ty))
        }
        (Value::Map(map), Type::Object(attributes)) => {
            let fits =
                |((name, value), to): ((&str, Value<'_>), &Attribute<'_>)| name == to.name && fits(value, &to.ty);
            map.len() == attributes.len() && map.iter_sorted().zip(*attributes).all(fits)
        }
        (Value::Extended(extension), to) => match extension.kind() {
            Extended::Number(_) => *to == Type::Number,
            Extended::Null(ty) | Extended::Typed(ty, _) => is_type(ty, to),
            Extended::Unknown(unknown) => is_type(&unknown.ty, to),
            Extended::Marked(inner, _) => fits(*inner, to),
            Extended::Capsule(capsule) => *to == Type::Capsule(capsule.name),
            other => *to == Type::Capsule(other.name()),
        },
        _ => false,
    }
}

/// Returns `true` if values of type `ty` have the type `to`.
fn is_type(ty: &Type<'_>, to: &Type<'_>) -> bool {
    conforms(ty, to) && !has_optional(ty)
}
