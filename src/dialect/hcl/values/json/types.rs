//! Types as JSON: `"string"`, `["list","bool"]`, `["object",{"a":"number"},["a"]]`.

use std::borrow::Cow;

use super::super::types::name;
use super::super::{Fault, Outcome};
use super::{Json, write_string};
use crate::function::Cx;
use crate::stdlib::strings::nfc;
use crate::value::{Attribute, Type};

/// A type as JSON text. Types of capsules have none.
pub fn encode_type(ty: &Type<'_>) -> Outcome<String> {
    let mut out = String::new();
    write_type(ty, &mut out)?;
    Ok(out)
}

pub(super) fn write_type(ty: &Type<'_>, out: &mut String) -> Outcome<()> {
    match ty {
        Type::Bool | Type::Number | Type::String | Type::Dynamic => write_string(&name(ty), out),
        Type::List(element) => return write_pair("list", element, out),
        Type::Set(element) => return write_pair("set", element, out),
        Type::Map(element) => return write_pair("map", element, out),
        Type::Tuple(elements) => {
            out.push_str("[\"tuple\",[");
            separated(elements, out, write_type)?;
            out.push_str("]]");
        }
        Type::Object(attributes) => {
            out.push_str("[\"object\",{");
            separated(attributes, out, |attribute, out| {
                write_string(attribute.name, out);
                out.push(':');
                write_type(&attribute.ty, out)
            })?;
            out.push('}');
            write_optional(attributes, out)?;
            out.push(']');
        }
        Type::Capsule(name) => return Err(Fault::wrong(format!("the type {name} cannot be written as JSON"))),
    }
    Ok(())
}

fn write_pair(kind: &str, element: &Type<'_>, out: &mut String) -> Outcome<()> {
    write_string(kind, {
        out.push('[');
        out
    });
    out.push(',');
    write_type(element, out)?;
    out.push(']');
    Ok(())
}

fn write_optional(attributes: &[Attribute<'_>], out: &mut String) -> Outcome<()> {
    let optional: Vec<_> = attributes.iter().filter(|attribute| attribute.optional).collect();
    if optional.is_empty() {
        return Ok(());
    }
    out.push_str(",[");
    separated(&optional, out, |attribute, out| {
        write_string(attribute.name, out);
        Ok(())
    })?;
    out.push(']');
    Ok(())
}

fn separated<T>(items: &[T], out: &mut String, write: impl Fn(&T, &mut String) -> Outcome<()>) -> Outcome<()> {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out)?;
    }
    Ok(())
}

/// The type that JSON says.
pub fn decode_type<'v>(cx: &Cx<'v>, json: &Json<'_>) -> Outcome<Type<'v>> {
    cx.charge(size_of::<Attribute>())?;
    let arena = cx.arena();
    match json {
        Json::Text(name) => match name.as_ref() {
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            "dynamic" => Ok(Type::Dynamic),
            _ => Err(Fault::wrong(format!("{name:?} is no type"))),
        },
        Json::List(parts) => match parts.as_slice() {
            [Json::Text(kind), element] if kind == "list" => Ok(arena.list_type(decode_type(cx, element)?)),
            [Json::Text(kind), element] if kind == "set" => Ok(arena.set_type(decode_type(cx, element)?)),
            [Json::Text(kind), element] if kind == "map" => Ok(arena.map_type(decode_type(cx, element)?)),
            [Json::Text(kind), Json::List(elements)] if kind == "tuple" => {
                let elements = elements.iter().map(|element| decode_type(cx, element));
                Ok(arena.tuple_type(&elements.collect::<Outcome<Vec<_>>>()?))
            }
            [Json::Text(kind), Json::Object(attributes), rest @ ..] if kind == "object" => {
                decode_object(cx, attributes, rest)
            }
            _ => Err(no_type()),
        },
        _ => Err(no_type()),
    }
}

fn no_type() -> Fault {
    Fault::wrong("a type is a name such as \"string\" or a list such as [\"list\",\"string\"]")
}

fn decode_object<'v>(cx: &Cx<'v>, attributes: &[(Cow<'_, str>, Json<'_>)], rest: &[Json<'_>]) -> Outcome<Type<'v>> {
    let optional: Vec<&str> = match rest {
        [] => Vec::new(),
        [Json::List(names)] => names.iter().filter_map(Json::as_text).collect(),
        _ => return Err(no_type()),
    };
    cx.spend((attributes.len() * optional.len()) as u64)?;
    let attribute = |(name, ty): &(Cow<'_, str>, Json<'_>)| {
        let optional = optional.contains(&name.as_ref());
        cx.charge(name.len())?;
        Ok(Attribute { name: cx.arena().copy_str(&nfc(name)), ty: decode_type(cx, ty)?, optional })
    };
    Ok(cx.arena().object_type(&attributes.iter().map(attribute).collect::<Outcome<Vec<_>>>()?))
}
