//! Decoding of JSON, and types as JSON.
//!
//! Types are `"string"`, `["list","bool"]`, `["object",{"a":"number"},["a"]]`.

use std::borrow::Cow;

use super::{Json, write_string};
use crate::values::convert::uniform;
use crate::values::types::name;
use crate::values::{convert, same_type, set_of, type_of, without_optional};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Fault, Outcome, PathStep};
use dropforge_value::{Attribute, BigNum, Type, Value};

/// Maximum number of bytes that parsing one byte of JSON takes.
const GROWTH: usize = 48;

type Entry<'t> = (Cow<'t, str>, Json<'t>);

/// Decodes a value of type `ty`. Strings, numbers and booleans convert to one another, and missing attributes are null.
/// For the dynamic type, the text has the type: `{"value":…,"type":…}`.
pub fn decode<'v>(cx: &Cx<'v>, text: &str, ty: &Type<'v>) -> Outcome<Value<'v>> {
    value(cx, &parse(cx, text)?, ty)
}

/// Decodes a value of the type that the JSON implies: arrays are tuples, objects are objects, null has no type. The
/// last value of a duplicate name wins; all of them must have one type.
pub fn decode_implied<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    implied(cx, &parse(cx, text)?)
}

fn parse<'t>(cx: &Cx<'_>, text: &'t str) -> Outcome<Json<'t>> {
    cx.charge(text.len().saturating_mul(GROWTH))?;
    Json::read(text, cx.limits().value_depth).map_err(Fault::wrong)
}

fn implied<'v>(cx: &Cx<'v>, json: &Json<'_>) -> Outcome<Value<'v>> {
    match json {
        Json::Null => Ok(Value::Null),
        Json::Bool(b) => Ok(Value::Bool(*b)),
        Json::Number(digits) => number(cx, digits),
        Json::Text(text) => Ok(cx.text(&nfc(text))?),
        Json::List(items) => Ok(cx.list(&items.iter().map(|item| implied(cx, item)).collect::<Outcome<Vec<_>>>()?)?),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(name, json)| Ok((key(cx, name)?, implied(cx, json)?)));
            let entries = entries.collect::<Outcome<Vec<_>>>()?;
            check_duplicates(cx, &entries)?;
            Ok(cx.map(&entries)?)
        }
    }
}

/// Refuses values of different types under one name.
fn check_duplicates<'v>(cx: &Cx<'v>, entries: &[(&'v str, Value<'v>)]) -> Outcome<()> {
    let mut sorted: Vec<&(&str, Value<'v>)> = entries.iter().collect();
    sorted.small_sort_by_key(|(name, _)| *name);
    for ((name, a), (other, b)) in sorted.iter().zip(sorted.iter().skip(1)) {
        if name == other && !same_type(cx, &type_of(cx, *a)?, &type_of(cx, *b)?)? {
            return Err(Fault::wrong(format!("duplicate {name:?} property in JSON object")));
        }
    }
    Ok(())
}

fn key<'v>(cx: &Cx<'v>, name: &str) -> Outcome<&'v str> {
    cx.charge(name.len())?;
    Ok(cx.arena().copy_str(&nfc(name)))
}

fn number<'v>(cx: &Cx<'v>, digits: &str) -> Outcome<Value<'v>> {
    let number = BigNum::parse(digits).ok_or_else(|| Fault::wrong("a number is required"))?;
    Ok(cx.arena().number(number))
}

