//! The source text of types.

use super::super::syntax::lexer::is_identifier;
use super::super::values::json::write_string;
use super::super::values::types::name;
use crate::value::{Attribute, Type};

/// Returns a type as a type expression: `map(object({name=string}))`. A capsule has no type expression and becomes its
/// name.
pub fn text(ty: &Type<'_>) -> String {
    match ty {
        Type::Dynamic => "any".to_owned(),
        Type::List(element) => format!("list({})", text(element)),
        Type::Set(element) => format!("set({})", text(element)),
        Type::Map(element) => format!("map({})", text(element)),
        Type::Tuple(elements) => format!("tuple([{}])", elements.iter().map(text).collect::<Vec<_>>().join(",")),
        Type::Object(attributes) => {
            format!("object({{{}}})", attributes.iter().map(attribute).collect::<Vec<_>>().join(","))
        }
        Type::Bool | Type::Number | Type::String | Type::Capsule(_) => name(ty),
    }
}

fn attribute(attribute: &Attribute<'_>) -> String {
    let (mut out, ty) = (String::new(), text(&attribute.ty));
    if is_identifier(attribute.name) {
        out.push_str(attribute.name);
    } else {
        write_string(attribute.name, &mut out);
    }
    if attribute.optional { format!("{out}=optional({ty})") } else { format!("{out}={ty}") }
}
