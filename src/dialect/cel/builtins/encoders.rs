//! Base64.

use super::{arguments, text};
use crate::diagnostics::Result;
use crate::dialect::cel::values::{as_bytes, errors};
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::encoding;
use crate::value::Value;

overloads! {
    /// The library `encoders`.
    pub static TABLE:
    "base64.encode": "Bytes in base64." ["base64.encode(b'hello')" => "'aGVsbG8='"] {
        "base64_encode_bytes" (Bytes) -> String = encode;
    }
    "base64.decode": "The bytes that base64 says, with padding or without."
        ["base64.decode('aGVsbG8=')" => "b'hello'", "base64.decode('aGVsbG8')" => "b'hello'", "base64.decode('?')" => "E0403"] {
        "base64_decode_string" (String) -> Bytes = decode;
    }
}

fn encode<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [bytes] = arguments(cx, given)?;
    let bytes = as_bytes(bytes).unwrap_or(&[]);
    cx.charge(encoding::base64_len(bytes.len()))?;
    cx.text(&encoding::base64(bytes))
}

fn decode<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [encoded] = arguments(cx, given)?;
    cx.charge(text(encoded).len())?;
    match encoding::octets_of_base64(text(encoded)) {
        Some(bytes) => cx.bytes(&bytes),
        None => Err(errors::bad_argument("illegal base64 data")),
    }
}