fn value<'v>(cx: &Cx<'v>, json: &Json<'_>, ty: &Type<'v>) -> Outcome<Value<'v>> {
    match (ty, json) {
        (ty, Json::Null) => Ok(cx.arena().null(without_optional(cx.arena(), *ty))),
        (Type::Dynamic, json) => dynamic(cx, json),
        (Type::Bool, Json::Bool(b)) => Ok(Value::Bool(*b)),
        (Type::Number, Json::Number(digits)) => number(cx, digits),
        (Type::String, Json::Number(text)) => Ok(cx.text(text)?),
        (Type::String, Json::Bool(b)) => Ok(cx.borrowed(if *b { "true" } else { "false" })?),
        (Type::Bool | Type::Number | Type::String, Json::Text(text)) => convert(cx, cx.text(&nfc(text))?, ty),
        (Type::List(element), Json::List(items)) => {
            let mut items = elements(cx, items, element, PathStep::index)?;
            let element = uniform(cx, &mut items, **element, "list")?;
            Ok(cx.arena().typed(cx.arena().list_type(element), cx.list(&items)?))
        }
        (Type::Set(element), Json::List(items)) => {
            let mut items = elements(cx, items, element, |_| PathStep::Element)?;
            set_of(cx, uniform(cx, &mut items, **element, "set")?, &items)
        }
        (Type::Map(element), Json::Object(entries)) => map(cx, entries, element),
        (Type::Tuple(types), Json::List(items)) => tuple(cx, items, types),
        (Type::Object(attributes), Json::Object(entries)) => object(cx, entries, attributes),
        _ => Err(Fault::wrong(format!("{} is required", name(ty)))),
    }
}

fn elements<'v>(
    cx: &Cx<'v>,
    items: &[Json<'_>],
    element: &Type<'v>,
    step: impl Fn(usize) -> PathStep,
) -> Outcome<Vec<Value<'v>>> {
    let items = items.iter().enumerate();
    items.map(|(at, item)| value(cx, item, element).map_err(|fault| fault.within(step(at)))).collect()
}

fn map<'v>(cx: &Cx<'v>, entries: &[Entry<'_>], element: &Type<'v>) -> Outcome<Value<'v>> {
    let (mut names, mut items) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
    for (name, json) in entries {
        names.push(key(cx, name)?);
        items.push(value(cx, json, element).map_err(|fault| fault.within(PathStep::Key(name.to_string())))?);
    }
    let element = uniform(cx, &mut items, *element, "map")?;
    let entries: Vec<_> = names.into_iter().zip(items).collect();
    Ok(cx.arena().typed(cx.arena().map_type(element), cx.map(&entries)?))
}

fn tuple<'v>(cx: &Cx<'v>, items: &[Json<'_>], types: &[Type<'v>]) -> Outcome<Value<'v>> {
    if items.len() != types.len() {
        return Err(Fault::wrong(format!("a tuple of {} elements is required", types.len())));
    }
    let items = items.iter().zip(types).enumerate();
    let items = items.map(|(at, (item, ty))| value(cx, item, ty).map_err(|fault| fault.within(PathStep::index(at))));
    Ok(cx.list(&items.collect::<Outcome<Vec<_>>>()?)?)
}

fn object<'v>(cx: &Cx<'v>, entries: &[Entry<'_>], attributes: &[Attribute<'v>]) -> Outcome<Value<'v>> {
    let null = |attribute: &Attribute<'v>| cx.arena().null(without_optional(cx.arena(), attribute.ty));
    let mut values: Vec<_> = attributes.iter().map(|attribute| (attribute.name, null(attribute))).collect();
    for (name, json) in entries {
        let found = attributes.binary_search_by(|attribute| attribute.name.cmp(&nfc(name)));
        let entry = found.ok().and_then(|at| Some((values.get_mut(at)?, attributes.get(at)?)));
        let ((_, decoded), attribute) = entry.ok_or_else(|| Fault::wrong(format!("unsupported attribute {name:?}")))?;
        *decoded = value(cx, json, &attribute.ty).map_err(|fault| fault.within(PathStep::Attr(name.to_string())))?;
    }
    Ok(cx.map(&values)?)
}

/// Decodes a value with its type.
fn dynamic<'v>(cx: &Cx<'v>, json: &Json<'_>) -> Outcome<Value<'v>> {
    let Json::Object(entries) = json else { return Err(Fault::wrong("an object with type and value is required")) };
    if let Some((name, _)) = entries.iter().find(|(name, _)| name != "type" && name != "value") {
        return Err(Fault::wrong(format!("invalid key {name:?} in a value with its type")));
    }
    let of = json.get("type").ok_or_else(|| Fault::wrong("a value with its type lacks the type"))?;
    let inner = json.get("value").ok_or_else(|| Fault::wrong("a value with its type lacks the value"))?;
    value(cx, inner, &decode_type(cx, of)?)
}

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
