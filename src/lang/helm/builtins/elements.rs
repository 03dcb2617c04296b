//! Elements of values: `len`, `index`, `slice`, `call`.

use crate::error;
use crate::error::failed;
use crate::print::shown;
use crate::values::{BYTES, items, map_of, sized, text_bytes, type_name, zero_element};
use dropforge_base::diagnostics::{Diagnostic, Result, counted};
use dropforge_machine::function::{Cx, Rest};
use dropforge_machine::functions;
use dropforge_value::{Extended, Sized, Value, Width};

functions! {
    /// Elements of values.
    pub(super) static ELEMENTS:
    "len" [Raw] = len, looks Keys, "The number of items of a list or map, or of bytes of a string."
        [r#"{{ len "abc" }}"# => "3", "{{ len 1 }}" => "E0404"];
    "index" [Raw, ... Raw] = index, looks Kinds, "The element at an index of a list, or under a key of a map; again for each further argument."
        [r#"{{ index "abc" 1 }}"# => "98", "{{ index nil 1 }}" => "E0404"];
    "slice" [Raw, ... Raw] = slice, "The part of a string or list from one index to another."
        [r#"{{ slice "abcd" 1 3 }}"# => "bc", r#"{{ slice "abc" 2 5 }}"# => "E0404"];
    "call" [Raw, ... Raw] = call, "Calls a function that is a value. No input holds one." ["{{ call nil }}" => "E0404"];
}

fn len<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<i64> {
    let length = match value {
        Value::Undefined => return Err(failed("error calling len: reflect: call of reflect.Value.Type on zero Value")),
        Value::Null => return Err(failed("error calling len: len of nil pointer")),
        value => length(cx, value),
    };
    match length {
        Some(length) => Ok(length as i64),
        None => Err(failed(format!("error calling len: len of type {}", type_name(value)))),
    }
}

fn length<'v>(cx: &Cx<'v>, value: Value<'v>) -> Option<usize> {
    let bytes = bytes_of(value).or_else(|| text_bytes(value)).map(<[u8]>::len);
    let entries = || match value.extended() {
        Some(Extended::Entries(entries)) => Some(entries.len()),
        _ => map_of(cx, value).map(|map| map.len()),
    };
    bytes.or_else(|| items(value).map(<[_]>::len)).or_else(entries)
}

/// Returns the bytes of a `[]byte`.
fn bytes_of<'v>(value: Value<'v>) -> Option<&'v [u8]> {
    match value.extended() {
        Some(Extended::Typed(ty, bytes)) if *ty == BYTES => text_bytes(*bytes),
        _ => None,
    }
}

pub(super) fn index<'v>(cx: &Cx<'v>, value: Value<'v>, Rest(indexes): Rest<'_, 'v>) -> Result<Value<'v>> {
    if matches!(value, Value::Undefined | Value::Null) {
        return Err(failed("error calling index: index of untyped nil"));
    }
    let (mut value, mut before) = (value, None);
    for index in indexes {
        let next = element(cx, value, *index).map_err(|error| found_in(cx, error, value, before))?;
        (value, before) = (next, Some((value, *index)));
    }
    Ok(value)
}

/// Adds the length of a list, or the keys of the map that gave no value: the index before and the value it was used on.
#[cold]
fn found_in<'v>(
    cx: &Cx<'v>,
    error: Box<Diagnostic>,
    value: Value<'v>,
    before: Option<(Value<'v>, Value<'v>)>,
) -> Box<Diagnostic> {
    if let Some(items) = items(value) {
        return error.with_note(format!("the list has {}", counted(items.len(), "item")));
    }
    match (value, before.and_then(|(map, key)| Some((map, std::str::from_utf8(text_bytes(key)?).ok()?)))) {
        (Value::Undefined | Value::Null, Some((map, key))) => error::lacking(cx, error, map, key, None),
        _ => error,
    }
}

fn element<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Value<'v>> {
    cx.spend(1)?;
    if matches!(value, Value::Undefined | Value::Null) {
        return Err(failed("error calling index: index of nil pointer"));
    }
    if let Some(items) = items(value) {
        let at = position(index, items.len(), "index")?;
        return items.get(at).copied().ok_or_else(|| at_the_end("slice"));
    }
    if let Some(bytes) = bytes_of(value).or_else(|| text_bytes(value)) {
        let at = position(index, bytes.len(), "index")?;
        let kind = if text_bytes(value).is_some() { "string" } else { "slice" };
        let byte = bytes.get(at).copied().ok_or_else(|| at_the_end(kind))?;
        return sized(cx, Sized::Unsigned(Width::W8, byte.into()));
    }
    if map_of(cx, value).is_none() {
        return Err(failed(format!("error calling index: can't index item of type {}", type_name(value))));
    }
    match (text_bytes(index), index) {
        (Some(key), _) => {
            let key = std::str::from_utf8(key).ok();
            key.and_then(|key| map_of(cx, value)?.get(key)).map_or_else(|| zero_element(cx, value), Ok)
        }
        (None, Value::Undefined | Value::Null) => {
            Err(failed("error calling index: value is nil; should be of type string"))
        }
        (None, _) => Err(failed(format!("error calling index: value has type {}; should be string", type_name(index)))),
    }
}

