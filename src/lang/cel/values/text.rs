//! The text of values: for `string(value)`, and for expressions within text in templates.

use std::borrow::Cow;

use super::errors::bad_argument;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::{float_format, timestamps};
use dropforge_value::{Capsule, CapsuleContent, Extended, Value};

/// Returns the text of a string, boolean, number, timestamp, duration, capsule or UTF-8 bytes; [`None`] for null, lists,
/// maps, types and optionals.
///
/// # Errors
/// Bytes that are not UTF-8.
pub fn plain<'v>(value: Value<'v>) -> Result<Option<Cow<'v, str>>> {
    let value = value.unwritten();
    Ok(Some(match (value, value.extended()) {
        (Value::Str(text), _) => Cow::Borrowed(text.as_str()),
        (Value::Bool(truth), _) => Cow::Borrowed(if truth { "true" } else { "false" }),
        (Value::Int(n), _) => Cow::Owned(n.to_string()),
        (Value::Uint(n), _) => Cow::Owned(n.to_string()),
        (Value::Float(n), _) => Cow::Owned(float_format::shortest(n)),
        (_, Some(Extended::Bytes(bytes))) => match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(error) => {
                let at = error.valid_up_to();
                return Err(bad_argument(format!("invalid UTF-8 in bytes, at {at}: they cannot become a string")));
            }
        },
        (_, Some(Extended::Timestamp { seconds, nanos })) => match timestamps::utc_text(*seconds, *nanos) {
            Some(text) => Cow::Owned(text),
            None => return Ok(None),
        },
        (_, Some(Extended::Duration(nanos))) => Cow::Owned(timestamps::seconds_text(*nanos)),
        (_, Some(Extended::Capsule(Capsule { content: CapsuleContent::Text(text), .. }))) => Cow::Borrowed(*text),
        _ => return Ok(None),
    }))
}

/// Formats an integer.
pub fn digits<'b>(value: Value<'_>, buffer: &'b mut itoa::Buffer) -> Option<&'b str> {
    match value {
        Value::Int(n) => Some(buffer.format(n)),
        Value::Uint(n) => Some(buffer.format(n)),
        _ => None,
    }
}
