//! Functions that write values as documents, and read them: JSON and CSV.

use super::arguments::{answer, text};
use crate::dialect::hcl::values::json::{decode_implied, encode_plain};
use crate::dialect::hcl::values::types::type_of;
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known};
use crate::function::Cx;
use crate::positional;
use crate::stdlib::csv::records;
use crate::stdlib::strings::nfc;
use crate::value::{Attribute, Refinement, Type, Value};

positional! {
    /// Functions of documents.
    pub(super) static DOCUMENTS:
    "jsonencode" (val: Any [null unknown dynamic]) -> String = encode_json, "The value as JSON."
        ["jsonencode({a = [1, true]})" => "\"{\\\"a\\\":[1,true]}\""];
    "jsondecode" (str: String) -> {type_of_json} or null = decode_json, "The value that JSON says."
        ["jsondecode(\"{\\\"a\\\":[1,true]}\")" => "{a = [1, true]}"];
    "csvdecode" (str: String) -> {type_of_csv} = decode_csv,
        "The records of comma-separated values as objects; the first line has the names."
        ["csvdecode(\"a,b\\n1,2\\n\")" => "[{a = \"1\", b = \"2\"}]"];
}

fn argument<'v>(args: &[Value<'v>]) -> Outcome<Value<'v>> {
    args.first().copied().ok_or_else(|| Fault::wrong("one argument is required"))
}

fn encode_json<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let value = argument(args)?;
    if !is_wholly_known(cx, value)? {
        let prefix = first_of_json(cx, value)?;
        return Ok(cx.arena().refined(Type::String, Refinement { prefix, ..Refinement::NOT_NULL }));
    }
    let json = encode_plain(cx, value)?;
    answer(cx, &json)
}

/// What the JSON of a value that is not known begins with, as far as its type says it: null begins otherwise.
fn first_of_json<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<&'static str> {
    if value.as_unknown().is_some_and(|unknown| !unknown.refinement.not_null) {
        return Ok("");
    }
    Ok(match type_of(cx, value)? {
        Type::String => "\"",
        Type::Object(_) | Type::Map(_) => "{",
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => "[",
        _ => "",
    })
}

fn decode_json<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    decode_implied(cx, text(args, 0)?)
}

/// The type of JSON of which no more is known than how it begins; what is known says itself of which type it is.
fn type_of_json<'v>(_: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let Some(unknown) = argument(args)?.as_unknown() else { return Ok(Type::Dynamic) };
    Ok(match unknown.refinement.prefix.trim_start_matches([' ', '\t', '\r', '\n']).chars().next() {
        Some('"') => Type::String,
        Some('t' | 'f') => Type::Bool,
        Some('-' | '.' | '0'..='9') => Type::Number,
        None | Some('{' | '[' | 'n') => Type::Dynamic,
        Some(c) => return Err(Fault::argument(0, format!("JSON does not begin with `{c}`"))),
    })
}

/// Each record is an object; which, only the first line says.
fn type_of_csv<'v>(_: &Cx<'v>, _: &[Value<'v>]) -> Outcome<Type<'v>> {
    Ok(Type::Dynamic)
}

fn decode_csv<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let text = text(args, 0)?;
    cx.charge(text.len().saturating_mul(4))?;
    let records = records(text).map_err(Fault::wrong)?;
    let Some((header, rows)) = records.split_first() else {
        return Err(Fault::wrong("the line with the names is missing"));
    };
    cx.charge(header.len() * size_of::<Attribute>())?;
    let names: Vec<&'v str> = header.iter().map(|name| cx.arena().copy_str(&nfc(name))).collect();
    let mut attributes: Vec<_> =
        names.iter().map(|name| Attribute { name, ty: Type::String, optional: false }).collect();
    attributes.sort_by_key(|attribute| attribute.name);
    if let Some(twice) = attributes.windows(2).find_map(|pair| match pair {
        [a, b] if a.name == b.name => Some(a.name),
        _ => None,
    }) {
        return Err(Fault::wrong(format!("two columns are named `{twice}`")));
    }
    let object = |row: &Vec<String>| -> Outcome<Value<'v>> {
        let entries = names.iter().zip(row).map(|(name, field)| Ok((*name, answer(cx, field)?)));
        Ok(cx.map(&entries.collect::<Outcome<Vec<_>>>()?)?)
    };
    let rows = cx.list(&rows.iter().map(object).collect::<Outcome<Vec<_>>>()?)?;
    let ty = cx.arena().list_type(cx.arena().object_type(&attributes));
    Ok(cx.arena().typed(ty, rows))
}