/// Returns the error of the index after the last element, which Go finds later than others.
fn at_the_end(kind: &str) -> Box<Diagnostic> {
    failed(format!("error calling index: reflect: {kind} index out of range"))
}

/// Returns an index up to `end`.
fn position(index: Value<'_>, end: usize, function: &str) -> Result<usize> {
    let number = match (index, index.extended()) {
        (Value::Int(n), _) => i128::from(n),
        (_, Some(Extended::Sized(n))) => n.number(),
        (Value::Undefined | Value::Null, _) => {
            return Err(failed(format!("error calling {function}: cannot index slice/array with nil")));
        }
        _ => {
            let of = type_name(index);
            return Err(failed(format!("error calling {function}: cannot index slice/array with type {of}")));
        }
    };
    let at = usize::try_from(number).ok().filter(|at| *at <= end);
    at.ok_or_else(|| failed(format!("error calling {function}: index out of range: {number}")))
}

pub(super) fn slice<'v>(cx: &Cx<'v>, value: Value<'v>, Rest(indexes): Rest<'_, 'v>) -> Result<Value<'v>> {
    if matches!(value, Value::Undefined | Value::Null) {
        return Err(failed("error calling slice: slice of untyped nil"));
    }
    if indexes.len() > 3 {
        return Err(failed(format!("error calling slice: too many slice indexes: {}", indexes.len())));
    }
    let text = text_bytes(value);
    if text.is_some() && indexes.len() == 3 {
        return Err(failed("error calling slice: cannot 3-index slice a string"));
    }
    let bytes = bytes_of(value);
    let length = text.or(bytes).map(<[u8]>::len).or_else(|| items(value).map(<[_]>::len));
    let Some(length) = length else {
        return Err(failed(format!("error calling slice: can't slice item of type {}", type_name(value))));
    };
    let capacity = if matches!(value, Value::List(_)) { capacity(length) } else { length };
    let (start, end) = bounds(indexes, length, capacity)?;
    if let Some(text) = text {
        return cx.string(text.get(start..end).unwrap_or(&[]));
    }
    if let Some(bytes) = bytes {
        return crate::values::byte_list(cx, bytes.get(start..end).unwrap_or(&[]));
    }
    let items = items(value).unwrap_or(&[]);
    let part = match items.get(start..end) {
        Some(part) => cx.list(part)?,
        // The elements after the last one are nil.
        None => {
            cx.charge(2 * size_of_val(items))?;
            let kept = items.get(start..).unwrap_or(&[]).iter().copied();
            cx.list(&kept.chain(std::iter::repeat(Value::Null)).take(end - start).collect::<Vec<_>>())?
        }
    };
    match value.extended() {
        Some(Extended::Typed(ty, _)) => cx.extended(Extended::Typed(*ty, part)),
        _ => Ok(part),
    }
}

/// Returns the number of elements for which a list of data has space: it doubles when the list grows beyond it. Longer
/// lists count as full.
fn capacity(length: usize) -> usize {
    if (1..=256).contains(&length) { length.next_power_of_two() } else { length }
}

/// Returns the bounds of a slice. A third index, the capacity, only has to be in range.
fn bounds(indexes: &[Value<'_>], length: usize, capacity: usize) -> Result<(usize, usize)> {
    let mut bounds = [0, length, length];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(*index, capacity, "slice")?;
    }
    let [start, end, most] = bounds;
    let pairs = [(start, end, true), (end, most, indexes.len() == 3)];
    match pairs.into_iter().find(|(low, high, checked)| *checked && low > high) {
        Some((low, high, _)) => Err(failed(format!("error calling slice: invalid slice index: {low} > {high}"))),
        None => Ok((start, end)),
    }
}

fn call<'v>(cx: &Cx<'v>, function: Value<'v>, _: Rest<'_, 'v>) -> Result<Value<'v>> {
    if matches!(function, Value::Undefined | Value::Null) {
        return Err(failed("error calling call: call of nil"));
    }
    let (text, of) = (shown(cx, function)?, type_name(function));
    Err(failed(format!("error calling call: non-function {text} of type {of}")))
}
