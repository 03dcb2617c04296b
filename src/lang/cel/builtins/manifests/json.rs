//! JSON in strings.

use crate::values::errors::bad_argument;
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::{JsonStyle, Value, write_json};

overloads! {
    /// The library `json`.
    pub static TABLE:
    "json.marshal": "Encodes a value as JSON, with sorted keys." ["json.marshal({'b': [1, 1.5, null], 'a': 'x'})" => "'{\"a\":\"x\",\"b\":[1,1.5,null]}'"]
        fn "json.marshal_dyn" (Dyn) -> String = marshal;
    "json.unmarshal": "Decodes JSON. Integers have the type `int`."
        ["json.unmarshal('{\"a\": [1, 1.5]}').a" => "[1, 1.5]", "json.unmarshal('{')" => "E0403"]
        fn "json.unmarshal_string" (String) -> Dyn = unmarshal;
}

/// Bytes of JSON that are charged together, unless a text is longer.
const PIECE: usize = 256;

fn marshal<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<String> {
    let (mut json, mut charged) = (String::new(), 0);
    write_json(value, JsonStyle::Compact, &mut json, &mut |len| {
        cx.charge(len.saturating_sub(charged))?;
        charged = charged.max(len);
        cx.spend(1).map(|()| len + PIECE)
    })?;
    Ok(json)
}

fn unmarshal<'v>(cx: &Cx<'v>, json: &'v str) -> Result<Value<'v>> {
    cx.json(json)?.map_err(|error| bad_argument(format!("json.unmarshal failed to parse JSON: {error}")))
}
