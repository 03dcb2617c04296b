//! Values and types as JSON, encoded and decoded.

mod parser;

use std::borrow::Cow;
use std::collections::HashSet;

use super::convert::uniform;
use super::types::name;
use super::{conforms, convert, number_of, same_type, set_of, type_of, without_optional};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Fault, Held, Outcome, PathStep};
use dropforge_value::{Attribute, BigNum, Map, Type, Value};

pub use parser::{Json, unescape};

/// Encodes `value`, converted to `ty`. [`decode`](super::json) with the same type restores it: where `ty` has the
/// dynamic type, the value is written with its type, as `{"value":…,"type":…}`.
pub fn encode<'v>(cx: &Cx<'v>, value: Value<'v>, ty: &Type<'v>) -> Outcome<String> {
    let value = if conforms(&type_of(cx, value)?, ty) { value } else { convert(cx, value, ty)? };
    written(cx, value, Some(ty))
}

/// Encodes `value` without types: lists, sets and tuples are arrays, maps and objects are objects with sorted names.
pub fn encode_plain<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    written(cx, value, None)
}

fn written<'v>(cx: &Cx<'v>, value: Value<'v>, ty: Option<&Type<'v>>) -> Outcome<String> {
    let mut writer = Writer { cx, out: String::new(), held: Held::new(cx) };
    writer.value(value, ty)?;
    Ok(writer.out)
}

struct Writer<'a, 'v> {
    cx: &'a Cx<'v>,
    out: String,
    held: Held<'a, 'v>,
}

impl<'v> Writer<'_, 'v> {
    /// Writes `value`. If a type is given, values of the dynamic type are written with their type.
    fn value(&mut self, value: Value<'v>, ty: Option<&Type<'v>>) -> Outcome<()> {
        self.held.step(self.out.len())?;
        if value.is_marked() {
            return Err(Fault::wrong("value has marks, so it cannot be written as JSON"));
        }
        if matches!(ty, Some(Type::Dynamic)) {
            return self.with_type(value);
        }
        if value.is_null() {
            self.out.push_str("null");
            return Ok(());
        }
        if let Some(items) = value.elements() {
            return self.list(items, ty);
        }
        match (value, value.entries()) {
            (Value::Map(_), Some(map)) => self.map(map, ty, PathStep::Attr),
            (_, Some(map)) => self.map(map, ty, PathStep::Key),
            _ => self.scalar(value),
        }
    }

    /// Writes a value of the dynamic type with its own type. A null without a type is just null.
    fn with_type(&mut self, value: Value<'v>) -> Outcome<()> {
        let ty = type_of(self.cx, value)?;
        if matches!(ty, Type::Dynamic) {
            return self.value(value, None);
        }
        self.out.push_str("{\"value\":");
        self.value(value, Some(&ty))?;
        self.out.push_str(",\"type\":");
        self.out.push_str(&encode_type(&ty)?);
        self.out.push('}');
        Ok(())
    }

    fn scalar(&mut self, value: Value<'v>) -> Outcome<()> {
        match value {
            Value::Bool(true) => self.out.push_str("true"),
            Value::Bool(false) => self.out.push_str("false"),
            Value::Int(n) => self.out.push_str(itoa::Buffer::new().format(n)),
            Value::Str(text) => {
                self.string(text.as_str())?;
            }
            _ if !value.is_known() => return Err(Fault::wrong("value is not known")),
            _ => match number_of(value).filter(|number| number.is_finite()) {
                Some(number) => {
                    self.held.grow(self.out.len().saturating_add(number.text_len()))?;
                    self.cx.spend(number.digit_steps())?;
                    self.out.push_str(&number.to_text());
                }
                None if number_of(value).is_some() => return Err(Fault::wrong("an infinite number has no JSON form")),
                None => return Err(Fault::wrong(format!("a {} cannot be written as JSON", value.kind()))),
            },
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Outcome<()> {
        self.held.grow(self.out.len().saturating_add(text.len()))?;
        write_string(text, &mut self.out);
        Ok(())
    }

    fn list(&mut self, items: &[Value<'v>], ty: Option<&Type<'v>>) -> Outcome<()> {
        self.out.push('[');
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            let element = match ty {
                Some(Type::Tuple(elements)) => elements.get(at),
                ty => ty.and_then(Type::element),
            };
            self.value(*item, element).map_err(|fault| fault.within(PathStep::index(at)))?;
        }
        self.out.push(']');
        Ok(())
    }

    fn map(&mut self, map: &Map<'v>, ty: Option<&Type<'v>>, step: fn(String) -> PathStep) -> Outcome<()> {
        self.out.push('{');
        for (at, (name, value)) in map.iter_sorted().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            self.string(name)?;
            self.out.push(':');
            let element = ty.and_then(|ty| ty.element().or_else(|| ty.attribute(name).map(|attribute| &attribute.ty)));
            self.value(value, element).map_err(|fault| fault.within(step(name.to_owned())))?;
        }
        self.out.push('}');
        Ok(())
    }
}

/// Appends `text` in quotes with the escapes of the reference, which include characters that are special in HTML or end
/// a line in JavaScript.
pub fn write_string(text: &str, out: &mut String) {
    push_quoted(out, text, ("\"\\\n\r\t\u{8}\u{c}", "\"\\nrtbf"), |c| {
        let special = matches!(c, '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        special.then(|| format!("\\u{:04x}", u32::from(c)))
    });
}

/// Appends `text` in double quotes. A character of `special` becomes a backslash and the letter at the same position in
/// `letters`. For other characters, `escape` returns an escape sequence if they need one.
pub fn push_quoted(
    out: &mut String,
    text: &str,
    (special, letters): (&str, &str),
    escape: impl Fn(char) -> Option<String>,
) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, ' ' | '-' | '.' | '_' | '0'..='9' | 'A'..='Z' | 'a'..='z') {
            out.push(c);
        } else if let Some((_, letter)) = special.chars().zip(letters.chars()).find(|(special, _)| *special == c) {
            out.extend(['\\', letter]);
        } else if let Some(escape) = escape(c) {
            out.push_str(&escape);
        } else {
            out.push(c);
        }
    }
    out.push('"');
}

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

/// Encodes a type: `"string"`, `["list","bool"]`, `["object",{"a":"number"},["a"]]`.
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
    let mut seen = HashSet::new();
    if let Some((twice, _)) = attributes.iter().find(|(name, _)| !seen.insert(name)) {
        return Err(Fault::wrong(format!("the attribute `{twice}` is declared twice")));
    }
    let attribute = |(name, ty): &(Cow<'_, str>, Json<'_>)| {
        let optional = optional.contains(&name.as_ref());
        cx.charge(name.len())?;
        Ok(Attribute { name: cx.arena().copy_str(&nfc(name)), ty: decode_type(cx, ty)?, optional })
    };
    Ok(cx.arena().object_type(&attributes.iter().map(attribute).collect::<Outcome<Vec<_>>>()?))
}

#[cfg(test)]
mod tests;
