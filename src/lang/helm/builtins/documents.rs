//! Functions that write and read documents: YAML, JSON and TOML. Numbers that are read are floats, except those of TOML.

use super::is_nil;
use crate::error::failed;
use crate::objects;
use crate::values::{is_nil_of_type, items, nil_list, nil_map};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::{Cx, Held};
use dropforge_machine::functions;
use dropforge_value::marshal::json_read::{self, Wanted};
use dropforge_value::marshal::{Numbers, Refused, exchange_json, plain, toml};
use dropforge_value::yaml::libyaml::{self, Form};
use dropforge_value::{Capsule, CapsuleContent, Extended, JsonStyle, MapEntries, Text, TreeNode, Type, Value, Viewed};

functions! {
    /// Functions that write and read documents.
    pub(super) static DOCUMENTS:
    "toYaml" [Any] = lenient(Form::Json, yaml),
        "Returns a value as YAML, or an empty text if YAML cannot hold it."
        [r#"{{ dict "a" (list 1 "x") | toYaml }}"# => "a:\n- 1\n- x"];
    "mustToYaml" [Any] = strict(Form::Json, yaml), "Returns a value as YAML."
        [r#"{{ mustToYaml "yes" }}"# => "\"yes\""];
    "toYamlPretty" [Any] = lenient(Form::Pretty, yaml), "Returns a value as YAML with indented lists."
        [r#"{{ dict "a" (list 1) | toYamlPretty }}"# => "a:\n  - 1"];
    "toJson" [Any] = lenient(COMPACT, json_text),
        "Returns a value as JSON, or an empty text if JSON cannot hold it."
        [r#"{{ dict "a" "<1>" | toJson }}"# => r#"{"a":"\u003c1\u003e"}"#];
    "mustToJson" [Any] = strict(COMPACT, json_text), "Returns a value as JSON."
        [r#"{{ list 1 nil | mustToJson }}"# => "[1,null]"];
    "toPrettyJson" [Any] = lenient(PRETTY, json_text), "Returns a value as indented JSON."
        [r#"{{ list 1 | toPrettyJson }}"# => "[\n  1\n]"];
    "mustToPrettyJson" [Any] = strict(PRETTY, json_text), "Returns a value as indented JSON."
        [r#"{{ list 1 | mustToPrettyJson }}"# => "[\n  1\n]"];
    "toRawJson" [Any] = lenient(RAW, json_text), "Returns a value as JSON without escapes of markup."
        [r#"{{ toRawJson "<" }}"# => "\"<\""];
    "mustToRawJson" [Any] = strict(RAW, json_text), "Returns a value as JSON without escapes of markup."
        [r#"{{ mustToRawJson "&" }}"# => "\"&\""];
    "fromYaml" [Str] = from_yaml, makes Map,
        "Reads a map from YAML. If that fails, the map has the message under the key `Error`."
        [r#"{{ (fromYaml "a: [1, x]").a }}"# => "[1 x]"];
    "fromYamlArray" [Str] = from_yaml_array,
        "Reads a list from YAML. If that fails, the message is the only item."
        [r#"{{ fromYamlArray "- 1\n- a" }}"# => "[1 a]"];
    "fromJson" [Str] = from_json, makes Map,
        "Reads a map from JSON. If that fails, the map has the message under the key `Error`."
        [r#"{{ (fromJson "{\"a\": [1]}").a }}"# => "[1]", r#"{{ fromJson "{" }}"# => "map[Error:unexpected end of JSON input]"];
    "mustFromJson" [Str] = from_any_json, "Reads any value from JSON."
        [r#"{{ mustFromJson "[1, 2.5]" }}"# => "[1 2.5]", r#"{{ mustFromJson "{" }}"# => "E0404"];
    "fromJsonArray" [Str] = from_json_array,
        "Reads a list from JSON. If that fails, the message is the only item."
        [r#"{{ fromJsonArray "[1, null]" }}"# => "[1 <nil>]"];
    "toToml" [Any] = to_toml, "Returns a value as TOML, or the message of the error if TOML cannot hold it."
        [r#"{{ dict "a" 1.0 | toToml }}"# => "a = 1.0\n"];
    "mustToToml" [Any] = strict((), toml_text), "Returns a value as TOML."
        [r#"{{ dict "b" (dict "c" "x") | mustToToml }}"# => "[b]\n  c = \"x\"\n"];
    "fromToml" [Str] = from_toml, makes Map,
        "Reads a map from TOML, whose integers are of the type `int64`. If that fails, the map has the message under the key `Error`."
        [r#"{{ (fromToml "[a]\nb = 1").a.b }}"# => "1"];
}

const COMPACT: JsonStyle = JsonStyle::Exchanged { pretty: false, markup: true };
const PRETTY: JsonStyle = JsonStyle::Exchanged { pretty: true, markup: true };
const RAW: JsonStyle = JsonStyle::Exchanged { pretty: false, markup: false };

/// A document, or the reason that it cannot be written.
type Written<'v> = std::result::Result<Value<'v>, Refused<Box<Diagnostic>>>;

/// Returns the view of values as plain data: maps with their current content. Maps and slices that are nil are null, or else
/// empty.
fn view<'v>(cx: &Cx<'v>, has_nil: bool) -> impl Fn(Value<'v>) -> TreeNode<'v, Value<'v>> {
    move |value| match (plain(value), value.extended()) {
        _ if has_nil && is_nil_of_type(value) => TreeNode::Null,
        (_, Some(Extended::Capsule(Capsule { content: CapsuleContent::Texts([text, ..]), .. }))) => {
            TreeNode::Text(Text::new(text))
        }
        // Fields keep the order of their declaration.
        (TreeNode::Map(MapEntries::Sorted(fields, _)), Some(Extended::Typed(Type::Capsule(_), _))) => {
            TreeNode::Map(MapEntries::of(objects::renamed(cx.arena(), value).unwrap_or(fields), false))
        }
        (TreeNode::Map(MapEntries::Sorted(map, _)), _) => TreeNode::Map(MapEntries::of(cx.content(map), true)),
        (node, _) => node,
    }
}

fn yaml<'v>(cx: &Cx<'v>, value: Value<'v>, form: Form) -> Written<'v> {
    let (mut out, mut held) = (String::new(), Held::new(cx));
    let has_nil = matches!(form, Form::Json);
    libyaml::write(Viewed(value, &view(cx, has_nil)), form, &mut out, &mut |len| held.step(len))?;
    Ok(cx.text(out.strip_suffix('\n').unwrap_or(&out))?)
}

fn json_text<'v>(cx: &Cx<'v>, value: Value<'v>, style: JsonStyle) -> Written<'v> {
    let (mut out, mut held) = (String::new(), Held::new(cx));
    exchange_json(Viewed(value, &view(cx, true)), style, &mut out, &mut |len| held.step(len))?;
    Ok(cx.text(&out)?)
}

/// Returns a body that writes a document, or an empty text if the value cannot be written.
fn lenient<'v, L: Copy>(
    layout: L,
    write: impl Fn(&Cx<'v>, Value<'v>, L) -> Written<'v>,
) -> impl Fn(&Cx<'v>, Value<'v>) -> Result<Value<'v>> {
    move |cx, value| {
        write(cx, value, layout).or_else(|refused| match refused {
            Refused::Value(_) => cx.borrowed(""),
            Refused::Stopped(error) => Err(error),
        })
    }
}

/// Returns a body that writes a document, or fails if the value cannot be written.
fn strict<'v, L: Copy>(
    layout: L,
    write: impl Fn(&Cx<'v>, Value<'v>, L) -> Written<'v>,
) -> impl Fn(&Cx<'v>, Value<'v>) -> Result<Value<'v>> {
    move |cx, value| {
        write(cx, value, layout).map_err(|refused| match refused {
            Refused::Value(why) => failed(why),
            Refused::Stopped(error) => error,
        })
    }
}

/// Reads the first document of YAML, or returns the message of the error.
fn read<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<std::result::Result<Value<'v>, String>> {
    // Each byte can be a value of its own, copied by an alias at most ten times.
    cx.charge(text.len().saturating_mul(2 * size_of::<Value<'_>>()))?;
    let Ok(text) = std::str::from_utf8(text) else {
        return Ok(Err("error converting YAML to JSON: yaml: invalid Unicode character".to_owned()));
    };
    let read = libyaml::read(cx.arena(), text, Numbers::Floats, cx.limits().value_depth);
    Ok(read.map_err(|why| format!("error converting YAML to JSON: {why}")))
}

/// Returns the message about a document of another type than `wanted`.
fn wrong_type(found: Value<'_>, wanted: &str) -> String {
    let found = match found {
        Value::List(_) => "array",
        Value::Map(_) => "object",
        Value::Bool(_) => "bool",
        Value::Str(_) => "string",
        _ => "number",
    };
    format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type {wanted}"
    )
}

fn from_yaml<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    let message = match read(cx, text)? {
        Ok(map @ Value::Map(_)) => return cx.within_depth(map),
        Ok(Value::Null) => return cx.map(&[]),
        Ok(other) => wrong_type(other, "map[string]interface {}"),
        Err(message) => message,
    };
    cx.map(&[("Error", cx.text(&message)?)])
}

fn from_yaml_array<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    let message = match read(cx, text)? {
        Ok(list @ Value::List(_)) => return cx.within_depth(list),
        Ok(Value::Null) => return cx.list(&[]),
        Ok(other) => wrong_type(other, "[]interface {}"),
        Err(message) => message,
    };
    cx.list(&[cx.text(&message)?])
}

/// Reads JSON, or returns the message of the error.
fn read_json<'v>(cx: &Cx<'v>, text: &'v [u8], wanted: Wanted) -> Result<std::result::Result<Value<'v>, String>> {
    // Each byte can be a value of its own.
    cx.charge(text.len().saturating_mul(2 * size_of::<Value<'_>>()))?;
    cx.spend(text.len() as u64 / 16)?;
    let read = json_read::read(cx.arena(), text, Numbers::Floats, cx.limits().value_depth);
    Ok(read.and_then(|value| wanted.check(value).map(|()| value)))
}

fn from_json<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    match read_json(cx, text, Wanted::Map)? {
        Ok(Value::Null) => nil_map(cx),
        Ok(map) => Ok(map),
        Err(message) => cx.map(&[("Error", cx.text(&message)?)]),
    }
}

fn from_any_json<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    read_json(cx, text, Wanted::Any)?.map_err(failed)
}

fn from_json_array<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    match read_json(cx, text, Wanted::List)? {
        Ok(Value::Null) => nil_list(cx),
        Ok(list) => Ok(list),
        Err(message) => cx.list(&[cx.text(&message)?]),
    }
}

fn toml_text<'v>(cx: &Cx<'v>, value: Value<'v>, (): ()) -> Written<'v> {
    let (mut out, mut held) = (String::new(), Held::new(cx));
    if is_nil(value) {
        return Err(Refused::Stopped(failed("reflect: call of reflect.Value.Type on zero Value")));
    }
    if is_nil_of_type(value) {
        return Ok(cx.borrowed(if items(value).is_some() { "[]" } else { "" })?);
    }
    toml::write(Viewed(value, &view(cx, true)), &mut out, &mut |len| held.step(len))?;
    Ok(cx.text(&out)?)
}

fn to_toml<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    toml_text(cx, value, ()).or_else(|refused| match refused {
        Refused::Value(why) => cx.text(&why),
        Refused::Stopped(error) => Err(error),
    })
}

fn from_toml<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    cx.charge(text.len().saturating_mul(2 * size_of::<Value<'_>>()))?;
    cx.spend(text.len() as u64 / 16)?;
    let read = match std::str::from_utf8(text) {
        Ok(text) => toml::read(cx.arena(), text, Numbers::Sized),
        Err(_) => Err("toml: invalid UTF-8 byte".to_owned()),
    };
    match read {
        Ok(map) => cx.within_depth(map),
        Err(message) => cx.map(&[("Error", cx.text(&message)?)]),
    }
}
