//! CEL values in the notation of the rows.

use dropforge::dialect::cel::values::{as_bytes, as_optional, convert, type_name};
use dropforge::function::Cx;
use dropforge::value::{Extended, Value};
use serde_json::Value as Json;

/// Decodes a value of a row.
pub fn decode<'v>(cx: &Cx<'v>, json: &Json) -> Result<Value<'v>, String> {
    let (tag, of) = json.as_object().and_then(|map| map.iter().next()).ok_or("no tagged value")?;
    let word = of.as_str().unwrap_or("");
    let arena = cx.arena();
    Ok(match tag.as_str() {
        "null" => Value::Null,
        "bool" => Value::Bool(of.as_bool().ok_or("bool")?),
        "int" => Value::Int(word.parse().map_err(|_| format!("{tag} {of}"))?),
        "uint" => Value::Uint(word.parse().map_err(|_| format!("{tag} {of}"))?),
        "double" => Value::Float(double(word).ok_or_else(|| format!("{tag} {of}"))?),
        "string" => arena.text(word),
        "bytes_b64" => arena.extended(Extended::Bytes(arena.copy_bytes(&base64(word)))),
        "type" => arena.extended(Extended::Named(arena.copy_str(word))),
        "list" => {
            let items: Result<Vec<_>, _> = of.as_array().into_iter().flatten().map(|item| decode(cx, item)).collect();
            arena.list(&items?)
        }
        "map" => {
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for pair in of.as_array().into_iter().flatten() {
                keys.push(decode(cx, &pair[0])?);
                values.push(decode(cx, &pair[1])?);
            }
            dropforge::dialect::cel::values::access::map(cx, &keys, &values).map_err(|error| error.message)?
        }
        "timestamp" => dropforge::dialect::cel::values::time::timestamp_of_text(cx, arena.text(word))
            .map_err(|error| error.message)?,
        "duration" => dropforge::dialect::cel::values::time::duration_of_text(cx, arena.text(word))
            .map_err(|error| error.message)?,
        "optional" if of.is_null() => arena.extended(Extended::Optional(Value::Undefined)),
        "optional" => arena.extended(Extended::Optional(decode(cx, of)?)),
        _ => return Err(format!("{tag} {of}")),
    })
}

fn double(word: &str) -> Option<f64> {
    match word {
        "NaN" => Some(f64::NAN),
        "Infinity" | "+Inf" | "inf" | "+inf" => Some(f64::INFINITY),
        "-Infinity" | "-Inf" | "-inf" => Some(f64::NEG_INFINITY),
        word => word.parse().ok(),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(u32::from).collect();
    let group = |group: &[u32]| {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        let bytes = [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
        bytes[..group.len() - 1].to_vec()
    };
    digits.chunks(4).filter(|chunk| chunk.len() > 1).flat_map(group).collect()
}

/// Returns `true` if a value equals the expected one, including its types. Maps are unordered, and NaN equals itself.
pub fn same(value: Value<'_>, want: Value<'_>) -> bool {
    if let (Some(a), Some(b)) = (as_optional(value), as_optional(want)) {
        return a.is_undefined() == b.is_undefined() && (a.is_undefined() || same(a, b));
    }
    match (value, want) {
        (Value::Float(a), Value::Float(b)) => a == b || a.is_nan() && b.is_nan(),
        (Value::List(a), Value::List(b)) => {
            a.items().len() == b.items().len() && a.items().iter().zip(b.items()).all(|(a, b)| same(*a, *b))
        }
        _ => match (entries(value), entries(want)) {
            (Some(a), Some(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, value)| b.iter().any(|(other, want)| same(*key, *other) && same(*value, *want)))
            }
            (None, None) => plain(value) == plain(want),
            _ => false,
        },
    }
}

fn plain(value: Value<'_>) -> String {
    match as_bytes(value) {
        Some(bytes) => format!("bytes {bytes:?}"),
        None => match value.extended() {
            Some(Extended::Named(name)) => format!("type {name}"),
            _ => format!("{} {:?}", type_name(value), convert::plain(value).ok().flatten()),
        },
    }
}

fn entries<'v>(value: Value<'v>) -> Option<Vec<(Value<'v>, Value<'v>)>> {
    match (value, value.extended()) {
        (Value::Map(map), _) => {
            Some(map.shape().keys().iter().map(Value::Str).zip(map.values().iter().copied()).collect())
        }
        (_, Some(Extended::Entries(entries))) => {
            Some(entries.keys().iter().copied().zip(entries.values().iter().copied()).collect())
        }
        _ => None,
    }
}
