//! Types as they are written.

use super::super::syntax::lexer::is_identifier;
use super::super::values::json::write_string;
use super::super::values::types::name;
use crate::value::{Attribute, Type};

/// A type as it is written in a type expression: `map(object({name=string}))`. A capsule, which cannot be written, is
/// its name.
pub fn text(ty: &Type<'_>) -> String {
    let mut out = String::new();
    write(ty, &mut out);
    out
}

fn write(ty: &Type<'_>, out: &mut String) {
    match ty {
        Type::Dynamic => out.push_str("any"),
        Type::List(element) => write_call("list(", element, out),
        Type::Set(element) => write_call("set(", element, out),
        Type::Map(element) => write_call("map(", element, out),
        Type::Tuple(elements) => {
            out.push_str("tuple([");
            separated(elements, out, write);
            out.push_str("])");
        }
        Type::Object(attributes) => {
            out.push_str("object({");
            separated(attributes, out, write_attribute);
            out.push_str("})");
        }
        Type::Bool | Type::Number | Type::String | Type::Capsule(_) => out.push_str(&name(ty)),
    }
}

fn write_call(call: &str, argument: &Type<'_>, out: &mut String) {
    out.push_str(call);
    write(argument, out);
    out.push(')');
}

fn write_attribute(attribute: &Attribute<'_>, out: &mut String) {
    if is_identifier(attribute.name) {
        out.push_str(attribute.name);
    } else {
        write_string(attribute.name, out);
    }
    out.push('=');
    if attribute.optional { write_call("optional(", &attribute.ty, out) } else { write(&attribute.ty, out) }
}

fn separated<T>(items: &[T], out: &mut String, write: impl Fn(&T, &mut String)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
}
