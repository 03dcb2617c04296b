//! Base64.

use crate::values::{as_bytes, errors};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::base64;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library `encoders`.
    pub static TABLE:
    "base64.encode": "Encodes bytes as base64." ["base64.encode(b'hello')" => "'aGVsbG8='"]
        fn "base64_encode_bytes" (Bytes) -> String = encode;
    "base64.decode": "Decodes base64, with or without padding."
        ["base64.decode('aGVsbG8=')" => "b'hello'", "base64.decode('aGVsbG8')" => "b'hello'", "base64.decode('?')" => "E0403"]
        fn "base64_decode_string" (String) -> Bytes = decode;
}

fn encode<'v>(cx: &Cx<'v>, bytes: Value<'v>) -> Result<String> {
    let bytes = as_bytes(bytes).unwrap_or(&[]);
    cx.charge(base64::base64_len(bytes.len()))?;
    Ok(base64::base64(bytes))
}

fn decode<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Value<'v>> {
    cx.charge(text.len())?;
    match base64::octets_of_base64(text) {
        Some(bytes) => cx.bytes(&bytes),
        None => Err(errors::bad_argument("illegal base64 data")),
    }
}
