//! JSON and CSV.

use super::csv::records;
use super::{functions, string};
use crate::values::json::{decode_implied, encode_plain};
use crate::values::{is_wholly_known, type_of};
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Attribute, Refinement, Type, Value};

functions! {
    /// Functions that encode and decode documents.
    pub(super) static DOCUMENTS:
    "jsonencode" (val: Any [null unknown dynamic]) -> String = encode_json, "Encodes a value as JSON."
        ["jsonencode({a = [1, true]})" => "\"{\\\"a\\\":[1,true]}\""];
    "jsondecode" (str: String) -> {json_type} or null = decode_implied, "Decodes JSON."
        ["jsondecode(\"{\\\"a\\\":[1,true]}\")" => "{a = [1, true]}"];
    "csvdecode" (str: String) -> Any = decode_csv,
        "Decodes comma-separated values to a list of objects. The first line has the attribute names."
        ["csvdecode(\"a,b\\n1,2\\n\")" => "[{a = \"1\", b = \"2\"}]"];
}

fn encode_json<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if !is_wholly_known(cx, value)? {
        let prefix = json_prefix(cx, value)?;
        return Ok(cx.arena().refined(Type::String, Refinement { prefix, ..Refinement::NOT_NULL }));
    }
    string(cx, &encode_plain(cx, value)?)
}

/// Returns the first character of the JSON text of a value that is not wholly known, if its type determines it.
fn json_prefix<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<&'static str> {
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

/// Returns the type of a JSON text of which at most the beginning is known.
fn json_type<'v>(_: &Cx<'v>, text: Value<'v>) -> Outcome<Type<'v>> {
    let Some(unknown) = text.as_unknown() else { return Ok(Type::Dynamic) };
    Ok(match unknown.refinement.prefix.trim_start_matches([' ', '\t', '\r', '\n']).chars().next() {
        Some('"') => Type::String,
        Some('t' | 'f') => Type::Bool,
        Some('-' | '.' | '0'..='9') => Type::Number,
        None | Some('{' | '[' | 'n') => Type::Dynamic,
        Some(c) => return Err(Fault::argument(0, format!("a JSON text cannot start with `{c}`"))),
    })
}

fn decode_csv<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    cx.charge(text.len().saturating_mul(4))?;
    let records = records(text).map_err(Fault::wrong)?;
    let Some((header, rows)) = records.split_first() else {
        return Err(Fault::wrong("the header line is missing"));
    };
    cx.charge(header.len() * size_of::<Attribute>())?;
    let names: Vec<&'v str> = header.iter().map(|name| cx.arena().copy_str(&nfc(name))).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    if let Some((twice, _)) = sorted.iter().zip(sorted.iter().skip(1)).find(|(a, b)| a == b) {
        return Err(Fault::wrong(format!("two columns are named `{twice}`")));
    }
    let object = |row: &Vec<String>| -> Outcome<Value<'v>> {
        let entries = names.iter().zip(row).map(|(name, field)| Ok((*name, string(cx, field)?)));
        Ok(cx.map(&entries.collect::<Outcome<Vec<_>>>()?)?)
    };
    let rows = cx.list(&rows.iter().map(object).collect::<Outcome<Vec<_>>>()?)?;
    let attributes = sorted.into_iter().map(|name| Attribute { name, ty: Type::String, optional: false });
    let ty = cx.arena().list_type(cx.arena().object_type(&attributes.collect::<Vec<_>>()));
    Ok(cx.arena().typed(ty, rows))
}
