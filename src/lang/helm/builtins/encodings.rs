//! Encodings: base64 and base32, and the escapes `html`, `js`, `urlquery`.

use crate::print::{NO_VALUE, print};
use crate::values::text_bytes;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::characters::is_printable;
use dropforge_base::stdlib::encodings::{base32, base32_len, octets_of_base32};
use dropforge_base::stdlib::encodings::{base64, base64_len, octets_of_padded_base64};
use dropforge_machine::function::{Cx, Growing, Rest};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// Functions of base64 and base32.
    pub(super) static ENCODINGS:
    "b64enc" [Str] = b64enc, "Encodes a text in base64." [r#"{{ b64enc "coffee" }}"# => "Y29mZmVl"];
    "b64dec" [Str] = b64dec, "Decodes base64. The result for invalid base64 is the message of the error."
        [r#"{{ b64dec "aGVsbG8=" }}"# => "hello", r#"{{ b64dec "aGVsbG8" }}"# => "illegal base64 data at input byte 4"];
    "b32enc" [Str] = b32enc, "Encodes a text in base32." [r#"{{ b32enc "hello" }}"# => "NBSWY3DP"];
    "b32dec" [Str] = b32dec, "Decodes base32. The result for invalid base32 is the message of the error."
        [r#"{{ b32dec "NBSWY3DP" }}"# => "hello"];
}

/// Returns the message about invalid base64 at an offset.
pub(super) fn illegal_base64(at: usize) -> String {
    format!("illegal base64 data at input byte {at}")
}

fn b64enc<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<String> {
    cx.charge(base64_len(bytes.len()))?;
    Ok(base64(bytes))
}

fn b64dec<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    cx.charge(text.len())?;
    match octets_of_padded_base64(text) {
        Ok(octets) => cx.string(&octets),
        Err(at) => cx.text(&illegal_base64(at)),
    }
}

fn b32enc<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<String> {
    cx.charge(base32_len(bytes.len()))?;
    Ok(base32(bytes))
}

fn b32dec<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    cx.charge(text.len().saturating_mul(2))?;
    match octets_of_base32(text) {
        Ok(octets) => cx.string(&octets),
        Err(at) => cx.text(&format!("illegal base32 data at input byte {at}")),
    }
}

functions! {
    /// Escapes.
    pub(super) static ESCAPES:
    "html" [... Any] = html, "Escapes text for HTML." [r#"{{ html "<a>" }}"# => "&lt;a&gt;"];
    "js" [... Any] = js, "Escapes text for JavaScript." [r#"{{ js "it's" }}"# => r"it\'s"];
    "urlquery" [... Any] = urlquery, "Escapes text for the query of a URL." [r#"{{ urlquery "a b&c" }}"# => "a+b%26c"];
}

/// Returns the text of the arguments: a string as it is, others as `print` shows them.
fn text<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<&'v [u8]> {
    if let [one] = args
        && let Some(bytes) = text_bytes(*one)
    {
        return Ok(bytes);
    }
    let mut out = Growing::new(cx);
    let is_text = |value: &Value<'_>| text_bytes(*value).is_some() || matches!(value, Value::Undefined | Value::Null);
    for (at, value) in args.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| args.get(at));
        if before.is_some_and(|before| !is_text(before)) && !is_text(value) {
            out.push(b" ")?;
        }
        match value {
            Value::Undefined | Value::Null => out.push(NO_VALUE.as_bytes())?,
            value => print(cx, *value, &mut out)?,
        }
    }
    out.kept()
}

/// Returns the text of the arguments with each byte replaced that `escape` has another text for.
fn escaped<'v>(cx: &Cx<'v>, text: &[u8], escape: impl Fn(u8) -> Option<&'static str>) -> Result<Value<'v>> {
    let mut out = Growing::new(cx);
    let mut rest = text;
    while let Some((at, escaped)) = rest.iter().enumerate().find_map(|(at, byte)| Some((at, escape(*byte)?))) {
        out.push(rest.get(..at).unwrap_or(&[]))?;
        out.push(escaped.as_bytes())?;
        rest = rest.get(at + 1..).unwrap_or(&[]);
    }
    out.push(rest)?;
    cx.string(out.bytes())
}

fn html<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    escaped(cx, text(cx, args)?, |byte| {
        Some(match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&#34;",
            b'\'' => "&#39;",
            0 => "\u{FFFD}",
            _ => return None,
        })
    })
}

fn js<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    let mut out = Growing::new(cx);
    for chunk in text(cx, args)?.utf8_chunks() {
        for c in chunk.valid().chars() {
            js_character(c, &mut out)?;
        }
        // Each byte that is no character stands for one that is unknown.
        for _ in chunk.invalid() {
            out.push("\u{FFFD}".as_bytes())?;
        }
    }
    cx.string(out.bytes())
}

fn js_character(c: char, out: &mut Growing<'_, '_>) -> Result<()> {
    let code = u32::from(c);
    match c {
        '\\' => out.push(b"\\\\"),
        '\'' => out.push(b"\\'"),
        '"' => out.push(b"\\\""),
        '<' | '>' | '&' | '=' => out.push(format!("\\u{code:04X}").as_bytes()),
        _ if code >= 0x20 && (c.is_ascii() || is_printable(c)) => out.push(c.encode_utf8(&mut [0; 4]).as_bytes()),
        _ => out.push(format!("\\u{code:04X}").as_bytes()),
    }
}

fn urlquery<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Growing::new(cx);
    for byte in text(cx, args)? {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(&[*byte])?,
            b' ' => out.push(b"+")?,
            _ => out.push(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])?,
        }
    }
    cx.string(out.bytes())
}
