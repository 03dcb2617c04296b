//! Functions of base64 and base32.

use super::arguments::only_bytes;
use crate::values::string;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::base32::{base32, base32_len, octets_of_base32};
use dropforge_base::stdlib::base64::{base64, base64_len, octets_of_padded_base64};
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

assigned! {
    /// Functions of base64 and base32.
    pub(super) static ENCODINGS:
    "b64enc" (Str) = b64enc, "Encodes a text in base64." [r#"{{ b64enc "coffee" }}"# => "Y29mZmVl"];
    "b64dec" (Str) = b64dec, "Decodes base64. The result for invalid base64 is the message of the error."
        [r#"{{ b64dec "aGVsbG8=" }}"# => "hello", r#"{{ b64dec "aGVsbG8" }}"# => "illegal base64 data at input byte 4"];
    "b32enc" (Str) = b32enc, "Encodes a text in base32." [r#"{{ b32enc "hello" }}"# => "NBSWY3DP"];
    "b32dec" (Str) = b32dec, "Decodes base32. The result for invalid base32 is the message of the error."
        [r#"{{ b32dec "NBSWY3DP" }}"# => "hello"];
}

/// Returns the message about invalid base64 at an offset.
pub(super) fn illegal_base64(at: usize) -> String {
    format!("illegal base64 data at input byte {at}")
}

fn b64enc<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let bytes = only_bytes(cx, args)?;
    cx.charge(base64_len(bytes.len()))?;
    cx.text(&base64(bytes))
}

fn b64dec<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let text = only_bytes(cx, args)?;
    cx.charge(text.len())?;
    match octets_of_padded_base64(text) {
        Ok(octets) => string(cx, &octets),
        Err(at) => cx.text(&illegal_base64(at)),
    }
}

fn b32enc<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let bytes = only_bytes(cx, args)?;
    cx.charge(base32_len(bytes.len()))?;
    cx.text(&base32(bytes))
}

fn b32dec<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let text = only_bytes(cx, args)?;
    cx.charge(text.len().saturating_mul(2))?;
    match octets_of_base32(text) {
        Ok(octets) => string(cx, &octets),
        Err(at) => cx.text(&format!("illegal base32 data at input byte {at}")),
    }
}
