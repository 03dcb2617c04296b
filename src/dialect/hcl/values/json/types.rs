//! Types as JSON: `"string"`, `["list","bool"]`, `["object",{"a":"number"},["a"]]`.

use std::borrow::Cow;

use super::super::types::name;
use super::super::{Fault, Outcome};
use super::{Json, write_string};
use crate::function::Cx;
use crate::stdlib::strings::nfc;
use crate::value::{Attribute, Type};

/// Encodes a type.
///
/// # Errors
/// The type contains a capsule.
pub fn encode_type(ty: &Type<'_>) -> Outcome<String> {
    let collection = |kind: &str, element: &Type<'_>| Ok(format!("[\"{kind}\",{}]", encode_type(element)?));
    match ty {
        Type::Bool | Type::Number | Type::String | Type::Dynamic => Ok(quoted(&name(ty))),
        Type::List(element) => collection("list", element),
        Type::Set(element) => collection("set", element),
        Type::Map(element) => collection("map", element),
        Type::Tuple(elements) => {
            let elements = elements.iter().map(encode_type).collect::<Outcome<Vec<_>>>()?;
            Ok(format!("[\"tuple\",[{}]]", elements.join(",")))
        }
        Type::Object(attributes) => {
            let attribute = |own: &Attribute<'_>| Ok(format!("{}:{}", quoted(own.name), encode_type(&own.ty)?));
            let types = attributes.iter().map(attribute).collect::<Outcome<Vec<_>>>()?.join(",");
            let optional = attributes.iter().filter(|own| own.optional).map(|own| quoted(own.name));
            let optional = optional.collect::<Vec<_>>().join(",");
            let optional = if optional.is_empty() { optional } else { format!(",[{optional}]") };
            Ok(format!("[\"object\",{{{types}}}{optional}]"))
        }
        Type::Capsule(name) => Err(Fault::wrong(format!("the type {name} cannot be written as JSON"))),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

/// Decodes a type.
pub fn decode_type<'v>(cx: &Cx<'v>, json: &Json<'_>) -> Outcome<Type<'v>> {
    cx.charge(size_of::<Attribute>())?;
    let arena = cx.arena();
    match json {
        Json::Text(name) => match name.as_ref() {
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            "dynamic" => Ok(Type::Dynamic),
            _ => Err(Fault::wrong(format!("unknown type {name:?}"))),
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
            _ => Err(not_a_type()),
        },
        _ => Err(not_a_type()),
    }
}

fn not_a_type() -> Fault {
    Fault::wrong("a type is a name such as \"string\" or a list such as [\"list\",\"string\"]")
}

fn decode_object<'v>(cx: &Cx<'v>, attributes: &[(Cow<'_, str>, Json<'_>)], rest: &[Json<'_>]) -> Outcome<Type<'v>> {
    let optional: Vec<&str> = match rest {
        [] => Vec::new(),
        [Json::List(names)] => names.iter().filter_map(Json::as_text).collect(),
        _ => return Err(not_a_type()),
    };
    cx.spend((attributes.len() * optional.len()) as u64)?;
    let attribute = |(name, ty): &(Cow<'_, str>, Json<'_>)| {
        let optional = optional.contains(&name.as_ref());
        cx.charge(name.len())?;
        Ok(Attribute { name: cx.arena().copy_str(&nfc(name)), ty: decode_type(cx, ty)?, optional })
    };
    Ok(cx.arena().object_type(&attributes.iter().map(attribute).collect::<Outcome<Vec<_>>>()?))
}
